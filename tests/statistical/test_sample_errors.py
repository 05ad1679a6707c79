"""The table of docs/what-to-judge.md: errors of measures at a tenth of the judgments, by two kinds of samples."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gainful as gf
from gainful.data.rankings import Rankings
from gainful.stats.correlation import kendall

PAGE = Path(__file__).parents[2] / "docs" / "what-to-judge.md"
DATA = Path(os.environ.get("GAINFUL_DATA", "/nonexistent"))
TRIALS = 20
# Each measure, and what it estimates.
MEASURES = {"statAP": "AP", "xinfAP": "AP", "infAP": "AP", "bpref": "bpref", "AP": "AP"}
MEASURES |= {"infNDCG": "nDCG", "nDCG": "nDCG", "infNDCG@10": "nDCG@10", "nDCG@10": "nDCG@10"}


def places(group: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The place of each document within its group, by an order that goes through groups one after another."""
    size = np.bincount(group)
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    found = np.empty(len(group), np.int64)
    found[order] = np.arange(len(group)) - start[group[order]]
    return found


def sample(rankings: Rankings, design: str, rng: np.random.Generator) -> Rankings:
    """Uniform: a tenth of each pool. Stratified: the twentieth that ranks best in any run, and as many of the rest."""
    topic = rankings.pool_topic
    size = np.bincount(topic)
    stratum = np.zeros(len(topic), np.int64)
    if design == "stratified":
        best = np.full(len(topic), 10**6)
        np.minimum.at(best, rankings.document, rankings.rank)
        order = np.lexsort((rng.random(len(topic)), best, topic))
        stratum = (places(topic, order) >= 0.05 * size[topic]).astype(np.int64)
    group = topic * 2 + stratum
    number = np.bincount(group, minlength=2 * len(size))
    share = np.tile([1.0, 0.05 / 0.95] if design == "stratified" else [0.1, 0.0], len(size))
    wanted = np.minimum(np.maximum(np.ceil(share * number), 2), number)
    kept = places(group, np.lexsort((rng.random(len(group)), group))) < wanted[group]
    return replace(rankings, pool_grade=np.where(kept, rankings.pool_grade, -1), pool_stratum=stratum)


def errors(rankings: Rankings, design: str, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Per measure the root mean square error of the runs' means, their mean error, and τ, averaged over trials."""
    full = gf.evaluate(rankings, sorted(set(MEASURES.values())))
    truth = {measure: full[measure].values.mean(axis=1) for measure in full.measures}
    found: dict[str, list[list[float]]] = {measure: [] for measure in MEASURES}
    for _ in range(TRIALS):
        scores = gf.evaluate(sample(rankings, design, rng), list(MEASURES))
        for measure, wanted in MEASURES.items():
            values = scores[measure].values.mean(axis=1)
            off = values - truth[wanted]
            found[measure].append([np.sqrt(np.mean(off**2)), off.mean(), kendall(values, truth[wanted]).item()])
    return {measure: np.mean(rows, axis=0) for measure, rows in found.items()}


def printed(design: str, first: int) -> dict[str, list[float]]:
    """What the page shows: error, bias and τ, from this column on."""
    page = PAGE.read_text(encoding="utf-8").replace("−", "-")
    section = page.split(f"| *{design}* |")[1].split("| *")[0]
    rows = {}
    for line in re.findall(r"^\| (\w.*) \|$", section, re.MULTILINE):
        name, *cells = (cell.strip() for cell in line.split("|"))
        for one in name.removesuffix(" (against bpref)").split(", "):
            rows[one] = [float(cell) for cell in cells[first : first + 3]]
    return rows


def check(rankings: Rankings, first: int) -> None:
    rng = np.random.default_rng(0)
    for design in ("uniform", "stratified"):
        found, shown = errors(rankings, design, rng), printed(design, first)
        assert shown.keys() == MEASURES.keys()
        for measure, numbers in found.items():
            assert numbers.tolist() == pytest.approx(shown[measure], abs=0.0051), (design, measure)


def test_simulated():
    made = gf.simulate(topics=40, systems=24, depth=200, seed=7)
    check(gf.align(made.qrels, made.runs), 0)


@pytest.mark.skipif(not DATA.is_dir(), reason="GAINFUL_DATA is not set to a folder")
def test_trec_covid():
    check(gf.align(DATA / "trec-covid-round1/qrels.txt.gz", DATA / "trec-covid-round1/runs"), 3)
