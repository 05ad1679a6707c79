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
from gainful.cli.trec_eval import _OPTIONS
from gainful.compat.trec_eval import trec_eval
from gainful.compat.trec_table import TABLE

DOCS = Path(__file__).parents[2] / "docs"


def pairs(page: str, tool: str) -> list[tuple[str, str]]:
    """The measures of the rows below the header `| tool | gainful |`, theirs and ours, one by one; not those alone."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (table,) = re.findall(rf"^\| {tool} \| gainful \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    found = []
    for row in table.splitlines():
        theirs, ours = (re.findall(r"`([^`]+)`", cell) for cell in row.strip("|").split("|")[:2])
        found += zip(theirs, ours, strict=True) if ours else []
    return found


def collection(seed: int, labels: tuple[int, ...] = (0, 0, 1, 2, 3)):
    """Topics in qrels and run alike, no ties, no negative labels: where all tools should agree."""
    rng = random.Random(seed)
    ids = [f"d{number:02}" for number in range(30)]
    qrels = {str(t): {doc: rng.choice(labels) for doc in rng.sample(ids, 20)} for t in range(1, 6)}
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


TREC_EVAL = pairs("trec_eval.md", "trec_eval")
# What the remarks of the page leave: labels, and topics for which the two are the same.
LABELS = {"rbp": (0, 0, 1), "rbp_resid": (0, 1, 2), "unj": (0, 1, 2)}
TOPICS = {
    "rbp_resid": lambda judged, returned: not returned.keys() <= judged.keys(),
    "unj": lambda judged, returned: len(returned) >= 10,
}


def by_trec_eval(text, qrels, run):
    result = trec_eval(qrels, run, text)
    (values,) = result.values.values()
    (total,) = result.summary.values()
    return dict(zip(result.topics, values, strict=True)), total


@pytest.mark.parametrize(("theirs", "ours"), TREC_EVAL)
def test_trec_eval(theirs, ours):
    name = theirs
    theirs = theirs.replace(".x", ".4") + (".10" if "@k" in ours else ".1" if "@r" in ours else "")
    ours = ours.replace("@k", "@10").replace("@r", "@1").replace("√x", "2")
    for seed in range(3):
        qrels, run = collection(seed, LABELS.get(name, (-2, -1, 0, 0, 1, 2, 3)))
        kept = [topic for topic in qrels if TOPICS.get(name, lambda *_: True)(qrels[topic], run[topic])]
        qrels, run = ({topic: of[topic] for topic in kept} for of in (qrels, run))
        (values, total), (expected, overall) = ours_by_topic(ours, qrels, run), by_trec_eval(theirs, qrels, run)
        if name == "unj":
            values, total = {topic: 1 - value for topic, value in values.items()}, 1 - total
        assert values == pytest.approx(expected, abs=1e-12)
        assert total == pytest.approx(overall, abs=1e-12)


class TestRemarksOnTrecEval:
    """What its page says of measures that are nearly the same is so."""

    def differ(self, theirs, ours, qrels, run):
        return by_trec_eval(theirs, qrels, run)[1], ours_by_topic(ours, qrels, run)[1]

    def test_negative_gains(self):
        """Ranks 1 and 2 have gains -3 and 9: trec_eval's sum is -3 + 9/log2 3, that of nDCG 9/log2 3, the best is 9."""
        qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
        found = self.differ("ndcg.1=-3,2=9", "nDCG(gain={1: -3, 2: 9})", qrels, run)
        assert found == pytest.approx(((-3 + 9 / np.log2(3)) / 9, 1 / np.log2(3)))

    def test_shares_of_relevant_documents(self):
        """.4 of 3 is 1.2: trec_eval asks for one relevant document, iP for two."""
        qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
        assert self.differ("iprec_at_recall.0.4", "iP@0.4", qrels, run) == pytest.approx((1, 2 / 3))

    def test_graded_rank_biased_precision(self):
        """A label of 1 in a topic whose highest is 2 is worth 1/2 to trec_eval and 1 to RBP."""
        qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 1.0}}
        assert self.differ("rbp", "RBP(p=0.9)", qrels, run) == pytest.approx((0.05, 0.1))

    def test_residual_where_all_is_judged(self):
        qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
        assert self.differ("rbp_resid", "RBPres(p=0.9)", qrels, run) == pytest.approx((0, 0.9))


def test_every_measure_of_trec_eval_is_in_the_table():
    text = (DOCS / "trec_eval.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| trec_eval \| gainful \| remark \|\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = [row.strip("|").split("|")[0] for row in table.splitlines()]
    names = {name.partition(".")[0] for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    assert names == TABLE.keys() - {"runid"}


def test_every_option_of_trec_eval_is_in_the_table():
    text = (DOCS / "trec_eval.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| trec_eval \| what it does \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = [row.strip("|").split("|")[0] for row in table.splitlines()]
    assert {letter for cell in cells for letter in re.findall(r"-(\w)", cell)} == {row[0] for row in _OPTIONS} - {""}
    assert "`--trec-version 9`" in table


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
    assert len(TREC_EVAL) > 20
    assert len(RANX) > 20
