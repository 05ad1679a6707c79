"""Agreement with other programs: trec_eval (through pytrec_eval), gdeval and ir_measures' judgment rate."""

import math
import random
import shutil
from collections import defaultdict
from fractions import Fraction

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from gainful.data.scores import summarise
from gainful.measures import parse_measure
from worlds import World

DEPTHS = (1, 2, 3, 5, 10, 30, 1000)
LEVELS = tuple(i / 10 for i in range(11))
# trec_eval's measure, as pytrec_eval wants it asked -> its results, and what we call them ({rel}: the threshold).
ASKED = {
    "map": {"map": "AP(rel={rel})"},
    "map_cut." + ",".join(map(str, DEPTHS)): {f"map_cut_{k}": f"AP(rel={{rel}})@{k}" for k in DEPTHS},
    "P." + ",".join(map(str, DEPTHS)): {f"P_{k}": f"P(rel={{rel}})@{k}" for k in DEPTHS},
    "recall." + ",".join(map(str, DEPTHS)): {f"recall_{k}": f"R(rel={{rel}})@{k}" for k in DEPTHS},
    "success." + ",".join(map(str, DEPTHS)): {f"success_{k}": f"Success(rel={{rel}})@{k}" for k in DEPTHS},
    "ndcg": {"ndcg": "nDCG"},
    "ndcg_cut." + ",".join(map(str, DEPTHS)): {f"ndcg_cut_{k}": f"nDCG@{k}" for k in DEPTHS},
    "iprec_at_recall": {f"iprec_at_recall_{level:.2f}": f"iP(rel={{rel}})@{level}" for level in LEVELS},
    "Rprec": {"Rprec": "Rprec(rel={rel})"},
    "recip_rank": {"recip_rank": "RR(rel={rel})"},
    "bpref": {"bpref": "bpref(rel={rel}, negatives=unjudged)"},
    "infAP": {"infAP": "infAP(rel={rel}, negatives=unjudged)"},
    "set_P": {"set_P": "SetP(rel={rel})"},
    "set_recall": {"set_recall": "SetR(rel={rel})"},
    "set_F": {"set_F": "SetF(rel={rel})"},
    "num_ret": {"num_ret": "NumRet"},
    "num_rel": {"num_rel": "NumRel(rel={rel})"},
    "num_rel_ret": {"num_rel_ret": "NumRelRet(rel={rel})"},
}
OURS = {theirs: ours for found in ASKED.values() for theirs, ours in found.items()}


def collection(seed: int, labels: tuple[int, ...], depth: int = 40) -> World:
    """Topics missing on either side, rows in no order, scores that tie (some only as float32), ids that sort oddly."""
    rng = random.Random(seed)
    prefixes = ("d", "D", "FT-", "_", "é", "漢", "𝔄", "")
    ids = [f"{rng.choice(prefixes)}{number}" for number in range(70)]
    qrels = {str(topic): {doc: rng.choice(labels) for doc in rng.sample(ids, rng.randint(1, 50))} for topic in range(8)}
    rows = []
    for topic in rng.sample(range(11), 9):
        coarse = 10 ** rng.randint(0, 3)
        for doc in rng.sample(ids, rng.randint(1, depth)):
            score = round(rng.gauss(0, 3) * coarse) / coarse
            rows.append((str(topic), doc, score + rng.choice((0, 0, 1e-9, -1e-9))))
    rng.shuffle(rows)
    return World(qrels, {"run": rows})


def by_trec_eval(world: World, asked: set[str], level: int = 1) -> dict[str, dict[str, float]]:
    run = defaultdict(dict)
    for topic, doc, score in world.runs["run"]:
        run[topic][doc] = score
    return pytrec_eval.RelevanceEvaluator(world.qrels, asked, relevance_level=level).evaluate(dict(run))


def recall_quirk(level: float, relevant: int) -> bool:
    """Whether trec_eval 9 asks for another number of relevant documents than the smallest that reaches the level.

    It computes (int) (level * R + 0.9), and trec_eval 10 lround (level * R). Where level · R is a tenth above a whole
    number, as 0.7 · 3 = 2.1 is, the sum should just reach the next whole number, but in floating point sometimes falls
    short of it. (Between the usual eleven levels, as at 0.05, it asks for too few wherever the fraction is below a
    tenth.)
    """
    return int(level * relevant + 0.9) != math.ceil(level * relevant - 1e-9)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("labels", [(0, 1), (0, 0, 0, 1, 2, 3), (-2, -1, 0, 1, 2)], ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_trec_eval(seed, labels, level):
    world = collection(seed, labels)
    theirs = by_trec_eval(world, set(ASKED), level)
    rankings = world.align()
    at = {topic: i for i, topic in enumerate(rankings.topics)}
    assert theirs.keys() == {topic for topic in at if rankings.present[at[topic]]}
    for name, text in OURS.items():
        ours = np.nan_to_num(parse_measure(text.format(rel=level)).compute(rankings))
        for topic, results in theirs.items():
            if name.startswith("iprec_at_recall"):
                relevant = sum(label >= level for label in world.qrels[topic].values())
                if recall_quirk(float(name.rpartition("_")[2]), relevant):
                    continue
            assert ours[at[topic]] == pytest.approx(results[name], abs=1e-9), (name, topic)


def test_recall_quirk_is_where_we_differ():
    """Three relevant documents, two of them found: recall 2/3 does not reach 0.7, though trec_eval says it does."""
    world = World({"q": {"a": 1, "b": 1, "c": 1}}, {"run": [("q", "a", 3.0), ("q", "b", 2.0)]})
    assert by_trec_eval(world, {"iprec_at_recall"})["q"]["iprec_at_recall_0.70"] == 1.0
    assert parse_measure("iP@0.7").compute(world.align()).tolist() == [0.0]
    differs = [(level, relevant) for level in LEVELS for relevant in range(1, 50) if recall_quirk(level, relevant)]
    assert differs == [(0.7, 3), (0.7, 23), (0.7, 33), (0.7, 43)]


@pytest.mark.parametrize("level", [0.05, 0.25, 0.33, 0.55, 0.7, 0.95])
def test_documents_that_reach_a_recall_level(level):
    """Also between the eleven levels: we take the smallest number that reaches it, trec_eval its formula."""
    for relevant in range(1, 25):
        # An unjudged document after each relevant one: the nth of them stands at rank 2n-1, and precision falls.
        rows = [("q", f"{kind}{i}", -2.0 * i - at) for i in range(relevant) for at, kind in enumerate("du")]
        world = World({"q": {f"d{i}": 1 for i in range(relevant)}}, {"run": rows})
        theirs = by_trec_eval(world, {f"iprec_at_recall.{level}"})["q"][f"iprec_at_recall_{level:.2f}"]
        ours = parse_measure(f"iP@{level}").compute(world.align())[0]
        smallest = next(n for n in range(1, relevant + 1) if Fraction(n, relevant) >= Fraction(str(level)))
        formula = max(int(level * relevant + 0.9), 1)
        assert ours == pytest.approx(smallest / (2 * smallest - 1), abs=1e-12)
        assert theirs == pytest.approx(formula / (2 * formula - 1), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_geometric_mean(seed):
    world = collection(seed, (0, 0, 0, 0, 0, 0, 1))
    theirs = by_trec_eval(world, {"gm_map"})
    rankings = world.align()
    values = np.nan_to_num(parse_measure("GMAP").compute(rankings))[rankings.present]
    ours = summarise(values, np.ones(len(values), bool), parse_measure("GMAP").definition.summary)
    logs = [result["gm_map"] for result in theirs.values()]
    assert float(ours) == pytest.approx(pytrec_eval.compute_aggregated_measure("gm_map", logs), abs=1e-9)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
@pytest.mark.parametrize("cutoff", [3, 20])
def test_gdeval(cutoff):
    """gdeval prints five decimals, fixes the top of the scale at 4 and takes negative labels for 0."""
    rng = random.Random(cutoff)
    ids = [f"d{number:03}" for number in range(60)]
    qrels = {str(topic): {doc: rng.choice((-2, 0, 0, 1, 2, 3, 4)) for doc in rng.sample(ids, 30)} for topic in range(9)}
    rows = [(str(t), doc, float(-at)) for t in range(9) for at, doc in enumerate(rng.sample(ids, rng.randint(1, 50)))]
    world = World(qrels, {"run": rows})
    rankings = world.align()
    run = [ir_measures.ScoredDoc(*row) for row in rows]
    judged = [ir_measures.Qrel(t, doc, label, "0") for t, labels in qrels.items() for doc, label in labels.items()]
    asked = {
        ir_measures.ERR @ cutoff: f"ERR(max_label=4)@{cutoff}",
        ir_measures.nDCG(dcg="exp-log2") @ cutoff: f"nDCG(gain=exp)@{cutoff}",
    }
    found = 0
    for result in ir_measures.gdeval.iter_calc(list(asked), judged, run):
        ours = parse_measure(asked[result.measure]).compute(rankings)[rankings.topics.index(result.query_id)]
        assert ours == pytest.approx(result.value, abs=0.6e-5)
        found += 1
    assert found == 18


def test_judgment_rate():
    world = collection(1, (-1, 0, 1))
    distinct = [(topic, doc, float(-at)) for at, (topic, doc, _) in enumerate(world.runs["run"])]
    world = World(world.qrels, {"run": distinct})
    rankings = world.align()
    run = [ir_measures.ScoredDoc(*row) for row in distinct]
    found = 0
    for result in ir_measures.judged.iter_calc([ir_measures.Judged @ 3, ir_measures.Judged @ 100], world.qrels, run):
        ours = parse_measure(str(result.measure)).compute(rankings)[rankings.topics.index(result.query_id)]
        assert ours == pytest.approx(result.value, abs=1e-12)
        found += 1
    assert found == 2 * rankings.present.sum()
