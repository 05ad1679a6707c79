"""The table of docs/what-to-judge.md: errors of measures at a tenth of the judgments, by two kinds of samples."""

from __future__ import annotations

import os
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import gainful as gf
from gainful.data.rankings import Rankings

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "what-to-judge.md"
DATA = Path(os.environ.get("GAINFUL_DATA", "/nonexistent"))
_found = spec_from_file_location("sampled_judgments", ROOT / "benchmarks" / "sampled_judgments.py")
bench = module_from_spec(_found)
_found.loader.exec_module(bench)


def printed(design: str, first: int) -> dict[str, list[float]]:
    """What the page shows: error, bias and τ, from this column on."""
    page = PAGE.read_text(encoding="utf-8").replace("−", "-")
    section = page.split(f"| *{design}* |")[1].split("| *")[0].split("\n\n")[0]
    rows = {}
    for line in re.findall(r"^\| (\w.*) \|$", section, re.MULTILINE):
        name, *cells = (cell.strip() for cell in line.split("|"))
        for one in name.removesuffix(" (against bpref)").split(", "):
            rows[one] = [float(cell) for cell in cells[first : first + 3]]
    return rows


def check(rankings: Rankings, first: int) -> None:
    rng = np.random.default_rng(0)
    for design in bench.DESIGNS:
        found, shown = bench.errors(rankings, design, rng), printed(design, first)
        assert shown.keys() == bench.MEASURES.keys()
        for measure, numbers in found.items():
            assert numbers.tolist() == pytest.approx(shown[measure], abs=0.0051), (design, measure)


def test_simulated():
    made = gf.simulate(topics=40, systems=24, depth=200, seed=7)
    check(gf.align(made.qrels, made.runs), 0)


@pytest.mark.skipif(not DATA.is_dir(), reason="GAINFUL_DATA is not set to a folder")
def test_trec_covid():
    check(gf.align(DATA / "trec-covid-round1/qrels.txt.gz", DATA / "trec-covid-round1/runs"), 3)
