"""Every Markdown page does what it says: its shell blocks run, top to bottom, in a folder of their own.

What a fence means: ``sh`` is run and must succeed; ``console`` is `$ command` and, below it, all that the command
prints (stdout and stderr); ``python`` holds doctests, which pytest runs by itself (``--doctest-glob=*.md``, in the
folder of the repository); ``text`` and a plain fence are for reading. There is no other.

A chart of docs/charts is what the command on its page draws: the same words, and the same marks at the same places.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
CHARTS = ROOT / "docs" / "charts"
# Timings are not the same twice; the others show one figure of those that the command draws into one chart.
NOT_REPEATED = ("benchmarks.md", "choose-gain-and-discount.md", "gain-discount.md")
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
RUN = ("sh", "console")
READ = ("text", "")


class Block(NamedTuple):
    """What stands between two fences."""

    line: int
    kind: str
    text: str


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


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script with this interpreter's `gainful` first on the path, and no colours."""
    environment = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "COLUMNS")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )


def follow(page: str, folder: Path) -> int:
    """Do what a page says, in its order; how many blocks were run."""
    run = [block for block in blocks(page) if block.kind in RUN]
    for block in run:
        if block.kind == "sh":
            done = shell(block.text, folder)
            assert done.returncode == 0, f"line {block.line}: {done.stdout}"
        else:
            for command, shown in commands(block):
                assert shell(command, folder).stdout == shown, f"line {block.line}: {command}"
    return len(run)


def escaping(page: str) -> list[str]:
    """What looks as if it were run, and is not."""
    wrong = []
    for block in blocks(page):
        if block.kind not in (*RUN, *READ, "python"):
            wrong.append(f"line {block.line}: '{block.kind}' is none of {', '.join(RUN)}, python, text and plain")
        elif block.kind == "python" and ">>> " not in block.text:
            wrong.append(f"line {block.line}: Python without '>>>' is not run")
        elif block.kind in READ and re.search(r"^\$ ", block.text, re.MULTILINE):
            wrong.append(f"line {block.line}: '$ command' is run in a console block only")
    return wrong


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
    ours, theirs = drawn(svg), drawn(other)
    for one, two in zip_longest(ours, theirs, fillvalue=""):
        numbers = [[float(number) for number in re.findall(NUMBER, line)] for line in (one, two)]
        if re.sub(NUMBER, "#", one) != re.sub(NUMBER, "#", two) or numbers[0] != pytest.approx(numbers[1], abs=0.05):
            return f"{one or 'nothing'}\n  instead of\n{two or 'nothing'}"
    return None


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_page_does_what_it_says(path, tmp_path):
    follow(path.read_text(encoding="utf-8"), tmp_path)
    for new in tmp_path.glob("*.svg"):
        kept = CHARTS / new.name
        if kept.exists():
            wrong = differing(new.read_text(encoding="utf-8"), kept.read_text(encoding="utf-8"))
            assert wrong is None, f"docs/charts/{new.name} is not what the page's command draws: {wrong}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_charts_come_from_the_page_that_shows_them(path):
    page = path.read_text(encoding="utf-8")
    run = "".join(block.text for block in blocks(page) if block.kind in RUN)
    shown = {Path(name).name for name in re.findall(r"!\[[^]]*\]\(([^)]*charts/[^)]*\.svg)\)", page)}
    if path.name not in NOT_REPEATED:
        assert [name for name in sorted(shown) if name not in run] == []
    assert [name for name in sorted(shown) if not (CHARTS / name).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_on_a_page_escapes_its_test(path):
    assert escaping(path.read_text(encoding="utf-8")) == []


def test_pages_are_found():
    names = {path.relative_to(ROOT).as_posix() for path in PAGES}
    assert {"README.md", "CONTRIBUTING.md", "docs/policies.md"} <= names
    readme = [block.kind for block in blocks((ROOT / "README.md").read_text(encoding="utf-8"))]
    assert readme.count("console") >= 4


def test_pages_can_be_followed_in_one_folder():
    """Each makes a collection of its own name, and none takes the folder of `make demo`."""
    made = [
        (name, path.name)
        for path in PAGES
        for block in blocks(path.read_text(encoding="utf-8"))
        if block.kind in RUN
        for name in re.findall(r"gainful simulate (\w+)", block.text)
    ]
    names = [name for name, _ in made]
    assert len(made) >= 8
    assert [(name, page) for name, page in made if names.count(name) > 1 or name == "demo"] == []


PAGE = """
```sh
echo one > file
```

```console
$ cat file
one
$ echo two \\
    three; echo oops >&2
two three
oops
$ true
```

   ```sh
echo four > file
```

~~~~console
$ cat file
four
~~~~

```text
false
```
"""


def test_blocks_run_in_the_order_of_the_page(tmp_path):
    assert follow(PAGE, tmp_path) == 4
    assert (tmp_path / "file").read_text() == "four\n"


@pytest.mark.parametrize(("right", "wrong"), [("\none\n", "\n1\n"), ("\noops\n", "\n"), ("\nfour\n~", "\nfour\n\n~")])
def test_what_is_shown_must_be_printed(right, wrong, tmp_path):
    assert right in PAGE
    with pytest.raises(AssertionError, match=r"line \d+: "):
        follow(PAGE.replace(right, wrong), tmp_path)


def test_a_script_must_succeed(tmp_path):
    with pytest.raises(AssertionError, match="line 1: half"):
        follow("```sh\necho half\nfalse\ntrue\n```", tmp_path)


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="694"><g transform="translate(41,28)">'
    '<g class="mark-line role-mark marks"><path aria-label="share: 0.5" d="M0,12.5L5,300.04" stroke="#0072b2"/></g>'
    '<path class="background" d="M0,0h560"/><text x="3">share of the pairs</text></g></svg>'
)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("300.04", "300.4"),  # a line that moved by a third of a pixel
        ("share of the pairs", "share of pairs"),
        ("#0072b2", "#d55e00"),
        ("share: 0.5", "share: 0.6"),
        ("<text", "<text>more</text><text"),
        ('<path aria-label="share: 0.5" d="M0,12.5L5,300.04" stroke="#0072b2"/>', ""),
    ],
)
def test_charts_that_differ(right, wrong):
    assert right in SVG
    assert differing(SVG, SVG.replace(right, wrong)) is not None


@pytest.mark.parametrize(
    ("here", "there"),
    [("300.04", "300.0399"), ("694", "702"), ("41,28", "47,28"), ("h560", "h561"), ('x="3"', 'x="4"')],
)
def test_charts_that_only_a_font_or_rounding_tells_apart(here, there):
    assert here in SVG
    assert differing(SVG, SVG.replace(here, there)) is None


def test_gainful_is_that_of_this_interpreter(tmp_path):
    follow(f"```console\n$ command -v gainful\n{Path(sys.executable).parent / 'gainful'}\n```", tmp_path)


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("```console\nls\n```", "line 1: a console block begins with '\\$ command'"),
        ("```console\n```", "line 1: a console block without a command"),
        ("\n```sh\nls\n", "line 2: the block is never closed"),
    ],
)
def test_blocks_that_cannot_be_run(page, message, tmp_path):
    with pytest.raises(AssertionError, match=message):
        follow(page, tmp_path)


def test_what_escapes_is_named():
    assert escaping("```bash\nls\n```") == ["line 1: 'bash' is none of sh, console, python, text and plain"]
    assert escaping("```python\nx = 1\n```") == ["line 1: Python without '>>>' is not run"]
    assert escaping("```\n$ ls\n```") == ["line 1: '$ command' is run in a console block only"]
    assert escaping("```text\nx = 1\n```\n```python\n>>> 1\n1\n```\n```sh\nls\n```\n```\nmake demo\n```") == []
