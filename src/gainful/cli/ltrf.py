"""`gainful ltrf train`, `score`, `compare` and `tune`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gainful.cli.inputs import Whole, whole
from gainful.cli.lists import WHOLES, choices, commas
from gainful.cli.output import Table, note, number
from gainful.cli.progress import bars
from gainful.cli.results import Shown
from gainful.cli.shell import one_line_each, shell_of
from gainful.io.write import write_run
from gainful.ltrf.comparison import LossComparison
from gainful.ltrf.comparison import compare as compare_losses
from gainful.ltrf.data import read_examples
from gainful.ltrf.ranker import Cut, FRanker, check_new
from gainful.ltrf.scoring import score as score_documents
from gainful.ltrf.search import Search
from gainful.ltrf.search import tune as search_settings
from gainful.ltrf.settings import Settings
from gainful.ltrf.targets import LOSSES, Loss
from gainful.ltrf.training import train as train_ranker
from gainful.stats.corrections import Method as Correction

MaybeWhole = Annotated[int | None, Parameter(converter=whole)]


@Parameter(name="*")
@one_line_each
@dataclass(frozen=True, slots=True, kw_only=True)
class Trained(Settings):  # noqa: D101 (its docstring is that of what it stands for)
    __doc__ = Settings.__doc__

    patience: MaybeWhole = None
    epochs: MaybeWhole = None
    batch_size: MaybeWhole = None
    max_docs: MaybeWhole = None
    max_length: MaybeWhole = None
    rounds: MaybeWhole = None
    leaves: MaybeWhole = None


@shell_of(train_ranker)
def train(
    data: Path,
    /,
    *,
    validation: Path | None = None,
    test: Path | None = None,
    loss: Loss = "ordinal",
    gains: str | None = None,
    cutoff: Whole = 3,
    risk: float | None = None,
    save: Path | None = None,
    checkpoints: Path | None = None,
    seed: Whole = 0,
    settings: Trained = Trained(),
    shown: Shown = Shown(),
) -> None:
    """Train a ranker that also filters.

    Parameters
    ----------
    save
        Write the f-ranker into this new folder, for 'gainful ltrf score'.
    """
    if save is not None:
        check_new(save)
    with shown.working():
        ranker = train_ranker(
            data,
            validation=validation,
            test=test,
            loss=loss,
            gains=gains,
            cutoff=cutoff,
            risk=risk,
            checkpoints=checkpoints,
            seed=seed,
            settings=settings,
        )
        if save is not None:
            ranker.save(save)
    shown.show(ranker, _outcome(ranker), [*ranker.remarks(), *_saved(save)])


@shell_of(score_documents)
def score(
    ranker: Path,
    data: Path,
    /,
    *,
    cut: Cut = "threshold",
    name: str | None = None,
    device: str | None = None,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
) -> None:
    """Rank documents with an f-ranker.

    Parameters
    ----------
    output
        Write the run to this file: .csv, .tsv, .jsonl, .parquet and .arrow are tables, all else is TREC text; one of
        .gz, .zst, .bz2 and .xz may follow.
    """
    examples = read_examples(data, labelled=False)
    with bars():
        run = score_documents(ranker, examples, cut=cut, name=name, device=device)
    write_run(run, output)
    queries = len(examples.queries)
    empty = queries - len(run.topics)
    note(f"{output}: {len(run)} of {len(examples)} documents; nothing for {empty} of {queries} queries")


@shell_of(compare_losses)
def compare(
    data: Path,
    /,
    *,
    validation: Path | None = None,
    test: Path | None = None,
    losses: Annotated[tuple[Loss, ...], choices(LOSSES)] = LOSSES,
    gains: str | None = None,
    cutoff: Whole = 3,
    bayes: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    correction: Correction = "holm",
    folder: Path | None = None,
    alpha: float = 0.05,
    seed: Whole = 0,
    settings: Trained = Trained(),
    shown: Shown = Shown(),
) -> None:
    """Compare losses and baselines.

    Parameters
    ----------
    alpha
        A difference is significant if its corrected p-value is below this.
    """
    with shown.working():
        found = compare_losses(
            data,
            validation=validation,
            test=test,
            losses=losses,
            gains=gains,
            cutoff=cutoff,
            bayes=bayes,
            correction=correction,
            folder=folder,
            seed=seed,
            settings=settings,
        )
        table = _models(found, alpha)
    corrected = "" if correction == "none" else f" after the correction {correction}"
    remarks = [
        f"note: the letters after {found.measure} name the models it is significantly better than (paired t-test, "
        f"p < {alpha:g}{corrected}); --format json has all tests",
        *next(iter(found.rankers.values())).remarks()[:1],
    ]
    shown.show(found, table, remarks)


@shell_of(search_settings)
def tune(
    data: Path,
    /,
    *,
    validation: Path | None = None,
    test: Path | None = None,
    loss: Loss = "ordinal",
    gains: str | None = None,
    cutoff: Whole = 3,
    trials: Whole = 10,
    learning_rates: Annotated[tuple[float, float] | None, Parameter(negative="")] = None,
    batch_sizes: Annotated[tuple[int, ...], WHOLES, Parameter(show_default=commas)] = (8, 16, 32, 64),
    leaf_counts: Annotated[tuple[int, ...], WHOLES, Parameter(show_default=commas)] = (7, 15, 31, 63, 127),
    gammas: Annotated[tuple[float, float], Parameter(negative="", show_default="{0[0]:g} {0[1]:g}".format)] = (
        0.1,
        10.0,
    ),
    save: Path | None = None,
    seed: Whole = 0,
    settings: Trained = Trained(),
    shown: Shown = Shown(),
) -> None:
    """Search at random for settings that make an f-ranker better.

    Parameters
    ----------
    save
        Write the best f-ranker into this new folder, for 'gainful ltrf score'.
    """
    if save is not None:
        check_new(save)
    with shown.working():
        found = search_settings(
            data,
            validation=validation,
            test=test,
            loss=loss,
            gains=gains,
            cutoff=cutoff,
            trials=trials,
            learning_rates=learning_rates,
            batch_sizes=batch_sizes,
            leaf_counts=leaf_counts,
            gammas=gammas,
            seed=seed,
            settings=settings,
        )
        if save is not None:
            found.ranker.save(save)
    shown.show(found, _trials(found), [*found.ranker.remarks(), *_saved(save)])


def _outcome(ranker: FRanker) -> Table:
    """What it is worth: on the queries it was chosen on, and on those that it has not seen."""
    rows = [["validation", f"nDCGf@{ranker.cutoff}", number(ranker.validation["nDCGf"])]]
    rows += [["test", name, number(value)] for name, value in (ranker.test or {}).items()]
    return Table(header=["queries", "measure", "mean"], rows=rows, names=(0, 1))


def _models(found: LossComparison, alpha: float) -> Table:
    """A row a model; after nDCGf, the models that it is significantly better than."""
    means = found.scores.summary()
    better = found.tests[found.measure].better(alpha)
    letters = [chr(ord("a") + at) for at in range(len(found.models))]
    rows, best = [], set()
    for at, model in enumerate(found.models):
        beaten = "".join(letter for letter, won in zip(letters, better[at], strict=True) if won)
        threshold = found.threshold(model)
        cells = [number(value) for value in means[:, at]]
        shown = "-" if threshold is None else "inf" if math.isinf(threshold) else number(threshold)
        rows.append([letters[at], model, cells[0], beaten, *cells[1:], shown])
        if means[0, at] == means[0].max():
            best.add((at, 2))
    header = ["", "model", found.scores.measures[0], "", *found.scores.measures[1:], "threshold"]
    return Table(header=header, rows=rows, names=(0, 1, 3), best=frozenset(best))


def _trials(found: Search) -> Table:
    frame = found.to_frame()
    rows = [
        [str(trial), *(f"{value:.4g}" for value in values), number(measured)]
        for trial, *values, measured in frame.iter_rows()
    ]
    header = ["trial", *frame.columns[1:-1], f"validation nDCGf@{found.cutoff}"]
    return Table(header=header, rows=rows, names=(), best=frozenset({(found.best, len(header) - 1)}))


def _saved(folder: Path | None) -> list[str]:
    return [] if folder is None else [f"saved to {folder}"]
