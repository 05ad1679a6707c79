"""Measures from samples: equal to the full ones where all is judged, unbiased over all samples that a design allows."""

from __future__ import annotations

from itertools import combinations, product
from math import isnan, log2

import numpy as np
import polars as pl
import pytest

import gainful as gf
from gainful.errors import DataError, MeasureError
from gainful.measures import parse_measure
from worlds import one_topic

E = 0.00001
# Topic q: six documents, of which the run returns a, x (outside), b, c, d, e in this order, and not f.
ORDER = ("a", "x", "b", "c", "d", "e")
RUN = {"q": {doc: -float(rank) for rank, doc in enumerate(ORDER)}}
STRATUM = {"a": "1", "b": "1", "c": "2", "d": "2", "e": "2", "f": "2"}
SURE = dict.fromkeys(STRATUM, 1.0)


def sampled(labels: dict[str, float | None], **columns: dict[str, object]) -> pl.DataFrame:
    frame = pl.DataFrame({"query_id": ["q"] * len(labels), "doc_id": [*labels], "relevance": [*labels.values()]})
    frame = frame.cast({"relevance": pl.Float64})
    return frame.with_columns(*(pl.Series(name, [of[doc] for doc in labels]) for name, of in columns.items()))


def score(measure: str, qrels: pl.DataFrame) -> float:
    return gf.evaluate(qrels, RUN, measure, degenerate="nan").values.item()


@pytest.mark.parametrize("more", [{}, {"stratum": STRATUM}, {"stratum": STRATUM, "inclusion": SURE}])
@pytest.mark.parametrize(
    ("estimate", "full"),
    [
        ("statAP", "AP"),
        ("statAP(corrected=True)", "AP"),
        ("xinfAP", "AP"),
        ("infNDCG", "nDCG"),
        ("infNDCG@2", "nDCG@2"),
        ("infNDCG(gain='exp', discount='zipf')@4", "nDCG(gain='exp', discount='zipf')@4"),
    ],
)
def test_where_all_is_judged(estimate, full, more):
    qrels = sampled({"a": 1, "b": 0, "c": 2, "d": -1, "e": 1, "f": 1}, **more)
    assert score(estimate, qrels) == pytest.approx(score(full, qrels), abs=1e-15)


def test_on_a_whole_collection_where_all_is_judged():
    made = gf.simulate(topics=8, systems=4, depth=60, seed=2)
    found = gf.evaluate(made.qrels, made.runs, ["statAP", "xinfAP", "AP", "infNDCG@20", "nDCG@20"]).values
    np.testing.assert_allclose(found[0], found[2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[1], found[2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[3], found[4], rtol=0, atol=1e-12)


LABELS = {"a": 1, "b": None, "c": 1, "d": 0, "e": 1, "f": None}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # Stratum 1: 1 of 2 judged, stratum 2: 3 of 4. Relevant at ranks 1, 4 and 6; R̂ = 2 + 4/3 + 4/3 = 14/3. Of both c
        # and e: π = 3/4 · 2/3 = 1/2; of a and c, of a and e: 1/2 · 3/4 = 3/8.
        ("statAP", (1 / (1 / 2) + (1 / (3 / 4) + 1 / (3 / 8)) / 4 + (1 / (3 / 4) + 1 / (3 / 8) + 1 / (1 / 2)) / 6)
         / (14 / 3)),
        # Stratum 2: e = (4-3)·(3-2)/(3·2) = 1/6, stratum 1 has one judged: 0. ē = 2·(4/3)/6 / (14/3) = 2/21.
        ("statAP(corrected=True)", 2 / (100 / 21) + (4 / 3 + 8 / 3) / 4 / (100 / 21 - 1 / 6)
         + ((4 / 3 + 8 / 3) / (100 / 21 - 1 / 6) + 2 / (100 / 21 - 1 / 3)) / 6),
        # Above c: a and b of stratum 1, one of them judged and relevant. Above e: these, c and d: one of two relevant.
        ("xinfAP", (2 * 1 + 4 / 3 * (1 + 2 * (1 + E) / (1 + 2 * E)) / 4
                    + 4 / 3 * (1 + 2 * (1 + E) / (1 + 2 * E) + 1) / 6) / (14 / 3)),
        # Ideal: 14/3 documents of gain 1.
        ("infNDCG", (2 / log2(2) + 4 / 3 / log2(5) + 4 / 3 / log2(7))
         / (1 + 1 / log2(3) + 1 / log2(4) + 1 / log2(5) + 2 / 3 / log2(6))),
        ("infNDCG@2", 2 / (1 + 1 / log2(3))),
        ("statAP(rel=2)", float("nan")),
        ("xinfAP(rel=2)", float("nan")),
    ],
)  # fmt: skip
def test_two_strata(measure, expected):
    assert score(measure, sampled(LABELS, stratum=STRATUM)) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_probabilities_of_independent_draws():
    """Only what was drawn is listed: π_ij = π_i·π_j."""
    qrels = sampled({"a": 1, "c": 1, "d": 0}, inclusion={"a": 0.5, "c": 0.25, "d": 0.5})
    assert score("statAP", qrels) == pytest.approx((2 + (4 + 8) / 4) / (2 + 4))
    # e: 2-1 and 4-1; ē = (2·1 + 4·3)/6.
    number = 6 + 14 / 6
    corrected = 2 / (number - 1) + (4 / (number - 3) + 8 / (number - 4)) / 4
    assert score("statAP(corrected=True)", qrels) == pytest.approx(corrected)
    assert score("infNDCG@4", qrels) == pytest.approx((2 + 4 / log2(5)) / sum(1 / log2(r + 1) for r in range(1, 5)))


def test_probabilities_and_strata_of_what_was_drawn():
    """As with the whole pool listed: two of four drawn, π_ij = 1/2 · 1/3."""
    drawn = sampled({"a": 1, "c": 1}, inclusion={"a": 0.5, "c": 0.5}, stratum={"a": "1", "c": "1"})
    whole = sampled({"a": 1, "b": None, "c": 1, "d": None}, stratum=dict.fromkeys("abcd", "1"))
    assert score("statAP", drawn) == pytest.approx(score("statAP", whole)) == pytest.approx((2 + (2 + 6) / 4) / 4)


def test_xinfap_needs_the_pool():
    alone = sampled({"a": 1, "c": 1}, inclusion={"a": 0.5, "c": 0.5})
    with pytest.raises(MeasureError, match=r"^xinfAP: expected judgments with a column stratum, got inclusion alone"):
        score("xinfAP", alone)
    strata = alone.with_columns(stratum=pl.lit("1"))
    with pytest.raises(MeasureError, match=r"^xinfAP: expected judgments that list the whole pool"):
        score("xinfAP", strata)


def test_without_strata_xinfap_is_infap():
    """Rank 2 below one pooled and unjudged document: relevant with probability 1/2."""
    found = [parse_measure(name).compute(one_topic([1, None], [1, 0])).item() for name in ("infAP", "xinfAP")]
    assert found == pytest.approx([3 / 4, 3 / 4])


def corrected(ranked: list[tuple[int, str]], docs: dict[str, tuple[float | None, str]]) -> float:
    """statAP(corrected=True) of one topic, document by document: ranks and names of the run, labels and strata."""

    def number(left_out: str | None = None) -> float:
        total = 0.0
        for stratum in {stratum for _, stratum in docs.values()}:
            inside = [x for doc, (x, of) in docs.items() if of == stratum and doc != left_out]
            judged = [x for x in inside if x is not None]
            total += len(inside) * sum(judged) / len(judged) if judged else 0.0
        return total

    def of(stratum: str) -> list[float | None]:
        return [x for x, other in docs.values() if other == stratum]

    def share(stratum: str, first: int = 0) -> float:
        return (sum(x is not None for x in of(stratum)) - first) / (len(of(stratum)) - first)

    variance, excess = 0.0, {}
    for doc, (x, stratum) in docs.items():
        judged = [float(x) for x in of(stratum) if x is not None]
        excess[doc] = number() - number(doc) - 1.0 if x and len(judged) > 1 else 0.0
    for stratum in {stratum for _, stratum in docs.values()}:
        judged = [float(x) for x in of(stratum) if x is not None]
        if len(judged) > 1:
            size = len(of(stratum))
            variance += size * (size - len(judged)) / len(judged) * np.var(judged, ddof=1)
    good = [(rank, doc) for rank, doc in ranked if doc in docs and docs[doc][0]]
    above = number() + variance / number()
    value = 0.0
    for rank, doc in good:
        mine = docs[doc][1]
        value += 1 / (rank * share(mine)) / (above - excess[doc])
        for earlier, other in good:
            if earlier < rank:
                both = share(mine) * share(docs[other][1], first=int(docs[other][1] == mine))
                value += 1 / (rank * both) / (above - excess[doc] - excess[other])
    return value


def test_corrected_document_by_document():
    """Topics and runs at once, strata of which some are judged in full, some in part, and one by one document only."""
    rng = np.random.default_rng(5)
    rows, runs, expected = [], {"one": {}, "two": {}}, {"one": [], "two": []}
    for topic in map(str, range(12)):
        judged = {"1": 5, "2": int(rng.integers(2, 7)), "3": int(rng.integers(1, 4))}
        docs: dict[str, tuple[float | None, str]] = {}
        for stratum, size in (("1", 5), ("2", 8), ("3", 10)):
            kept = rng.permutation(size) < judged[stratum]
            for at, seen in enumerate(kept):
                docs[f"{stratum}-{at}"] = (float(rng.random() < 0.6) if seen else None, stratum)
        docs["1-0"] = (1.0, "1")
        rows += [(topic, doc, label, stratum) for doc, (label, stratum) in docs.items()]
        for name, run in runs.items():
            order = rng.permutation([*docs, "x", "y", "z"])[:20].tolist()
            run[topic] = {doc: -float(rank) for rank, doc in enumerate(order)}
            expected[name].append(corrected(list(enumerate(order, start=1)), docs))
    qrels = pl.DataFrame(rows, schema=["query_id", "doc_id", "relevance", "stratum"], orient="row")
    found = gf.evaluate(qrels, runs, "statAP(corrected=True)")
    plain = gf.evaluate(qrels, runs, "statAP").values
    assert abs(found.values - plain).max() > 0.01
    for values, name in zip(found.values[0], found.systems, strict=True):
        by_topic = dict(zip(found.topics, values.tolist(), strict=True))
        assert [by_topic[str(at)] for at in range(12)] == pytest.approx(expected[name], abs=1e-12)


@pytest.mark.parametrize("measure", ["statAP", "statAP(corrected=True)", "xinfAP", "infNDCG"])
def test_nothing_drawn(measure):
    assert isnan(score(measure, sampled({"a": None, "b": None})))


def test_horvitz_thompson_over_all_samples():
    """The mean over all samples of 2 of 3 and 2 of 4 of what statAP divides is R·AP, and of what it divides by, R."""
    truth = {"a": 1, "b": 1, "c": 0, "d": 1, "e": 1, "f": 1, "g": 0}
    order = ("d", "c", "a", "x", "f", "b", "g", "e")
    strata = {doc: "1" if doc in "abc" else "2" for doc in truth}
    above, below = [], []
    for kept in product(combinations("abc", 2), combinations("defg", 2)):
        drawn = {*kept[0], *kept[1]}
        qrels = sampled({doc: label if doc in drawn else None for doc, label in truth.items()}, stratum=strata)
        run = {"q": {doc: -float(rank) for rank, doc in enumerate(order)}}
        relevant = sum(truth[doc] * (3 / 2 if doc in "abc" else 4 / 2) for doc in drawn)
        estimate = gf.evaluate(qrels, run, "statAP").values.item()
        above.append(estimate * relevant)
        below.append(relevant)
    precision = [1 / 1, 2 / 3, 3 / 5, 4 / 6, 5 / 8]
    assert np.mean(above) == pytest.approx(sum(precision), abs=1e-12)
    assert np.mean(below) == pytest.approx(5.0, abs=1e-12)


class TestFiles:
    def test_tables_keep_strata_and_probabilities(self, tmp_path):
        qrels = sampled(LABELS, stratum=STRATUM, inclusion=dict.fromkeys(STRATUM, 0.5))
        for name in ("s.csv", "s.parquet", "s.jsonl"):
            gf.write_qrels(qrels, tmp_path / name)
            assert gf.read_qrels(tmp_path / name).frame.equals(gf.read_qrels(qrels).frame), name

    def test_text_has_no_place_for_them(self, tmp_path):
        qrels = sampled({"a": 1}, stratum={"a": "1"})
        with pytest.raises(DataError, match="TREC text has no place for strata and probabilities"):
            gf.write_qrels(qrels, tmp_path / "q.txt")

    def test_strata_in_five_fields(self, tmp_path):
        lines = ["# sampled", *(f"q 0 {doc} {STRATUM[doc]} {-1 if label is None else label}" for doc, label in
                                LABELS.items())]  # fmt: skip
        (tmp_path / "q.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        read = gf.read_qrels(tmp_path / "q.txt")
        assert read.sample == ("stratum",)
        assert read.frame.sort("doc_id").equals(sampled(LABELS, stratum=STRATUM))

    def test_probabilities_in_five_fields(self, tmp_path):
        (tmp_path / "q.txt").write_text("q 0 a 1 0.5\nq 0 b -2 1\n", encoding="utf-8")
        read = gf.read_qrels(tmp_path / "q.txt")
        assert read.frame.rows() == [("q", "a", 1.0, 0.5), ("q", "b", -2.0, 1.0)]
        assert read.sample == ("inclusion",)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("q 0 a 1 0\nq 0 b 1\n", r"q\.txt:2: expected 5 fields \(topic iteration doc stratum label\), got 4"),
            (
                "q 0 a 1 0.5\nq 0 b 1 1.5\n",
                r"row 2: expected a probability above 0 and at most 1 as inclusion, got 1.5",
            ),
            ("q 0 a 1 x\n", r"q\.txt:1: expected a number as label, got 'x'"),
            ("q 0 a 2 1\nq 0 b 0 1\n", r"got 1 as the last of every line, which may be either"),
        ],
    )
    def test_wrong_fields(self, text, message, tmp_path):
        (tmp_path / "q.txt").write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            gf.read_qrels(tmp_path / "q.txt")

    def test_a_stratum_is_missing(self):
        with pytest.raises(DataError, match=r"row 1: expected a stratum, got nothing"):
            gf.read_qrels(pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [1], "stratum": [None]}))

    def test_several_probabilities_in_a_stratum(self):
        """Of one stratum each document is as likely as any other; of another topic it may be another share."""
        frame = pl.DataFrame({"query_id": ["p", "q", "q"], "doc_id": ["a", "a", "b"], "relevance": [1, 1, 0]})
        fine = frame.with_columns(stratum=pl.lit("s"), inclusion=pl.Series([0.25, 0.5, 0.5]))
        assert gf.read_qrels(fine).sample == ("stratum", "inclusion")
        mixed = fine.with_columns(inclusion=pl.Series([0.25, 0.5, 0.1]))
        with pytest.raises(
            DataError, match=r"expected one inclusion per topic and stratum, got 0\.1 and 0\.5 in stratum 's'"
        ):
            gf.read_qrels(mixed)
