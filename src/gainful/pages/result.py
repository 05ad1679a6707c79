"""What `report` gives: all numbers, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gainful.charts import load_altair
from gainful.errors import DataError, MissingExtraError
from gainful.io.atomic import write_atomically
from gainful.pages.command import with_output
from gainful.pages.page import report_page

SUFFIXES = (".html", ".htm")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Report:
    """What `report` found, ready to be saved as a page.

    Parameters
    ----------
    contents
        Everything on the page: what `to_dict` gives.
    """

    contents: dict[str, Any]

    def __str__(self) -> str:
        found = self.contents
        counts = {"run": len(found["systems"]), "topic": len(found["topics"]), "judgment": found["judgments"]}
        settings = {**found["settings"], **found["policies"]}
        return (
            f"report: {', '.join(_count(number, what) for what, number in counts.items())}; "
            f"{', '.join(measure['name'] for measure in found['measures'])}; "
            f"{' '.join(f'{name}={_text(value)}' for name, value in settings.items())}"
        )

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """All that is on the page, ready for JSON; charts as Vega-Lite."""
        return dict(self.contents)

    def html(self, path: str | Path | None = None) -> str:
        """The page as text; `path` is the file that its command line names."""
        contents = self.to_dict()
        if contents["command"] is not None:
            contents["command"] = with_output(contents["command"], str(path or "report.html"))
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


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
