"""The command-line reference: one page per command, from what its help says."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
from collections.abc import Iterator, Mapping

import gainful as gf
from gainful.cli.app import app, register
from gainful.cli.commands import COMMANDS
from gainful.cli.main import main
from gainful.cli.make import headline, load
from sitegen.text import escaped, title

FOLDER = "reference/commands"

HEAD = """# Commands

Every command is made from a Python function of the same name, with the same parameters and defaults. It prints data
to standard output and everything else to standard error, and ends with status 0, 1 (input that gainful refuses), 2 (a
command line that it does not understand) or 3 (a run that does not pass: `compare --fail-if-worse`).

| command | what it does |
|---|---|
"""


def pages(written: Mapping[str, str], functions: Mapping[str, str]) -> dict[str, str]:
    """The text of each page of the reference, by its path.

    Parameters
    ----------
    written
        The pages of the site that people wrote, by path: a command's page names those that use it.
    functions
        Where each Python function is described, by its name: ``{"gainful.evaluate": "reference/python/….md#…"}``.
    """
    register()
    heads = {name: headline(load(command.function)) for name, command in COMMANDS.items()}
    rows = "".join(f"| [`gainful {name}`]({slug(name)}.md) | {head} |\n" for name, head in heads.items())
    found = {f"{FOLDER}/index.md": HEAD + rows}
    twins = {headline_of(name): name for name in functions}
    for name, head in heads.items():
        found[f"{FOLDER}/{slug(name)}.md"] = page(name, head, used_in(name, written), twins.get(head), functions)
    return found


def slug(name: str) -> str:
    """The name of a command's page."""
    return name.replace(" ", "-")


def page(name: str, head: str, using: Mapping[str, str], twin: str | None, functions: Mapping[str, str]) -> str:
    """One command: what it does, an example, every option with its default, and where to read on."""
    parts = [f"# gainful {name}", "", head, "", "```sh", COMMANDS[name].example, "```", ""]
    parts += ["## Options", "", *(_of_trec_eval() if name == "trec_eval" else _options(name))]
    links = [f"[{title}](../../{path})" for path, title in using.items()]
    if twin is not None:
        links.insert(0, f"in Python: [`{twin}`](../../{functions[twin]})")
    if links:
        parts += ["", "## Read on", "", *(f"- {link}" for link in links)]
    return "\n".join(parts) + "\n"


def used_in(name: str, written: Mapping[str, str]) -> dict[str, str]:
    """The pages with a line that runs the command, by path, with their titles."""
    line = re.compile(rf"^(\$ )?gainful {re.escape(name)}(?![\w-])", re.MULTILINE)
    return {path: title(text) for path, text in written.items() if line.search(text)}


def headline_of(name: str) -> str:
    """The first line of a function's docstring, which is that of its command."""
    found: object = gf
    for word in name.split(".")[1:]:
        found = getattr(found, word)
    return (inspect.getdoc(found) or "").partition("\n")[0]


def _options(name: str) -> Iterator[str]:
    """The usage line, then arguments and options as cyclopts describes them."""
    command = app
    for word in name.split():
        command = command[word]
    text = command.generate_docs(output_format="markdown")
    usage = re.search(r"```console\n(.*)\n```", text)
    assert usage is not None, f"{name}: cyclopts describes commands otherwise than it did"
    entries = re.findall(r"^\* `([^`]+)`: (.*)", text[usage.end() :], re.MULTILINE)
    arguments = " ".join(label for label, _ in entries if not label.startswith("-"))
    # What stands before is the name of this process, which is not gainful.
    words = re.sub(r"^.*?(?=\[OPTIONS\]|\[ARGS\]|$)", "", usage[1]).replace("[ARGS]", f"[{arguments}]")
    yield from ("```text", f"gainful {name} {words}", "```", "")
    for label, text in entries:
        yield from (f"`{label}`", f":   {_quiet(text)}", "")


def _quiet(text: str) -> str:
    """Keep ``runs/*.txt`` from becoming emphasis, and give choices and defaults the look of code."""
    said, *facts = re.split(r" \*+\[(?=(?:choices|default|required|env))", text)
    said = escaped(said)
    for fact in facts:
        kind, _, value = fact.rstrip("*").rstrip("]").partition(": ")
        if value == "()":  # what is repeated, and need not be given
            continue
        values = value.split(", ") if kind == "choices" else [value]
        shown = ", ".join(f"`{one}`" for one in values)
        said += f" *{kind.capitalize()}:* {shown}." if value else f" *{kind.capitalize()}.*"
    return said


def _of_trec_eval() -> Iterator[str]:
    """Its options follow trec_eval's rules and not those of cyclopts."""
    printed = io.BytesIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(printed, "utf-8", write_through=True)):
        main(["trec_eval", "-h"])
        yield from ("```text", printed.getvalue().decode().partition("\n\nExample")[0], "```")
