"""`gainful threshold fit`, `apply` and `curve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gainful.cli.inputs import Whole
from gainful.cli.output import Table, note, number
from gainful.cli.results import Shown
from gainful.cli.shell import shell_of
from gainful.data.policies import Degenerate, Duplicates, Missing, Ties, Unjudged
from gainful.data.run import Run
from gainful.errors import DataError
from gainful.io.read import read_run
from gainful.io.write import write_run
from gainful.tune.threshold import fit_threshold, threshold_curve
from gainful.tune.threshold.curve import ThresholdCurve
from gainful.tune.threshold.result import Threshold, apply_threshold

MeasureText = Annotated[str, Parameter(name=("--measure", "-m"))]
# Lines of a curve that a screen holds, and names that a note does.
_LINES, _NAMES = 20, 5


@shell_of(fit_threshold)
def fit(
    qrels: str,
    run: str,
    /,
    *,
    measure: MeasureText = "nDCGf@3",
    filter_run: str | None = None,
    max_forbidden: float | None = None,
    risk: float | None = None,
    save: Path | None = None,
    resamples: Whole = 1000,
    confidence: float = 0.95,
    folds: Whole = 5,
    repeats: Whole = 20,
    seed: Whole = 0,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    degenerate: Degenerate = "zero",
    duplicates: Duplicates = "error",
    shown: Shown = Shown(),
) -> None:
    """Find where to cut a run.

    Parameters
    ----------
    save
        Write the threshold to this file, as JSON, for 'gainful threshold apply --cut'.
    """
    with shown.working():
        found = fit_threshold(
            qrels,
            run,
            measure=measure,
            filter_run=filter_run,
            max_forbidden=max_forbidden,
            risk=risk,
            resamples=resamples,
            confidence=confidence,
            folds=folds,
            repeats=repeats,
            seed=seed,
            ties=ties,
            unjudged=unjudged,
            missing=missing,
            degenerate=degenerate,
            duplicates=duplicates,
        )
    if save is not None:
        found.save(save)
    shown.show(found, [_outcome(found), _certainty(found)], found.remarks())
    if save is not None:
        note(f"saved to {save}")


@shell_of(apply_threshold)
def apply(
    run: str,
    /,
    *,
    cut: Path | None = None,
    threshold: float | None = None,
    filter_run: str | None = None,
    duplicates: Duplicates | None = None,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
) -> None:
    """Cut a run.

    Parameters
    ----------
    output
        Write the run to this file: .csv, .tsv, .jsonl, .parquet and .arrow are tables, all else is TREC text; one of
        .gz, .zst, .bz2 and .xz may follow.
    """
    whole = read_run(run)
    other = whole if filter_run is None else read_run(filter_run)
    kept = apply_threshold(
        whole, cut, threshold=threshold, filter_run=None if filter_run is None else other, duplicates=duplicates
    )
    try:
        write_run(kept, output)
    except DataError as error:
        if len(kept) or not len(whole):
            raise
        raise DataError(f"{error}. Nothing is left of it: {_out_of_reach(whole, other)}") from None
    note(f"{output}: {len(kept)} of {len(whole)} documents{_emptied(whole, kept)}")


@shell_of(threshold_curve)
def curve(
    qrels: str,
    run: str,
    /,
    *,
    measure: MeasureText = "nDCGf@3",
    filter_run: str | None = None,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    degenerate: Degenerate = "zero",
    duplicates: Duplicates = "error",
    shown: Shown = Shown(),
) -> None:
    """Show what every threshold gains and costs."""
    with shown.working():
        found = threshold_curve(
            qrels,
            run,
            measure=measure,
            filter_run=filter_run,
            ties=ties,
            unjudged=unjudged,
            missing=missing,
            degenerate=degenerate,
            duplicates=duplicates,
        )
    table = _points(found)
    left_out = len(table.rows) < len(found)
    remarks = [f"note: {len(table.rows)} of {len(found)} thresholds; --format csv has them all"] if left_out else []
    shown.show(found, table, remarks)


def _outcome(found: Threshold) -> Table:
    """What is shown without a filter, with this one, and with one that keeps nothing."""
    columns = [found.at(-1), found.at(found.number), found.at(0)]
    rows = [[name, *(number(column[name], whole=name == "documents") for column in columns)] for name in columns[0]]
    return Table(header=["", "everything", f"cut at {found.threshold:.6g}", "nothing"], rows=rows)


def _certainty(found: Threshold) -> Table:
    rows = [
        ["threshold", f"{found.threshold:.6g}", *(f"{end:.6g}" for end in found.threshold_interval)],
        ["gain on these topics", number(found.gain), *map(number, found.gain_interval)],
    ]
    if found.held_out is not None:
        out = found.held_out
        rows.append(["gain held out", number(out.gain), number(out.low), number(out.high)])
    share = f"{found.confidence:.4g}"
    return Table(header=["", found.curve.measure, f"low ({share})", f"high ({share})"], rows=rows)


def _points(found: ThresholdCurve) -> Table:
    """As much of the curve as a screen holds."""
    rows = [
        [
            f"{found.thresholds[at]:.6g}",
            str(found.kept[at]),
            number(float(found.score[at])),
            number(float(found.forbidden[at])),
            number(float(found.filtered_good[at])),
            number(float(found.empty[at])),
        ]
        for at in found.thinned(_LINES, found.best).tolist()
    ]
    header = ["threshold", "documents", found.measure, found.forbidden_label, "FilteredGood", "Empty"]
    return Table(header=header, rows=rows, names=())


def _emptied(whole: Run, kept: Run) -> str:
    """The topics that have nothing left."""
    some = set(kept.topics)
    empty = [topic for topic in whole.topics if topic not in some]
    if not empty:
        return ""
    names = ", ".join(empty[:_NAMES]) + (", …" if len(empty) > _NAMES else "")
    return f"; nothing left for {len(empty)} of {len(whole.topics)} topics ({names})"


def _out_of_reach(run: Run, scored: Run) -> str:
    """Why a cut leaves nothing; `scored` has the scores that the threshold is on."""
    highest = scored.frame.join(run.frame, on=["query_id", "doc_id"], how="semi")["score"].to_numpy().max()
    return f"no score of run {scored.name!r} reaches the threshold; the highest is {highest}"
