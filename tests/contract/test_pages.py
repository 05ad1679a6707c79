"""Every Markdown page does what it says: its shell blocks run, top to bottom, in a folder of their own.

docs/follow.py says what each fence means, runs it, and rewrites pages (`python docs/generate.py --console`). A chart of
docs/charts is what the command on its page draws: the same words, and the same marks at the same places.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from follow import (
    CHARTS,
    PAGES,
    ROOT,
    RUN,
    Ran,
    blocks,
    charts_that_differ,
    differing,
    doctested,
    escaping,
    follow,
    here,
    rewritten,
    shell,
)

# Timings are not the same twice; the others show one figure of those that the command draws into one chart.
NOT_REPEATED = ("benchmarks.md", "choose-gain-and-discount.md", "gain-discount.md")
TRAINING = ("rank-and-filter.md", "serve-a-ranker.md")
FOLLOWED = [path for path in PAGES if any(block.kind in RUN for block in blocks(path.read_text(encoding="utf-8")))]


@pytest.mark.parametrize("run", [here, pytest.param(shell, marks=pytest.mark.slow)], ids=["here", "shell"])
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] if path.name in TRAINING else []) for path in FOLLOWED],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_page_does_what_it_says(path, run, tmp_path):
    follow(path.read_text(encoding="utf-8"), tmp_path, run)
    assert list(charts_that_differ(tmp_path).values()) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_charts_come_from_the_page_that_shows_them(path):
    page = path.read_text(encoding="utf-8")
    run = "".join(block.text for block in blocks(page) if block.kind in RUN)
    shown = {Path(name).name for name in re.findall(r"!\[[^]]*\]\(([^)]*charts/[^)]*\.svg)\)", page)}
    if path.name not in (*NOT_REPEATED, "gallery.md"):
        assert [name for name in sorted(shown) if name not in run] == []
    assert [name for name in sorted(shown) if not (CHARTS / name).exists()] == []


def test_charts_of_the_gallery_are_those_of_the_pages_behind_them():
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    links = re.findall(r"^\[!\[[^]]+\]\((charts/[^)]+)\).*\]\(([^)#]+)[^)]*\)$", gallery, re.MULTILINE)
    assert len(links) == gallery.count("![") >= 12
    assert [chart for chart, page in links if chart not in (ROOT / "docs" / page).read_text(encoding="utf-8")] == []


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


def test_a_page_is_rewritten_with_what_is_printed(tmp_path):
    stale = PAGE.replace("\none\n", "\n1\n").replace("\noops\n", "\n").replace("$ true\n", "$ true\ntrue\n")
    assert stale != PAGE
    assert rewritten(stale, tmp_path) == PAGE


def test_a_page_is_rewritten_with_what_its_doctests_give():
    loop = ">>> for i in range(2):\n...     print(i, end='\\n\\n')\n"
    page = f"Text.\n\n```python\n{loop}{{}}>>> 3 - 1\n{{}}>>> x = 1\n{{}}\n```\nMore."
    right = page.format("0\n<BLANKLINE>\n1\n<BLANKLINE>\n", "2\n", "")
    assert doctested(page.format("7\n", "2\n", "1\n")) == right
    assert doctested(page.format("", "", "")) == right
    assert doctested(right) == right
    assert doctested(page.format("0\n...\n", "2\n", "")) == page.format("0\n...\n", "2\n", "")
    with pytest.raises(AssertionError, match="line 2: 1/0: ZeroDivisionError"):
        doctested("\n>>> 1/0\n1\n")


@pytest.mark.parametrize(
    ("command", "inside"),
    [
        ("gainful --version", True),
        ("gainful measures 'nDCG' \\\n  --format csv", True),
        ("gainful measures\ngainful --version", True),
        ("gainful measures | head -1", False),
        ("gainful evaluate q runs/*.txt", False),
        ("gainful measures $NAME", False),
        ('gainful measures "$NAME"', False),
        ("gainful evaluate 'q' r --engine dask", False),
        ("gainful measures\ncd ..", False),
        ("make demo", False),
    ],
)
def test_what_needs_no_shell_runs_in_this_process(command, inside, tmp_path, monkeypatch):
    monkeypatch.setattr("follow.shell", lambda script, folder: Ran(0, "by a shell"))
    monkeypatch.setattr("follow._inside", lambda words, folder: Ran(0, "inside"))
    assert here(command, tmp_path).output == ("inside" * (1 + command.count("\ngain")) if inside else "by a shell")


@pytest.mark.parametrize("command", ["gainful --version", "gainful evaluate none none", "gainful measures nDCG"])
def test_a_process_prints_the_same(command, tmp_path):
    assert here(command, tmp_path) == shell(command, tmp_path)


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
