"""What must hold for every registered measure, over a table of all of them."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gainful.data.arrays import rankings_from_arrays
from gainful.measures import PRESETS, REGISTRY, parse_measure
from gainful.measures.check import check_measure
from worlds import FLOATS, GRADED, World, worlds

# Every registered measure, with parameters that matter. A new measure gets a line here.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "CG": ("CG", "CG@3", "CG(gain={-2: -5, 1: 1.5})@4"),
    "DCG": ("DCG", "DCG@3", "DCG(gain='exp')@4", "DCG(discount='jk', base=3)", "DCG(discount=[1, 0.5])"),
    "nDCG": (
        "nDCG",
        "nDCG@1",
        "nDCG@3",
        "nDCG(gain='exp', discount='zipf')",
        "nDCG(discount='linear')@4",
        "nDCG(discount='none')@2",
        "nDCG(discount=[0.5, 1])",
        "nDCGorg@3",
        "nDCGmin",
        "nDCGmin@3",
        "nDCGf",
        "nDCGf@3",
        "nDCGf(gain={-2: -10, -1: -1})@5",
        "nDCGf(discount=[3, 2, 1])@2",
    ),
    "P": ("P@1", "P@4", "P(rel=2)@3"),
    "R": ("R@1", "R@4", "R(rel=2)@3"),
    "Rcap": ("Rcap@1", "Rcap@4", "Rcap(rel=2)@3"),
    "F": ("F@3", "F(rel=2, beta=0.5)@4"),
    "Rprec": ("Rprec", "Rprec(rel=2)"),
    "RR": ("RR", "RR@2", "RR(rel=2)"),
    "Success": ("Success@1", "Success@3"),
    "AP": ("AP", "AP@3", "AP(rel=2)"),
    "GMAP": ("GMAP",),
    "iP": ("iP@0", "iP@0.1", "iP@0.5", "iP@1"),
    "SetP": ("SetP", "SetP(relative=True)"),
    "SetR": ("SetR",),
    "SetF": ("SetF", "SetF(beta=2)"),
    "Hole": ("Hole@3", "Hole@8"),
    "SetAP": ("SetAP", "SetAP(rel=2)"),
    "Judged": ("Judged", "Judged@3"),
    "NumRet": ("NumRet", "NumRet@2"),
    "NumRel": ("NumRel",),
    "NumRelRet": ("NumRelRet", "NumRelRet@2"),
    "NumQ": ("NumQ",),
    "bpref": ("bpref", "bpref(rel=2, negatives='unjudged')"),
    "infAP": ("infAP", "infAP(rel=2, negatives='unjudged')"),
    "statAP": ("statAP", "statAP(rel=2)", "statAP(corrected=True)"),
    "xinfAP": ("xinfAP", "xinfAP(rel=2)"),
    "infNDCG": ("infNDCG", "infNDCG@3", "infNDCG(gain='exp', discount='zipf')@2"),
    "ERR": ("ERR", "ERR@3", "ERR(max_label=5)@2"),
    "nERR": ("nERR", "nERR@3"),
    "RBP": ("RBP", "RBP@3", "RBP(p=0.5, rel=2)", "RBP(max_label=4)@3"),
    "RBPres": ("RBPres", "RBPres(p=0.5)@3"),
    "alpha_DCG": ("alpha_DCG@3", "alpha_DCG(alpha=0.3, rel=2)@5"),
    "alpha_nDCG": ("alpha_nDCG@3", "alpha_nDCG(alpha=1)@5"),
    "ERR_IA": ("ERR_IA@3", "ERR_IA(alpha=0)@5"),
    "nERR_IA": ("nERR_IA@3",),
    "NRBP": ("NRBP", "NRBP(alpha=0.2, beta=0.8)"),
    "nNRBP": ("nNRBP", "nNRBP(beta=0.8)"),
    "P_IA": ("P_IA@3",),
    "AP_IA": ("AP_IA", "AP_IA(rel=2)"),
    "StRecall": ("StRecall", "StRecall@3"),
    "Forbidden": ("Forbidden", "Forbidden@3", "Forbidden(below=1)@3"),
    "FilteredGood": ("FilteredGood", "FilteredGood(rel=2)"),
    "Empty": ("Empty",),
    "QWA": ("QWA", "QWA(rel=2)"),
}
ALL = [text for texts in EXAMPLES.values() for text in texts]
# Their value depends on how many documents were returned, not only on where the judged ones stand.
BY_LENGTH = {"SetP", "SetAP", "SetF", "NumRet", "Empty", "QWA", "Forbidden", "Hole"}
# nDCGorg divides by what may be negative, and then prefers the worst ordering: why the other norms exist. A discount
# that rises asks for the best document further down.
UNRULY = {"nDCGorg@3", "nDCG(discount=[0.5, 1])"}
RANKED = [text for text in ALL if parse_measure(text).definition.higher != "neither" and text not in UNRULY]

quick = settings(max_examples=40, deadline=None)


@st.composite
def lists(draw, labels=GRADED, documents=7, outside=3):
    """The labels of a pool, with NaN for documents outside it, and the order in which some of them are returned."""
    pool = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=documents))
    given = pool + [np.nan] * draw(st.integers(0, outside))
    order = draw(st.permutations(range(len(given))))
    return np.array(given), list(order)[: draw(st.integers(0, len(order)))]


def scores_of(text: str, labels: np.ndarray, orders: list[list[int]]) -> np.ndarray:
    """One score for each order in which documents with these labels are returned."""
    scores = np.full((len(orders), len(labels)), -np.inf)
    for row, order in enumerate(orders):
        scores[row, order] = -np.arange(len(order), dtype=float)
    return parse_measure(text).compute(rankings_from_arrays(np.tile(labels, (len(orders), 1)), scores))


def better(text: str, value: np.ndarray) -> np.ndarray:
    """So that more is better."""
    return -value if parse_measure(text).definition.higher == "worse" else value


def test_every_measure_has_examples():
    assert {name: parse_measure(EXAMPLES[name][0]).definition.name for name in REGISTRY} == {n: n for n in EXAMPLES}


def test_every_preset_is_understood():
    assert set(PRESETS) == {"nDCG0", "nDCGorg", "nDCGmin", "nDCGf"}
    for preset, (name, fixed) in PRESETS.items():
        assert parse_measure(preset) == REGISTRY[name].bind(fixed)


@pytest.mark.parametrize("text", ALL)
def test_check_measure(text):
    check_measure(text)
    check_measure(parse_measure(text), seed=1)


@pytest.mark.parametrize("text", ALL)
def test_text_is_canonical(text):
    assert str(parse_measure(text)) == text


@pytest.mark.parametrize("text", ALL)
def test_empty_rankings(text):
    """No document returned, none judged, or no query at all: a number or NaN, never an error."""
    measure = parse_measure(text)
    assert measure.compute(rankings_from_arrays([[]])).shape == (1,)
    assert measure.compute(rankings_from_arrays(np.zeros((0, 0)))).shape == (0,)
    assert measure.compute(rankings_from_arrays([[np.nan, np.nan]])).shape == (1,)
    empty = measure.compute(rankings_from_arrays([[3, 1, 0]], [[-np.inf] * 3]))
    if measure.definition.name in ("Empty", "RBPres", "FilteredGood", "NumQ"):
        assert empty.tolist() == [1.0]
    elif measure.definition.name == "NumRel":
        assert empty.tolist() == [2.0]
    elif measure.definition.name == "Judged":
        assert np.isnan(empty).all()
    else:
        # Nothing is forbidden, so for nDCGf, too, showing nothing is worth nothing; nDCGmin falls below 0.
        assert (empty < 0).all() if text.startswith("nDCGmin") else (empty == 0).all()


@quick
@given(world=worlds(), data=st.data())
def test_scores_are_the_same_to_the_last_bit_whatever_stands_beside(world, data):
    """Some systems and other topic orders: partitions of the work may be computed apart and put together."""
    topics = data.draw(st.permutations(list(world.qrels)))
    systems = data.draw(st.permutations(list(world.runs)))[: data.draw(st.integers(1, len(world.runs)))]
    part = World({t: world.qrels[t] for t in topics}, {s: world.runs[s] for s in systems}).align()
    whole = world.align()
    rows = [whole.systems.index(s) * len(topics) + whole.topics.index(t) for s in systems for t in topics]
    for text in ALL:
        measure = parse_measure(text)
        np.testing.assert_array_equal(measure.compute(whole)[rows], measure.compute(part), err_msg=text)


@quick
@given(ranking=lists(), more=st.integers(1, 5))
def test_unjudged_documents_at_the_end_change_nothing(ranking, more):
    """Beyond the cutoff never; before it, or without one, only where the number returned counts."""
    labels, order = ranking
    for text in ALL:
        measure = parse_measure(text)
        cutoff = measure.parameters.get("cutoff")
        if measure.definition.name in BY_LENGTH | {"Judged"} and not (isinstance(cutoff, int) and cutoff <= len(order)):
            continue
        longer = np.append(labels, [np.nan] * more)
        before, after = scores_of(text, longer, [order, order + list(range(len(labels), len(longer)))])
        assert before == pytest.approx(after, abs=1e-12, nan_ok=True), text


@quick
@given(ranking=lists())
def test_documents_beyond_the_cutoff_do_not_count(ranking):
    labels, order = ranking
    for text in ALL:
        cutoff = parse_measure(text).parameters.get("cutoff")
        if isinstance(cutoff, int):
            whole, cut = scores_of(text, labels, [order, order[:cutoff]])
            assert whole == pytest.approx(cut, abs=1e-12, nan_ok=True), text


@quick
@given(ranking=lists(labels=GRADED + FLOATS), data=st.data())
def test_documents_of_one_label_are_alike(ranking, data):
    """It does not matter which of two documents with the same label is returned where."""
    labels, order = ranking
    position = {doc: place for place, doc in enumerate(data.draw(st.permutations(range(len(labels)))))}
    # A permutation within each label.
    alike = {}
    for label in np.unique(labels):
        same = np.flatnonzero(np.isnan(labels) if np.isnan(label) else labels == label).tolist()
        alike |= dict(zip(same, sorted(same, key=position.__getitem__), strict=True))
    for text in ALL:
        one, other = scores_of(text, labels, [order, [alike[doc] for doc in order]])
        assert one == pytest.approx(other, abs=1e-12, nan_ok=True), text


@quick
@given(pool=st.lists(st.sampled_from(GRADED), min_size=1, max_size=5))
def test_best_ordering_is_the_maximum_and_worst_the_minimum(pool):
    """Over all orderings of the pool."""
    labels = np.array(pool)
    down = np.argsort(-labels, kind="stable").tolist()
    orders = [down, down[::-1], *map(list, permutations(range(len(pool))))]
    for text in RANKED:
        best, worst, *every = better(text, scores_of(text, labels, orders))
        if np.isnan(best):
            assert np.isnan(every).all(), text
        else:
            assert best == pytest.approx(max(every), abs=1e-12), text
            assert worst == pytest.approx(min(every), abs=1e-12), text


@quick
@given(ranking=lists(), data=st.data())
def test_moving_a_better_document_up_never_lowers_the_score(ranking, data):
    """An unjudged document counts as one of label 0.

    Not so for infAP where there are pooled but unjudged documents: it takes them for relevant in part, and a relevant
    document that moves above one loses it as a predecessor. And not where documents of label 0 are forbidden: unjudged
    ones are not.
    """
    labels, order = ranking
    assume(len(order) > 1)
    worth = np.nan_to_num(labels)
    at = data.draw(st.integers(0, len(order) - 2))
    upper, lower = order[at], order[at + 1]
    if worth[lower] < worth[upper]:
        upper, lower = lower, upper
    # A worse document above a better one, and the two exchanged.
    before = [*order[:at], upper, lower, *order[at + 2 :]]
    after = [*order[:at], lower, upper, *order[at + 2 :]]
    for text in RANKED:
        if text == "infAP(rel=2, negatives='unjudged')":
            continue
        if "below=1" in text and np.isnan(labels[[upper, lower]]).any():
            continue
        low, high = better(text, scores_of(text, labels, [before, after]))
        assert (np.isnan(low) and np.isnan(high)) or high >= low - 1e-12, text


@quick
@given(ranking=lists())
def test_bounds(ranking):
    """The declared ones; nDCG in [0, 1] by zero and f always, by min where the ranking is an ordering of the pool."""
    labels, order = ranking
    pool = np.flatnonzero(~np.isnan(labels)).tolist()
    ordering = [doc for doc in order if doc in pool] + [doc for doc in pool if doc not in order]
    for text in ALL:
        measure = parse_measure(text)
        bounds, shown = measure.bounds, [order, ordering]
        if measure.definition.name == "nDCG" and measure.parameters["norm"] != "org":
            bounds, shown = (0.0, 1.0), [ordering] if measure.parameters["norm"] == "min" else shown
        if bounds:
            scores = scores_of(text, labels, shown)
            assert not (scores < bounds[0] - 1e-12).any(), text
            assert not (scores > bounds[1] + 1e-12).any(), text


@quick
@given(world=worlds(scores=(1.0, 1.0 + 1e-9, 0.5, 0.0, -3.0)))
def test_only_the_order_of_scores_counts(world):
    """Doubling is exact in floating point, and so keeps all orders and ties."""
    doubled = World(world.qrels, {s: [(t, d, 2 * x) for t, d, x in rows] for s, rows in world.runs.items()})
    one, other = world.align(), doubled.align()
    for text in ALL:
        measure = parse_measure(text)
        np.testing.assert_array_equal(measure.compute(one), measure.compute(other), err_msg=text)
