"""What a study gives: the exhibits of a paper made anew, and whether what the paper found holds here."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from gainful.charts import load_altair, styled
from gainful.errors import DataError, check_choice

if TYPE_CHECKING:
    import altair

# How the name of a collection ends whose numbers are those of the paper.
PUBLISHED = " (published)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exhibit:
    """One table or figure of the paper, made anew.

    Parameters
    ----------
    name
        As the paper numbers it, such as Table 2a.
    title
        What it shows, in a few words.
    text
        What was done here, and how that differs from the paper.
    frame
        The numbers. Published ones stand below ours, in rows whose collection ends in '(published)'; where the paper
        has one figure for one of ours, beside it, in a column whose name does.
    draw
        Draws the figure; None for a table.
    brief
        What a screen shows of a long frame; None for all of it.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the paper found, and whether it holds here.

    Parameters
    ----------
    claim
        What the paper found, in a sentence.
    collection
        Where it was looked for.
    holds
        Whether it holds there.
    evidence
        The numbers that say so.
    """

    claim: str
    collection: str
    holds: bool
    evidence: str

    def __str__(self) -> str:
        return f"{self.collection}: {'holds' if self.holds else 'DOES NOT HOLD'}: {self.claim} ({self.evidence})"

    def to_dict(self) -> dict[str, object]:
        """All of it, ready for JSON."""
        return {"claim": self.claim, "collection": self.collection, "holds": self.holds, "evidence": self.evidence}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study:
    """The experiments of one paper on some collections.

    Parameters
    ----------
    name
        As in `gainful study NAME`.
    paper
        Who wrote what, where.
    collections
        The names of the collections.
    exhibits
        The tables and figures, in the paper's order.
    findings
        What the paper found, and whether it holds here.
    absent
        Exhibits that the data do not allow, and why.
    settings
        What repeats the study, seed included.
    notes
        What one should know before believing the findings.
    """

    name: str
    paper: str
    collections: tuple[str, ...]
    exhibits: tuple[Exhibit, ...]
    findings: tuple[Finding, ...]
    absent: Mapping[str, str]
    settings: Mapping[str, object]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        held, found = sum(finding.holds for finding in self.findings), len(self.findings)
        told = f"{held} of {found} finding{' holds' if found == 1 else 's hold'}" if found else "no findings"
        number = len(self.exhibits)
        settings = " ".join(f"{name}={value}" for name, value in self.settings.items())
        exhibits = f"{number} exhibit{'' if number == 1 else 's'}"
        return f"study {self.name} on {', '.join(self.collections)}: {exhibits}, {told}; {settings}"

    def __getitem__(self, name: str) -> Exhibit:
        """The exhibit of that name, such as Table 2a."""
        by_name = {exhibit.name: exhibit for exhibit in self.exhibits}
        if name in self.absent:
            raise DataError(f"{name} could not be made: {self.absent[name]}")
        check_choice("exhibit", name, tuple(by_name))
        return by_name[name]

    def to_dict(self) -> dict[str, object]:
        """Exhibits, findings and settings, ready for JSON."""
        return {
            "study": self.name,
            "paper": self.paper,
            "collections": list(self.collections),
            "exhibits": [exhibit.to_dict() for exhibit in self.exhibits],
            "findings": [finding.to_dict() for finding in self.findings],
            "absent": dict(self.absent),
            "notes": list(self.notes),
            "settings": dict(self.settings),
        }

    def to_frame(self) -> pl.DataFrame:
        """Every number of every exhibit: exhibit, row (from 1), column, value as text."""
        parts = [
            exhibit.frame.select(pl.all().cast(pl.String))
            .with_row_index("row", 1)
            .unpivot(index="row", variable_name="column", value_name="value")
            .sort("row", maintain_order=True)
            .select(pl.lit(exhibit.name).alias("exhibit"), pl.col("row").cast(pl.Int64), "column", "value")
            for exhibit in self.exhibits
            if not exhibit.frame.is_empty()
        ]
        schema = {"exhibit": pl.String, "row": pl.Int64, "column": pl.String, "value": pl.String}
        return pl.concat(parts) if parts else pl.DataFrame(schema=schema)

    def chart(self) -> altair.TopLevelMixin:
        """All figures, one below the other."""
        alt = load_altair()
        figures = []
        for exhibit in self.exhibits:
            if exhibit.draw is not None:
                figure: Any = exhibit.draw()
                figure.config = alt.Undefined  # only the whole may have one
                figures.append(figure.properties(title=f"{exhibit.name}: {exhibit.title}"))
        if not figures:
            raise DataError(f"study {self.name}: no figure could be made of these data")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Altair's remark that parameters were renamed
            whole = alt.vconcat(*figures).resolve_scale(
                color="independent", strokeDash="independent", shape="independent"
            )
        return styled(whole, f"{self.paper}, made anew")


def decided(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that the numbers decide: where one of them is undefined, there is nothing to say."""
    return tuple(finding for finding in findings if not re.search(r"\bnan\b", finding.evidence))


def with_published(ours: pl.DataFrame, published: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """Our rows, then those of the paper, their collections marked as published; null where the paper says nothing.

    Parameters
    ----------
    ours
        Has a column 'collection'.
    published
        Rows by column; columns that only they have come last.
    """
    rows = [{**row, "collection": f"{row['collection']}{PUBLISHED}"} for row in published]
    theirs = pl.DataFrame(rows, infer_schema_length=None)
    shared = [name for name in theirs.columns if name in ours.schema]
    # A column in which we have nothing has no type of its own.
    ours = ours.with_columns(pl.col(name).cast(theirs.schema[name]) for name in shared if ours.schema[name] == pl.Null)
    theirs = theirs.with_columns(pl.col(name).cast(ours.schema[name]) for name in shared)
    return pl.concat([ours, theirs], how="diagonal")


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
