"""A command out of a function: its signature, types and docstring are read, so that a parameter is written once."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from cyclopts import Parameter, Token

from gainful.cli.call import Call
from gainful.cli.commands import Command
from gainful.cli.output import Format
from gainful.data.policies import Policies
from gainful.engine import Dask
from gainful.errors import did_you_mean
from gainful.verbs.source import FileOptions, Options, RunOptions

Item = TypeVar("Item")
# Parameters that stand without an option, and what they are called there.
_WORDS = {
    "others": "QRELS...",
    "source": "QRELS RUN...",
    "collections": "QRELS RUN...",
    "qrels": "QRELS",
    "runs": "RUN...",
    "run": "RUN",
}
_WORDS |= {"files": "[QRELS] RUN...", "ranker": "RANKER", "data": "DATA", "folder": "FOLDER"}
# What other parameters are called where that is not their name.
_NAMES = {
    "measures": ("--measures", "--measure", "-m"),
    "measure": ("--measure", "-m"),
    "output": ("--output", "-o"),
    "topic": ("--topic", "--query", "-q"),
    "per_topic": ("--per-topic", "--per-query", "-q"),
    "address": ("--address", "--scheduler"),
}
# What a parameter is, in the words of the command line, where its function speaks of more than files.
_TEXTS = {
    "source": "Judgments, then runs: files, folders or globs; - is standard input. Not with --scores.",
    "collections": "Judgments, then runs: files, folders or globs; see --collection for more than one collection.",
    "qrels": "Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not); - is standard input.",
    "others": "Judgments of other judges, of the same topics and documents or of some of them: one file each.",
    "runs": "Runs: files, folders or globs; - is standard input.",
    "run": "The run: a file; - is standard input.",
    "measures": "What to compute, such as nDCG@10, nDCGf@3 or AP(rel=2); may be repeated. 'gainful measures' lists "
    "them. Of a table of scores, the measures to take from it.",
    "scores": "A table of scores instead of judgments and runs: long (run, measure, query_id, score) as 'gainful "
    "evaluate --per-topic --format csv' writes it, or wide (one row per topic, one column per run).",
    "engine": "Where to compute: local (in this process) or dask (on the workers of a Dask cluster).",
    "format": "How to print; by default what the name of the output file ends in, else a table.",
    "output": "Write to this file instead of the screen.",
    "raw": "In CSV, keep cells as they are; else those that a spreadsheet would compute begin with a quote ('), and "
    "control characters are spelled out.",
    "memory": "How much memory to take at most, such as 2GB: a file that needs more is refused. By default 80 % of "
    "what the machine or the container has.",
    "chart": "Draw a chart into this file: .html (opens without a network), .svg, .png, .pdf or .json (Vega-Lite).",
}
_WORDS_LEFT = Annotated[tuple[str, ...], Parameter(show_default=False)]
_SEVERAL = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
_FILES = Annotated[tuple[str, ...], Parameter(negative="", show_default=False, consume_multiple=True)]
_HYPHEN = "\0-"
_OWNERS = ("word", "own", "shared", "settings", "shell", "shown")
_WRITTEN = ("output", "chart", "page", "save", "merged", "junit")


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """A parameter of a command."""

    name: str  # as in Python
    hint: Any  # its type, as cyclopts takes it
    default: Any  # its value where it is not given; `inspect.Parameter.empty` if it must be
    # Who takes it: ``word`` and ``own`` the function, ``shared`` what reads and joins,
    # ``settings`` a dataclass of the function's, ``shell`` the command's own function, ``shown`` what prints.
    owner: str
    word: bool = False  # whether it stands without an option

    def parameter(self, text: str) -> inspect.Parameter:
        """As a parameter of a signature."""
        names = (_WORDS if self.word else _NAMES).get(self.name)
        about = Parameter(help=text) if names is None else Parameter(help=text, name=names)
        if self.hint is _WORDS_LEFT:  # as a tuple it would end at the first option
            needed = Parameter(show_default=False, required=self.default is inspect.Parameter.empty)
            left = Annotated[str, needed, about]
            return inspect.Parameter(self.name, inspect.Parameter.VAR_POSITIONAL, annotation=left)
        kind = inspect.Parameter.POSITIONAL_ONLY if self.word else inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(self.name, kind, annotation=Annotated[self.hint, about], default=self.default)


def load(place: str) -> Callable[..., Any]:
    """What stands at module:name."""
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def headline(function: Callable[..., Any]) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(function) or "").partition("\n")[0]


def made(command: Command) -> Callable[..., int | None]:
    """The command as a function that cyclopts can find words for."""
    function = load(command.function)
    if command.function.startswith("gainful.cli."):
        return function  # it is one
    place = "special" if command.prints else "writing"
    shell = load(f"gainful.cli.{place}:{command.special}") if command.special else None
    options = {option.name: option for option in _options(command, function, shell)}
    texts: dict[str, str] = {}
    for source in (Options, RunOptions, FileOptions, Policies, Dask):
        texts |= parameter_texts(source)
    for name, hint in _hints(function).items():
        texts |= parameter_texts(hint) if dataclasses.is_dataclass(hint) and name != "return" else {}
    for accepted in get_args(_hints(function).get("options")):  # what a function allows may be less than others do
        texts |= {name: text for name, text in parameter_texts(accepted).items() if not text.startswith("See ")}
    texts |= parameter_texts(function) | _TEXTS | (parameter_texts(shell) if shell else {})
    texts |= {"save": f"Write {command.saves}."} if command.saves else {}
    parameters = [option.parameter(texts.get(name, "")) for name, option in options.items()]
    signature = inspect.Signature(sorted(parameters, key=lambda parameter: parameter.kind))

    def run(*args: Any, **kwargs: Any) -> int | None:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        values: dict[str, dict[str, Any]] = {owner: {} for owner in _OWNERS}
        for name, word in given.arguments.items():
            option, value = options[name], as_typed(word)
            if option.owner != "shared" or value != option.default:  # those of a table of scores cannot be given
                values[option.owner][name] = value
        own = values.pop("shell")
        check_save = None if command.check_save is None else load(command.check_save)
        call = Call(function=function, check_save=check_save, **values)
        call.check(path for name, path in own.items() if name in _WRITTEN)
        return call.finish() if shell is None else shell(call, **own)

    run.__doc__ = headline(function)
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.usage = _usage(options.values())  # type: ignore[attr-defined]
    return run


def _usage(options: Iterable[Option]) -> str | None:
    """What follows the name of a command that takes any number of words; cyclopts would write their dots twice."""
    words = {_WORDS[option.name]: option for option in options if option.word}
    if not any(option.hint is _WORDS_LEFT for option in words.values()):
        return None
    needed = inspect.Parameter.empty
    return " ".join(["[OPTIONS]", *(word if one.default is needed else f"[{word}]" for word, one in words.items())])


def hyphens_kept(words: Sequence[str]) -> list[str]:
    """The words of a command line, with a lone hyphen, which cyclopts takes for an option, as no word can be."""
    return [_HYPHEN if word == "-" else word for word in words]


def as_typed(value: Any) -> Any:
    """What a word became, with lone hyphens again."""
    if isinstance(value, tuple):
        return tuple(map(as_typed, value))
    return type(value)("-") if isinstance(value, str | Path) and str(value) == _HYPHEN else value


def _options(command: Command, function: Callable[..., Any], shell: Callable[..., Any] | None) -> Iterator[Option]:
    """All parameters: of the function, of the shell, of where it runs and of where its result goes."""
    hints = _hints(function)
    parameters = inspect.signature(function).parameters
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            table = "source" in parameters or {"collections", "groups"} <= parameters.keys()
            yield from _shared(get_args(hints[name])[0], table=table)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            yield Option(name, _WORDS_LEFT, parameter.empty, "word", word=True)
        elif name == "runs" and parameter.kind is parameter.KEYWORD_ONLY:
            yield Option(name, _FILES, (), "own")
        elif name in ("source", "collections", "files"):
            yield Option(name, _WORDS_LEFT, (), "word", word=True)
        elif name == "runs" and not {"source", "files"} & parameters.keys():
            default = () if parameter.default == () else parameter.empty
            yield Option(name, _WORDS_LEFT, default, "word", word=True)
        elif name in _WORDS and parameter.kind is not parameter.KEYWORD_ONLY:
            if name != "runs":
                yield Option(name, str, parameter.empty, "word", word=True)
        elif dataclasses.is_dataclass(hints.get(name)):
            kinds = get_type_hints(hints[name])
            for field in dataclasses.fields(hints[name]):
                yield Option(field.name, _shell_type(kinds[field.name], field.default), field.default, "settings")
        elif name == "measures":
            yield Option(name, _SEVERAL, (), "own")
        else:
            hint = str if name == "measure" else _shell_type(hints.get(name, str), parameter.default)
            yield Option(name, hint, parameter.default, "own")
    mine = {} if shell is None else dict(list(inspect.signature(shell).parameters.items())[1:])
    for name, parameter in mine.items():
        hint = _shell_type(_hints(shell)[name], parameter.default)  # type: ignore[arg-type]
        yield Option(name, hint, parameter.default, "shell", word=name in _WORDS)
    if command.prints:
        yield Option("format", Format | None, None, "shown")
        yield Option("output", Path | None, None, "shown")
        yield Option("chart", Path | None, None, "shown")
        yield Option("raw", _shell_type(bool, False), False, "shown")
    if command.saves:
        yield Option("save", Path | None, None, "shown")
    yield Option("memory", str | None, None, "shown")


def _shared(accepted: Any, *, table: bool) -> Iterator[Option]:
    """The options that judgments, runs and engines come with, as far as a function takes them."""
    if table:
        yield Option("scores", Path | None, None, "shared")
    for name, hint in get_type_hints(accepted, include_extras=True).items():
        if name == "engine":
            yield Option(name, Literal["local", "dask"], "local", "shared")
            yield Option("address", str | None, None, "shared")
            yield Option("workers", _shell_type(int | None, None), None, "shared")
        elif name in ("title", "author", "date", "metadata"):
            yield Option(name, str | None, None, "shared")
        elif name in ("queries", "docs"):
            yield Option(name, Path | None, None, "shared")
        elif name in ("keep_going", "recursive", "hide_judgments", "ignore_identical_ids"):
            yield Option(name, _shell_type(bool, False), False, "shared")
        elif name in ("include", "exclude", "columns"):
            yield Option(name, _SEVERAL, (), "shared")
        elif name != "lower_is_better":
            yield Option(name, hint, getattr(Policies(), name), "shared")
        elif table:
            yield Option(name, _SEVERAL, (), "shared")


def _shell_type(hint: Any, default: Any) -> Any:
    """How the words after an option become a value of this type."""
    if get_origin(hint) is Annotated:
        return hint
    kinds = [kind for kind in _alternatives(hint) if kind is not NoneType]
    optional = NoneType in _alternatives(hint) or default is None
    several = next((kind for kind in kinds if get_origin(kind) in (Sequence, tuple, list)), None)
    if bool in kinds:
        return Annotated[bool, Parameter(negative="", show_default=False)] if default is False else bool
    if several is not None and get_args(several)[0] is str:
        return _SEVERAL
    if several is not None and str not in kinds:
        return Annotated[tuple[str, ...] | None, _several(get_args(several)[0])]
    literal = next((kind for kind in kinds if get_origin(kind) is Literal), None)
    if int in kinds and float not in kinds:
        return Annotated[int | None if optional else int, Parameter(converter=whole)]
    chosen = float if float in kinds else literal if literal is not None else Path if Path in kinds else str
    return chosen | None if optional else chosen


def _several(item: Any) -> Parameter:
    if get_origin(item) is tuple:
        return pairs()
    if get_origin(item) is Literal:
        return choices(get_args(item))
    return listed(int, "whole numbers such as 5,10") if item is int else listed(float, "numbers such as 0.5,1")


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) in (Union, UnionType):
        return tuple(inner for kind in get_args(hint) for inner in _alternatives(kind))
    return (hint,)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of a function's parameters, as far as they are imported where it stands: heavy ones are not."""
    found: dict[str, Any] = {}
    for name, annotation in function.__annotations__.items():
        try:
            one = SimpleNamespace(__annotations__={name: annotation})
            found |= get_type_hints(one, globalns=function.__globals__, include_extras=True)
        except NameError:
            continue
    return found


def parameter_texts(function: object) -> dict[str, str]:
    """The help of each parameter, one line each, from the 'Parameters' section of a numpydoc docstring."""
    _, _, section = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line.startswith("---"):  # the rule under the next section's title
            for name in names:
                texts.pop(name)
            break
        if line and not line.startswith(" "):
            names = line.split(", ")
            texts.update({name: [] for name in names})
        elif line:
            for name in names:
                texts[name].append(line.strip())
    found = {name: " ".join(lines).replace("`", "") for name, lines in texts.items()}
    beside = getattr(function, "__globals__", {})  # 'See `train`.' stands for what that function says of the parameter
    others = {name: beside[text[4:-1]] for name, text in found.items() if text[:4] == "See " and text[4:-1] in beside}
    return found | {name: parameter_texts(other).get(name, found[name]) for name, other in others.items()}


def whole(_: type, tokens: Sequence[Token]) -> int:
    """Cyclopts would round 1.5 to 2."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"expected a whole number, got {tokens[0].value!r}.") from None


def listed(read: Callable[[str], Item], wanted: str, *, suggest: Callable[[str], str] = lambda _: "") -> Parameter:
    """Some values, each as `read` takes it; `wanted` says what they are."""

    def convert(_: object, tokens: Sequence[Token]) -> tuple[Item, ...]:
        words = [word for token in tokens for word in token.value.split(",") if word]
        found = []
        for word in words:
            try:
                found.append(read(word))
            except ValueError:
                # Blanks may separate values, so a file after the option is taken for one.
                hint = " Files go before the option." if Path(word).exists() else suggest(word)
                raise ValueError(f"expected {wanted}, got {word!r}.{hint}") from None
        if not found:
            raise ValueError(f"expected {wanted}, got none.")
        return tuple(found)

    return Parameter(converter=convert, negative="", consume_multiple=True, show_default=_commas)


def choices(allowed: Sequence[str]) -> Parameter:
    """Some of a few words, such as t,tukey."""

    def read(word: str) -> str:
        if word not in allowed:
            raise ValueError(word)
        return word

    return listed(read, f"some of {','.join(allowed)}", suggest=lambda word: did_you_mean(word, allowed))


def pairs() -> Parameter:
    """Judgments and runs of further collections: two words each."""

    def convert(_: object, tokens: Sequence[Token]) -> tuple[tuple[str, str], ...]:
        words = [token.value for token in tokens]
        if len(words) % 2:
            raise ValueError(f"expected judgments and runs, got {words[-1]!r} alone.")
        return tuple(zip(words[::2], words[1::2], strict=True))

    return Parameter(converter=convert, negative="", n_tokens=2, allow_repeating=True, show_default=False)


def _commas(values: Any) -> str | None:
    """How such an option shows its default, if it has one."""
    if values is None or values == ():
        return None
    several = values if isinstance(values, list | tuple) else [values]
    return ",".join(value if isinstance(value, str) else f"{value:g}" for value in several)
