"""What an overview paper and the teams of a campaign need beside the page: tables, and one file per run."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from gainful.compat.trec_eval import result_of
from gainful.compat.trec_join import without_negative
from gainful.compat.trec_table import select
from gainful.data.rankings import Rankings
from gainful.data.scores import MEAN, Scores
from gainful.io.atomic import appearing, refuse_if_occupied, write_atomically
from gainful.io.encoding import from_utf8
from gainful.results import Result
from gainful.tables import as_cell

_NOT_IN_NAMES = re.compile(r"[^\w.+=@-]+")


def write_files(scores: Scores, rankings: Rankings, results: Mapping[str, Sequence[Result]], folder: Path) -> list[str]:
    """Write all files into a new or empty folder, which appears with all of them or not at all; their names."""
    refuse_if_occupied(folder)
    texts = {"means.tex": scores.mean_table().latex(), "means.csv": _csv(*_frame(scores.mean_table().frame))}
    if any("team" in known for known in scores.metadata.values()):
        teams = scores.by("team")
        texts |= {"teams.tex": teams.latex(), "teams.csv": _csv(*_frame(teams.frame))}
    texts["scores.csv"] = _csv(("run", "measure", "query_id", "score"), scores.long_rows())
    for name, found in results.items():
        for result in found[:1]:
            tables = {table.name: table for table in result.tables()}
            texts |= {f"{name}-{_safe(one)}.csv": _csv(*_frame(table.frame)) for one, table in tables.items()}
            texts[f"{name}.tex"] = "\n".join(table.latex() for table in result.compact())
    names = _file_names(scores.systems)
    texts |= {f"runs/{name}.csv": text for name, text in zip(names, _of_runs(scores), strict=True)}
    if rankings.policies.ties != "expected":  # which has no one ranking
        texts |= {f"runs/{name}.eval": text for name, text in zip(names, _of_trec(rankings), strict=True)}
    with appearing(folder) as draft:
        (draft / "runs").mkdir()
        for name, text in texts.items():
            write_atomically(draft / name, from_utf8(text.encode()))
    return list(texts)


def _of_runs(scores: Scores) -> Iterator[str]:
    """Per run its score in every topic, beside the worst, median and best of all runs; the means come last."""
    values = np.where(scores.counted, scores.values, np.nan)
    every = np.concatenate([values, scores.summary()[:, :, None]], axis=2)
    there = ~np.isnan(every).all(axis=1, keepdims=True)
    known = np.where(there, every, 0.0)
    worst, median, best = np.nanmin(known, axis=1), np.nanmedian(known, axis=1), np.nanmax(known, axis=1)
    for at in range(len(scores.systems)):
        rows = [
            (measure, topic, every[m, at, t], low[m, t], median[m, t], high[m, t])
            for m, measure in enumerate(scores.measures)
            for low, high in [(best, worst) if scores.higher[m] == "worse" else (worst, best)]
            for t, topic in enumerate((*scores.topics, MEAN))
            if not np.isnan(every[m, at, t])
        ]
        yield _csv(("measure", "query_id", "score", "worst", "median", "best"), rows)


def _of_trec(rankings: Rankings) -> Iterator[str]:
    """Per run what ``trec_eval -q -c`` prints: that of version 9, whose ties these are."""
    columns, seen = tuple(select(["official"])), without_negative(rankings)
    for run in rankings.systems:
        one = seen.only([run])
        # Version 9 refuses a run that has none of the topics.
        settings = {"version": 9 if one.present.any() else 10}
        yield "".join(result_of(one, columns, settings).lines(per_topic=True))


def _file_names(runs: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for run in runs:
        name = _safe(run)
        while name in found:
            name += "-"
        found[name] = None
    return list(found)


def _safe(name: str) -> str:
    return _NOT_IN_NAMES.sub("-", name).lstrip(".") or "run"


def _frame(frame: object) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    return frame.columns, frame.iter_rows()  # type: ignore[attr-defined]


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_number(value) for value in row] for row in rows)
    return text.getvalue()


def _number(value: object) -> object:
    return float(value) if isinstance(value, np.floating) else as_cell(value)
