"""The page of a study: every table and figure in one HTML file that needs no network."""

from __future__ import annotations

import json
import re
import shlex
from inspect import signature
from typing import TYPE_CHECKING

from gainful import _polars as pl
from gainful import studies
from gainful._version import __version__
from gainful.pages.page import shell
from gainful.pages.result import need_packages
from gainful.studies.collections import SIMULATED, STAND_INS
from gainful.studies.exhibits import PUBLISHED

if TYPE_CHECKING:
    from gainful.studies.exhibits import Exhibit
    from gainful.studies.result import Study


def study_page(study: Study) -> str:
    """The page as text."""
    need_packages("a page")
    contents = {
        "study": study.name,
        "paper": study.paper,
        "collections": list(study.collections),
        "findings": [finding.to_dict() for finding in study.findings],
        "exhibits": [_exhibit(exhibit) for exhibit in study.exhibits],
        "absent": dict(study.absent),
        "notes": [str(note) for note in study.settings.notes],
        "settings": {name: _text(value) for name, value in study.settings.to_dict().items()},
        "command": _command(study),
        "placeholders": _placeholders(study),
        "version": __version__,
    }
    return shell("study", contents, ("shell.js", "exports.js", "charts.js", "study.js"))


def _command(study: Study) -> str:
    """What to type: the files, and what differs from the defaults; capital words where what was given is no file."""
    settings = dict(study.settings)
    examples, training = settings.pop("examples", None), settings.pop("training", None)
    words = ["gainful", "study", study.name]
    for name in _given(study):
        files = study.files.get(name, ("QRELS", "RUNS"))
        # Only what comes first may have several words of runs.
        words[3:3] = files if len(files) > 2 else []
        words += ["--collection", f"{name}={':'.join(files)}"] if len(files) <= 2 else []
    if examples is not None:
        words += ["--examples", "EXAMPLES"]
    parameters = signature(getattr(studies, study.name.replace("-", "_"))).parameters
    given = {
        name: value
        for name, value in settings.items()
        if name == "seed" or (name in parameters and _word(value) != _word(parameters[name].default))
    }
    if isinstance(training, dict):
        given |= {name: value for name, value in training.items() if value is not None}
    for name, value in given.items():
        words += [f"--{name.replace('_', '-')}", _word(value)]
    return shlex.join(words)


def _given(study: Study) -> list[str]:
    """The collections that were not simulated."""
    known = (SIMULATED, *STAND_INS.values(), study.settings.given.get("examples"))
    return [name for name in study.collections if name not in known]


def _placeholders(study: Study) -> bool:
    """Whether the command has words that stand for files."""
    return "examples" in study.settings or any(name not in study.files for name in _given(study))


def _word(value: object) -> str:
    """As the command line takes it."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{label}:{gain}" for label, gain in value.items()) + "}"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _exhibit(exhibit: Exhibit) -> dict[str, object]:
    drawn = None if exhibit.draw is None else {"label": exhibit.name, "spec": exhibit.draw().to_dict()}
    frame, ours, theirs = exhibit.frame, exhibit.frame, exhibit.frame.clear()
    if "collection" in frame.columns:
        printed = pl.col("collection").str.ends_with(PUBLISHED)
        ours, theirs = frame.filter(~printed), frame.filter(printed)
    return {
        "id": re.sub(r"\W+", "-", exhibit.name).lower(),
        "name": exhibit.name,
        "title": exhibit.title,
        "text": exhibit.text,
        "columns": frame.columns,
        "rows": [list(row) for row in ours.iter_rows()],
        "published": [list(row) for row in theirs.iter_rows()],
        "beside": _beside(ours, theirs),
        "figure": drawn,
    }


def _beside(ours: pl.DataFrame, theirs: pl.DataFrame) -> list[list[list[float] | None]]:
    """For each of our numbers the lowest and the highest that the paper prints, of the same measure and the like.

    Of the same collection, if the paper has it; else of all of its collections.
    """
    if theirs.is_empty():
        return []
    keys = [name for name, kind in ours.schema.items() if kind == pl.String and name != "collection"]
    numbers = [name for name, kind in ours.schema.items() if kind.is_float()]
    found: list[list[list[float] | None]] = []
    for row in ours.iter_rows(named=True):
        like = theirs.filter(*(pl.col(key) == row[key] for key in keys))
        # A track goes by many names: that of its year, if it has one.
        year = re.search(r"\b(?:web)?((?:19|20)\d\d)\b", row["collection"], re.IGNORECASE)
        same = like.filter(pl.col("collection").str.contains(year[1] if year else f"^{re.escape(row['collection'])} "))
        like = like if same.is_empty() else same
        ends = {name: (like[name].min(), like[name].max()) for name in numbers}
        found.append([list(ends[name]) if name in ends and None not in ends[name] else None for name in ours.columns])  # type: ignore[arg-type]
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
