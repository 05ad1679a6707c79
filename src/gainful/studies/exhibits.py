"""The tables and figures of a paper, reproduced, and its own numbers beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from gainful import _polars as pl
from gainful.errors import DataError
from gainful.results import Chart
from gainful.studies.panels import Axis, panels
from gainful.tables import Column, Kind, Table

# How the name of a collection ends whose numbers are those of the paper.
PUBLISHED = " (published)"
# Rows of an exhibit that are printed; CSV, JSON and the page have all of them.
_ROWS = 24
_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exhibit:
    """One table or figure of the paper, reproduced."""

    name: str  # as the paper numbers it, such as Table 2a
    title: str  # what it shows, in a few words
    text: str  # what was done here, and how that differs from the paper
    frame: pl.DataFrame  # the numbers; published ones stand below ours, their collections end in '(published)'
    draw: Callable[[], Chart] | None = None  # draws the figure; None for a table
    brief: pl.DataFrame | None = None  # what is printed of a long frame; None for all of it

    def to_dict(self) -> dict[str, object]:
        """All but the drawing, ready for JSON."""
        return {"name": self.name, "title": self.title, "text": self.text, "rows": self.frame.to_dicts()}

    def chart(self) -> Chart:
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
        return Table(name=self.name, data=frame, columns=columns, title=title)


def _kind(column: pl.Series) -> Kind:
    """Ranks and other whole numbers need no decimals, also where they are kept as floats."""
    if not column.dtype.is_float():
        return "count" if column.dtype.is_integer() else "text"
    given = column.drop_nulls()
    whole = given.n_unique() > 1 and (given == given.round(0)).all() and (given.abs() > 1).any()
    return "count" if whole else "score"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Paper:
    """What a paper shows."""

    citation: str  # who wrote what, where
    # By exhibit, its title, what was done here and how that differs from the paper.
    about: Mapping[str, Mapping[str, str]]
    # By exhibit, the numbers that the paper prints; shares where it gives per cent.
    published: Mapping[str, pl.DataFrame]

    def exhibit(self, name: str, ours: Any, values: Mapping[str, Any] = _NONE, **more: Any) -> Exhibit:
        """One of the exhibits; the numbers that the paper prints stand below ours, if we have any.

        `values` are put into its title and text; of `more`, see `Exhibit`, `brief` may be a function of the frame.
        """
        frame = ours if isinstance(ours, pl.DataFrame) else pl.DataFrame(ours, infer_schema_length=None)
        if name in self.published and not frame.is_empty():
            frame = with_published(frame, self.published[name])
        if callable(more.get("brief")):
            more["brief"] = None if frame.is_empty() else more["brief"](frame)
        title, text = (self.about[name][part].format(**values) for part in ("title", "text"))
        return Exhibit(name=name, title=title, text=text, frame=frame, **more)

    def prints(self, name: str, columns: Sequence[str], form: str = ".3g", **rows: Any) -> str:
        """The numbers in some columns of an exhibit, the lowest and the highest; of `rows` that have these values."""
        frame = self.published[name].filter(**rows) if rows else self.published[name]
        ends = {column: [format(end, form) for end in (frame[column].min(), frame[column].max())] for column in columns}
        return f"{name}: " + ", ".join(f"{column} {' to '.join(dict.fromkeys(both))}" for column, both in ends.items())

    def figure(
        self, name: str, frame: pl.DataFrame, *, values: Mapping[str, Any] = _NONE, brief: Any, **panel: Any
    ) -> Exhibit:
        """One of the exhibits, drawn in panels; see `panels`, where another frame may be given as `drawn`."""
        made = self.exhibit(name, frame, values, brief=brief)
        drawn = panel.pop("drawn", lambda: frame)
        return replace(made, draw=lambda: panels(drawn(), title=made.title, **panel))

    def lines(
        self, name: str, frame: pl.DataFrame, lines: Sequence[str], *, x: Axis, y: Axis, brief: pl.Expr, **values: Any
    ) -> Exhibit:
        """One line per column in `lines`, one panel per cutoff if there are any; `brief` says which rows to print."""
        by_cutoff = "cutoff" in frame.columns

        def drawn() -> pl.DataFrame:
            index = ["collection", x.field, *(["cutoff"] if by_cutoff else [])]
            long = frame.unpivot(lines, index=index, variable_name="measure", value_name=y.field)
            return long.with_columns(at=pl.format("nDCG@{}", "cutoff")) if by_cutoff else long

        panel = {"x": x, "y": y, "by": "measure", "drawn": drawn, **({"column": "at"} if by_cutoff else {})}
        return self.figure(name, frame, values=values, brief=frame.filter(brief), **panel)


@cache
def read_paper(study: str) -> Paper:
    """The paper of a study, from the file beside its modules."""
    content = json.loads((files("gainful.studies") / study / "paper.json").read_text(encoding="utf-8"))
    exhibits = content["exhibits"]
    return Paper(
        citation=content["paper"],
        about={name: {part: each[part] for part in ("title", "text")} for name, each in exhibits.items()},
        published={
            name: pl.DataFrame(each["rows"], schema=each["columns"], orient="row", infer_schema_length=None)
            for name, each in exhibits.items()
            if "rows" in each
        },
    )


def with_published(ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """Our rows, then those of the paper, their collections marked; null where the paper says nothing."""
    shared = [column for column in theirs.columns if column in ours.schema]
    # A column in which we have nothing has no type of its own.
    ours = ours.with_columns(pl.col(name).cast(theirs.schema[name]) for name in shared if ours.schema[name] == pl.Null)
    theirs = theirs.with_columns(pl.col(name).cast(ours.schema[name]) for name in shared)
    return pl.concat([ours, theirs.with_columns(pl.col("collection") + PUBLISHED)], how="diagonal")


def stacked(parts: Iterable[pl.DataFrame | Mapping[str, Any]]) -> pl.DataFrame:
    """Frames, or columns by name, below each other; a frame without columns if all are empty."""
    some = [frame for frame in map(pl.DataFrame, parts) if not frame.is_empty()]
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
    """What `Study.absent` holds: exhibits that no collection allows, and those that only some do not."""
    made = {exhibit.name for exhibit in exhibits}
    reasons: dict[str, list[str]] = {}
    for collection, why in lacking.items():
        for name, reason in why.items():
            key = f"{name} of {collection}" if name in made else name
            reasons.setdefault(key, []).append(reason if name in made else f"{collection} {reason}")
    return {name: "; ".join(found) for name, found in reasons.items()}
