"""Every measure in plain Python, one rank at a time, written from the formulas of the docs: slow and obvious.

A ranking is a list with one entry a returned document: its label (a number), POOLED for a document that is in the
pool but not judged, or OUTSIDE for one that is not in the pool. A pool is a list of labels and POOLED. A measure
returns a number, or None where it is undefined.
"""

from __future__ import annotations

import math
import statistics
import struct
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations, product
from typing import Any

POOLED = "pooled"
OUTSIDE = "outside"

Label = float | str
Score = float | None
Judgments = dict[str, dict[str, float | None]]
Rows = Sequence[tuple[str, str, float]]


# From files to rankings


def single(score: float) -> float:
    """The score as a C float."""
    try:
        return struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return math.copysign(math.inf, score)


def documents(rows: Rows, topic: str) -> list[tuple[str, float]]:
    """The documents of a topic in the order of the run, each once."""
    found: dict[str, float] = {}
    for query, doc, score in rows:
        if query == topic and doc not in found:
            found[doc] = score
    return list(found.items())


def ranked(rows: Rows, topic: str, ties: str = "trec") -> list[str]:
    """The document ids of a topic, best first."""
    given = documents(rows, topic)
    if ties == "trec":
        by_id = sorted(given, key=lambda pair: pair[0].encode(), reverse=True)
        return [doc for doc, _ in sorted(by_id, key=lambda pair: -single(pair[1]))]
    return [doc for doc, _ in sorted(given, key=lambda pair: -pair[1])]


def all_orders(rows: Rows, topic: str) -> Iterable[list[str]]:
    """Every order of the documents that their scores allow."""
    groups: dict[float, list[str]] = {}
    for doc, score in sorted(documents(rows, topic), key=lambda pair: -pair[1]):
        groups.setdefault(score, []).append(doc)
    for choice in product(*(permutations(group) for group in groups.values())):
        yield [doc for group in choice for doc in group]


def labels(order: Iterable[str], judged: dict[str, float | None], unjudged: str = "zero") -> list[Label]:
    """The ranking of a topic, as labels."""
    ranking: list[Label] = []
    for doc in order:
        if doc not in judged:
            ranking.append(OUTSIDE)
        elif judged[doc] is None:
            ranking.append(POOLED)
        else:
            ranking.append(judged[doc])
    return [label for label in ranking if is_judged(label)] if unjudged == "condensed" else ranking


def pool_of(judged: dict[str, float | None]) -> list[Label]:
    return [POOLED if label is None else label for label in judged.values()]


def top_label(qrels: Judgments) -> float:
    """The largest label of the qrels, 0 if none is positive."""
    return max([0.0] + [label for judged in qrels.values() for label in judged.values() if label is not None])


# What the measures share


def is_judged(label: Label) -> bool:
    return not isinstance(label, str)


def is_relevant(label: Label, rel: float) -> bool:
    return is_judged(label) and label >= rel


def relevant(labels: Iterable[Label], rel: float) -> int:
    return sum(1 for label in labels if is_relevant(label, rel))


def gain_of(label: Label, gain: Any) -> float:
    if not is_judged(label):
        return 0.0
    if gain == "linear":
        return label
    if gain == "exp":
        return 2.0**label - 1.0
    return dict(gain).get(label, label)


def discount_at(rank: int, discount: Any, cutoff: int | None, base: float) -> float:
    if cutoff is not None and rank > cutoff:
        return 0.0
    if discount == "log2":
        return 1.0 / math.log2(1 + rank)
    if discount == "jk":
        return 1.0 if rank < base else 1.0 / math.log(rank, base)
    if discount == "zipf":
        return 1.0 / rank
    if discount == "linear":
        return (cutoff + 1 - rank) / cutoff
    if discount == "none":
        return 1.0
    return discount[rank - 1] if rank <= len(discount) else 0.0


def discounted(gains: Iterable[float], discount: Any, cutoff: int | None, base: float) -> float:
    return math.fsum(g * discount_at(rank, discount, cutoff, base) for rank, g in enumerate(gains, start=1))


# Gains


def cg(ranking, pool, *, cutoff, gain, **_) -> Score:
    return math.fsum(gain_of(label, gain) for label in ranking[:cutoff])


def dcg(ranking, pool, *, cutoff, gain, discount, base, **_) -> Score:
    return discounted([gain_of(label, gain) for label in ranking], discount, cutoff, base)


def ndcg(ranking, pool, *, cutoff, gain, discount, base, norm, **_) -> Score:
    shown = [gain_of(label, gain) for label in ranking]
    gains = [gain_of(label, gain) for label in pool if is_judged(label)]
    if norm == "zero":
        shown, gains = [max(g, 0.0) for g in shown], [max(g, 0.0) for g in gains]
    best = sorted(gains, reverse=True)
    worst = sorted(gains)
    if norm == "f":
        best, worst = [g for g in best if g >= 0], [g for g in worst if g <= 0]
    ideal = discounted(best, discount, cutoff, base)
    bottom = discounted(worst, discount, cutoff, base) if norm in ("min", "f") else 0.0
    # Two sums of the same floats may differ in their last bits.
    if math.isclose(ideal, bottom, rel_tol=0, abs_tol=1e-12 * discounted(map(abs, best), discount, cutoff, base)):
        return None
    return (discounted(shown, discount, cutoff, base) - bottom) / (ideal - bottom)


# Relevant or not


def p(ranking, pool, *, cutoff, rel, **_) -> Score:
    return relevant(ranking[:cutoff], rel) / cutoff


def r(ranking, pool, *, cutoff, rel, **_) -> Score:
    total = relevant(pool, rel)
    return relevant(ranking[:cutoff], rel) / total if total else None


def harmonic(precision: float, recall: float, beta: float) -> float:
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below else 0.0


def f(ranking, pool, *, cutoff, rel, beta, **_) -> Score:
    recall = r(ranking, pool, cutoff=cutoff, rel=rel)
    return None if recall is None else harmonic(p(ranking, pool, cutoff=cutoff, rel=rel), recall, beta)


def rprec(ranking, pool, *, rel, **_) -> Score:
    total = relevant(pool, rel)
    return relevant(ranking[:total], rel) / total if total else None


def rr(ranking, pool, *, cutoff, rel, **_) -> Score:
    for rank, label in enumerate(ranking[:cutoff], start=1):
        if is_relevant(label, rel):
            return 1 / rank
    return 0.0


def success(ranking, pool, *, cutoff, rel, **_) -> Score:
    return 1.0 if relevant(ranking[:cutoff], rel) else 0.0


def ap(ranking, pool, *, cutoff, rel, **_) -> Score:
    total = relevant(pool, rel)
    if not total:
        return None
    found, value = 0, 0.0
    for rank, label in enumerate(ranking[:cutoff], start=1):
        if is_relevant(label, rel):
            found += 1
            value += found / rank
    return value / total


def ip(ranking, pool, *, cutoff, rel, **_) -> Score:
    total = relevant(pool, rel)
    if not total:
        return None
    best, found = 0.0, 0
    for rank, label in enumerate(ranking, start=1):
        found += is_relevant(label, rel)
        # Recall reaches the level: levels are decimals, so what is equal on paper may differ in the last bits here.
        if found / total >= cutoff - 1e-10:
            best = max(best, found / rank)
    return best


# Sets and counts


def set_p(ranking, pool, *, rel, relative=False, **_) -> Score:
    if relative:
        total = relevant(pool, rel)
        return (relevant(ranking, rel) / min(len(ranking), total) if ranking else 0.0) if total else None
    return relevant(ranking, rel) / len(ranking) if ranking else 0.0


def set_r(ranking, pool, *, rel, **_) -> Score:
    total = relevant(pool, rel)
    return relevant(ranking, rel) / total if total else None


def set_f(ranking, pool, *, rel, beta, **_) -> Score:
    recall = set_r(ranking, pool, rel=rel)
    return None if recall is None else harmonic(set_p(ranking, pool, rel=rel), recall, beta)


def set_ap(ranking, pool, *, rel, **_) -> Score:
    recall = set_r(ranking, pool, rel=rel)
    return None if recall is None else recall * set_p(ranking, pool, rel=rel)


def judged(ranking, pool, *, cutoff, **_) -> Score:
    shown = ranking[:cutoff]
    return sum(map(is_judged, shown)) / len(shown) if shown else None


def hole(ranking, pool, *, cutoff, **_) -> Score:
    return sum(not is_judged(label) for label in ranking[:cutoff]) / cutoff


def r_cap(ranking, pool, *, cutoff, rel, **_) -> Score:
    total = relevant(pool, rel)
    return relevant(ranking[:cutoff], rel) / min(total, cutoff) if total else None


def num_ret(ranking, pool, *, cutoff, **_) -> Score:
    return len(ranking[:cutoff])


def num_rel(ranking, pool, *, rel, **_) -> Score:
    return relevant(pool, rel)


def num_rel_ret(ranking, pool, *, cutoff, rel, **_) -> Score:
    return relevant(ranking[:cutoff], rel)


# Incomplete judgments


def is_nonrelevant(label: Label, rel: float, negatives: str) -> bool:
    return is_judged(label) and label < rel and (negatives == "nonrelevant" or label >= 0)


def bpref(ranking, pool, *, rel, negatives, **_) -> Score:
    total = relevant(pool, rel)
    others = sum(is_nonrelevant(label, rel, negatives) for label in pool)
    if not total:
        return None
    value, above = 0.0, 0
    for label in ranking:
        if is_relevant(label, rel):
            value += 1 - min(above, total) / min(others, total) if above else 1
        elif is_nonrelevant(label, rel, negatives):
            above += 1
    return value / total


def inf_ap(ranking, pool, *, rel, negatives, **_) -> Score:
    total = relevant(pool, rel)
    if not total:
        return None
    epsilon = 0.00001
    value, good, bad, pooled = 0.0, 0, 0, 0
    for rank, label in enumerate(ranking, start=1):
        if is_relevant(label, rel):
            if rank == 1:
                value += 1
            else:
                share = (good + epsilon) / (good + bad + 2 * epsilon)
                value += 1 / rank + (rank - 1) / rank * (pooled / (rank - 1)) * share
            good += 1
        elif is_nonrelevant(label, rel, negatives):
            bad += 1
        pooled += label != OUTSIDE
    return value / total


def weight(pool) -> float:
    """How many documents of the pool a judged one stands for, the pool being one stratum."""
    judged = sum(is_judged(label) for label in pool)
    return len(pool) / judged if judged else 0.0


def stat_ap(ranking, pool, *, rel, corrected, **_) -> Score:
    total = relevant(pool, rel)
    if not total:
        return None
    drawn, size = sum(is_judged(label) for label in pool), len(pool)
    number, excess, mean = total * size / drawn, 0.0, 0.0
    if corrected and drawn > 1:
        # By how much the number of relevant documents falls, beyond 1, if one that is judged was never in the pool.
        excess = number - (total - 1) * (size - 1) / (drawn - 1) - 1
        judged = [float(is_relevant(label, rel)) for label in pool if is_judged(label)]
        mean = size**2 * (1 - drawn / size) * statistics.variance(judged) / drawn / number
    ranks = [rank for rank, label in enumerate(ranking, start=1) if is_relevant(label, rel)]
    value = 0.0
    for i in ranks:
        for j in ranks:
            if j <= i:
                both = drawn / size if i == j else drawn / size * (drawn - 1) / (size - 1)
                value += 1 / (i * both) / (number + mean - (1 if i == j else 2) * excess)
    return value


def xinf_ap(ranking, pool, *, rel, **_) -> Score:
    total = relevant(pool, rel)
    if not total:
        return None
    epsilon = 0.00001
    value = 0.0
    for rank, label in enumerate(ranking, start=1):
        if is_relevant(label, rel):
            above = ranking[: rank - 1]
            pooled = sum(other != OUTSIDE for other in above)
            judged = sum(is_judged(other) for other in above)
            good = relevant(above, rel)
            expected = good if judged == pooled else pooled * (good + epsilon) / (judged + 2 * epsilon)
            value += (1 + expected) / rank
    return value / total


def inf_ndcg(ranking, pool, *, cutoff, gain, discount, base, **_) -> Score:
    stands_for = weight(pool)
    found = [max(gain_of(label, gain), 0.0) * stands_for if is_judged(label) else 0.0 for label in ranking]
    left = sorted(((max(gain_of(label, gain), 0.0), stands_for) for label in pool if is_judged(label)), reverse=True)
    best = []
    while left:  # one rank after the other, filled from the best that is left
        room, worth = 1.0, 0.0
        while room > 1e-9 and left:
            value, number = left.pop(0)
            taken = min(room, number)
            worth, room = worth + value * taken, room - taken
            if number > taken:
                left.insert(0, (value, number - taken))
        best.append(worth)
    ideal = discounted(best, discount, cutoff, base)
    return discounted(found, discount, cutoff, base) / ideal if ideal else None


# Users who stop


def err(ranking, pool, *, cutoff, max_label, top, **_) -> Score:
    top = top if max_label is None else max_label
    value, reached = 0.0, 1.0
    for rank, label in enumerate(ranking[:cutoff], start=1):
        stop = (2 ** max(label, 0.0) - 1) / 2**top if is_judged(label) else 0.0
        value += reached * stop / rank
        reached *= 1 - stop
    return value


def nerr(ranking, pool, *, cutoff, max_label, top, **_) -> Score:
    best = sorted((label for label in pool if is_judged(label)), reverse=True)
    ideal = err(best, pool, cutoff=cutoff, max_label=max_label, top=top)
    return err(ranking, pool, cutoff=cutoff, max_label=max_label, top=top) / ideal if ideal else None


def rbp(ranking, pool, *, cutoff, p, rel, max_label, **_) -> Score:
    if max_label is not None:
        worth = [max(label, 0) / max_label if is_judged(label) else 0 for label in ranking[:cutoff]]
        return (1 - p) * sum(x * p ** (i - 1) for i, x in enumerate(worth, start=1))
    return (1 - p) * sum(p ** (i - 1) for i, x in enumerate(ranking[:cutoff], start=1) if is_relevant(x, rel))


def rbp_residual(ranking, pool, *, cutoff, p, **_) -> Score:
    return 1 - (1 - p) * sum(p ** (i - 1) for i, x in enumerate(ranking[:cutoff], start=1) if is_judged(x))


# Diversity, of one subtopic


def novel(labels, rel, alpha, weights) -> float:
    total, seen = 0.0, 0
    for label, weight in zip(labels, weights, strict=False):
        if is_relevant(label, rel):
            total += weight * (1 - alpha) ** seen
            seen += 1
    return total


def by_novelty(weigh: Callable[[int], float], kind: str) -> Callable[..., Score]:
    """Relative to relevant documents at all ranks ("most"), or to those of the pool ("ideal")."""

    def score(ranking, pool, *, cutoff, alpha, rel, **_) -> Score:
        number = relevant(pool, rel)
        weights = [weigh(rank) for rank in range(1, cutoff + 1)]
        best = novel([rel] * (cutoff if kind == "most" else number), rel, alpha, weights)
        return novel(ranking, rel, alpha, weights) / best if number else None

    return score


def nrbp(ranking, pool, *, alpha, beta, rel, normal=False, **_) -> Score:
    number = relevant(pool, rel)
    weights = [beta**rank for rank in range(len(ranking) + number)]
    if not number:
        return None
    found = novel(ranking, rel, alpha, weights)
    return found / novel([rel] * number, rel, alpha, weights) if normal else (1 - (1 - alpha) * beta) * found


def p_ia(ranking, pool, *, cutoff, rel, **_) -> Score:
    return p(ranking, pool, cutoff=cutoff, rel=rel) if relevant(pool, rel) else None


def st_recall(ranking, pool, *, cutoff, rel, **_) -> Score:
    return float(relevant(ranking[:cutoff], rel) > 0) if relevant(pool, rel) else None


# Filtering


def forbidden(ranking, pool, *, cutoff, below, **_) -> Score:
    shown = ranking[:cutoff]
    return sum(is_judged(label) and label < below for label in shown) / len(shown) if shown else 0.0


def filtered_good(ranking, pool, *, rel, **_) -> Score:
    total = relevant(pool, rel)
    return (total - relevant(ranking, rel)) / total if total else None


def empty(ranking, pool, **_) -> Score:
    return 0.0 if ranking else 1.0


def qwa(ranking, pool, *, rel, **_) -> Score:
    total, returned = relevant(pool, rel), relevant(ranking, rel)
    terminal = returned / total if total else 1.0
    gains = [1.0 if is_relevant(label, rel) else 0.0 for label in ranking] + [terminal]
    ideal = [1.0] * (total + 1)
    return discounted(gains, "log2", None, 2) / discounted(ideal, "log2", None, 2)


REFERENCE: dict[str, Callable[..., Score]] = {
    "CG": cg,
    "DCG": dcg,
    "nDCG": ndcg,
    "P": p,
    "R": r,
    "Rcap": r_cap,
    "F": f,
    "Rprec": rprec,
    "RR": rr,
    "Success": success,
    "AP": ap,
    "GMAP": ap,
    "iP": ip,
    "SetP": set_p,
    "SetR": set_r,
    "SetF": set_f,
    "SetAP": set_ap,
    "Judged": judged,
    "Hole": hole,
    "NumRet": num_ret,
    "NumRel": num_rel,
    "NumRelRet": num_rel_ret,
    "NumQ": lambda ranking, pool, **_: 1.0,
    "bpref": bpref,
    "infAP": inf_ap,
    "statAP": stat_ap,
    "xinfAP": xinf_ap,
    "infNDCG": inf_ndcg,
    "ERR": err,
    "nERR": nerr,
    "RBP": rbp,
    "RBPres": rbp_residual,
    "alpha_DCG": by_novelty(lambda rank: 1 / math.log2(1 + rank), "most"),
    "alpha_nDCG": by_novelty(lambda rank: 1 / math.log2(1 + rank), "ideal"),
    "ERR_IA": by_novelty(lambda rank: 1 / rank, "most"),
    "nERR_IA": by_novelty(lambda rank: 1 / rank, "ideal"),
    "NRBP": nrbp,
    "nNRBP": lambda ranking, pool, **given: nrbp(ranking, pool, normal=True, **given),
    "P_IA": p_ia,
    "AP_IA": lambda ranking, pool, *, rel, **_: ap(ranking, pool, cutoff=None, rel=rel),
    "StRecall": st_recall,
    "Forbidden": forbidden,
    "FilteredGood": filtered_good,
    "Empty": empty,
    "QWA": qwa,
}


def score(name: str, parameters: dict[str, Any], ranking: list[Label], pool: list[Label], top: float) -> float:
    """The score of one ranking; NaN where it is undefined."""
    value = REFERENCE[name](ranking, pool, top=top, **parameters)
    return math.nan if value is None else float(value)
