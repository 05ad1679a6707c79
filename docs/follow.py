"""Follow a Markdown page: run what it shows, compare, or write down what it should show.

What a fence means: ``sh`` is run and must succeed; ``console`` is `$ command` and, below it, all that the command
prints (stdout and stderr); ``python`` holds doctests, which are run in the folder of the repository, or a file, if it
begins with its name; ``text`` and a plain fence are for reading. There is no other. Shell blocks run top to bottom, in
a folder of their own.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
CHARTS = ROOT / "docs" / "charts"
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
RUN = ("sh", "console")
READ = ("text", "")
# As pyproject.toml has it for pytest.
DOCTEST = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# Colours and widths are those of a file, whatever the terminal of the person who runs this.
_OF_TERMINALS = ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE")
# Words that mean the same to a shell and to us: no pipes, patterns or variables but inside of quotes.
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
# A block that is a file, or what goes into one; test_contributing.py and test_ecosystem.py put it there and run it.
_FILE = re.compile(r"# ((?:src|examples)/\S+)\n")
_PLAIN = re.compile(r"[\w@%+:,./=\s-]*")


class Block(NamedTuple):
    """What stands between two fences."""

    line: int
    kind: str
    text: str


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    output: str


Runner = Callable[[str, Path], Ran]


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    fence, start, kind, inside = "", 0, "", []
    for number, line in enumerate(page.splitlines(), 1):
        opening = re.match(r"\s*(`{3,}|~{3,})\s*(.*)", line)
        if not fence and opening:
            fence, start, kind, inside = opening[1], number, opening[2].strip(), []
        elif fence and re.fullmatch(rf"\s*{fence[0]}{{{len(fence)},}}\s*", line):
            yield Block(start, kind, "".join(f"{text}\n" for text in inside))
            fence = ""
        elif fence:
            inside.append(line)
    assert not fence, f"line {start}: the block is never closed"


def files(page: str) -> dict[str, str]:
    """The Python blocks of a page that are files, or parts of them, by path."""
    found = ((_FILE.match(block.text), block.text) for block in blocks(page) if block.kind == "python")
    return {named[1]: text[named.end() :] for named, text in found if named}


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with what is shown below it; a backslash carries a command on."""
    found: list[tuple[str, str]] = []
    carried = False
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            assert found, f"line {block.line}: a console block begins with '$ command'"
            command, shown = found[-1]
            found[-1] = (f"{command}\n{line}", shown) if carried else (command, f"{shown}{line}\n")
        carried = line.endswith("\\") and (carried or line.startswith("$ "))
    assert found, f"line {block.line}: a console block without a command"
    return found


def shell(script: str, folder: Path) -> Ran:
    """Run a script with this interpreter's `gainful` first on the path, and no colours."""
    environment = {key: value for key, value in os.environ.items() if key not in _OF_TERMINALS}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    return Ran(ended.returncode, ended.stdout)


def here(script: str, folder: Path) -> Ran:
    """Run a script in this process, which saves imports, if all its lines are plain `gainful …`; else as `shell`."""
    lines = [line for line in script.replace("\\\n", " ").splitlines() if line.strip()]
    if not all(map(_is_ours, lines)):
        return shell(script, folder)
    status, output = 0, ""
    for line in lines:
        status, printed = _inside(shlex.split(line)[1:], folder)
        output += printed
        if status:
            break
    return Ran(status, output)


def _is_ours(line: str) -> bool:
    plain = _PLAIN.fullmatch(_QUOTED.sub("", line))
    return line.startswith("gainful ") and plain is not None and "dask" not in line  # a cluster has its own processes


def _inside(words: list[str], folder: Path) -> Ran:
    from gainful.cli.main import main

    with tempfile.TemporaryDirectory() as elsewhere:
        path = Path(elsewhere) / "printed"
        # As with a process whose output goes to a file: messages at once, what is printed when there is enough of it.
        with (
            path.open("a", encoding="utf-8") as out,
            path.open("a", buffering=1, encoding="utf-8") as err,
            _streams(out, err),
            _without_terminal(),
            chdir(folder),
        ):
            status = main(words)
        return Ran(status, path.read_text(encoding="utf-8"))


@contextmanager
def _streams(*streams: object) -> Iterator[None]:
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextmanager
def _without_terminal() -> Iterator[None]:
    before = {name: os.environ.pop(name) for name in _OF_TERMINALS if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(before)


def follow(page: str, folder: Path, run: Runner = shell) -> int:
    """Do what a page says, in its order; how many blocks were run."""
    found = [block for block in blocks(page) if block.kind in RUN]
    for block in found:
        if block.kind == "sh":
            done = run(block.text, folder)
            assert done.status == 0, f"line {block.line}: {done.output}"
        else:
            for command, shown in commands(block):
                assert run(command, folder).output == shown, f"line {block.line}: {command}"
    return len(found)


def rewritten(page: str, folder: Path, run: Runner = here) -> str:
    """The page with what its commands print now, and what its doctests give now."""
    lines = page.splitlines(keepends=True)
    new: dict[int, str] = {}
    for block in blocks(page):
        if block.kind == "sh":
            done = run(block.text, folder)
            assert done.status == 0, f"line {block.line}: {done.output}"
        elif block.kind == "console":
            parts = []
            for command, _ in commands(block):
                printed = run(command, folder).output
                assert not printed or printed.endswith("\n"), f"line {block.line}: {command}: no end of line"
                parts.append(f"$ {command}\n{printed}")
            new[block.line] = "".join(parts)
    for line, text in reversed(new.items()):
        count = next(block for block in blocks(page) if block.line == line).text.count("\n")
        lines[line : line + count] = [text]
    return doctested("".join(lines))


class _Collecting(doctest.DocTestRunner):
    """Notes what examples give where that is not what is written."""

    def __init__(self) -> None:
        super().__init__(optionflags=DOCTEST)
        self.given: list[tuple[doctest.Example, str]] = []

    def report_failure(self, out: object, test: object, example: doctest.Example, got: str) -> None:
        self.given.append((example, got))

    def report_unexpected_exception(self, out: object, test: object, example: doctest.Example, exc_info: Any) -> None:
        raise AssertionError(f"line {example.lineno + 1}: {example.source.strip()}: {exc_info[1]!r}")


def doctested(page: str) -> str:
    """The page with what its doctests give now; one that raises what it should not is left to you."""
    test = doctest.DocTestParser().get_doctest(page, {"__name__": "__main__"}, "page", None, 0)
    runner = _Collecting()
    with chdir(ROOT), warnings.catch_warnings(), _registered():
        warnings.simplefilter("error")
        runner.run(test, out=lambda _: None, clear_globs=True)
    lines = page.splitlines(keepends=True)
    for example, got in reversed(runner.given):
        start = example.lineno + example.source.count("\n")
        shown = [line if line.strip() else "<BLANKLINE>\n" for line in got.splitlines(keepends=True)]
        lines[start : start + example.want.count("\n")] = [" " * example.indent + line for line in shown]
    return "".join(lines)


@contextmanager
def _registered() -> Iterator[None]:
    """A measure that a page registers is gone after it."""
    from gainful.measures import REGISTRY, unregister

    before = set(REGISTRY)
    try:
        yield
    finally:
        for name in REGISTRY.keys() - before:
            unregister(name)


def rewrite(pages: list[Path]) -> list[str]:
    """Rewrite pages, and the charts that their commands draw; what went wrong."""
    wrong = []
    for path in pages:
        before = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            try:
                after = rewritten(before, Path(folder))
            except AssertionError as error:
                wrong.append(f"{path.relative_to(ROOT)}: {error}")
                continue
            for chart in charts_that_differ(Path(folder)):
                shutil.copyfile(chart, CHARTS / chart.name)
                print(f"rewritten: docs/charts/{chart.name}")
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"rewritten: {path.relative_to(ROOT)}")
    return wrong


def escaping(page: str) -> list[str]:
    """What looks as if it were run, and is not."""
    wrong = []
    for block in blocks(page):
        if block.kind not in (*RUN, *READ, "python"):
            wrong.append(f"line {block.line}: '{block.kind}' is none of {', '.join(RUN)}, python, text and plain")
        elif block.kind == "python" and ">>> " not in block.text and not _FILE.match(block.text):
            wrong.append(f"line {block.line}: Python without '>>>' is not run")
        elif block.kind in READ and re.search(r"^\$ ", block.text, re.MULTILINE):
            wrong.append(f"line {block.line}: '$ command' is run in a console block only")
    return wrong


def charts_that_differ(folder: Path) -> dict[Path, str]:
    """The charts of a folder that are kept in docs/charts, but show something else; and what."""
    found = {}
    for new in sorted(folder.glob("*.svg")):
        kept = CHARTS / new.name
        if kept.exists():
            wrong = differing(new.read_text(encoding="utf-8"), kept.read_text(encoding="utf-8"))
            if wrong is not None:
                found[new] = wrong
    return found


def drawn(svg: str) -> list[str]:
    """The words of a chart and its marks; not where fonts put them, which differ from one machine to another."""
    found: list[str] = []

    def walk(element: ElementTree.Element, mark: bool) -> None:
        mark = mark or "role-mark" in element.get("class", "")
        tag = element.tag.rpartition("}")[2]
        if tag == "text" and element.text:
            found.append(f"text {element.text}")
        elif mark and tag in ("path", "rect", "line", "circle"):
            names = ("d", "transform", "x", "y", "width", "height", "fill", "stroke", "aria-label")
            found.append(" ".join([tag, *(f"{name}={element.get(name)}" for name in names if element.get(name))]))
        for child in element:
            walk(child, mark)

    walk(ElementTree.fromstring(svg), mark=False)
    return found


def differing(svg: str, other: str) -> str | None:
    """What the first of two charts shows and the second does not, to a twentieth of a pixel; None if they agree."""
    if svg == other:
        return None
    for one, two in zip_longest(drawn(svg), drawn(other), fillvalue=""):
        numbers = [[float(number) for number in re.findall(NUMBER, line)] for line in (one, two)]
        close = len(numbers[0]) == len(numbers[1]) and all(abs(a - b) <= 0.05 for a, b in zip(*numbers, strict=True))
        if re.sub(NUMBER, "#", one) != re.sub(NUMBER, "#", two) or not close:
            return f"{one or 'nothing'}\n  instead of\n{two or 'nothing'}"
    return None
