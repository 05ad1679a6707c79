"""The tables and figures of a paper, reproduced, and its own numbers beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from gainful.errors import DataError
from gainful.results import Column, Kind, Table

if TYPE_CHECKING:
    import altair

# How the name of a collection ends whose numbers are those of the paper.
PUBLISHED = " (published)"
# Rows of an exhibit that are printed; CSV, JSON and the page have all of them.
_ROWS = 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exhibit:
    """One table or figure of the paper, reproduced.

    Parameters
    ----------
    name
        As the paper numbers it, such as Table 2a.
    title
        What it shows, in a few words.
    text
        What was done here, and how that differs from the paper.
    frame
        The numbers. Published ones stand below ours, in rows whose collection ends in '(published)'.
    draw
        Draws the figure; None for a table.
    brief
        What is printed of a long frame; None for all of it.
    """

    name: str
    title: str
    text: str
    frame: pl.DataFrame
    draw: Callable[[], altair.TopLevelMixin] | None = None
    brief: pl.DataFrame | None = None

    def to_dict(self) -> dict[str, object]:
        """All but the drawing, ready for JSON."""
        return {"name": self.name, "title": self.title, "text": self.text, "rows": self.frame.to_dicts()}

    def chart(self) -> altair.TopLevelMixin:
        """The figure; a table has none."""
        if self.draw is None:
            raise DataError(f"{self.name} is a table: expected an exhibit that is a figure")
        return self.draw()

    def table(self) -> Table:
        """As it is printed: what is brief, and no more rows than can be read."""
        frame = (self.frame if self.brief is None else self.brief).head(_ROWS)
        more = f" ({self.frame.height} rows in all: CSV, JSON and the page have them.)"
        title = f"{self.name}: {self.title}. {self.text}{more if self.frame.height > frame.height else ''}"
        columns = tuple(Column(column.name, column.name, _kind(column)) for column in frame)
        return Table(name=self.name, frame=frame, columns=columns, title=title)


def _kind(column: pl.Series) -> Kind:
    """Ranks and other whole numbers need no decimals, also where they are kept as floats."""
    if not column.dtype.is_float():
        return "count" if column.dtype.is_integer() else "text"
    given = column.drop_nulls()
    whole = given.n_unique() > 1 and (given == given.round(0)).all() and (given.abs() > 1).any()
    return "count" if whole else "score"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Published:
    """What a paper prints.

    Parameters
    ----------
    paper
        Who wrote what, where.
    tables
        By exhibit, its numbers; shares where the paper gives per cent.
    """

    paper: str
    tables: Mapping[str, pl.DataFrame]

    def below(self, name: str, ours: Any, types: Mapping[str, Any] | None = None) -> pl.DataFrame:
        """Our rows, then those of the paper, their collections marked; null where the paper says nothing.

        Parameters
        ----------
        name
            Of the exhibit.
        ours
            A frame or rows, with a column 'collection'; without any rows, the paper's are left out, too.
        types
            Of columns in which we may have nothing.
        """
        frame = ours if isinstance(ours, pl.DataFrame) else pl.DataFrame(ours, infer_schema_length=None)
        if frame.is_empty():
            return pl.DataFrame()
        theirs = self.tables[name].with_columns(pl.col("collection") + PUBLISHED)
        known = {**theirs.schema, **(types or {})}
        # A column in which we have nothing has no type of its own.
        frame = frame.with_columns(
            pl.col(c).cast(known[c]) for c in frame.columns if frame.schema[c] == pl.Null and c in known
        )
        shared = [column for column in theirs.columns if column in frame.schema]
        theirs = theirs.with_columns(pl.col(column).cast(frame.schema[column]) for column in shared)
        return pl.concat([frame, theirs], how="diagonal")


@cache
def read_published(study: str) -> Published:
    """The numbers of a study's paper, from the file beside its modules.

    Parameters
    ----------
    study
        The study's package, such as negative_labels.
    """
    content = json.loads((files("gainful.studies") / study / "published.json").read_text(encoding="utf-8"))
    paper = content.pop("paper")
    tables = {
        name: pl.DataFrame(table["rows"], schema=table["columns"], orient="row", infer_schema_length=None)
        for name, table in content.items()
    }
    return Published(paper=paper, tables=tables)


def stacked(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Frames below each other; one without columns if all are empty."""
    some = [frame for frame in frames if not frame.is_empty()]
    return pl.concat(some) if some else pl.DataFrame()


def nearest(
    frame: pl.DataFrame, at: str, wanted: Sequence[int], index: Sequence[str], value: str
) -> pl.DataFrame | None:
    """A few places of long curves, side by side: those nearest to the ones wanted."""
    if frame.is_empty():
        return None
    have = frame[at].unique()
    chosen = list(dict.fromkeys(int(have[int((have - place).abs().arg_min() or 0)]) for place in wanted))
    found = frame.filter(pl.col(at).is_in(chosen)).pivot(at, index=["collection", *index], values=value)
    return found.rename({str(place): f"{at} {place}" for place in chosen if str(place) in found.columns})


def absences(lacking: Mapping[str, Mapping[str, str]], exhibits: Iterable[Exhibit]) -> dict[str, str]:
    """What `Study.absent` holds: exhibits that no collection allows, and those that only some do not.

    Parameters
    ----------
    lacking
        By collection, the exhibits that it does not allow, and why.
    exhibits
        Those that could be made, of other collections.
    """
    made = {exhibit.name for exhibit in exhibits}
    reasons: dict[str, list[str]] = {}
    for collection, why in lacking.items():
        for name, reason in why.items():
            key = f"{name} of {collection}" if name in made else name
            reasons.setdefault(key, []).append(reason if name in made else f"{collection} {reason}")
    return {name: "; ".join(found) for name, found in reasons.items()}
