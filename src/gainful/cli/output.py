"""How results leave the command line: data to stdout or a file, everything else to stderr."""

from __future__ import annotations

import csv
import glob
import io
import json
import math
import os
import re
import signal
import sys
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from gainful.cli.escape import shown, shown_lines
from gainful.errors import DataError
from gainful.io.encoding import from_utf8
from gainful.io.write import write_atomically

if hasattr(signal, "siginterrupt"):
    # polars has taken over Ctrl-C by now, and lets it wait for what may never come: a line from a pipe, say.
    signal.siginterrupt(signal.SIGINT, True)

Format = Literal["table", "csv", "json", "latex"]
Output = Annotated[Path | None, Parameter(name=("--output", "-o"))]

# Wide enough for prose, narrow enough to read, where there is no terminal to ask.
READABLE = 100
_NOT_WRAPPED = 10_000
# Many numbers in the name of a measure, such as the discounts that `optimize` finds.
_LONG_LIST = re.compile(r"\[({0}), ({0}), (?:{0}, ){{3,}}({0})\]".format(r"[-+.\deE]+"))
_BY_SUFFIX: dict[str, Format] = {"": "table", ".txt": "table", ".csv": "csv", ".json": "json", ".tex": "latex"}
# Not to be replaced by a file of that name.
_STDOUT = ("-", "/dev/stdout")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In the fonts that LaTeX starts with, these would come out as other signs.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells as text, ready to be shown.

    Parameters
    ----------
    header
        Column names.
    rows
        The cells.
    names
        The columns, from 0, that hold names rather than numbers.
    best
        (row, column) of the cells to stand out.
    prose
        Whether cells may be broken into lines to fit the screen; numbers and names never are.
    heading
        What to say above the table.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: tuple[int, ...] = (0,)
    best: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    prose: bool = False
    heading: str = ""


def chosen_format(format: Format | None, output: Path | None) -> Format:
    """The format asked for; else the one that the file's name ends in; else a table."""
    if format or output is None:
        return format or "table"
    suffix = output.suffix.lower()
    if suffix not in _BY_SUFFIX:
        known = ", ".join(known for known in _BY_SUFFIX if known)
        raise DataError(f"{output}: expected a name that ends in {known}, or --format to say what to write")
    return _BY_SUFFIX[suffix]


def check_targets(targets: Iterable[Path], inputs: Iterable[str | Path]) -> None:
    """Refuse, before any work, to write over what is read, to no folder, or twice to the same file.

    Parameters
    ----------
    targets
        What will be written.
    inputs
        Files, folders and patterns that will be read.
    """
    inputs = list(inputs)
    seen: set[Path] = set()
    for target in targets:
        if str(target) in _STDOUT:
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
    data = from_utf8(text.encode())
    if output is None or str(output) in _STDOUT:
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
    else:
        write_atomically(output, data)


def note(message: str) -> None:
    """Tell something that is not data; where nobody listens, that is no failure."""
    sys.stdout.flush()
    with suppress(OSError):
        print(shown_lines(message), file=sys.stderr, flush=True)


def number(value: float | None, *, whole: bool = False) -> str:
    """Four decimals as trec_eval, counts without; a dash for what is missing or undefined."""
    if value is None or math.isnan(value):
        return "-"
    text = f"{value:.0f}" if whole and float(value).is_integer() else f"{value:.4f}"
    return "0.0000" if text == "-0.0000" else text


def as_table(table: Table, *, terminal: bool) -> str:
    """Aligned columns; colours only for a terminal, and never a cell cut short but in the midst of many numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    width = None if table.prose and terminal else READABLE if table.prose else _NOT_WRAPPED
    console = Console(file=io.StringIO(), force_terminal=terminal, width=width, highlight=False)
    grid = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for at, name in enumerate(table.header):
        justify: Literal["left", "right"] = "left" if at in table.names else "right"
        grid.add_column(Text(_brief(shown(name))), justify=justify, no_wrap=not table.prose)
    for i, row in enumerate(table.rows):
        styles = ["bold green" if (i, j) in table.best else "" for j in range(len(row))]
        grid.add_row(*(Text(_brief(shown(cell)), style=style) for cell, style in zip(row, styles, strict=True)))
    with console.capture() as captured:
        console.print(grid)
    above = textwrap.fill(shown(table.heading), READABLE) + "\n\n" if table.heading else ""
    return above + "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated, numbers in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def as_json(value: object) -> str:
    """JSON in ASCII, numbers in full; it has no NaN, which becomes null, and no infinity, which becomes a text."""
    return json.dumps(_in_json(value), indent=2, allow_nan=False) + "\n"


def as_latex(table: Table) -> str:
    r"""A booktabs tabular: the document needs \usepackage{booktabs}."""
    columns = "".join("l" if at in table.names else "r" for at in range(len(table.header)))
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _latex_row(table.header), r"\midrule"]
    for i, row in enumerate(table.rows):
        cells = [_escaped(cell) if j in table.names else _latex_number(cell) for j, cell in enumerate(row)]
        lines.append(
            " & ".join(rf"\textbf{{{c}}}" if (i, j) in table.best else c for j, c in enumerate(cells)) + r" \\"
        )
    above = [f"% {line}" for line in textwrap.wrap(shown(table.heading), READABLE)]
    return "\n".join([*above, *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _brief(text: str) -> str:
    """In a table the ends of a long list of numbers say enough; the measure's name in CSV and JSON has them all."""
    return _LONG_LIST.sub(r"[\1, \2, …, \3]", text)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(_escaped(cell) for cell in cells) + r" \\"


def _latex_number(text: str) -> str:
    """A number with a minus sign, not a hyphen; the dash of a missing one as it is."""
    return f"$-${text[1:]}" if text.startswith("-") and len(text) > 1 else text


def _escaped(text: str) -> str:
    escaped = "".join(_LATEX.get(character, character) for character in _brief(shown(text)))
    escaped = re.sub("-(?=-)", "-{}", escaped)  # two in a row would become a dash
    # After a line end, a bracket or star would be read as an argument of \\\\.
    return "{}" + escaped if escaped.startswith(("[", "*")) else escaped


def _in_json(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _in_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_json(inner) for inner in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)
