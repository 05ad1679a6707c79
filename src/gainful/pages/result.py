"""What `report` gives: all numbers, and the page that shows them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gainful.charts import load_altair
from gainful.data.rankings import Rankings
from gainful.data.scores import Scores
from gainful.errors import DataError, MissingExtraError
from gainful.io.atomic import write_atomically
from gainful.pages.files import write_files
from gainful.pages.page import report_page
from gainful.results import Chart, Note, Result, Settings
from gainful.tables import Table

SUFFIXES = (".html", ".htm")
COMMAND = ("gainful", "report")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Report(Result):
    """What `report` found, ready to be saved as a page.

    Parameters
    ----------
    contents
        Everything on the page: what `to_dict` gives.
    scores
        Of all measures, runs and topics.
    rankings
        What they are the scores of.
    results
        What the analyses returned, by their names on the page; nothing where the data do not allow one.
    settings
        What repeats it.
    """

    contents: dict[str, Any]
    scores: Scores
    rankings: Rankings
    results: Mapping[str, tuple[Result, ...]]
    settings: Settings

    def findings(self) -> tuple[str, ...]:
        """The verdicts that stand on the front of the page."""
        return tuple(self.contents["findings"])

    def verdict(self) -> str:
        """What the front of the page says."""
        return " ".join(self.findings())

    def tables(self) -> tuple[Table, ...]:
        """The mean scores of the runs."""
        return (Table.of("means", self.scores.mean()),)

    def notes(self) -> tuple[Note, ...]:
        """What must be known of the data, then of the comparison."""
        every = [note for found in self.results.values() for one in found for note in one.settings.notes]
        compared = [note for one in self.results.get("comparison", ()) for note in own_notes(one)]
        return tuple(dict.fromkeys([*self.settings.notes, *every, *compared]))

    def chart(self) -> Chart:
        """The means of the runs with their intervals."""
        compared = self.results.get("comparison")
        if not compared:
            raise DataError(self.contents["comparison"]["absent"])
        return compared[0].chart()

    def to_dict(self) -> dict[str, Any]:
        """All that is on the page, ready for JSON; charts as Vega-Lite."""
        return dict(self.contents)

    def html(self, path: str | Path | None = None) -> str:
        """The page as text; `path` is the file that its command line names."""
        contents = self.to_dict()
        if contents["command"] is not None:
            begin, output = shlex.join(COMMAND), shlex.join(option("-o", str(path or "report.html")))
            contents["command"] = f"{begin} {output}{contents['command'].removeprefix(begin)}"
        return report_page(contents)

    def save(self, path: str | Path) -> None:
        """Write the page, all of it or nothing.

        Parameters
        ----------
        path
            A name that ends in .html; a file that is there is replaced.
        """
        check_page_path(path)
        write_atomically(path, self.html(path))

    def save_files(self, folder: str | Path) -> list[str]:
        """Write the tables for a paper (LaTeX, CSV), and the scores of each run among those of all, and by trec_eval.

        Parameters
        ----------
        folder
            A new or empty folder: gets means, scores and the tables of all analyses, and in ``runs`` two files per run:
            CSV with the worst, median and best score of each topic beside its own, and what ``trec_eval -q -c`` prints.

        Returns
        -------
        list of str
            The names of the files.
        """
        return write_files(self.scores, self.rankings, self.results, Path(folder))


# Notes on what is printed, which a page shows otherwise.
_OF_PRINT = ("marks", "places", "pairs-not-printed", "shortened")


def option(name: str, value: str) -> list[str]:
    """An option and its value, in one word where the value looks like an option itself."""
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def own_notes(found: Result) -> list[Note]:
    """What must be known of these numbers; not of the data, nor of a table as it is printed."""
    return [note for note in found.notes() if note not in found.settings.notes and note.code not in _OF_PRINT]


def check_page_path(path: str | Path, what: str = "a report") -> None:
    """Refuse, before any long work, a name that no page can be written to, and a page without its packages."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{path}: expected a name that ends in .html")
    if path.is_dir():
        raise DataError(f"{path}: expected the name of a file, got a folder")
    if not path.parent.is_dir():
        raise DataError(f"{path}: expected a folder that exists, got {str(path.parent)!r}")
    need_packages(what)


def need_packages(what: str = "a report") -> None:
    """Refuse to begin without the packages that draw the charts."""
    try:
        load_altair()
    except MissingExtraError:
        raise MissingExtraError("plots", what) from None
