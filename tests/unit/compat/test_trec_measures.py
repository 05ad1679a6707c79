"""Measures that only trec_eval has: worked by hand, and against plain loops for gains pytrec_eval cannot be given."""

from __future__ import annotations

import math
import random
from math import log2

import numpy as np
import pytest

from gainful.compat.trec_eval import trec_eval
from gainful.compat.trec_measures import round_half_up, running, whole_part

# Labels by rank: 0, 2, outside the pool, not judged, 1; a 1 and a 3 are not returned.
QRELS = {"q": {"a": 2, "b": 0, "c": -1, "d": 1, "e": 1, "f": 3}}
RUN = {"q": ["b", "a", "u", "c", "d"]}


def value(measure: str, qrels=QRELS, run=RUN, **options):
    result = trec_eval(qrels, run, measure, **options)
    ((name, values),) = result.values.items()
    assert name.startswith(measure.partition(".")[0])
    return values[0]


@pytest.mark.parametrize(
    ("measure", "expected"),
    {
        "num_ret": 5,
        "num_rel": 4,
        "num_rel_ret": 2,
        "num_nonrel_judged_ret": 1,
        "map": (1 / 2 + 2 / 5) / 4,
        "bpref": 0.0,  # one judged nonrelevant document, min(1, 4)/min(1, 4), above both
        "infAP": ((1 + 1 * 1e-5 / (1 + 2e-5)) / 2 + (1 + 3 * (1 + 1e-5) / (2 + 2e-5)) / 5) / 4,
        "iprec_at_recall.0.25": 1 / 2,
        "iprec_at_recall.0.5": 2 / 5,
        "iprec_at_recall.0.6": 2 / 5,  # 2.4 documents are 2
        "iprec_at_recall.0.75": 0.0,
        "11pt_avg.0.25,0.5,0.75": (1 / 2 + 2 / 5) / 3,
        "Rprec_mult.0.5": 1 / 2,
        "Rprec_mult.0.3": 1 / 2,  # 1.2 + 0.9 has the whole part 2
        "Rprec_mult.2": 2 / 8,
        "relative_P.2": 1 / 2,
        "relative_P.10": 2 / 4,
        "set_relative_P": 2 / 4,
        "set_map": 2 / 5 * 2 / 4,
        "set_F.0.5": 1.5 * (2 / 5) * (2 / 4) / (0.5 * 2 / 5 + 2 / 4),
        "utility": 2 - 3,
        "utility.2,-0.5,-1,0.25": 4 - 0.5 * 3 - 2 - 0.25 * (5 + 4 - 2),
        "binG": (1 / log2(3) + 1 / log2(5)) / 4,
        "unj.3": 1 / 3,
        "unj.5": 2 / 5,
        "unj.10": 2 / 10,
        "yaap": math.log((1 + 0.9) / (1 + 4 - 0.9)),
        "dcg": 2 / log2(3) + 1 / log2(6),
        "ideal_dcg": 3 + 2 / log2(3) + 1 / 2 + 1 / log2(5),
        "rbp": 0.1 * (2 / 3 * 0.9 + 1 / 3 * 0.9**4),  # labels up to 3 become gains up to 1
        "rbp.p=0.5": 0.5 * (2 / 3 * 0.5 + 1 / 3 * 0.5**4),
        "rbp.p=0.5,1=0.2,2=0.5,3=1": 0.5 * (0.5 * 0.5 + 0.2 * 0.5**4),
        "rbp.1=-1": 0.1 * ((0 + 1) / 4 + (2 + 1) / 4 * 0.9 + 0),
        "rbp_resid": 0.9**5 + 0.1 * (0.9**2 + 0.9**3),
        "rbp_resid.p=0.5": 0.5**5 + 0.5 * (0.5**2 + 0.5**3),
        "relstring": "02-.1",
        "relstring.2": "02",
    }.items(),
)
def test_worked_by_hand(measure, expected):
    assert value(measure) == (expected if isinstance(expected, str) else pytest.approx(expected, abs=1e-12))


def test_residual_is_0_where_all_is_judged():
    assert value("rbp_resid", {"q": {"a": 1, "b": 0}}, {"q": ["a", "b"]}) == 0.0


def test_binary_rbp_keeps_its_gains():
    assert value("rbp", {"q": {"a": 1, "b": 0}}, {"q": ["b", "a"]}) == pytest.approx(0.1 * 0.9)


def test_labels_of_ten_and_more():
    assert value("relstring", {"q": {"a": 10, "b": 9, "c": 0}}, {"q": ["a", "b", "c"]}) == ">90"


def test_fractional_labels():
    """trec_eval reads 0.5 as 0; here it is a gain, and shown by its whole part."""
    qrels, run = {"q": {"a": 0.5, "b": 1.5}}, {"q": ["a", "b"]}
    assert value("relstring", qrels, run) == "01"
    assert value("dcg", qrels, run) == pytest.approx(0.5 + 1.5 / log2(3))
    assert value("num_rel", qrels, run, level=0.5) == 2


def test_measures_of_a_topic_without_gain():
    for measure in ("ndcg", "ndcg_rel", "Rndcg", "G", "binG", "map", "set_F", "relative_P.5", "bpref", "rbp"):
        assert value(measure, {"q": {"a": 0}}, {"q": ["a"]}) == 0.0


def ranked_gains(labels: list[int | None], gain: dict[int, float]) -> list[float]:
    return [0.0 if label is None else gain.get(label, float(label)) for label in labels]


def g_by_loop(ranking, best):
    so_far = cost = total = 0.0
    for place, gain in enumerate(ranking):
        so_far += gain
        cost += max(best[place], 1.0) if place < len(best) else 1.0
        total += gain / log2(2 + cost - so_far)
    return total / sum(best)


def ndcg_by_loop(ranking, best, depth):
    above = sum(gain / log2(place + 2) for place, gain in enumerate(ranking[:depth]))
    return above / sum(gain / log2(place + 2) for place, gain in enumerate(best[:depth]))


def ndcg_rel_by_loop(ranking, best):
    points = [ndcg_by_loop(ranking, best, place + 1) for place, gain in enumerate(ranking) if gain > 0]
    missed = len(best) - len(points)
    return max((sum(points) + missed * ndcg_by_loop(ranking, best, 10**6)) / len(best), 0.0)


def rndcg_by_loop(ranking, best):
    points = [
        ndcg_by_loop(ranking, best, n) for n in range(1, len(best) + 1) if n == len(best) or best[n] != best[n - 1]
    ]
    if len(ranking) > len(best) + 1:
        points.append(ndcg_by_loop(ranking, best, 10**6))
    return sum(points) / len(points)


LOOPS = {
    "G": g_by_loop,
    "ndcg": lambda ranking, best: ndcg_by_loop(ranking, best, 10**6),
    "ndcg_rel": ndcg_rel_by_loop,
    "Rndcg": rndcg_by_loop,
}


@pytest.mark.parametrize("gain", [{}, {1: 3, 2: 9, 4: 4.5}, {1: 0.2, 2: 0.7, 3: 0.9}, {0: -1.5, 1: 2, 2: 2}], ids=str)
@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("seed", range(8))
def test_gains_against_loops(name, gain, seed):
    """Also gains whose steps are no whole numbers, which trec_eval sorts wrongly."""
    rng = random.Random(seed)
    ids = [f"d{number}" for number in range(30)]
    qrels, run = {}, {}
    for topic in map(str, range(9)):
        qrels[topic] = {doc: rng.choice((0, 0, 1, 1, 2, 3)) for doc in rng.sample(ids, rng.randint(1, 20))}
        qrels[topic]["top"] = 3
        run[topic] = rng.sample(ids, rng.randint(1, 30))
    text = name + ("." + ",".join(f"{label}={worth}" for label, worth in gain.items()) if gain else "")
    ((_, found),) = trec_eval(qrels, run, text).values.items()
    expected = []
    for topic in map(str, range(9)):
        ranking = ranked_gains([qrels[topic].get(doc) for doc in run[topic]], gain)
        best = sorted((g for g in ranked_gains(list(qrels[topic].values()), gain) if g > 0), reverse=True)
        expected.append(LOOPS[name](ranking, best))
    assert found == pytest.approx(expected, abs=1e-12)


def test_shares_of_relevant_documents():
    relevant = np.array([3.0, 5.0, 25.0, 77.0])
    assert round_half_up(0.1, relevant).tolist() == [0, 1, 3, 8]  # 0.3, 0.5, 2.5 and 7.7
    assert whole_part(0.1, relevant).tolist() == [1, 1, 3, 8]
    assert round_half_up(0.49999999999999994, np.array([1.0])).tolist() == [0]


def test_running_sums_begin_anew():
    assert running(np.array([1.0, 2, 3, 1e9, 1, 1]), np.array([0, 0, 0, 3, 4, 4])).tolist() == [1, 3, 6, 1e9, 1, 2]
    assert running(np.zeros(0), np.zeros(0, np.int64)).tolist() == []
