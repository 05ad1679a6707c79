"""The Python reference: every public name, from its signature and docstring."""

from __future__ import annotations

import functools
import inspect
import math
import re
import typing
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from types import FunctionType, ModuleType, SimpleNamespace, UnionType
from typing import Any, Literal, Union

import gainful as gf
from gainful.cli.make import parameter_texts
from gainful.data.policies import Policies
from gainful.engine import Dask
from gainful.verbs.source import FileOptions, Options, RunOptions
from sitegen.text import escaped

FOLDER = "reference/python"

# Pages, each with its title and the parts of gainful whose names it describes.
PAGES = {
    "evaluate": ("Evaluate, explain, compare", ("verbs",)),
    "analyses": ("Measure the measures", ("analyses",)),
    "tune": ("Tune the measure, cut the run", ("tune",)),
    "ltrf": ("Learn to rank and filter", ("ltrf",)),
    "reports": ("Report and studies", ("pages", "studies")),
    "measures": ("Name, define and check measures", ("measures",)),
    "data": ("Data and files", ("data", "io", "engine", "memory")),
    "rest": ("Results, charts and errors", ("results", "tables", "charts", "errors")),
}
WIDTH = 88

HEAD = """# Python

```python
>>> import gainful as gf
```

Whatever a command prints, the function of its name returns as an object with `to_frame()`, `to_dict()` and `chart()`.
A path, a dict of dicts, a frame of polars, pandas or pyarrow: wherever judgments or runs are wanted, each will do.
"""


@functools.cache
def public() -> dict[str, Any]:
    """Every public object by its full name, those of public packages too."""
    named = {name: getattr(gf, name) for name in gf.__all__ if not name.startswith("_")}
    found = {f"gainful.{name}": thing for name, thing in named.items() if not isinstance(thing, ModuleType)}
    for package, module in named.items():
        if isinstance(module, ModuleType):
            own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
            inside = getattr(module, "__all__", [name for name in own if inspect.isfunction(getattr(module, name))])
            found |= {f"gainful.{package}.{name}": getattr(module, name) for name in inside}
    return found


def places() -> dict[str, str]:
    """Where each public name is described: a page and an anchor."""
    return {name: f"{FOLDER}/{_page_of(name)}.md#{name}" for name in public()}


def pages() -> dict[str, str]:
    """The text of each page of the reference, by its path."""
    names = public()
    found = {}
    index = HEAD
    for page, (title, _) in PAGES.items():
        # What is called comes first, then what it returns.
        here = sorted((name for name in names if _page_of(name) == page), key=lambda name: inspect.isclass(names[name]))
        if here:
            found[f"{FOLDER}/{page}.md"] = f"# {title}\n\n" + "\n".join(described(name, names[name]) for name in here)
            rows = (f"| [`{name}`]({page}.md#{name}) | {escaped(_headline(names[name]), '|')} |\n" for name in here)
            index += f"\n## {title}\n\n| name | what it is |\n|---|---|\n" + "".join(rows)
    return {f"{FOLDER}/index.md": index, **found}


def described(name: str, thing: Any) -> str:
    """One name: how it is called, what it takes and gives."""
    doc = sections(inspect.getdoc(thing) or "")
    parts = [f"## {name.removeprefix('gainful.')} {{ #{name} }}", ""]
    if not isinstance(thing, ModuleType) and not _is_error(thing):
        parts += ["```python", signature(name, thing), "```", ""]
    parts += [escaped(doc.pop("")), ""]
    types = _types(thing.__init__ if inspect.isclass(thing) else thing)
    for title, text in doc.items():
        if title == "Parameters":
            parts += ["**Parameters**", "", *_parameters(thing, text, types)]
        elif title in ("Returns", "Raises"):
            parts += [f"**{title}**", "", *_entries(text)]
        elif title == "Examples":
            parts += ["**Examples**", "", "```pycon", text, "```", ""]
        else:
            parts += [f"**{title}**", "", escaped(text), ""]
    if inspect.isclass(thing):
        parts += _members(thing)
    return "\n".join(parts)


def sections(doc: str) -> dict[str, str]:
    """The parts of a numpydoc docstring by their titles; what comes before them has none."""
    words = re.split(r"^(\w+)\n-{3,}\n", doc, flags=re.MULTILINE)
    return {
        "": words[0].strip(),
        **{title: text.strip("\n") for title, text in zip(words[1::2], words[2::2], strict=True)},
    }


def signature(name: str, thing: Any, width: float = WIDTH) -> str:
    """How it is called, without types: one line, or a line a parameter if that is too wide."""
    try:
        parameters = [
            parameter.replace(annotation=inspect.Parameter.empty)
            for parameter in inspect.signature(thing).parameters.values()
            if parameter.name != "self"
        ]
    except ValueError:  # what C defines
        return name
    shown = inspect.Signature([_readable(parameter) for parameter in parameters])
    if len(f"{name}{shown}") <= width:
        return f"{name}{shown}"
    inside = str(shown)[1:-1]
    return f"{name}(\n" + "".join(f"    {one},\n" for one in _split(inside)) + ")"


class _Text:
    """Something whose repr is the text itself."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _readable(parameter: inspect.Parameter) -> inspect.Parameter:
    """Defaults that would show a memory address or another library's innards are shown by name."""
    default = parameter.default
    if default is inspect.Parameter.empty:
        return parameter
    if is_dataclass(default) and not isinstance(default, type) and default == type(default)():
        return parameter.replace(default=_Text(f"{type(default).__name__}()"))
    if isinstance(default, FunctionType | type):
        return parameter.replace(default=_Text(default.__name__))
    if type(default).__repr__ is object.__repr__ or "factory" in repr(default):
        return parameter.replace(default=_Text("…"))
    return parameter


def _split(inside: str) -> Iterator[str]:
    """Split at the commas that are not inside of brackets or quotes."""
    depth, start, quoted = 0, 0, False
    for at, letter in enumerate(inside):
        quoted ^= letter in "'\""
        depth += 0 if quoted else (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0 and not quoted:
            yield inside[start:at].strip()
            start = at + 1
    yield inside[start:].strip()


def _page_of(name: str) -> str:
    part = getattr(public()[name], "__module__", name).split(".")[1]
    for page, (_, parts) in PAGES.items():
        if part in parts:
            return page
    raise LookupError(f"{name}: gainful.{part} has no page in docs/sitegen/python.py: add it to PAGES")


def _headline(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _parameters(thing: Any, text: str, types: Mapping[str, Any]) -> Iterator[str]:
    try:
        known: Mapping[str, inspect.Parameter] = inspect.signature(thing).parameters
    except ValueError:
        known = {}
    for names, said in _pairs(text):
        if names == "**options":
            yield from _keywords(types.get("options"), said)
            continue
        facts = []
        for name in names.split(", "):
            kind = shown_type(types.get(name.lstrip("*"), Any))
            if kind and kind not in facts:
                facts.append(kind)
        label = ", ".join(f"`{name}`" for name in names.split(", "))
        first = known.get(names.split(", ")[0])
        if first is not None and first.default is not inspect.Parameter.empty and "," not in names:
            facts.append(f"default `{_readable(first).default!r}`")
        yield from (label + (f" ({', '.join(facts)})" if facts else ""), f":   {escaped(said)}", "")


def _keywords(kind: Any, said: str) -> Iterator[str]:
    """What may stand for ``**options``, each with its type and text."""
    accepted = typing.get_args(kind)
    sources = (Dask, Options, RunOptions, FileOptions, Policies)
    texts = {name: text for source in sources for name, text in parameter_texts(source).items()}
    for name, hint in typing.get_type_hints(accepted[0]).items() if accepted else ():
        shown = shown_type(hint)
        yield from (f"`{name}`" + (f" ({shown})" if shown else ""), f":   {escaped(texts.get(name, ''))}", "")
    if not accepted:
        yield from ("`**options`", f":   {escaped(said)}", "")


def _entries(text: str) -> Iterator[str]:
    for label, said in _pairs(text):
        names = [name for name in public() if name.endswith(f".{label}")]
        linked = f"[`{label}`]({_page_of(names[0])}.md#{names[0]})" if names else f"`{label}`"
        yield from (linked, f":   {escaped(said)}", "")


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """The entries of a section: a line, and the indented text below it."""
    for entry in re.split(r"\n(?=\S)", text):
        label, _, said = entry.partition("\n")
        yield label, " ".join(line.strip() for line in said.splitlines())


def shown_type(kind: Any) -> str:
    """A type as a reader wants it: the words to choose from, or a short name; nothing if anything goes."""
    if kind in (Any, object, inspect.Parameter.empty):
        return ""
    text = _written(kind)
    return f"`{text}`" if len(text) <= WIDTH else ""


def _written(kind: Any) -> str:
    if typing.get_origin(kind) is Literal:
        return " | ".join(map(repr, typing.get_args(kind)))
    if typing.get_origin(kind) in (Union, UnionType):
        return " | ".join(map(_written, typing.get_args(kind)))
    if typing.get_origin(kind) is typing.Unpack:
        return _written(*typing.get_args(kind))
    text = "None" if kind is type(None) else kind if isinstance(kind, str) else inspect.formatannotation(kind)
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z])", "", text)


def _types(function: Any) -> dict[str, Any]:
    """The types of the parameters; as text those whose names only a type checker imports."""
    found = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        one = SimpleNamespace(__annotations__={name: annotation})
        try:
            found |= typing.get_type_hints(one, globalns=getattr(function, "__globals__", None), include_extras=True)
        except (NameError, TypeError, AttributeError):
            found[name] = annotation
    return found


def _members(kind: type) -> Iterator[str]:
    """Its methods and properties, with all that their docstrings say."""
    members = {
        name: member
        for base in reversed(kind.__mro__)
        if base.__module__.startswith("gainful")
        for name, member in vars(base).items()
        if not name.startswith("_") and isinstance(member, FunctionType | property | classmethod | staticmethod)
    }
    if members:
        yield from ("**Methods and properties**", "")
    for name, member in members.items():
        function = member.fget if isinstance(member, property) else inspect.unwrap(getattr(kind, name))
        call = name if isinstance(member, property) else signature(name, getattr(kind, name), math.inf)
        doc = sections(inspect.getdoc(function) or "")
        yield from (f"`{call}`", f":   {_indented(escaped(doc[''])).lstrip()}", "")
        for label, said in _pairs(doc.get("Parameters", "")):
            if label:
                yield from (f"    - `{label}`: {escaped(said)}",)
        if "Parameters" in doc:
            yield ""
        if "Examples" in doc:
            yield from ("    ```pycon", _indented(doc["Examples"]), "    ```", "")


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())


def _is_error(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, BaseException)
