"""How results leave the command line: data to stdout or a file, everything else to stderr."""

from __future__ import annotations

import csv
import glob
import io
import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from html import escape
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gainful.errors import DataError
from gainful.io.atomic import write_atomically
from gainful.io.encoding import from_utf8
from gainful.tables import as_cell, for_terminal, printable, wrapped

if TYPE_CHECKING:
    from gainful.results import Result
    from gainful.tables import Table

Format = Literal["table", "csv", "json", "latex", "markdown", "html"]

_BY_SUFFIX: dict[str, Format] = {"": "table", ".txt": "table", ".csv": "csv", ".json": "json", ".tex": "latex"}
_BY_SUFFIX |= {".md": "markdown", ".html": "html"}
# Whether CSV has cells as they are.
raw: ContextVar[bool] = ContextVar("raw", default=False)
# Not to be replaced by a file of that name.
STDOUT = ("-", "/dev/stdout")


def chosen_format(format: Format | None, output: Path | None) -> Format:
    """The format asked for; else the one that the file's name ends in; else a table."""
    if format or output is None:
        return format or "table"
    suffix = output.suffix.lower()
    if suffix not in _BY_SUFFIX:
        known = ", ".join(known for known in _BY_SUFFIX if known)
        raise DataError(f"{output}: expected a name that ends in {known}, or --format to say what to write")
    return _BY_SUFFIX[suffix]


def printed(result: Result, format: Format | None, output: Path | None = None, tables: Any = None) -> str:
    """A result in a format: its verdict and compact tables, or others of its tables, or all of its numbers."""
    match chosen_format(format, output):
        case "csv":
            frame = result.to_frame()
            return as_csv(frame.columns, frame.iter_rows())
        case "json":
            return as_json(result.to_dict())
        case shape:
            texts = [table_text(table, shape, output) for table in tables or result.compact()]
            if shape == "html":
                return f"<p>{escape(printable(result.verdict()))}</p>\n{''.join(texts)}"
            return "\n".join([*([] if shape == "latex" else paragraph(result.verdict())), *texts])


def table_text(table: Table, format: Format, output: Path | None) -> str:
    """A table for people, or for the programs that lay it out for them."""
    if format == "latex":
        return table.latex()
    if format == "html":
        return table.html() + "\n"
    return table.markdown() if format == "markdown" else table.text(terminal=on_terminal(output))


def paragraph(text: str) -> list[str]:
    """Sentences, broken to be read, and an empty line; nothing if there are none."""
    return [wrapped(text), ""] if text else []


def on_terminal(output: Path | None) -> bool:
    """Whether colours are seen."""
    return output is None and sys.stdout.isatty()


def check_targets(targets: Iterable[Path], inputs: Iterable[str | Path]) -> None:
    """Refuse, before any work, to write over what is read (files, folders, patterns), to no folder, or twice."""
    inputs = list(inputs)
    seen: set[Path] = set()
    for target in targets:
        if str(target) in STDOUT:
            continue
        if not target.parent.is_dir():
            raise DataError(f"{target}: expected a folder that exists, got {str(target.parent)!r}")
        if target.is_dir():
            raise DataError(f"{target}: expected the name of a file, got a folder")
        if target.exists() and not target.is_file():  # a device or a pipe loses nothing
            continue
        if target.exists() and any(_reads(str(source), target) for source in inputs):
            raise DataError(f"{target}: is what is read, and would be lost: write to another file")
        if target.resolve() in seen:
            raise DataError(f"{target}: is to be written twice: give each its own name")
        seen.add(target.resolve())


def _reads(source: str, target: Path) -> bool:
    if os.path.isdir(source):
        return os.path.samefile(source, target.parent)
    found = [source] if os.path.exists(source) else glob.glob(source, recursive=True)
    return any(os.path.samefile(name, target) for name in found)


def emit(text: str, output: Path | None = None) -> None:
    """Print, or write to a file (all of it or nothing): the same bytes, those of an id in another encoding included."""
    to_screen = output is None or str(output) in STDOUT
    data = from_utf8((for_terminal(text) if to_screen and sys.stdout.isatty() else text).encode())
    if to_screen:
        try:
            sys.stdout.flush()
            left = memoryview(data)
            while left:  # under PYTHONUNBUFFERED one call may take but a part
                left = left[sys.stdout.buffer.write(left) :]
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise DataError(f"standard output: cannot be written: {error.strerror}") from None
    elif output is not None:
        write_atomically(output, data)


def note(message: str) -> None:
    """Tell something that is not data; where nobody listens, that is no failure."""
    sys.stdout.flush()
    with suppress(OSError):
        print(printable_lines(message), file=sys.stderr, flush=True)


def printable_lines(text: str) -> str:
    """Several lines, each with control characters spelled out."""
    return "\n".join(map(printable, text.split("\n")))


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated, numbers in full; texts that a spreadsheet would compute are quoted, unless they are kept raw."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in chain([header], rows):
        writer.writerow(row if raw.get() else map(as_cell, row))
    return text.getvalue()


def as_json(value: object) -> str:
    """JSON in ASCII, numbers in full; it has no NaN, which becomes null, and no infinity, which becomes a text."""
    return json.dumps(_in_json(value), indent=2, allow_nan=False) + "\n"


def _in_json(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _in_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_json(inner) for inner in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)
