"""What axe-core finds on pages: `npm install axe-core`, then GAINFUL_AXE=node_modules/axe-core/axe.min.js."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import gainful as gf

AXE = os.environ.get("GAINFUL_AXE")


@pytest.mark.skipif(AXE is None, reason="GAINFUL_AXE names no axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious(chromium, tmp_path, scheme):
    """Of the page, and of a topic that is open."""
    path = tmp_path / "report.html"
    made = gf.simulate(topics=20, systems=6, depth=50, seed=1)
    gf.report(made.qrels, made.runs, ["nDCG@10", "AP"], resamples=100, trials=1).save(path)
    page = chromium.new_context(color_scheme=scheme, bypass_csp=True).new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.wait_for_selector("#threshold svg, #robustness svg")
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    for where in ("document", "document.querySelector('dialog.sheet')"):
        if where != "document":
            page.locator(".movers button").first.click()
            page.wait_for_selector("dialog.sheet[open] .two")
        found = page.evaluate(f"axe.run({where})")["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    page.context.close()
