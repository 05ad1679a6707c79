"""`gainful study …`: collections by name, and the page of a study."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from gainful.cli.call import Call, refuse_measures
from gainful.cli.output import check_targets, note
from gainful.errors import DataError

# Endings of a file that say how it is written, not what it holds.
_FORMATS = (".txt", ".csv", ".tsv", ".jsonl", ".json", ".parquet", ".arrow", ".qrels")


def study(
    call: Call,
    *,
    collection: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    page: Path | None = None,
) -> None:
    """Reproduce a paper's experiments.

    Parameters
    ----------
    collection
        A collection by name, as NAME=QRELS:RUNS, where RUNS is a file, a folder or a glob, or as NAME=QRELS for what
        needs no runs; may be repeated. Without any, and without files, the study runs on a simulated collection.
    page
        Write all tables, figures and findings into this file, a page (.html) that opens without a network.
    """
    if page is not None:
        from gainful.pages.result import check_page_path

        check_page_path(page, "a page")
    given = _collections(call.files, collection)
    targets = [path for path in (call.shown["output"], call.shown["chart"], page) if path is not None]
    check_targets(targets, [path for pair in given.values() for path in pair if isinstance(path, str)])
    found = call.with_words(collections=given or None).result()
    call.show(found)
    if page is not None:
        from gainful.io.atomic import write_atomically
        from gainful.pages.study_page import study_page

        write_atomically(page, study_page(found).encode())
        note(f"page: {page}")


def _collections(files: tuple[str, ...], named: tuple[str, ...]) -> dict[str, tuple[Any, Any]]:
    """By name, the judgments and runs."""
    found: dict[str, tuple[Any, Any]] = {}
    if files:
        refuse_measures(list(files[1:]))
        found[_name(files[0])] = (files[0], list(files[1:]))
    for text in named:
        name, pair = _collection(text)
        if name in found:
            raise DataError(f"--collection {text}: there is a collection {name!r} already; give it another name")
        found[name] = pair
    return found


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
    from gainful.io.compression import split_compression

    base = split_compression(Path(path))[0]
    name = base.stem if base.suffix.lower() in _FORMATS else base.name
    return base.parent.name or name if name == "qrels" else name
