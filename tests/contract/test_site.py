"""The site is whole: every page has its place, every command and public name is described, every link is checked."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import gainful
from gainful.cli.commands import COMMANDS
from gainful.cli.make import headline, load
from sitegen import commands, links, python, stage
from sitegen.text import escaped

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages():
    return stage.pages()


def paths(nav):
    """The pages of a navigation, top to bottom."""
    for entry in nav if isinstance(nav, list) else nav.values():
        if isinstance(entry, str):
            yield entry
        else:
            yield from paths(entry)


class TestPages:
    def test_every_page_has_one_place(self, pages):
        found = list(paths(stage.navigation(pages)))
        assert sorted(found) == sorted(pages)
        assert {path.relative_to(stage.DOCS).as_posix() for path in stage.DOCS.rglob("*.md")} <= set(found)
        assert found[:3] == ["index.md", "install.md", "quick-start.md"]

    def test_a_page_without_a_place_is_refused(self, pages):
        message = "lost.md: no place in the navigation; add it to NAV in docs/sitegen/stage.py"
        with pytest.raises(LookupError, match=f"^{re.escape(message)}$"):
            stage.navigation({**pages, "lost.md": "# Lost"})

    def test_the_quick_start_is_the_readme(self, pages):
        """What it shows is what test_pages runs: the same blocks, in the same order."""
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        blocks = [match[0] for match in stage.FENCE.finditer(pages["quick-start.md"])]
        assert blocks == [match[0] for match in stage.FENCE.finditer(readme)]
        assert len(blocks) >= 8
        assert "](inputs.md)" in pages["quick-start.md"]
        assert "](contributing.md#add-a-measure-in-one-file)" in pages["quick-start.md"]

    def test_commands_are_in_the_order_of_the_help(self, pages):
        found = [path for path in paths(stage.navigation(pages)) if path.startswith(commands.FOLDER)]
        assert found == [f"{commands.FOLDER}/{name}.md" for name in ("index", *map(commands.slug, COMMANDS))]

    def test_front_page(self):
        page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
        told = page.partition("\n\n")[2].partition("\n\n")[0]
        assert told.count("\n") == 2  # three lines


class TestLinks:
    @pytest.mark.parametrize(
        ("source", "link", "expected"),
        [
            ("docs/compare.md", "[a](policies.md#ties)", "[a](policies.md#ties)"),
            ("docs/compare.md", "[a](../CONTRIBUTING.md#b)", "[a](contributing.md#b)"),
            ("docs/compare.md", "[a](../README.md#b)", "[a](quick-start.md#b)"),
            ("docs/studies/one.md", "![`a`](../charts/c.svg)", "![`a`](../charts/c.svg)"),
            ("docs/studies/one.md", "[a](../../CHANGELOG.md)", "[a](../changelog.md)"),
            ("README.md", "[a](docs/compare.md) and [b](docs/trec_eval.md)", "[a](compare.md) and [b](trec_eval.md)"),
            ("README.md", "[a](#b), [c](https://d.org/e)", "[a](#b), [c](https://d.org/e)"),
            ("docs/index.md", "[a](tutorials/one.ipynb)", "[a](tutorials/one.md)"),
            ("README.md", "[how it is done](src/gainful/compare.py)", "how it is done"),
            ("README.md", "```sh\n[a](docs/b.md)\n```\n[a](docs/b.md)", "```sh\n[a](docs/b.md)\n```\n[a](b.md)"),
        ],
    )
    def test_become_those_of_the_site(self, source, link, expected):
        assert stage.relinked(link, source) == expected

    @pytest.mark.parametrize(
        ("html", "problem"),
        [
            ('<a href="b.html">', None),
            ('<a href="b.html#here">', None),
            ('<a href="folder/">', None),
            ('<a href="#there"><p id="there">', None),
            ('<a href="https://elsewhere.org">', None),
            ('<link rel="canonical" href="https://elsewhere.org">', None),
            ('<a href="c.html">', "a.html: nothing at c.html"),
            ('<a href="b.html#gone">', "a.html: no such place as b.html#gone"),
            ('<a href="#gone">', "a.html: no such place as #gone"),
            ('<img src="charts/c.svg">', "a.html: nothing at charts/c.svg"),
            ('<script src="https://cdn.org/x.js">', "a.html: fetches https://cdn.org/x.js"),
            ('<link rel="stylesheet" href="//fonts.org/x">', "a.html: fetches //fonts.org/x"),
        ],
    )
    def test_are_checked(self, html, problem, tmp_path):
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "index.html").write_text("<p>", encoding="utf-8")
        (tmp_path / "a.html").write_text(html, encoding="utf-8")
        (tmp_path / "b.html").write_text('<h1 id="here">', encoding="utf-8")
        assert list(links.problems(tmp_path)) == ([] if problem is None else [problem])

    def test_fonts_of_another_place_are_found(self, tmp_path):
        (tmp_path / "a.css").write_text("@font-face { src: url(https://fonts.org/x) }", encoding="utf-8")
        assert list(links.problems(tmp_path)) == ["a.css: fetches from elsewhere"]


class TestCommands:
    @pytest.mark.parametrize("name", COMMANDS)
    def test_page_says_what_the_help_says(self, name, pages, gainful):
        page = pages[f"{commands.FOLDER}/{commands.slug(name)}.md"]
        _, out, _ = gainful(*name.split(), "--help")
        options = set(re.findall(r"^[│ ]*(?:\*\s+)?(--[a-z][a-z-]+)", out, re.MULTILINE)) - {"--help", "--version"}
        assert [option for option in sorted(options) if option not in page] == []
        assert out.splitlines()[-1].removeprefix("Example: ") in page
        assert headline(load(COMMANDS[name].function)) in page

    def test_defaults_and_choices(self, pages):
        page = pages[f"{commands.FOLDER}/compare.md"]
        assert "*Choices:* `holm`, `bonferroni`, `bh`, `none`. *Default:* `holm`." in page
        assert "gainful compare [OPTIONS] [QRELS RUN...]" in page
        assert "gainful threshold fit [OPTIONS] QRELS RUN\n" in pages[f"{commands.FOLDER}/threshold-fit.md"]

    def test_lead_to_python_and_to_the_pages_that_use_them(self, pages):
        page = pages[f"{commands.FOLDER}/threshold-fit.md"]
        assert "(../../reference/python/tune.md#gainful.threshold.fit)" in page
        assert "- [Where do I cut my result list?](../../where-to-cut.md)" in page
        assert commands.used_in(
            "compare", {"a.md": "# A\n$ gainful compared x", "b.md": "# B\n$ gainful compare x"}
        ) == {"b.md": "B"}

    def test_globs_stay_globs(self):
        assert commands._quiet("gets runs/*.txt and *.json; `a_b` or c_d *[default: x]*") == (
            r"gets runs/\*.txt and \*.json; `a_b` or c\_d *Default:* `x`."
        )


class TestPython:
    def test_every_public_name_is_described_once(self, pages):
        text = "\n".join(text for path, text in pages.items() if path.startswith(python.FOLDER))
        packages = ("ltrf", "studies")
        others = (*packages, "threshold", "compat", "__version__")
        names = [f"gainful.{name}" for name in gainful.__all__ if name not in others]
        names += [f"gainful.{home}.{name}" for home in packages for name in getattr(gainful, home).__all__]
        names += [f"gainful.threshold.{name}" for name in ("fit", "apply", "curve")]
        assert len(names) > 50
        assert [name for name in names if text.count(f"{{ #{name} }}") != 1] == []

    def test_a_function(self, pages):
        page = pages[f"{python.FOLDER}/evaluate.md"]
        part = page[page.index("{ #gainful.evaluate }") : page.index("{ #gainful.explain }")]
        assert "\ngainful.evaluate(\n    qrels,\n    runs=None,\n    measures=('nDCG@10', 'AP'),\n    *,\n" in part
        assert "`ties` (`'trec' | 'order' | 'expected'`)\n:   trec: score as float32 descending" in part
        assert "`keep_going` (`bool`)\n:   Leave out runs that cannot be read" in part
        assert "[`Scores`](data.md#gainful.Scores)\n:   One score" in part
        assert "```pycon\n>>> scores = evaluate(" in part

    def test_a_long_signature(self, pages):
        page = pages[f"{python.FOLDER}/analyses.md"]
        assert "gainful.stability(\n    source,\n    runs=None,\n    measures=None,\n    *,\n    sizes=None," in page

    def test_a_class_has_its_methods(self, pages):
        page = pages[f"{python.FOLDER}/data.md"]
        assert "\n`to_frame()`\n:   " in page[page.index("{ #gainful.Scores }") :]

    def test_no_addresses(self, pages):
        """A default that is an object would be another text on every build."""
        assert [path for path, text in pages.items() if re.search(r" at 0x[0-9a-f]+|<object", text)] == []

    def test_numpydoc(self):
        parameters = "Parameters\n----------\na, b\n    Both\n    of them.\nc\n    One."
        found = python.sections(f"Do it.\n\nMore.\n\n{parameters}\n\nNotes\n-----\nSee x_y.")
        assert list(found) == ["", "Parameters", "Notes"]
        assert list(python._pairs(found["Parameters"])) == [("a, b", "Both of them."), ("c", "One.")]
        assert escaped(found["Notes"]) == r"See x\_y."
        assert escaped("`x_y <` and x_y < 1") == r"`x_y <` and x\_y &lt; 1"


def test_nothing_heavy_is_imported():
    code = (
        "import sys; from sitegen import stage; stage.navigation(stage.pages());"
        "print([name for name in ('torch', 'lightgbm', 'sentence_transformers', 'altair') if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "docs")}
    )
    assert (ended.stdout, ended.stderr) == ("[]\n", "")
