"""Collections as a command line names them: QRELS RUN…, or NAME=QRELS:RUNS."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gainful.cli.call import refuse_measures
from gainful.errors import DataError

# Endings of a file that say how it is written, not what it holds.
_FORMATS = (".txt", ".csv", ".tsv", ".jsonl", ".json", ".parquet", ".arrow", ".qrels")


def named_collections(files: tuple[str, ...], named: tuple[str, ...]) -> dict[str, tuple[Any, Any]]:
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
