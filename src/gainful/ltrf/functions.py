"""Learning to rank and filter: the functions; what they need is imported when they are called."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from gainful.engine import EngineOptions
from gainful.ltrf.settings import SHARED_LOSSES, Cut, Loss, Settings, check_loss
from gainful.stats.choices import Correction

if TYPE_CHECKING:
    from gainful.data.qrels import Qrels
    from gainful.data.run import Run
    from gainful.ltrf.comparison import LossComparison
    from gainful.ltrf.ranker import FRanker
    from gainful.ltrf.search import Search


def train(
    data: Any,
    *,
    validation: Path | Any = None,
    test: Path | Any = None,
    loss: Loss = "ordinal",
    gains: Mapping[float, float] | str | None = None,
    cutoff: int = 3,
    risk: float | None = None,
    risk_confidence: float | None = None,
    checkpoints: Path | str | None = None,
    seed: int = 0,
    settings: Settings = Settings(),
) -> FRanker:
    """Train a ranker that also filters: the best epoch and the threshold are those of the highest validation nDCGf.

    Parameters
    ----------
    data
        What to learn from. Text: JSONL, CSV, TSV or Parquet (compressed or not) with the columns query_id, query,
        doc_id, document and label. Features: a table with query_id, doc_id, label and one column per feature, or
        LETOR/SVMlight lines.
    validation
        The same, of other queries, to choose the epoch and the threshold on. Without it, the queries of the data are
        split at random: 64 % to learn from, 16 % to validate, 20 % to test.
    test
        The same, of still other queries: what the f-ranker is worth there.
    loss
        bce (is the gain above 0?), mse (the gain itself), ordinal (is it better than this label?), weighted-ordinal
        (the same, weighted by what the step is worth), lambdarank (pairs, weighted by the change of nDCGf) or
        lambdarank+bce. Text also softmax (the whole list, ListNet) and ranknet (pairs, all alike).
    gains
        What each label is worth, such as {-2:-10,0:0,1:1,2:2}; below 0 for what must not be shown. Without it, every
        label is its own gain.
    cutoff
        Of nDCGf.
    risk
        The largest expected share of the first places (up to the cutoff) that hold a forbidden document (gain below
        0), on average over the validation queries and new queries like them: the threshold is the best of those that
        keep to it. Half of the validation queries, drawn at random, then choose the epoch, and the other half the
        threshold.
    risk_confidence
        The probability, over the validation queries, with which the risk is kept to on new queries, such as 0.9: a
        stronger guarantee.
    checkpoints
        Text: keep the state after every epoch in this folder; if the training is cut off, the same call goes on from
        there, to the same result.
    seed
        Where the random numbers start.
    settings
        How to train: learning rate, epochs and so on.

    Returns
    -------
    FRanker
        Ranks, filters, saves and loads.

    Examples
    --------
    >>> import polars as pl
    >>> labels = [2, -1, 1] * 40
    >>> rows = {"query_id": [n // 3 for n in range(120)], "doc_id": range(120), "label": labels, "f": labels}
    >>> import gainful as gf
    >>> ranker = gf.ltrf.train(pl.DataFrame(rows), gains={-1: -10, 1: 1, 2: 2}, settings=gf.ltrf.Settings(rounds=5))
    >>> ranker.kind, ranker.test["nDCGf@3"], len(ranker.rank(pl.DataFrame(rows)))
    ('features', 1.0, 80)
    """
    from gainful.ltrf.training import prepare, train_on

    check_loss(loss)
    splits = prepare(data, validation, test, {"gains": gains, "cutoff": cutoff, "seed": seed})
    return train_on(
        splits,
        loss,
        cutoff=cutoff,
        risk=risk,
        risk_confidence=risk_confidence,
        checkpoints=checkpoints,
        seed=seed,
        settings=settings,
    )


def score(
    ranker: FRanker | str | os.PathLike[str],
    data: Any,
    *,
    cut: Cut = "threshold",
    name: str | None = None,
    device: str | None = None,
) -> Run:
    """Rank documents with an f-ranker, and leave out what must not be shown.

    Parameters
    ----------
    ranker
        What `train` returned, or the folder that it was saved to.
    data
        The documents, as for training; labels are not needed.
    cut
        threshold (documents at or above the f-ranker's threshold), none (all documents, ranked) or bayes (for every
        query what is expected to add to its nDCGf; experimental, for ordinal losses).
    name
        Of the run; the loss if not given.
    device
        Text: cpu, cuda, cuda:1 (a GPU by its number) or mps; by default the best there is.

    Returns
    -------
    Run
        The documents that are shown, with their scores. Queries may be empty, and gone.

    Examples
    --------
    >>> import gainful as gf
    >>> import polars as pl
    >>> labels = [2, -1, 1] * 40
    >>> rows = {"query_id": [n // 3 for n in range(120)], "doc_id": range(120), "label": labels, "f": labels}
    >>> rows = pl.DataFrame(rows)
    >>> ranker = gf.ltrf.train(rows, settings=gf.ltrf.Settings(rounds=5))
    >>> gf.ltrf.score(ranker, rows.drop("label")), gf.ltrf.score(ranker, rows, cut="none", name="all")
    (Run('ordinal': 80 documents, 40 topics), Run('all': 120 documents, 40 topics))
    """
    from gainful.errors import GainfulError
    from gainful.ltrf.ranker import FRanker

    if isinstance(ranker, FRanker):
        if device is not None:
            raise GainfulError("device: is chosen where an f-ranker is loaded; give its folder, or leave it out")
        return ranker.rank(data, cut=cut, name=name)
    return FRanker.load(ranker, device=device).rank(data, cut=cut, name=name)


def compare(
    data: Any,
    *,
    validation: Path | Any = None,
    test: Path | Any = None,
    losses: Sequence[Loss] = SHARED_LOSSES,
    gains: Mapping[float, float] | str | None = None,
    cutoff: int = 3,
    seeds: int = 1,
    folds: int = 1,
    bayes: bool = False,
    f1: bool = False,
    correction: Correction = "holm",
    folder: Path | str | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    settings: Settings = Settings(),
    **options: Unpack[EngineOptions],
) -> LossComparison:
    """Compare losses and baselines that rank and filter, on queries that none of them has seen.

    Parameters
    ----------
    data, gains, seed, settings
        See `train`.
    validation, test
        The same, of other queries, to choose epoch and threshold on, and to compare on. Without them, the queries of
        the data are split at random: 64 % to learn from, 16 % to validate, 20 % to test.
    losses
        Which ones to train: bce, mse, ordinal, weighted-ordinal, lambdarank, lambdarank+bce; for text also softmax and
        ranknet; for features also LightGBM's own objectives, to compare with: lightgbm-binary, lightgbm-regression,
        lightgbm-lambdarank, lightgbm-xendcg.
    cutoff
        Of the measures.
    seeds
        How often to split and to train, each time from another seed (`seed`, `seed` + 1, …).
    folds
        With more than one, all queries are tested: they are shuffled and cut into so many folds, of which each is
        tested once per seed, and the others are split into 80 % to learn from and 20 % to validate.
    bayes
        Also cut the ordinal models query by query, at what is expected to add to nDCGf (experimental).
    f1
        Also cut the BCE model where F1 of its validation documents is the highest, as one would without nDCGf.
    correction
        For testing many pairs: holm, bonferroni, bh (Benjamini-Hochberg) or none.
    folder
        Keep the f-rankers here, one folder each; one that is there already is not trained again, and one on text that
        was cut off goes on from its last epoch. Of several seeds or folds, the outcome of every training is kept
        instead; the same call goes on where it was cut off, to the same result.
    alpha
        A difference is significant if its corrected p-value is below this.
    **options
        See `EngineOptions`: where to train, if there are several seeds or folds.

    Returns
    -------
    LossComparison
        The table of all models, paired t-tests between them, and the curves behind it.

    Notes
    -----
    The baselines: filter-all shows nothing; filter-none shows everything, shuffled; rank-only is the ordinal model
    without its threshold; filter-only is the BCE model with what it keeps shuffled. The last two are there if their
    loss is. Good is what has a gain above 0, forbidden what has one below 0.

    Splits share most of their training queries, so that their means depend on each other. Tests over several splits are
    Nadeau and Bengio's corrected resampled t-tests. Where the test queries are given, seeds change the training alone,
    and the tests are paired over the test queries.

    Examples
    --------
    >>> import polars as pl
    >>> labels = [2, -1, 1] * 40
    >>> rows = {"query_id": [n // 3 for n in range(120)], "doc_id": range(120), "label": labels, "f": labels}
    >>> import gainful as gf
    >>> found = gf.ltrf.compare(pl.DataFrame(rows), losses=["ordinal"], settings=gf.ltrf.Settings(rounds=5))
    >>> found.to_frame().select("model", pl.col("nDCGf@3").round(3)).rows()
    [('filter-all', 0.275), ('filter-none', ...), ('rank-only', 0.862), ('ordinal', 1.0)]
    """
    from gainful.ltrf.repeats import compare_losses

    return compare_losses(data, validation, test, locals())


def tune(
    data: Any,
    *,
    validation: Path | Any = None,
    test: Path | Any = None,
    loss: Loss = "ordinal",
    gains: Mapping[float, float] | str | None = None,
    cutoff: int = 3,
    trials: int = 10,
    learning_rates: tuple[float, float] | None = None,
    batch_sizes: Sequence[int] = (8, 16, 32, 64),
    leaf_counts: Sequence[int] = (7, 15, 31, 63, 127),
    gammas: tuple[float, float] = (0.1, 10.0),
    halving: int | None = None,
    folder: Path | str | None = None,
    seed: int = 0,
    settings: Settings = Settings(),
    **options: Unpack[EngineOptions],
) -> Search:
    """Search at random for the settings of an f-ranker with the highest validation nDCGf.

    Parameters
    ----------
    data, gains, cutoff
        See `train`.
    validation
        The same, of other queries, to choose settings, epoch and threshold on. Without it, the queries of the data are
        split at random: 64 % to learn from, 16 % to validate, 20 % to test.
    test
        The same, of still other queries: what the best f-ranker is worth there.
    loss
        bce, mse, ordinal, weighted-ordinal, lambdarank or lambdarank+bce; for text also softmax or ranknet.
    trials
        How many trainings; the first one takes the settings as they are.
    learning_rates
        From where to where; drawn evenly on a logarithmic scale. By default 5e-6 to 1e-4 for text, 0.01 to 0.3 for
        features.
    batch_sizes
        Text: which ones to draw from.
    leaf_counts
        Features: leaves of a tree, to draw from.
    gammas
        From where to where, for the loss lambdarank+bce.
    halving
        Successive halving, by this factor, such as 3: train all trials for a short time, the best third three times as
        long, and so on, up to all rounds or epochs. By default every trial is trained to the end.
    folder
        Keep the outcome of every trial here, and the best f-ranker; the same call goes on where it was cut off, to the
        same result.
    seed
        Where the random numbers start, those of the search and of every training.
    settings
        How to train: what is not searched, and where to begin.
    **options
        See `EngineOptions`: where to train.

    Returns
    -------
    Search
        All trials, and the best f-ranker. A trial that fails, as one that diverges, is a row that says why.

    Examples
    --------
    >>> import polars as pl
    >>> labels = [2, -1, 1] * 40
    >>> rows = {"query_id": [n // 3 for n in range(120)], "doc_id": range(120), "label": labels, "f": labels}
    >>> import gainful as gf
    >>> found = gf.ltrf.tune(pl.DataFrame(rows), trials=2, settings=gf.ltrf.Settings(rounds=5))
    >>> found.best, found.ranker.test["nDCGf@3"]
    (0, 1.0)
    """
    from gainful.ltrf.search import search

    return search(data, validation, test, locals())


def qrels(data: Any, *, gains: Mapping[float, float] | str | None = None) -> Qrels:
    """The judgments in examples, for other programs to evaluate with.

    Parameters
    ----------
    data
        As for training: text or features, in any format.
    gains
        See `train`; with it, judgments are gains instead of labels.

    Returns
    -------
    Qrels
        One judgment per document.

    Examples
    --------
    >>> import gainful as gf
    >>> import polars as pl
    >>> rows = pl.DataFrame({"query_id": [1, 1], "doc_id": ["a", "b"], "label": [2, -1], "f": [0.5, 0.1]})
    >>> gf.ltrf.qrels(rows, gains={-1: -10, 2: 1}).frame["relevance"].to_list()
    [1.0, -10.0]
    """
    from gainful.ltrf.data import read_examples
    from gainful.ltrf.targets import read_scale

    examples = read_examples(data)
    return examples.qrels(None if gains is None else read_scale(gains, examples.labels))


def export(ranker: FRanker | str | os.PathLike[str], *, onnx: Path | str) -> None:
    """Export an f-ranker as an ONNX file, which gives the same scores without gainful, torch or LightGBM.

    Parameters
    ----------
    ranker
        What `train` returned, or the folder that it was saved to.
    onnx
        The file to write. It takes features, or what the f-ranker's tokenizer gives, and gives score and heads of every
        document; gains, threshold and calibration are in its metadata.

    Notes
    -----
    Scores differ by less than 1e-4. LightGBM's categorical features have no counterpart there, and are refused.
    """
    from gainful.ltrf.onnx_file import write_onnx
    from gainful.ltrf.ranker import FRanker

    write_onnx(ranker if isinstance(ranker, FRanker) else FRanker.load(ranker, device=None), Path(onnx))


def check_save(folder: Path) -> None:
    """Refuse, before any long work, to save where something is already."""
    from gainful.ltrf.ranker import check_new

    check_new(folder)
