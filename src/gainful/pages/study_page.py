"""The page of a study: every table and figure in one HTML file that needs no network."""

from __future__ import annotations

import json
import re
import shlex
from inspect import signature
from typing import TYPE_CHECKING

from gainful import studies
from gainful._version import __version__
from gainful.pages.page import shell
from gainful.pages.result import need_packages
from gainful.studies.collections import SIMULATED, STAND_INS

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
        "version": __version__,
    }
    return shell("study", contents, ("shell.js", "charts.js", "study.js"))


def _command(study: Study) -> str:
    """What to type: what differs from the defaults; where collections and examples lie is not the study's to know."""
    settings = dict(study.settings)
    examples, training = settings.pop("examples", None), settings.pop("training", None)
    words = ["gainful", "study", study.name]
    for name in study.collections:
        if name not in (SIMULATED, *STAND_INS.values(), examples):
            words += ["--collection", f"{name}=QRELS:RUNS"]
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


def _word(value: object) -> str:
    """As the command line takes it."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{label}:{gain}" for label, gain in value.items()) + "}"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _exhibit(exhibit: Exhibit) -> dict[str, object]:
    drawn = None if exhibit.draw is None else {"label": exhibit.name, "spec": exhibit.draw().to_dict()}
    return {
        "id": re.sub(r"\W+", "-", exhibit.name).lower(),
        "name": exhibit.name,
        "title": exhibit.title,
        "text": exhibit.text,
        "columns": exhibit.frame.columns,
        "rows": [list(row) for row in exhibit.frame.iter_rows()],
        "figure": drawn,
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
