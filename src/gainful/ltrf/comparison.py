"""All losses and baselines on one data set: the table, with tests between all of them."""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from gainful.data.run import Run
from gainful.data.scores import Scores
from gainful.errors import DataError, GainfulError
from gainful.ltrf.comparison_chart import draw
from gainful.ltrf.data import Examples
from gainful.ltrf.ranker import SETTINGS, FRanker
from gainful.ltrf.settings import Settings, differing
from gainful.ltrf.targets import LOSSES, Loss, Scale, check_loss
from gainful.ltrf.training import Parts, evaluate_parts, prepare, repeated_by, train_parts
from gainful.stats.choices import Correction
from gainful.tune import threshold as thresholds
from gainful.tune.threshold.result import ThresholdCurve
from gainful.verbs.compare import compare as compare_runs
from gainful.verbs.compare.result import Comparison

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LossComparison:
    """What each loss and each baseline is worth on queries that none of them has seen.

    Parameters
    ----------
    models
        Baselines, then losses.
    scores
        The test queries: measures × models × queries.
    tests
        Paired t-tests between all models.
    rankers, curves, seconds
        By loss: the f-ranker, what every threshold would have given on the test queries, and how long training took
        (None if it was there already).
    queries
        How many there were to learn from, to validate and to test.
    scale, cutoff, seed, settings
        What repeats it.
    """

    models: tuple[str, ...]
    scores: Scores
    tests: Comparison
    rankers: Mapping[str, FRanker]
    curves: Mapping[str, ThresholdCurve]
    seconds: Mapping[str, float | None]
    queries: tuple[int, int, int]
    scale: Scale
    cutoff: int
    seed: int
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        learnt, validated, unseen = self.queries
        known = " ".join(f"{name}={value}" for name, value in {"gains": self.scale, **self.settings}.items())
        return (
            f"{len(self.rankers)} losses on {learnt} queries, thresholds from {validated}, tested on {unseen}; "
            f"cutoff={self.cutoff} correction={self.tests.settings['correction']} seed={self.seed} {known}"
        )

    @property
    def measure(self) -> str:
        """What models are trained, cut and compared for."""
        return f"nDCGf@{self.cutoff}"

    def threshold(self, model: str) -> float | None:
        """Where a model cuts; None for baselines and cuts by query."""
        return self.rankers[model].threshold if model in self.rankers else None

    def to_frame(self) -> pl.DataFrame:
        """A row a model: its means on the test queries, its threshold, its validation nDCGf."""
        means = self.scores.summary()
        rankers = [self.rankers.get(model) for model in self.models]
        return pl.DataFrame(
            {
                "model": list(self.models),
                **dict(zip(self.scores.measures, means, strict=True)),
                "threshold": [None if ranker is None else ranker.threshold for ranker in rankers],
                "validation": [None if ranker is None else ranker.validation["nDCGf"] for ranker in rankers],
            },
            schema_overrides={"threshold": pl.Float64, "validation": pl.Float64},
        )

    def to_dict(self) -> dict[str, object]:
        """The table, the tests between all pairs, and the settings."""
        return {
            "models": self.to_frame().to_dicts(),
            "tests": self.tests.to_frame().to_dicts(),
            "seconds": dict(self.seconds),
            "queries": dict(zip(("training", "validation", "test"), self.queries, strict=True)),
            "cutoff": self.cutoff,
            "correction": self.tests.settings["correction"],
            "gains": self.scale.to_dict(),
            **self.settings,
            "seed": self.seed,
        }

    def chart(self) -> altair.TopLevelMixin:
        """Draw nDCGf against the threshold, a panel a loss; below, forbidden shown against good filtered."""
        thresholds = {loss: ranker.threshold for loss, ranker in self.rankers.items()}
        return draw(self.curves, thresholds, self.scores, self.measure)


def compare(
    data: Any,
    *,
    validation: Any = None,
    test: Any = None,
    losses: Sequence[Loss] = LOSSES,
    gains: Mapping[float, float] | str | None = None,
    cutoff: int = 3,
    bayes: bool = False,
    correction: Correction = "holm",
    folder: str | os.PathLike[str] | None = None,
    seed: int = 0,
    settings: Settings = Settings(),
) -> LossComparison:
    """Compare losses and baselines that rank and filter, on queries that none of them has seen.

    Parameters
    ----------
    data
        What to learn from. Text: JSONL, CSV, TSV or Parquet (compressed or not) or a frame with the columns query_id,
        query, doc_id, document and label. Features: a table with query_id, doc_id, label and a column a feature, or
        LETOR/SVMlight lines.
    validation, test
        The same, of other queries, to choose epoch and threshold on, and to compare on. Without them, the queries of
        the data are split at random: 64 % to learn from, 16 % to validate, 20 % to test.
    losses
        Which ones to train: bce, mse, ordinal, weighted-ordinal, lambdarank, lambdarank+bce.
    gains
        What each label is worth, such as {-2:-10,0:0,1:1,2:2}; below 0 for what must not be shown. Without it, every
        label is its own gain.
    cutoff
        Of the measures.
    bayes
        Also cut the ordinal models query by query, at what is expected to add to nDCGf (experimental).
    correction
        For testing many pairs: holm, bonferroni, bh (Benjamini-Hochberg) or none.
    folder
        Keep the f-rankers here, a folder each; one that is there already is not trained again, and one on text that was
        cut off goes on from its last epoch.
    seed
        Where the random numbers start.
    settings
        How to train: learning rate, epochs and so on.

    Returns
    -------
    LossComparison
        The table of all models, paired t-tests between them, and the curves behind it.

    Notes
    -----
    The baselines: filter-all shows nothing; filter-none shows everything, shuffled; rank-only is the ordinal model
    without its threshold; filter-only is the BCE model with what it keeps shuffled. The last two are there if their
    loss is. Good is what has a gain above 0, forbidden what has one below 0.

    Examples
    --------
    >>> import polars as pl
    >>> labels = [2, -1, 1] * 40
    >>> rows = {"query_id": [n // 3 for n in range(120)], "doc_id": range(120), "label": labels, "f": labels}
    >>> found = compare(pl.DataFrame(rows), losses=["ordinal"], settings=Settings(rounds=5))
    >>> found.to_frame().select("model", pl.col("nDCGf@3").round(3)).rows()
    [('filter-all', 0.275), ('filter-none', ...), ('rank-only', 0.862), ('ordinal', 1.0)]
    """
    if not losses:
        raise GainfulError("losses: expected at least one, got none")
    for loss in losses:
        check_loss(loss)
    parts = prepare(data, validation, test, gains=gains, cutoff=cutoff, seed=seed, need_test=True)
    unseen = parts.test
    if unseen is None:
        raise DataError("expected test queries, got none")
    rankers: dict[str, FRanker] = {}
    seconds: dict[str, float | None] = {}
    for loss in dict.fromkeys(losses):
        rankers[loss], seconds[loss] = _trained(parts, loss, cutoff, folder, seed, settings)
    every = {loss: ranker.rank(unseen, cut="none") for loss, ranker in rankers.items()}
    runs = _baselines(rankers, every, unseen, seed) + [
        ranker.rank(unseen, name=loss) for loss, ranker in rankers.items()
    ]
    if bayes:
        runs += [
            ranker.rank(unseen, cut="bayes", name=f"{loss}, by query")
            for loss, ranker in rankers.items()
            if ranker.calibration is not None
        ]
    scores = evaluate_parts(unseen, runs, parts.scale, cutoff)
    qrels = unseen.qrels(parts.scale)
    return LossComparison(
        models=tuple(run.name for run in runs),
        scores=scores,
        tests=compare_runs(scores, correction=correction),
        rankers=rankers,
        curves={loss: thresholds.curve(qrels, run, measure=f"nDCGf@{cutoff}") for loss, run in every.items()},
        seconds=seconds,
        queries=(len(parts.train.sizes), len(parts.validation.sizes), len(unseen.sizes)),
        cutoff=cutoff,
        seed=seed,
        scale=parts.scale,
        settings=settings.of(parts.train.kind),
    )


def _trained(
    parts: Parts, loss: Loss, cutoff: int, folder: str | os.PathLike[str] | None, seed: int, settings: Settings
) -> tuple[FRanker, float | None]:
    """The f-ranker, and the seconds that it took; from the folder if it is there."""
    kept = None if folder is None else Path(folder) / loss
    if kept is not None and (kept / SETTINGS).exists():
        ranker = FRanker.load(kept)
        known = {"loss": ranker.loss, "gains": str(ranker.scale), "cutoff": ranker.cutoff, **ranker.settings}
        wanted = {"loss": loss, "gains": str(parts.scale), "cutoff": cutoff, **repeated_by(parts, seed, settings)}
        if known != wanted:
            raise DataError(f"{kept}: has another f-ranker ({differing(known, wanted)}): choose another folder")
        return ranker, None
    started = time.perf_counter()
    checkpoints = None
    if kept is not None and parts.train.kind == "text":
        checkpoints = kept.with_name(f"{loss}.training")
    ranker = train_parts(
        parts._replace(test=None), loss, cutoff=cutoff, checkpoints=checkpoints, seed=seed, settings=settings
    )
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        ranker.save(kept)
        if checkpoints is not None:
            shutil.rmtree(checkpoints)  # states of optimizers, several times as large as the f-ranker
    return ranker, time.perf_counter() - started


def _baselines(rankers: Mapping[str, FRanker], every: Mapping[str, Run], test: Examples, seed: int) -> list[Run]:
    chance = np.random.default_rng(seed).random(len(test))
    found = [test.run(np.full(len(test), math.nan), "filter-all"), test.run(chance, "filter-none")]
    if "ordinal" in rankers:
        found.append(Run(every["ordinal"].frame, "rank-only"))
    if "bce" in rankers:
        kept = every["bce"].frame["score"].to_numpy() >= rankers["bce"].threshold
        found.append(test.run(np.where(kept, chance, math.nan), "filter-only"))
    return found
