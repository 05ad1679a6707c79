"""`gainful study negative-labels`, `gain-discount`, `incomplete-judgments` and `forbidden-documents`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from cyclopts import Parameter

from gainful.cli.inputs import Files, Whole, refuse_measures
from gainful.cli.lists import NUMBERS, WHOLES, choices, commas
from gainful.cli.ltrf import Trained
from gainful.cli.output import Table, check_targets, chosen_format, note, number
from gainful.cli.results import Shown
from gainful.cli.shell import one_line_each, shell_of
from gainful.errors import DataError
from gainful.io.compression import split_compression
from gainful.io.write import write_atomically
from gainful.ltrf.targets import LOSSES, Loss
from gainful.pages.result import check_page_path
from gainful.studies.forbidden_documents import forbidden_documents as study_forbidden_documents
from gainful.studies.gain_discount import gain_discount as study_gain_discount
from gainful.studies.incomplete_judgments import incomplete_judgments as study_incomplete_judgments
from gainful.studies.negative_labels import negative_labels as study_negative_labels
from gainful.studies.result import Exhibit, Study

# Rows of an exhibit that a screen holds; CSV, JSON and the page have all of them.
_ROWS = 24
# Endings of a file that say how it is written, not what it holds.
_FORMATS = (".txt", ".csv", ".tsv", ".jsonl", ".json", ".parquet", ".arrow", ".qrels")


@Parameter(name="*")
@one_line_each
@dataclass(frozen=True, slots=True, kw_only=True)
class Studied:
    """What a study runs on, and the page it makes.

    Parameters
    ----------
    collection
        A collection by name, as NAME=QRELS:RUNS, where RUNS is a file, a folder or a glob, or as NAME=QRELS for what
        needs no runs; may be repeated. Without any, and without files, the study runs on a simulated collection.
    page
        Write all tables, figures and findings into this file, a page (.html) that opens without a network.
    """

    collection: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    page: Path | None = None

    def collections(self, files: tuple[str, ...]) -> dict[str, tuple[Any, Any]] | None:
        """By name, the judgments and runs; None for the simulated collection."""
        found: dict[str, tuple[Any, Any]] = {}
        if files:
            refuse_measures(list(files[1:]))
            found[_name(files[0])] = (files[0], list(files[1:]))
        for text in self.collection:
            name, pair = _collection(text)
            if name in found:
                raise DataError(f"--collection {text}: there is a collection {name!r} already; give it another name")
            found[name] = pair
        return found or None

    @contextmanager
    def working(self, shown: Shown) -> Iterator[None]:
        """Around the computation: refuses what cannot be written before it starts, and shows how far it is."""
        if self.page is not None:
            check_page_path(self.page, "a page")
        targets = [path for path in (shown.output, shown.chart, self.page) if path is not None]
        check_targets(targets, [path for text in self.collection for path in _collection(text)[1] if path])
        with shown.working():
            yield

    def show(self, study: Study, shown: Shown) -> None:
        """Print or write the study; tell its findings on stderr where what is printed has none; write its page."""
        reasons: dict[str, list[str]] = {}
        for name, why in study.absent.items():
            reasons.setdefault(why, []).append(name)
        absent = [f"note: {', '.join(names)} could not be made: {why}" for why, names in reasons.items()]
        tables = [_table(exhibit) for exhibit in study.exhibits]
        tables += [_findings(study)] if study.findings else []
        printed = shown.output is None and chosen_format(shown.format, None) in ("table", "latex")
        told = [] if printed else [str(finding) for finding in study.findings]
        shown.show(study, tables, [*absent, *told, *(f"note: {text}" for text in study.notes)])
        if self.page is not None:
            from gainful.pages.study_page import study_page

            write_atomically(self.page, study_page(study).encode())
            note(f"page: {self.page}")


_STUDIED = Studied()


@shell_of(study_negative_labels)
def negative_labels(
    files: Files = (),
    /,
    *,
    cutoffs: Annotated[tuple[int, ...], WHOLES, Parameter(show_default=commas)] = (5, 10, 15, 20),
    pool_depth: Whole = 20,
    draws: Whole = 200,
    fuzziness: float = 0.05,
    resamples: Whole = 1000,
    seed: Whole = 0,
    studied: Studied = _STUDIED,
    shown: Shown = Shown(),
) -> None:
    """See `gainful.studies.negative_labels`.

    Parameters
    ----------
    files
        Judgments, then runs: files, folders or globs; see --collection for more than one collection.
    """
    with studied.working(shown):
        study = study_negative_labels(
            studied.collections(files),
            cutoffs=cutoffs,
            pool_depth=pool_depth,
            draws=draws,
            fuzziness=fuzziness,
            resamples=resamples,
            seed=seed,
        )
    studied.show(study, shown)


@shell_of(study_incomplete_judgments)
def incomplete_judgments(
    files: Files = (),
    /,
    *,
    levels: Annotated[tuple[float, ...] | None, NUMBERS] = None,
    trials: Whole = 10,
    weights: Annotated[tuple[float, ...], NUMBERS, Parameter(show_default=commas)] = (2.0, 10.0, 100.0),
    rel: float = 1.0,
    pairs: Whole = 300,
    alpha: float = 0.05,
    least_returned: float = 0.95,
    seed: Whole = 0,
    studied: Studied = _STUDIED,
    shown: Shown = Shown(),
) -> None:
    """See `gainful.studies.incomplete_judgments`.

    Parameters
    ----------
    files
        Judgments, then runs: files, folders or globs; see --collection for more than one collection.
    """
    with studied.working(shown):
        study = study_incomplete_judgments(
            studied.collections(files),
            levels=levels,
            trials=trials,
            weights=weights,
            rel=rel,
            pairs=pairs,
            alpha=alpha,
            least_returned=least_returned,
            seed=seed,
        )
    studied.show(study, shown)


@shell_of(study_gain_discount)
def gain_discount(
    files: Files = (),
    /,
    *,
    cutoff: Whole = 20,
    discount_cutoffs: Annotated[tuple[int, ...], WHOLES, Parameter(show_default=commas)] = (10, 20, 100),
    gain_cutoffs: Annotated[tuple[int, ...], WHOLES, Parameter(show_default=commas)] = (3, 10, 20, 100, 200),
    phi: float = 0.95,
    best: Whole = 30,
    starts: Whole = 2,
    splits: Whole = 5,
    resamples: Whole = 1000,
    seed: Whole = 0,
    studied: Studied = _STUDIED,
    shown: Shown = Shown(),
) -> None:
    """See `gainful.studies.gain_discount`.

    Parameters
    ----------
    files
        Judgments, then runs: files, folders or globs; see --collection for more than one collection.
    """
    with studied.working(shown):
        study = study_gain_discount(
            studied.collections(files),
            cutoff=cutoff,
            discount_cutoffs=discount_cutoffs,
            gain_cutoffs=gain_cutoffs,
            phi=phi,
            best=best,
            starts=starts,
            splits=splits,
            resamples=resamples,
            seed=seed,
        )
    studied.show(study, shown)


@shell_of(study_forbidden_documents)
def forbidden_documents(
    files: Files = (),
    /,
    *,
    examples: Path | None = None,
    forbidden: float = -10.0,
    cutoff: Whole = 500,
    bound_cutoffs: Annotated[tuple[int, ...], WHOLES, Parameter(show_default=commas)] = (50, 300),
    draws: Whole = 200,
    fuzziness: float = 0.01,
    resamples: Whole = 1000,
    gains: str | None = None,
    losses: Annotated[tuple[Loss, ...], choices(LOSSES)] = LOSSES,
    seed: Whole = 0,
    settings: Trained = Trained(),
    studied: Studied = _STUDIED,
    shown: Shown = Shown(),
) -> None:
    """See `gainful.studies.forbidden_documents`.

    Parameters
    ----------
    files
        Judgments, then runs: files, folders or globs; see --collection for more than one collection.
    """
    with studied.working(shown):
        study = study_forbidden_documents(
            studied.collections(files),
            examples=examples,
            forbidden=forbidden,
            cutoff=cutoff,
            bound_cutoffs=bound_cutoffs,
            draws=draws,
            fuzziness=fuzziness,
            resamples=resamples,
            gains=gains,
            losses=losses,
            seed=seed,
            settings=settings,
        )
    studied.show(study, shown)


def _collection(text: str) -> tuple[str, tuple[str, str | tuple[()]]]:
    """NAME=QRELS:RUNS or NAME=QRELS; of several colons the first after which the judgments are a file."""
    name, equals, rest = text.partition("=")
    if not (name and equals and rest.strip(":")):
        raise DataError(f"--collection {text}: expected NAME=QRELS:RUNS, such as web=qrels.txt:runs/, or NAME=QRELS")
    places = [at for at, character in enumerate(rest) if character == ":" and 0 < at < len(rest) - 1]
    if not places or os.path.exists(rest):
        return name, (rest, ())
    at = next((place for place in places if os.path.exists(rest[:place])), places[0])
    return name, (rest[:at], rest[at + 1 :])


def _name(path: str) -> str:
    """What to call a collection after the file of its judgments: its name, or that of the folder of a qrels.txt."""
    base = split_compression(Path(path))[0]
    name = base.stem if base.suffix.lower() in _FORMATS else base.name
    return base.parent.name or name if name == "qrels" else name


def _table(exhibit: Exhibit) -> Table:
    frame = exhibit.frame if exhibit.brief is None else exhibit.brief
    whole = [_ranks(column) for column in frame]
    rows = [
        [_cell(value, whole=ranks) for value, ranks in zip(row, whole, strict=True)]
        for row in frame.head(_ROWS).iter_rows()
    ]
    more = f" ({exhibit.frame.height} rows in all: --format csv or --page has them.)"
    more = more if exhibit.frame.height > len(rows) else ""
    return Table(
        header=frame.columns,
        rows=rows,
        names=tuple(at for at, kind in enumerate(frame.dtypes) if kind == pl.String),
        heading=f"{exhibit.name}: {exhibit.title}. {exhibit.text}{more}",
    )


def _findings(study: Study) -> Table:
    rows = [[one.collection, "yes" if one.holds else "no", one.claim, one.evidence] for one in study.findings]
    return Table(
        header=["collection", "holds", "finding", "evidence"],
        rows=rows,
        names=(0, 1, 2, 3),
        prose=True,
        heading="Findings: what the paper found, and whether it holds here.",
    )


def _cell(value: object, *, whole: bool) -> str:
    if value is None or isinstance(value, float):
        return number(value, whole=whole)
    return str(value)


def _ranks(column: pl.Series) -> bool:
    """Whether a column of floats holds ranks or the like, which need no decimals."""
    given = column.drop_nulls()
    if column.dtype != pl.Float64 or given.n_unique() < 2:
        return False
    return bool((given == given.round(0)).all() and (given.abs() > 1).any())
