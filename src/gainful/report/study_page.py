"""The page of a study: every table and figure in one HTML file that needs no network."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

from gainful import __version__
from gainful.report.page import shell
from gainful.report.result import need_packages
from gainful.studies.collections import SIMULATED

if TYPE_CHECKING:
    from gainful.studies.result import Exhibit, Study


def study_page(study: Study) -> str:
    """The page as text.

    Parameters
    ----------
    study
        What one of `gainful.studies` gives.
    """
    need_packages()
    contents = {
        "study": study.name,
        "paper": study.paper,
        "collections": list(study.collections),
        "findings": [finding.to_dict() for finding in study.findings],
        "exhibits": [_exhibit(exhibit) for exhibit in study.exhibits],
        "absent": dict(study.absent),
        "settings": {name: _text(value) for name, value in study.settings.items()},
        "command": _command(study),
        "version": __version__,
    }
    return shell("study", contents, ("shell.js", "charts.js", "study.js"))


def _command(study: Study) -> str:
    """What to type; where collections lie is not the study's to know."""
    words = ["gainful", "study", study.name]
    for name in study.collections:
        if name != SIMULATED:
            words += ["--collection", f"{name}=QRELS:RUNS"]
    if "seed" in study.settings:
        words += ["--seed", str(study.settings["seed"])]
    return shlex.join(words)


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
