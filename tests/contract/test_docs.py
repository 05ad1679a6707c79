"""What is generated is up to date; what is written names what exists."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import gainful as gf
from gainful.measures import REGISTRY

ROOT = Path(__file__).parents[2]


def _generate():
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_measure_reference_is_up_to_date():
    written = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    assert written == _generate().page(), "run: python docs/generate.py"


def test_every_measure_states_its_formula_undefined_cases_and_reference():
    for definition in REGISTRY.values():
        assert re.search(r"[Uu]ndefined", definition.doc), definition.name
        assert re.search(r"\b(19|20)\d\d\b[^\n]*\.$", definition.doc), f"{definition.name}: no reference at the end"


def test_links_between_pages_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    assert len(pages) > 5
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_public_name_exists_and_is_documented():
    for name in gf.__all__:
        assert (getattr(gf, name).__doc__ or "").strip(), name


def test_every_promise_names_a_test_that_is_there():
    page = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 20
    for file, name in named:
        assert re.search(rf"^\s*(def|class) {name}\b", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), name
