"""`gainful compare`: topics that moved, and a status that ends a build."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gainful.cli.call import Call
from gainful.cli.output import as_csv, as_json, chosen_format, note, on_terminal, paragraph
from gainful.errors import GainfulError

if TYPE_CHECKING:
    from gainful.verbs.compare.result import Comparison

# The exit status that says: a run is worse.
WORSE = 3


def compare(call: Call, *, movers: int | None = None, fail_if_worse: bool = False, margin: float | None = None) -> int:
    """Test whether runs really differ.

    Parameters
    ----------
    movers
        How many topics to show per pair, those that moved most first; CSV has them instead of the pairs. For two runs
        the default is 5, for more it is none.
    fail_if_worse
        Exit with status 3 if a run is significantly worse than the baseline on some measure.
    margin
        With --fail-if-worse: exit with status 3 if a run could be worse than the baseline by more than this (in units
        of the score), at confidence 1 - alpha.
    """
    baseline = call.own["baseline"]
    if fail_if_worse and baseline is None:
        raise GainfulError("--fail-if-worse: expected --baseline RUN, the run that the others must not be worse than")
    if margin is not None and not fail_if_worse:
        raise GainfulError(f"--margin {margin:g}: expected --fail-if-worse with it")
    if movers is not None and movers < 0:
        raise GainfulError(f"--movers: expected a number of topics of at least 0, got {movers}")
    if baseline is not None and os.path.isfile(baseline):
        call = call.changed(baseline=_run_in(baseline, call.files[1:]))
    if margin is not None:
        from gainful.verbs.compare.contrasts import check_margin

        check_margin(margin, call.own["alpha"])
    found = call.result()
    failures = found.worse(margin)["reason"].to_list() if fail_if_worse else []
    call.show(found, None if movers is None else _with_movers(call, found, movers))
    if not fail_if_worse:
        return 0
    for remark in found.assumed():
        note(f"note: {remark}")
    for reason in failures:
        note(f"fail: {reason}")
    if not failures:
        note(f"pass: {found.passed(margin)}")
    return WORSE if failures else 0


def _run_in(path: str, runs: tuple[str, ...]) -> str:
    """The name of the run in a file; as given, if that is not among the runs."""
    from gainful.io.read import entries_of

    for entry in entries_of(list(runs)) if runs else ():
        if entry.path is not None and os.path.samefile(entry.path, path):
            return entry.default
    return path


def _with_movers(call: Call, found: Comparison, most: int) -> str:
    """The result with the topics that moved most: instead of the pairs in CSV, besides all else elsewhere."""
    import polars as pl

    output, tables = call.shown["output"], found.movers_tables(most)
    match chosen_format(call.shown["format"], output):
        case "csv":
            frame = pl.concat(table.frame for table in tables)
            return as_csv(frame.columns, frame.iter_rows())
        case "json":
            rows = [row for table in tables for row in table.frame.to_dicts()]
            return as_json({"movers": rows, **found.to_dict()})
        case shape:
            shown = (*(table for table in found.compact() if table.name != "movers"), *(tables if most else ()))
            if shape == "latex":
                return "\n".join(table.latex() for table in shown)
            parts = [table.text(terminal=on_terminal(output)) for table in shown]
            return "\n".join([*paragraph(found.verdict()), *parts])
