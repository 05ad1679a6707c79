"""pytrec_eval's API on gainful, compared with pytrec_eval itself."""

from __future__ import annotations

import io
import random

import numpy as np
import polars as pl
import pytest
import pytrec_eval as theirs

import gainful as gf
from gainful.compat import pytrec_eval as ours
from gainful.errors import DataError, MeasureError

QRELS = {"q2": {"a": 1, "b": 0, "c": 2}, "q1": {"a": 1}, "q10": {"a": 0}}
RUN = {"q10": {"a": 0.5, "z": 0.7}, "q2": {"c": 0.1, "b": 0.3, "x": 0.2}, "q1": {"a": 1.0}, "q9": {"a": 1.0}}


def world(seed: int, labels: tuple[int, ...]):
    """Ids that sort oddly, scores that tie (some only as float32), topics on one side alone.

    No topic has negative labels alone: pytrec_eval crashes there.
    """
    rng = random.Random(seed)
    ids = [f"{rng.choice(('d', 'D', 'é', '漢', '_'))}{number}" for number in range(80)]
    qrels = {str(t): {doc: rng.choice(labels) for doc in rng.sample(ids, rng.randint(1, 60))} for t in range(9)}
    for judged in qrels.values():
        judged["anchor"] = 0
    run = {}
    for topic in rng.sample(range(12), 10):
        coarse = 10 ** rng.randint(0, 3)
        docs = rng.sample(ids, rng.randint(1, rng.choice((5, 80))))
        run[str(topic)] = {d: round(rng.gauss(0, 3) * coarse) / coarse + rng.choice((0, 0, 1e-9)) for d in docs}
        run[str(topic)]["anchor"] = -5.0  # judged: -J leaves no topic empty, where trec_eval says nan
    return qrels, run


def assert_same(found, expected):
    assert list(found) == list(expected)
    for topic, values in expected.items():
        assert list(found[topic]) == list(values)
        assert all(type(value) is float for value in found[topic].values())
        for name, value in values.items():
            assert found[topic][name] == pytest.approx(value, rel=1e-12, abs=1e-12), (topic, name)


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("labels", [(0, 1), (0, 0, 0, 1, 2, 3), (-2, -1, 0, 1, 2), (0, 0, 0, 5, 12)], ids=str)
@pytest.mark.parametrize("seed", range(10))
def test_every_measure(seed, labels, level, judged_only):
    qrels, run = world(seed, labels)
    options = {"relevance_level": level, "judged_docs_only_flag": judged_only}
    assert_same(
        ours.RelevanceEvaluator(qrels, ours.supported_measures, **options).evaluate(run),
        theirs.RelevanceEvaluator(qrels, theirs.supported_measures, **options).evaluate(run),
    )


@pytest.mark.parametrize(
    "measures",
    [
        {"ndcg_cut.10"},
        {"ndcg_cut_10"},
        {"map_cut.1,3,5", "map"},
        {"map_cut.1,3", "map_cut_5", "map_cut"},
        {"P"},
        {"P.3", "P_5,7"},
        ["ndcg_cut.3,5", "recall.3,5", "P.3,5"],
        {"map": None, "recip_rank": None},
        {"official"},
        {"set", "ndcg"},
        {"all_trec"},
        {"all_trec", "P.3"},
        {"iprec_at_recall.0.15,0.5"},
        {"Rprec_mult_0.5"},
        {"set_F.0.5"},
        {"11pt_avg.0.25,0.5,0.75"},
        {"relstring", "runid", "num_q", "gm_map"},
        set(),
    ],
    ids=lambda measures: " ".join(sorted(measures)) or "none",  # the same in every process
)
def test_measures_are_taken_as_there(measures):
    qrels, run = world(3, (0, 1, 2))
    found = ours.RelevanceEvaluator(qrels, measures).evaluate(run)
    assert_same(found, theirs.RelevanceEvaluator(qrels, measures).evaluate(run))


def test_the_same_parameters_in_other_words_are_no_contradiction():
    found = ours.RelevanceEvaluator(QRELS, ["set_F.0.5", "set_F_0.50", "set_F.5e-1"]).evaluate(RUN)
    assert found == ours.RelevanceEvaluator(QRELS, ["set_F.0.5"]).evaluate(RUN)


def test_names():
    assert ours.supported_measures == theirs.supported_measures
    supported = {name: theirs.supported_nicknames[name] for name in ("official", "set", "all_trec")}
    assert ours.supported_nicknames == supported
    assert set(theirs.__all__) | {"compute_aggregated_measure"} == set(ours.__all__)


def test_topics_on_both_sides_in_the_order_of_the_run():
    found = ours.RelevanceEvaluator(QRELS, {"num_ret"}).evaluate(RUN)
    assert found == {"q10": {"num_ret": 2.0}, "q2": {"num_ret": 3.0}, "q1": {"num_ret": 1.0}}


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_topics_do_not_depend_on_others(seed, judged_only):
    """One at a time, as a training loop asks for them, they have the same values to the last bit."""
    qrels, run = world(seed, (-1, 0, 1, 2))
    evaluator = ours.RelevanceEvaluator(qrels, ours.supported_measures, judged_docs_only_flag=judged_only)
    every = evaluator.evaluate(run)
    assert {
        topic: evaluator.evaluate({topic: found}).get(topic) for topic, found in run.items() if topic in every
    } == every
    some = dict(reversed([item for item in run.items() if item[0] in every][:3]))
    assert list(evaluator.evaluate(some).items()) == [(topic, every[topic]) for topic in some]


def test_judgments_are_those_of_when_it_was_made():
    qrels = {"q": {"a": 1, "b": 0}}
    evaluator = ours.RelevanceEvaluator(qrels, {"map"})
    qrels["q"]["b"] = 1
    qrels["p"] = {"a": 1}
    for run in (
        {"q": {"a": 1.0}, "p": {"a": 1.0}},
        pl.DataFrame({"qid": ["q", "p"], "docno": ["a", "a"], "score": [1, 1]}),
    ):
        assert evaluator.evaluate(run) == {"q": {"map": 1.0}}


@pytest.mark.parametrize("run", [{}, None, {"q9": {"a": 1.0}}, {"q1": {}}, {"q1": {}, "q2": {"a": 1}}], ids=str)
def test_empty_runs(run):
    measures = {"map", "num_ret", "ndcg_cut_5", "bpref"}
    found = ours.RelevanceEvaluator(QRELS, measures).evaluate(run)
    assert_same(found, theirs.RelevanceEvaluator(QRELS, measures).evaluate(run))


def test_empty_qrels():
    assert ours.RelevanceEvaluator({}, {"map"}).evaluate(RUN) == {}
    assert ours.RelevanceEvaluator({"q1": {}, "q2": {"a": 1}}, {"map"}).evaluate(RUN) == {"q2": {"map": 0.0}}


def test_what_is_undefined_there_is_0_here():
    """-J leaves nothing of this topic: trec_eval divides 0 by 0."""
    qrels, run = {"q": {"a": 1}}, {"q": {"x": 1.0}}
    options = {"judged_docs_only_flag": True}
    assert np.isnan(theirs.RelevanceEvaluator(qrels, {"11pt_avg"}, **options).evaluate(run)["q"]["11pt_avg"])
    assert ours.RelevanceEvaluator(qrels, {"11pt_avg"}, **options).evaluate(run) == {"q": {"11pt_avg": 0.0}}


@pytest.mark.parametrize(
    ("name", "values"), [("map", [0.1, 0.4, 0.2]), ("num_ret", [3.0, 5.0]), ("gm_map", [-1.5, -2.5]), ("P_5", [1.0])]
)
def test_aggregates(name, values):
    expected = theirs.compute_aggregated_measure(name, values)
    assert ours.compute_aggregated_measure(name, values) == expected
    assert ours.compute_aggregated_measure(name, iter(values)) == expected


def test_as_a_benchmark_calls_it():
    """Cutoffs in one text a family, means over what comes back, keys spelled with an underscore."""
    qrels, run = world(5, (0, 0, 1, 2))
    cutoffs = [1, 3, 5, 10, 100]
    asked = {f"{family}." + ",".join(map(str, cutoffs)) for family in ("ndcg_cut", "map_cut", "recall", "P")}

    def means(module):
        scores = module.RelevanceEvaluator(qrels, asked).evaluate(run)
        keys = {f"NDCG@{k}": "ndcg_cut_" + str(k) for k in cutoffs} | {f"Recall@{k}": f"recall_{k}" for k in cutoffs}
        return {label: round(sum(scores[q][key] for q in scores) / len(scores), 5) for label, key in keys.items()}

    assert means(ours) == means(theirs)
    assert 0 < means(ours)["NDCG@10"] < 1


def test_other_sources_are_taken_too(tmp_path):
    expected = ours.RelevanceEvaluator(QRELS, {"map"}).evaluate(RUN)
    rows = [(topic, doc, score) for topic, docs in RUN.items() for doc, score in docs.items()]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    gf.write_qrels(gf.read_qrels(QRELS), tmp_path / "qrels.txt")
    gf.write_run(gf.read_run(RUN), tmp_path / "run.txt")
    evaluator = ours.RelevanceEvaluator(tmp_path / "qrels.txt", {"map"})
    for run in (frame, gf.read_run(RUN), tmp_path / "run.txt"):
        assert evaluator.evaluate(run) == expected


def test_labels_need_not_be_whole():
    found = ours.RelevanceEvaluator({"q": {"a": 0.5, "b": 1.5}}, {"ndcg", "num_rel"}, 0.5).evaluate({"q": {"a": 1}})
    assert found["q"]["num_rel"] == 2.0
    assert found["q"]["ndcg"] == pytest.approx(0.5 / (1.5 + 0.5 / np.log2(3)))


class TestParsing:
    QRELS = "q1 0 d1 2\nq1 0 d2 -1\nq2\t0\td1 0\n"
    RUN = "q1 Q0 d2 1 2.5 t\nq2 Q0 d1 1 1 t\nq1 Q0 d1 2 -1e-3 t\n"

    def test_same_as_there(self):
        assert ours.parse_qrel(io.StringIO(self.QRELS)) == theirs.parse_qrel(io.StringIO(self.QRELS))
        assert ours.parse_run(io.StringIO(self.RUN)) == theirs.parse_run(io.StringIO(self.RUN))
        assert all(type(label) is int for label in ours.parse_qrel(io.StringIO(self.QRELS))["q1"].values())

    def test_lists_bytes_and_paths(self, tmp_path):
        expected = theirs.parse_run(io.StringIO(self.RUN))
        (tmp_path / "run").write_text(self.RUN)
        assert ours.parse_run(self.RUN.splitlines()) == expected
        assert ours.parse_run(io.BytesIO(self.RUN.encode())) == expected
        assert ours.parse_run(tmp_path / "run") == expected
        assert ours.parse_qrel(["q 0 d 0.5"]) == {"q": {"d": 0.5}}

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: ours.parse_run([]), "lines: expected a run, got nothing"),
            (lambda: ours.parse_run(7), "expected lines of text or a path, got int"),
            (
                lambda: ours.parse_qrel(["q 0 d"]),
                "lines:1: expected 4 fields (topic iteration doc label), got 3: 'q 0 d'",
            ),
            (
                lambda: ours.parse_run(["q Q0 d 1 2 t", "q Q0 d 2 1 t"]),
                "document 'd' appears twice in topic 'q': remove one",
            ),
        ],
    )
    def test_bad_lines(self, call, message):
        with pytest.raises(DataError) as caught:
            call()
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: ours.RelevanceEvaluator(QRELS, {"mapp"}),
            MeasureError,
            "Unknown measure 'mapp'. Did you mean 'map'? 'gainful trec_eval -h -m all_trec' lists them.",
        ),
        (
            lambda: ours.RelevanceEvaluator(QRELS, {"rbp"}),
            MeasureError,
            "rbp is not in pytrec_eval: use gainful.compat.trec_eval.trec_eval",
        ),
        (
            lambda: ours.RelevanceEvaluator(QRELS, {"all_trec", "unj"}),
            MeasureError,
            "unj is not in pytrec_eval: use gainful.compat.trec_eval.trec_eval",
        ),
        *(
            (
                lambda measures=measures: ours.RelevanceEvaluator(QRELS, measures),
                MeasureError,
                "set_F_0.5 and set_F_2 would have the same key, 'set_F', in the results: ask for one of them at a time",
            )
            for measures in (["set_F.0.5", "set_F.2"], ["set_F.2", "set_F_0.5", "map"])
        ),
        (
            lambda: ours.RelevanceEvaluator(QRELS, {5}),
            TypeError,
            "expected names of measures such as 'map', got 5 (int)",
        ),
        *(
            (
                lambda level=level: ours.RelevanceEvaluator(QRELS, {"map"}, relevance_level=level),
                TypeError,
                f"The 'relevance_level' parameter must be a number above 0, got {level!r} instead.",
            )
            for level in (0, -3, "x", float("nan"), True, None)
        ),
        (
            lambda: ours.RelevanceEvaluator(QRELS, "map"),
            TypeError,
            "expected a set of measures such as {'map', 'ndcg_cut.10'}, got 'map'",
        ),
        (
            lambda: ours.RelevanceEvaluator({"q": {"d": "1"}}, {"map"}),
            TypeError,
            "qrels dict, topic 'q', doc 'd': expected a number as label, got '1' (str)",
        ),
        (
            lambda: ours.RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": {"d": "x"}}),
            TypeError,
            "run dict, topic 'q1', doc 'd': expected a number as score, got 'x' (str)",
        ),
        (
            lambda: ours.RelevanceEvaluator(QRELS, {"map"}).evaluate([1]),
            DataError,
            "run list, item 1: expected an object with query_id, doc_id and score, or a tuple of them, got int",
        ),
    ],
)
def test_mistakes(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
    assert isinstance(caught.value, gf.GainfulError)
