"""What every analysis returns: a verdict, tables, notes and settings, made once and shown alike everywhere."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from gainful import _polars as pl
from gainful.errors import DataError, GainfulError, GainfulWarning, MissingExtraError, did_you_mean
from gainful.tables import Table, brief, printable, wrapped
from gainful.vega import svg

if TYPE_CHECKING:
    import altair
    import pandas

Chart: TypeAlias = "altair.TopLevelMixin"
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


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

    def chart(self) -> Chart:
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
        from html import escape

        verdict = self.verdict()
        notes = "".join(f"<li>{escape(printable(str(note)))}</li>" for note in self.notes())
        parts = [f"<p><b>{escape(brief(printable(verdict)))}</b></p>" if verdict else ""]
        parts += [table.html() for table in self.compact()]
        parts += [f"<ul>{notes}</ul>" if notes else "", _picture(self)]
        parts.append(f"<p><small>{escape(printable(str(self.settings)))}</small></p>")
        return f'<div class="gainful">{"".join(parts)}</div>'


def _picture(result: Result) -> str:
    """The chart as SVG, which needs no script and no network; nothing where its packages or its data are missing."""
    try:
        return svg(drawable(result.chart().to_dict())).decode()
    except (GainfulError, ImportError, NotImplementedError):
        return ""


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
    """'1 run', '2,000 runs'."""
    return f"{number_of:,} {thing}" + ("" if number_of == 1 else "s")


def some(names: Sequence[str], most: int = 5) -> str:
    """'a, b', or 'a, b, c, d, e, …'."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def listed(names: Sequence[str], most: int | None = None) -> str:
    """'a', 'a and b', 'a, b and c'; 'a, b and 4 others' if no more than so many are to be named."""
    rest = [] if most is None or len(names) <= most else [plural(len(names) - most, "other")]
    names = [*names[:most], *rest]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


class OfMeasure(Protocol):
    """An entry that knows its measure."""

    @property
    def measure(self) -> str:
        """Its name."""


Entry = TypeVar("Entry", bound=OfMeasure)


def of_measure(entries: Sequence[Entry], measure: str) -> Entry:
    """The entry of a measure, or an error that names those there are."""
    for entry in entries:
        if entry.measure == measure:
            return entry
    names = [entry.measure for entry in entries]
    raise DataError(f"no measure {measure!r}; there are: {', '.join(names)}.{did_you_mean(str(measure), names)}")


def of_others(values: Mapping[str, float], text: Callable[[float], str], one: str, many: str) -> str:
    """The end of a verdict that is about the first measure; nothing if there are no others.

    `one` is the sentence for one other, with gaps for measure and value; `many` that for several, with gaps for the
    lowest and the highest value, each with its measure.

    Examples
    --------
    >>> of_others({"AP": 0.25, "RR": 0.5}, "{:.2f}".format, "Φ of {} is {}.", "Φ of the others is {} to {}.")
    ' Φ of the others is 0.25 (AP) to 0.50 (RR).'
    """
    ordered = sorted(values.items(), key=lambda item: item[1])
    if len(ordered) > 1:
        return " " + many.format(*(f"{text(value)} ({measure})" for measure, value in (ordered[0], ordered[-1])))
    return "".join(f" {one.format(measure, text(value))}" for measure, value in ordered)
