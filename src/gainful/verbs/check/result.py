"""What `check` found."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from gainful.errors import GainfulError
from gainful.results import Chart, Result, Settings, listed, plural
from gainful.tables import Table

Level = Literal["error", "warning"]
Kind = Literal["run", "qrels", "no run"]
# How much of a message stands in the line of its file.
_BRIEF = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is wrong with a file."""

    level: Level
    code: str  # what kind of thing it is, such as ``duplicate``
    text: str  # what it is, and where
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheck:
    """What is known of a file, or of one of the runs in it."""

    file: str
    run: str | None  # its name, if it is one
    kind: Kind
    what: str = ""  # that a file is if it is no run
    topics: int | None = None
    documents: int | None = None  # or judgments
    judged: float | None = None  # the share of the first ten documents that are
    tied: float | None = None  # the share of documents with the score of another one of their topic
    findings: tuple[Finding, ...] = ()

    @property
    def brief(self) -> str:
        """What was found, in a few words: the kinds of things, or why it cannot be read."""
        words = [
            _shortened(re.sub(f"^{re.escape(self.file)}[:,]", "", one.text)) if one.code == "unreadable" else one.code
            for one in self.findings
        ]
        return ", ".join(dict.fromkeys(words)) or self.what

    @property
    def status(self) -> str:
        """Ok, or how many errors and warnings."""
        if self.kind == "no run":
            return "no run"
        count = Counter(one.level for one in self.findings)
        return listed([plural(count[level], level) for level in ("error", "warning") if count[level]]) or "ok"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Check(Result):
    """What `check` found: per file whether it can be used, and all that is wrong with it.

    Parameters
    ----------
    files
        One entry per file, or per run of a file with several.
    settings
        What repeats it.
    """

    files: tuple[FileCheck, ...]
    settings: Settings

    @property
    def errors(self) -> int:
        """How many errors there are; a command exits with status 1 if there is one."""
        return sum(one.level == "error" for file in self.files for one in file.findings)

    def verdict(self) -> str:
        """How many files are good, and how many are not."""
        runs = [file for file in self.files if file.kind == "run"]
        bad = [file for file in runs if any(one.level == "error" for one in file.findings)]
        doubtful = [file for file in runs if file not in bad and file.findings]
        good = len(runs) - len(bad) - len(doubtful)
        counts = {"ok": good, "to be looked at (warnings)": len(doubtful), "broken (errors)": len(bad)}
        said = listed([f"{number} {_are(number)} {what}" for what, number in counts.items() if number])
        text = f"Of {plural(len(runs), 'run')}, {said}." if runs else "There is no run."
        for file in self.files:
            if file.kind == "qrels":
                text += f" The judgments: {file.status}."
        others = sum(file.kind == "no run" for file in self.files)
        return (
            text
            + (f" {plural(others, 'file')} {_are(others)} no runs." if others > 1 else "")
            + (" 1 file is no run." if others == 1 else "")
        )

    def tables(self) -> tuple[Table, ...]:
        """One row per file; then all that was found."""
        return self._files(), self._details()

    def _files(self) -> Table:
        data: dict[str, list[Any]] = {
            "file": [file.file for file in self.files],
            "run": [file.run for file in self.files],
            "kind": [file.kind for file in self.files],
            "status": [file.status for file in self.files],
            "topics": [file.topics for file in self.files],
            "documents": [file.documents for file in self.files],
            "judged@10": [file.judged for file in self.files],
            "tied": [file.tied for file in self.files],
            "first": [file.what or next((one.text for one in file.findings), "") for file in self.files],
            "brief": [file.brief for file in self.files],
        }
        headers: dict[str, Any] = {"file": "file", "status": "status", "topics": ("topics", "count")}
        headers |= {"documents": ("documents", "count"), "judged@10": ("judged@10", "share"), "tied": ("tied", "share")}
        return Table.of("files", data, {**headers, "brief": "what"})

    def _details(self) -> Table:
        rows = [(file.file, one) for file in self.files for one in file.findings]
        data: dict[str, list[Any]] = {
            "file": [file for file, _ in rows],
            "level": [one.level for _, one in rows],
            "code": [one.code for _, one in rows],
            "text": [one.text for _, one in rows],
            "remedy": [one.remedy for _, one in rows],
        }
        headers = {"file": "file", "level": "level", "text": "what is wrong", "remedy": "what to do"}
        return Table.of("details", data, headers, prose=True)

    def chart(self) -> Chart:
        """There is nothing to draw."""
        raise GainfulError("check: expected a result that can be drawn; print its tables instead")


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _shortened(text: str) -> str:
    """What follows the name of a file in a message, on one line: 'line 17: expected 6 fields …'."""
    return textwrap.shorten(re.sub(r"^(?=\d+:)", "line ", text.lstrip()), _BRIEF, placeholder=" …")
