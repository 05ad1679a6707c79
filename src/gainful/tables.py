"""Tables as people read them: as text, LaTeX and HTML."""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from gainful import _polars as pl

Kind = Literal["text", "marks", "score", "share", "count", "level", "p", "signed", "variance", "number", "ratio"]
# The numbers of a table: a frame, or the columns by name where no frame is needed for so few.
Data: TypeAlias = "pl.DataFrame | Mapping[str, Sequence[Any]]"
# Wide enough for prose, narrow enough to read, where there is no terminal to ask.
READABLE = 100
_NOT_WRAPPED = 10_000
# Texts that spreadsheets compute, quoted or not; numbers are harmless.
_FORMULA, _SIGNED = re.compile(r"'*[=+@-].", re.DOTALL), re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# Colours, which tables have; else what a terminal might obey, and bytes that are no UTF-8 (kept in plane 16).
_TERMINAL = re.compile("(\x1b\\[[0-9;]*m)|[\x00-\x08\x0b-\x1f\x7f-\x9f\U00100000-\U0010ffff]")
# Many numbers in the name of a measure, such as the discounts that `optimize` finds.
_LONG_LIST = re.compile(r"\[({0}), ({0}), (?:{0}, ){{3,}}({0})\]".format(r"[-+.\deE]+"))
_MARKS = {"†": r"\dagger", "‡": r"\ddagger"}
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In the fonts that LaTeX starts with, these would come out as other signs.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: "\\" + character for character in "&%$#_{}"},
    # pdfLaTeX has no such letters outside of formulas.
    **{"α": r"$\alpha$", "ρ": r"$\rho$", "σ": r"$\sigma$", "τ": r"$\tau$", "Φ": r"$\Phi$", "²": "$^2$"},
    **{"≤": r"$\leq$", "≥": r"$\geq$", "→": r"$\to$", "−": "$-$", "†": r"$\dagger$", "‡": r"$\ddagger$"},
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table as people read it."""

    name: str  # of the column of the frame
    header: str  # what stands above it
    # How its cells are printed: text, marks (of the column before; superscripts in LaTeX), score (four decimals),
    # share, count, level (as short as can be), p, signed (with its sign), variance (six decimals), number (six
    # digits) or ratio (a number that is a text already).
    kind: Kind

    @property
    def is_text(self) -> bool:
        """Whether its cells are words, and stand on the left."""
        return self.kind in ("text", "marks")

    def cell(self, value: Any) -> str:
        """A value as text; a dash for what is missing or undefined."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "" if self.is_text and value is None else "-"
        if isinstance(value, bool):
            return "yes" if value else ""
        return _PRINTED[self.kind](value)


def number(value: float | None, *, whole: bool = False) -> str:
    """Four decimals as trec_eval, counts without; a dash for what is missing or undefined."""
    if value is None or math.isnan(value):
        return "-"
    text = f"{value:.0f}" if whole and float(value).is_integer() else f"{value:.4f}"
    return "0.0000" if text == "-0.0000" else text


_PRINTED: dict[Kind, Callable[[Any], str]] = {
    "text": str,
    "marks": str,
    "score": number,
    "share": number,
    "count": lambda value: number(value, whole=True),
    "level": "{:g}".format,
    "p": lambda value: "<0.0001" if value < 0.00005 else number(value),  # never 0.0000, which no p-value is
    "signed": "{:+z.4f}".format,
    "variance": "{:.6f}".format,
    "number": "{:.6g}".format,
    "ratio": str,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Named columns of numbers and texts, and how they are printed.

    Parameters
    ----------
    name
        What to look it up by, such as ``pairs``.
    data
        The numbers, in full: a frame, or the columns by name.
    columns
        The columns that are printed, in order.
    title
        What to say above it.
    best
        (row, column of `columns`) of the cells to stand out.
    prose
        Whether cells may be broken into lines to fit the screen; numbers and names never are.
    """

    name: str
    data: Data
    columns: tuple[Column, ...]
    title: str = ""
    best: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    prose: bool = False

    @classmethod
    def of(cls, name: str, data: Data, headers: Mapping[str, Any] | None = None, **more: Any) -> Table:
        """A table of the columns in `headers`: name → header, or (header, kind); all columns if not given.

        A column without a kind is a text, a count or a score by its type.
        """
        columns = []
        names = data if isinstance(data, Mapping) else data.columns
        for column, header in (headers or {name: name for name in names}).items():
            text, kind = (header, _usual_kind(data[column])) if isinstance(header, str) else header
            columns.append(Column(column, text, kind))
        return cls(name=name, data=data, columns=tuple(columns), **more)

    @property
    def frame(self) -> pl.DataFrame:
        """The numbers, in full."""
        return pl.DataFrame(dict(self.data)) if isinstance(self.data, Mapping) else self.data

    def head(self, rows: int) -> Table:
        """The first rows."""
        some = self.data
        data = {name: some[name][:rows] for name in some} if isinstance(some, Mapping) else some.head(rows)
        return replace(self, data=data, best=frozenset(c for c in self.best if c[0] < rows))

    def cells(self) -> list[list[str]]:
        """The rows as people read them."""
        series = [map(column.cell, _values(self.data[column.name])) for column in self.columns]
        return [list(row) for row in zip(*series, strict=True)]

    def text(self, *, terminal: bool = False) -> str:
        """Aligned columns; colours only for a terminal, and no cell is cut short but in the midst of many numbers."""
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        width = None if self.prose and terminal else READABLE if self.prose else _NOT_WRAPPED
        # In a notebook, rich would show what it writes by itself, in colours, beside what is wanted.
        how: dict[str, Any] = {"force_terminal": terminal, "force_jupyter": False, "highlight": False}
        console = Console(file=io.StringIO(), width=width, **how)
        grid = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        for column in self.columns:
            justify: Literal["left", "right"] = "left" if column.is_text else "right"
            wrap: dict[str, Any] = {"no_wrap": not self.prose, "overflow": "fold"}
            grid.add_column(Text(brief(printable(column.header))), justify=justify, **wrap)
        for i, row in enumerate(self.cells()):
            styles = ["bold green" if (i, j) in self.best else "" for j in range(len(row))]
            grid.add_row(*(Text(brief(printable(cell)), style=style) for cell, style in zip(row, styles, strict=True)))
        with console.capture() as captured:
            console.print(grid)
        above = textwrap.fill(printable(self.title), READABLE) + "\n\n" if self.title else ""
        return above + "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"

    def latex(self) -> str:
        r"""A booktabs tabular: the document needs \usepackage{booktabs}."""
        columns = [(j, column) for j, column in enumerate(self.columns) if column.kind != "marks"]
        marked = [j for j, _ in columns if self.columns[j + 1 : j + 2] and self.columns[j + 1].kind == "marks"]
        layout = "".join("l" if column.is_text else "r" for _, column in columns)
        header = " & ".join(_escaped(column.header) for _, column in columns) + r" \\"
        lines = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", header, r"\midrule"]
        for i, row in enumerate(self.cells()):
            cells = []
            for j, column in columns:
                cell = _escaped(row[j]) if column.is_text else _latex_number(row[j])
                cell += _superscript(row[j + 1]) if j in marked else ""
                cells.append(rf"\textbf{{{cell}}}" if (i, j) in self.best else cell)
            lines.append(" & ".join(cells) + r" \\")
        above = [f"% {line}" for line in textwrap.wrap(printable(self.title), READABLE)]
        return "\n".join([*above, *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

    def markdown(self) -> str:
        """A table as GitHub and most programs for notes show it."""
        rule = ["---" if column.is_text else "---:" for column in self.columns]
        rows = [[column.header for column in self.columns], *self.cells()]
        lines = [[_in_markdown(cell) for cell in row] for row in rows]
        for i, j in self.best:
            lines[i + 1][j] = f"**{lines[i + 1][j]}**"
        above = f"{printable(self.title)}\n\n" if self.title else ""
        return above + "".join(f"| {' | '.join(line)} |\n" for line in [lines[0], rule, *lines[1:]])

    def html(self) -> str:
        """A plain table element, everything in it escaped."""
        from html import escape  # not above: a terminal does not need it

        right = ' style="text-align:right"'
        align = ["" if column.is_text else right for column in self.columns]
        headers = [escape(brief(printable(column.header))) for column in self.columns]
        head = "".join(f"<th{a}>{header}</th>" for a, header in zip(align, headers, strict=True))
        body = []
        for i, row in enumerate(self.cells()):
            cells = [escape(brief(printable(cell))) for cell in row]
            bold = [f"<b>{cell}</b>" if (i, j) in self.best else cell for j, cell in enumerate(cells)]
            body.append("<tr>" + "".join(f"<td{a}>{cell}</td>" for a, cell in zip(align, bold, strict=True)) + "</tr>")
        caption = f"<caption>{escape(printable(self.title))}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _usual_kind(values: pl.Series | Sequence[Any]) -> Kind:
    if isinstance(values, Sequence):
        kind = type(next((value for value in values if value is not None), ""))
        return "score" if kind is float else "count" if kind is int else "text"
    return "score" if values.dtype.is_float() else "count" if values.dtype.is_integer() else "text"


def _values(values: pl.Series | Sequence[Any]) -> Sequence[Any]:
    return values if isinstance(values, Sequence) else values.to_list()


def printable(text: str) -> str:
    """The text with control characters, line ends included, spelled out: names come from files."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _spelled(c) for c in text)


def _spelled(character: str) -> str:
    byte = ord(character) - 0x10FF00  # of a text that is no UTF-8, see gainful.io.encoding
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else ascii(character)[1:-1]


def as_cell(value: object) -> object:
    """A value for CSV: no text that a spreadsheet takes for a formula, and control characters spelled out.

    >>> [as_cell(value) for value in ("=1+1", "'=1", "-", "-5", -5)]
    ["'=1+1", "''=1", '-', '-5', -5]
    """
    if not isinstance(value, str):
        return value
    text = _CONTROL.sub(lambda found: ascii(found[0])[1:-1], value)
    return f"'{text}" if _FORMULA.match(text) and not _SIGNED.fullmatch(text) else text


def from_cell(text: str) -> str:
    """What a text in CSV was before it became a cell; control characters stay as they are spelled."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def for_terminal(text: str) -> str:
    """A text in which nothing but line ends and colours has to do with a terminal."""
    return _TERMINAL.sub(lambda found: found[1] or _spelled(found[0]), text)


def wrapped(text: str) -> str:
    """The text in lines that can be read; no word is broken."""
    return textwrap.fill(brief(printable(text)), READABLE, break_long_words=False, break_on_hyphens=False)


def brief(text: str) -> str:
    """For people the ends of a long list of numbers say enough; the measure's name in CSV and JSON has them all."""
    return _LONG_LIST.sub(r"[\1, \2, …, \3]", text)


def _in_markdown(text: str) -> str:
    """A cell: nothing in it may end it, or be taken for markup."""
    return re.sub(r"([\\|*_`<\[\]])", r"\\\1", brief(printable(text)))


def _latex_number(text: str) -> str:
    """A number with its sign as a formula, lest - is a hyphen and < another sign; a missing one's dash as it is."""
    return f"${text[0]}${text[1:]}" if text.startswith(("-", "<")) and len(text) > 1 else text


def _superscript(marks: str) -> str:
    return f"$^{{{_MARKS.get(marks, marks)}}}$" if marks else ""


def _escaped(text: str) -> str:
    escaped = "".join(_LATEX.get(character, character) for character in brief(printable(text)))
    escaped = re.sub("-(?=-)", "-{}", escaped)  # two in a row would become a dash
    # After a line end, a bracket or star would be read as an argument of \\\\.
    return "{}" + escaped if escaped.startswith(("[", "*")) else escaped
