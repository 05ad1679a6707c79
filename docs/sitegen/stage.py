"""Put the site together: which pages there are, where each stands, and what their links become."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from sitegen import commands, example, notebooks, python

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

# The navigation: pages of docs/ by name or pattern, each under the first that fits. A pattern may still fit nothing.
NAV = {
    "Home": ["index.md"],
    "Start": ["install.md", "quick-start.md", "tutorials/student.md", "tutorials/*.md", "gallery.md"],
    "Tasks": [
        "report.md",
        "compare.md",
        "how-many-topics.md",
        "which-measure.md",
        "diversity.md",
        "measures-agree.md",
        "judgments-deep-enough.md",
        "what-to-judge.md",
        "llm-judge.md",
        "run-a-campaign.md",
        "nDCG-with-spam-labels.md",
        "choose-gain-and-discount.md",
        "where-to-cut.md",
        "rank-and-filter.md",
        "text-rankers.md",
        "several-tasks.md",
        "ci.md",
        "serve-a-ranker.md",
        "large-files.md",
        "dask.md",
    ],
    "Beside other packages": ["beir-and-mteb.md", "sentence-transformers.md", "rag.md", "track-experiments.md"],
    "Coming from": ["trec_eval.md", "coming-from-*.md"],
    "Studies": [
        "studies/index.md",
        "studies/negative-labels.md",
        "studies/gain-discount.md",
        "studies/incomplete-judgments.md",
        "studies/*.md",
    ],
    "Reference": [
        "measures.md",
        "policies.md",
        "inputs.md",
        "statistics.md",
        "reference/commands/*.md",
        "reference/python/*.md",
    ],
    "Project": [
        *("promises.md", "security.md", "benchmarks.md", "api-stability.md"),
        *("dependencies.md", "contributing.md", "changelog.md"),
    ],
}
# Groups of pages inside of "Reference".
INSIDE = {"reference/commands": "Commands", "reference/python": "Python"}
# What stands beside docs/, and the page that it becomes.
BESIDE = {"README.md": "quick-start.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
BESIDE |= {"SECURITY.md": "security.md"}
# Sections of the README that the site has a better place for.
LEFT_OUT = ("Where to look",)
# What else is copied.
PICTURES = (".svg", ".png", ".css", ".js")
# The front page takes the whole width.
WIDE = "---\nhide:\n  - navigation\n  - toc\n---\n"
# It shows a report that works; a phone, on which one would scroll inside of it for ever, the picture below.
EXAMPLE = (
    '<div class="example"><iframe src="example/report.html" title="A report of twelve simulated runs" loading="lazy">'
    "</iframe></div>\n\n[Open this report by itself](example/report.html) · "
    "[A paper's findings, reproduced on a page](example/study.html)\n\n"
)
PAGES = (
    "Whole pages of them: [a report](example/report.html) of twelve simulated runs, and [a study](example/study.html) "
    "that puts a paper's numbers below those of sixteen.\n\n"
)
FENCE = re.compile(r"^(\s*(`{3,}|~{3,}).*?^\s*\2\s*$)", re.MULTILINE | re.DOTALL)


def pages() -> dict[str, str]:
    """The Markdown of the whole site, by path."""
    written = {path.relative_to(DOCS).as_posix(): _read(path) for path in sorted(DOCS.rglob("*.md"))}
    for path in sorted(notebooks.TUTORIALS.glob("*.ipynb")):
        written[f"tutorials/{path.stem}.md"] = notebooks.page(notebooks.read(path))
    found = {path: relinked(text, f"docs/{path}") for path, text in written.items()}
    for source, path in BESIDE.items():
        text = _read(ROOT / source)
        found[path] = relinked(quick_start(text) if source == "README.md" else text, source)
    places = python.places()
    found |= commands.pages({path: found[path] for path in (*_in_order(written), "quick-start.md")}, places)
    found["index.md"] = WIDE + re.sub(r"^(?=\[!\[)", EXAMPLE, found["index.md"], count=1, flags=re.MULTILINE)
    found["gallery.md"] = found["gallery.md"].replace('<div class="gallery"', f'{PAGES}<div class="gallery"', 1)
    return found | python.pages()


def quick_start(readme: str) -> str:
    """The README as a page, without what the site has a better place for."""
    first, *sections = re.split(r"^(?=## )", readme, flags=re.MULTILINE)
    kept = [section for section in sections if section.partition("\n")[0][3:] not in LEFT_OUT]
    return "# Quick start\n" + first.partition("\n")[2] + "".join(kept)


def relinked(text: str, source: str) -> str:
    """Links between files of the repository become links between pages; to what is no page, plain words."""
    here = posixpath.dirname(BESIDE.get(source, source.removeprefix("docs/")))

    def page(match: re.Match[str]) -> str:
        target, mark, anchor = match[2].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        place = BESIDE.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)
        if place is not None and place.endswith(".ipynb"):
            place = f"{place.removesuffix('.ipynb')}.md"
        return match[1] if place is None else f"[{match[1]}]({posixpath.relpath(place, here)}{mark}{anchor})"

    parts = FENCE.split(text)
    for at in range(0, len(parts), 3):  # between the fences, which come with their marks
        parts[at] = re.sub(r"(?<!\\)\[((?:[^][]|\[[^]]*\])*)\]\(([^)\s]+)\)", page, parts[at])
    return "".join(part for at, part in enumerate(parts) if at % 3 != 2)


def navigation(paths: Mapping[str, str]) -> list[object]:
    """Where each page stands; a page without a place is refused."""
    left = _in_order(paths)
    nav: list[object] = []
    for title, patterns in NAV.items():
        here = [path for pattern in patterns for path in left if fnmatchcase(path, pattern)]
        here = list(dict.fromkeys(here))
        left = [path for path in left if path not in here]
        if title == "Home":
            nav += [{title: path} for path in here]
        elif here:
            plain: list[object] = [path for path in here if posixpath.dirname(path) not in INSIDE]
            groups = {
                name: [_titled(path) for path in here if posixpath.dirname(path) == at] for at, name in INSIDE.items()
            }
            nav.append({title: plain + [{name: inside} for name, inside in groups.items() if inside]})
    if left:
        raise LookupError(f"{', '.join(left)}: no place in the navigation; add it to NAV in docs/sitegen/stage.py")
    return nav


def stage(folder: Path) -> int:
    """Write pages, pictures and settings into a folder for Zensical to build; how many pages."""
    found = pages()
    shutil.rmtree(folder, ignore_errors=True)
    for path in (path for path in DOCS.rglob("*") if path.suffix in PICTURES):
        target = folder / "docs" / path.relative_to(DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for name, text in found.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    example.write(folder / "docs" / "example", ROOT / "build" / "example")
    settings = _read(ROOT / "zensical.toml").replace("[project]\n", f"[project]\nnav = {_toml(navigation(found))}\n", 1)
    (folder / "zensical.toml").write_text(settings, encoding="utf-8")
    return len(found)


def _in_order(paths: Mapping[str, str]) -> list[str]:
    """By the navigation, then by name; an index before what it lists, commands as `gainful --help` has them."""
    listed = [pattern for patterns in NAV.values() for pattern in patterns]
    order = {f"{commands.FOLDER}/{commands.slug(name)}.md": at for at, name in enumerate(commands.COMMANDS)}
    order |= {f"{python.FOLDER}/{name}.md": at for at, name in enumerate(python.PAGES)}

    def place(path: str) -> tuple[int, bool, int, str]:
        fits = [at for at, pattern in enumerate(listed) if fnmatchcase(path, pattern)]
        return min(fits, default=len(listed)), not path.endswith("/index.md"), order.get(path, 0), path

    return sorted(paths, key=place)


def _titled(path: str) -> object:
    """A command goes by its name, without `gainful` before each."""
    names = {f"{commands.FOLDER}/{commands.slug(name)}.md": name for name in commands.COMMANDS}
    return {names[path]: path} if path in names else path


def _toml(value: object) -> str:
    """Nested lists and tables of text, inline."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return "{ " + ", ".join(f"{_toml(key)} = {_toml(inner)}" for key, inner in value.items()) + " }"
    raise TypeError(f"expected text, lists and tables, got {value!r}")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
