"""The tables of the pages for those who come from another tool: what stands side by side gives the same numbers.

(The examples of the pages run as doctests and in test_pages; the tables would be believed without being run.)
"""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval

import gainful as gf

DOCS = Path(__file__).parents[2] / "docs"


def pairs(page: str, tool: str) -> list[tuple[str, str]]:
    """The measures of the rows below the header `| tool | gainful |`: theirs and ours, one by one."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (table,) = re.findall(rf"^\| {tool} \| gainful \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    found = []
    for row in table.splitlines():
        theirs, ours = (re.findall(r"`([^`]+)`", cell) for cell in row.strip("|").split("|")[:2])
        found += zip(theirs, ours, strict=True)
    return found


def collection(seed: int):
    """Topics in qrels and run alike, no ties, no negative labels: where all tools should agree."""
    rng = random.Random(seed)
    ids = [f"d{number:02}" for number in range(30)]
    qrels = {str(t): {doc: rng.choice((0, 0, 1, 2, 3)) for doc in rng.sample(ids, 20)} for t in range(1, 6)}
    run = {topic: {doc: -float(at) for at, doc in enumerate(rng.sample(ids, rng.randint(2, 25)))} for topic in qrels}
    return qrels, run


def ours_by_topic(text, qrels, run):
    scores = gf.evaluate(qrels, run, text)
    return dict(zip(scores.topics, scores.values.ravel().tolist(), strict=True)), scores.summary().item()


IR_MEASURES = pairs("coming-from-ir_measures.md", "ir_measures")


@pytest.mark.parametrize(("theirs", "ours"), IR_MEASURES)
def test_ir_measures(theirs, ours):
    if theirs.startswith("RBP"):
        pytest.skip("needs cwl-eval")
    if ("ERR" in theirs or "exp" in theirs) and shutil.which("perl") is None:
        pytest.skip("gdeval is a Perl script")
    # Not by their parser, which newer versions of Python break.
    name, arguments, cutoff = re.fullmatch(r"(\w+)(?:\((.*)\))?(?:@(.*))?", theirs).groups()
    measure = getattr(ir_measures, name)
    for key, value in re.findall(r"(\w+)=('[^']*'|\{.*\}|[\d.]+)", arguments or ""):
        gains = re.findall(r"(\d+): (\d+)", value)
        number = float(value) if "." in value else int(value) if value.isdigit() else value.strip("'")
        measure = measure(**{key: {int(a): int(b) for a, b in gains} if gains else number})
    if cutoff:
        recall = "recall" in measure.SUPPORTED_PARAMS
        measure = measure @ (float(cutoff) if recall else int(cutoff))
    for seed in range(3):
        qrels, run = collection(seed)
        values, total = ours_by_topic(ours, qrels, run)
        found = ir_measures.calc([measure], qrels, run)
        assert values == pytest.approx({m.query_id: m.value for m in found.per_query}, abs=0.6e-5)  # gdeval: 5 digits
        assert total == pytest.approx(found.aggregated[measure], abs=0.6e-5)


@pytest.mark.parametrize(("theirs", "ours"), pairs("coming-from-pytrec_eval.md", "pytrec_eval"))
def test_pytrec_eval(theirs, ours):
    asked = "iprec_at_recall" if theirs.startswith("iprec") else theirs
    for seed in range(3):
        qrels, run = collection(seed)
        found = pytrec_eval.RelevanceEvaluator(qrels, {asked}).evaluate(run)
        expected = {topic: values[theirs] for topic, values in found.items()}
        assert ours_by_topic(ours, qrels, run)[0] == pytest.approx(expected, abs=1e-12)
        if "negatives" not in ours:
            assert str(gf.parse_measure(theirs)) == ours


RANX = pairs("coming-from-ranx.md", "ranx")


def test_names_of_ranx_are_understood_unless_the_page_says_otherwise():
    text = (DOCS / "coming-from-ranx.md").read_text(encoding="utf-8")
    for theirs, ours in RANX:
        if f"*`{theirs}`*" in text:
            with pytest.raises(gf.MeasureError):
                gf.parse_measure(theirs)
        else:
            assert gf.parse_measure(theirs) == gf.parse_measure(ours)


def test_ranx():
    """Where ranx is installed; it takes long to compile."""
    ranx = pytest.importorskip("ranx")
    for seed in range(3):
        qrels, run = collection(seed)
        for theirs, ours in RANX:
            # Its RBP weighs documents by their labels.
            judged = {t: {d: min(r, 1) for d, r in v.items()} for t, v in qrels.items()} if "rbp" in theirs else qrels
            found = ranx.evaluate(ranx.Qrels(judged), ranx.Run(run), theirs, return_mean=False)
            values, _ = ours_by_topic(ours, judged, run)
            assert np.array([values[topic] for topic in sorted(values)]) == pytest.approx(found, abs=1e-9), theirs


def test_tables_are_found():
    assert len(IR_MEASURES) > 30
    assert len(RANX) > 20
