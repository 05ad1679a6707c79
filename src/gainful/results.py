"""What every analysis returns: a verdict, tables, notes and settings, made once and shown alike everywhere."""

from __future__ import annotations

import html
import inspect
import io
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from gainful.errors import GainfulError, GainfulWarning, MissingExtraError

if TYPE_CHECKING:
    import altair
    import pandas
    import polars as pl

Kind = Literal["text", "marks", "score", "share", "count", "level", "p", "signed", "variance", "number", "ratio"]
# Wide enough for prose, narrow enough to read, where there is no terminal to ask.
READABLE = 100
_NOT_WRAPPED = 10_000
# Many numbers in the name of a measure, such as the discounts that `optimize` finds.
_LONG_LIST = re.compile(r"\[({0}), ({0}), (?:{0}, ){{3,}}({0})\]".format(r"[-+.\deE]+"))
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
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
class Note:
    """What a reader must know to read the numbers.

    Parameters
    ----------
    code
        What kind of note it is, such as ``clipped-variance``: the same for all notes of the kind.
    subject
        What it is about: a measure, a run, or nothing in particular.
    text
        One or more full sentences.
    warn
        Whether Python callers get it as a `GainfulWarning`, too: it changes how a number must be read.
    """

    code: str
    subject: str
    text: str
    warn: bool = False

    def __str__(self) -> str:
        return self.text


def warn(notes: Iterable[Note]) -> None:
    """Tell Python callers what changes how a number must be read."""
    for note in notes:
        if note.warn:
            warnings.warn(note.text, GainfulWarning, stacklevel=_outside())


def _outside() -> int:
    """How many frames up the first caller is that does not belong to gainful."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "gainful":
        level, frame = level + 1, frame.f_back
    return level - 1


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
    """A named frame, and how its columns are printed.

    Parameters
    ----------
    name
        What to look it up by, such as ``pairs``.
    frame
        The numbers, in full.
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
    frame: pl.DataFrame
    columns: tuple[Column, ...]
    title: str = ""
    best: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    prose: bool = False

    @classmethod
    def of(cls, name: str, frame: pl.DataFrame, headers: Mapping[str, Any] | None = None, **more: Any) -> Table:
        """A table of the columns in `headers`: name → header, or (header, kind); all columns if not given.

        A column without a kind is a text, a count or a score by its type.
        """
        columns = []
        for column, header in (headers or {name: name for name in frame.columns}).items():
            dtype = frame.schema[column]
            usual: Kind = "score" if dtype.is_float() else "count" if dtype.is_integer() else "text"
            text, kind = (header, usual) if isinstance(header, str) else header
            columns.append(Column(column, text, kind))
        return cls(name=name, frame=frame, columns=tuple(columns), **more)

    def head(self, rows: int) -> Table:
        """The first rows."""
        return replace(self, frame=self.frame.head(rows), best=frozenset(c for c in self.best if c[0] < rows))

    def cells(self) -> list[list[str]]:
        """The rows as people read them."""
        series = [map(column.cell, self.frame[column.name].to_list()) for column in self.columns]
        return [list(row) for row in zip(*series, strict=True)]

    def text(self, *, terminal: bool = False) -> str:
        """Aligned columns; colours only for a terminal, and no cell is cut short but in the midst of many numbers."""
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        width = None if self.prose and terminal else READABLE if self.prose else _NOT_WRAPPED
        console = Console(file=io.StringIO(), force_terminal=terminal, width=width, highlight=False)
        grid = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        for column in self.columns:
            justify: Literal["left", "right"] = "left" if column.is_text else "right"
            grid.add_column(Text(brief(printable(column.header))), justify=justify, no_wrap=not self.prose)
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

    def html(self) -> str:
        """A plain table element, everything in it escaped."""
        right = ' style="text-align:right"'
        align = ["" if column.is_text else right for column in self.columns]
        headers = [html.escape(brief(printable(column.header))) for column in self.columns]
        head = "".join(f"<th{a}>{header}</th>" for a, header in zip(align, headers, strict=True))
        body = []
        for i, row in enumerate(self.cells()):
            cells = [html.escape(brief(printable(cell))) for cell in row]
            bold = [f"<b>{cell}</b>" if (i, j) in self.best else cell for j, cell in enumerate(cells)]
            body.append("<tr>" + "".join(f"<td{a}>{cell}</td>" for a, cell in zip(align, bold, strict=True)) + "</tr>")
        caption = f"<caption>{html.escape(printable(self.title))}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def printable(text: str) -> str:
    """The text with control characters, line ends included, spelled out: names come from files."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def wrapped(text: str) -> str:
    """The text in lines that can be read; no word is broken."""
    return textwrap.fill(brief(printable(text)), READABLE, break_long_words=False, break_on_hyphens=False)


def brief(text: str) -> str:
    """For people the ends of a long list of numbers say enough; the measure's name in CSV and JSON has them all."""
    return _LONG_LIST.sub(r"[\1, \2, …, \3]", text)


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settings(Mapping[str, Any]):
    """What repeats a result: a mapping from parameters to values, the seed included."""

    name: str  # the function, such as ``compare``
    data: str  # what it was given, such as ``8 runs, 40 topics``
    given: Mapping[str, Any]
    policies: Any = None  # those in force (`Policies`); None for scores from a table, which does not tell them
    notes: tuple[Note, ...] = ()  # what must be known of the data

    @classmethod
    def of(cls, function: Callable[..., Any], given: Mapping[str, Any], **more: Any) -> Settings:
        """The keyword-only parameters of a function with their values in `given`, which may be its ``locals()``."""
        parameters = inspect.signature(function).parameters.values()
        values = {p.name: _python(given[p.name]) for p in parameters if p.kind is p.KEYWORD_ONLY}
        return cls(name=function.__name__, given=values, **more)

    def __getitem__(self, name: str) -> Any:
        return self.given[name]

    def __iter__(self) -> Any:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)

    def __str__(self) -> str:
        given = [f"{name}={_word(value)}" for name, value in self.given.items() if value is not None and value != ()]
        values = " ".join([*given, *([] if self.policies is None else [str(self.policies)])])
        return f"{self.name}: {self.data}" + (f"; {values}" if values else "")

    def to_dict(self) -> dict[str, Any]:
        """The values, and the policies under ``policies``; ready for JSON."""
        policies = None if self.policies is None else self.policies.to_dict()
        return {**{name: _plain(value) for name, value in self.given.items()}, "policies": policies}


def _python(value: Any) -> Any:
    """Numbers of numpy, one or an array, as Python's, which can be compared, printed and written as JSON."""
    return value.tolist() if hasattr(value, "shape") and hasattr(value, "tolist") else value


def _word(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_word, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


class Result:
    """The base of what every analysis returns; a subclass is a frozen dataclass with a field `settings`.

    It says `verdict`, `tables` (the first is the compact one), `_notes` and `chart`; the rest comes with this class.
    """

    __slots__ = ()
    settings: Settings

    def verdict(self) -> str:
        """One to three plain sentences that answer the question."""
        raise NotImplementedError

    def tables(self) -> tuple[Table, ...]:
        """Everything there is to read, in the order to read it."""
        raise NotImplementedError

    def chart(self) -> altair.TopLevelMixin:
        """What people would rather look at."""
        raise NotImplementedError

    def _notes(self) -> Sequence[Note]:
        return ()

    def notes(self) -> tuple[Note, ...]:
        """What must be known of the data, then of these numbers."""
        return (*self.settings.notes, *self._notes())

    def compact(self) -> tuple[Table, ...]:
        """The tables that are printed."""
        return self.tables()[:1]

    def to_frame(self) -> pl.DataFrame:
        """The numbers of the first table, in full."""
        return self.tables()[0].frame

    def to_pandas(self) -> pandas.DataFrame:
        """`to_frame` for pandas; pyarrow is not needed."""
        return as_pandas(self.to_frame())

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {
            "verdict": self.verdict(),
            **self._content(),
            "notes": [asdict(note) for note in self.notes()],
            "settings": self.settings.to_dict(),
        }

    def _content(self) -> dict[str, Any]:
        return {table.name: table.frame.to_dicts() for table in self.tables()}

    def __str__(self) -> str:
        verdict, tables = self.verdict(), [table.text() for table in self.compact()]
        notes = [wrapped(f"note: {note}") for note in self.notes()]
        return "\n".join([*([wrapped(verdict), ""] if verdict else []), *tables, *notes, str(self.settings)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        verdict = self.verdict()
        notes = "".join(f"<li>{html.escape(printable(str(note)))}</li>" for note in self.notes())
        parts = [f"<p><b>{html.escape(brief(printable(verdict)))}</b></p>" if verdict else ""]
        parts += [table.html() for table in self.compact()]
        parts += [f"<ul>{notes}</ul>" if notes else "", _picture(self)]
        parts.append(f"<p><small>{html.escape(printable(str(self.settings)))}</small></p>")
        return f'<div class="gainful">{"".join(parts)}</div>'


def _picture(result: Result) -> str:
    """The chart as SVG, which needs no script and no network; nothing where its packages or its data are missing."""
    try:
        specification = drawable(result.chart().to_dict())
        import vl_convert
    except (GainfulError, ImportError, NotImplementedError):
        return ""
    svg: str = vl_convert.vegalite_to_svg(specification)
    return svg


def drawable(specification: Any) -> Any:
    """A chart with what XML has no sign for spelled out: of a name that has it, vl-convert ends the whole process."""
    if isinstance(specification, str):
        return _NOT_IN_XML.sub(lambda found: ascii(found[0])[1:-1], specification)
    if isinstance(specification, dict):
        return {drawable(name): drawable(value) for name, value in specification.items()}
    return list(map(drawable, specification)) if isinstance(specification, list) else specification


def as_pandas(frame: pl.DataFrame) -> pandas.DataFrame:
    """A frame for pandas, by way of numpy and lists."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "to_pandas()") from None
    plain = {c.name: c.to_numpy() if c.dtype.is_numeric() and not c.null_count() else c.to_list() for c in frame}
    return pandas.DataFrame(plain)


def percent(share: float) -> str:
    """A share in whole percent; 0% and 100% are none and all."""
    text = f"{share:.0%}"
    if text == "0%" and share > 0.0:
        return "less than 1%"
    return "more than 99%" if text == "100%" and share < 1.0 else text


def beside(value: float, limit: float, digits: int) -> str:
    """So many decimals of a value, or as many as tell it from a limit that the next words set it against.

    Examples
    --------
    >>> beside(0.9487, 0.95, 2), beside(0.91, 0.95, 2), beside(0.95, 0.95, 2)
    ('0.949', '0.91', '0.95')
    """
    while value != limit and digits < 9 and f"{value:.{digits}f}" == f"{limit:.{digits}f}":
        digits += 1
    return f"{value:.{digits}f}"


def plural(number_of: int, thing: str) -> str:
    """'1 run', '2 runs'."""
    return f"{number_of} {thing}" + ("" if number_of == 1 else "s")


def listed(names: Sequence[str], most: int | None = None) -> str:
    """'a', 'a and b', 'a, b and c'; 'a, b and 4 others' if no more than so many are to be named."""
    rest = [] if most is None or len(names) <= most else [plural(len(names) - most, "other")]
    names = [*names[:most], *rest]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
