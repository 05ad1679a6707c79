"""What a study gives: the exhibits of a paper, reproduced, and whether what the paper found holds here."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gainful import _polars as pl
from gainful.charts import load_altair, styled
from gainful.errors import DataError, check_choice
from gainful.results import Chart, Note, Result, Settings, listed, plural
from gainful.studies.collections import StudyCollection
from gainful.studies.exhibits import Exhibit, read_paper
from gainful.studies.findings import Finding
from gainful.tables import Table

# Claims that a verdict names; the table of findings has all of them.
_CLAIMS = 3
# Letters of a title that fit on a line above the figures.
_TITLE = 72
_HOLDS = {True: "yes", False: "no", None: "undecided"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Study(Result):
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
    files
        By collection where its judgments and runs are, if it was read from files.
    """

    name: str
    paper: str
    collections: tuple[str, ...]
    exhibits: tuple[Exhibit, ...]
    findings: tuple[Finding, ...]
    absent: Mapping[str, str]
    settings: Settings
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        settings: Settings,
        loaded: Sequence[StudyCollection],
        exhibits: Iterable[Exhibit],
        findings: Iterable[Finding],
        absent: Mapping[str, str],
        further: Sequence[str] = (),
    ) -> Study:
        """A study of some collections; `further` ones are named that are not judgments and runs."""
        found = tuple(findings)
        judged = {finding.collection for finding in found if finding.holds is not None}
        notes = [Note(n.code, n.subject, f"{one.name}: {n.text}") for one in loaded for n in one.notes()]
        notes += [one.few for one in loaded if one.few is not None and one.name in judged]
        data = "; ".join([*map(str, loaded), *further])
        return cls(
            name=settings.name.replace("_", "-"),
            paper=read_paper(settings.name).citation,
            collections=(*(one.name for one in loaded), *further),
            exhibits=tuple(exhibits),
            findings=found,
            absent=absent,
            settings=replace(settings, data=data, notes=tuple(notes)),
            files={one.name: one.files for one in loaded if one.files},
        )

    def __getitem__(self, name: str) -> Exhibit:
        """The exhibit of that name, such as Table 2a."""
        by_name = {exhibit.name: exhibit for exhibit in self.exhibits}
        if name in self.absent:
            raise DataError(f"{name} could not be made: {self.absent[name]}")
        check_choice("exhibit", name, tuple(by_name))
        return by_name[name]

    def verdict(self) -> str:
        """Per collection, how many of the paper's findings hold, and which do not."""
        sentences = []
        for name in dict.fromkeys(finding.collection for finding in self.findings):
            here = [finding for finding in self.findings if finding.collection == name]
            fails = [finding.claim for finding in here if finding.holds is False]
            open_ = sum(finding.holds is None for finding in here)
            held = len(here) - len(fails) - open_
            text = f"{held} of {plural(len(here), 'finding')} {'holds' if held == 1 else 'hold'} on {name}"
            text += f", {open_} cannot be decided" if open_ else ""
            more = f"; and {len(fails) - _CLAIMS} more" if len(fails) > _CLAIMS else ""
            shown = "; ".join(fails[:_CLAIMS])
            sentences.append(f"{text}. What does not hold: {shown}{more}." if fails else f"{text}.")
        return " ".join(sentences) or f"None of the paper's findings can be looked for on {listed(self.collections)}."

    def tables(self) -> tuple[Table, ...]:
        """Every exhibit as it is printed, then the findings."""
        tables = [exhibit.table() for exhibit in self.exhibits]
        if self.findings:
            frame = pl.DataFrame(
                [(one.collection, _HOLDS[one.holds], one.claim, one.paper, one.evidence) for one in self.findings],
                schema=["collection", "holds", "finding", "paper", "here"],
                orient="row",
            )
            title = "Findings: what the paper found, and whether it holds here."
            tables.append(Table.of("findings", frame, title=title, prose=True))
        return tuple(tables)

    def compact(self) -> tuple[Table, ...]:
        """All of them: a study is what its exhibits show."""
        return self.tables()

    def _notes(self) -> list[Note]:
        reasons: dict[str, list[str]] = {}
        for name, why in self.absent.items():
            reasons.setdefault(why, []).append(name)
        return [
            Note("not-made", ", ".join(names), f"{', '.join(names)} could not be made: {why}.")
            for why, names in reasons.items()
        ]

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

    def _content(self) -> dict[str, Any]:
        return {
            "study": self.name,
            "paper": self.paper,
            "collections": list(self.collections),
            "exhibits": [exhibit.to_dict() for exhibit in self.exhibits],
            "findings": [finding.to_dict() for finding in self.findings],
            "absent": dict(self.absent),
        }

    def chart(self) -> Chart:
        """All figures, one below the other."""
        alt = load_altair()
        figures = []
        for exhibit in self.exhibits:
            if exhibit.draw is not None:
                figure: Any = exhibit.draw()
                figure.config = alt.Undefined  # only the whole may have one
                figures.append(figure.properties(title=_lines(f"{exhibit.name}: {exhibit.title}")))
        if not figures:
            raise DataError(f"study {self.name}: no figure could be made of these data")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Altair's remark that parameters were renamed
            whole = alt.vconcat(*figures).resolve_scale(
                color="independent", strokeDash="independent", shape="independent"
            )
        return styled(whole, _lines(f"{self.paper}, reproduced"))


def _lines(title: str) -> str | list[str]:
    """A title as the lines that it needs."""
    lines = textwrap.wrap(title, _TITLE)
    return lines if len(lines) > 1 else title
