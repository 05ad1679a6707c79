"""trec_eval's rules: which topics, in which order, printed how."""

from __future__ import annotations

import gzip
import io
import math
from types import SimpleNamespace
from typing import ClassVar

import polars as pl
import pytest
import pytrec_eval

import gainful as gf
from gainful.compat.trec_eval import trec_eval
from gainful.errors import DataError, GainfulWarning, MeasureError, PolicyError
from gainful.io import chunks

QRELS = {"b": {"x": 1, "y": 0}, "10": {"x": 2}, "9": {"y": 1}}
RUN = {"9": {"y": 0.5}, "10": {"y": 2.0, "x": 1.0}, "b": {"x": 1.0}, "unknown": {"x": 1.0}}


def lines(*args, per_topic=True, summary=True, **options) -> list[str]:
    return list(trec_eval(*args, **options).lines(per_topic=per_topic, summary=summary))


def test_topics_come_in_byte_order_and_then_all():
    assert lines(QRELS, RUN, ["num_ret", "map"]) == [
        "num_ret               \t10\t2\n",
        "map                   \t10\t0.5000\n",
        "num_ret               \t9\t1\n",
        "map                   \t9\t1.0000\n",
        "num_ret               \tb\t1\n",
        "map                   \tb\t1.0000\n",
        "num_ret               \tall\t4\n",
        "map                   \tall\t0.8333\n",
    ]


def test_order_is_the_tables_whatever_was_asked_first():
    asked = [
        line.split("\t")[0].rstrip() for line in lines(QRELS, RUN, ["unj", "P.5,2", "map", "runid"], per_topic=False)
    ]
    assert asked == ["runid", "map", "P_2", "P_5", "unj_5", "unj_10", "unj_20"]


def test_what_is_for_topics_or_for_all_alone():
    asked = ["runid", "num_q", "gm_map", "gm_bpref", "relstring"]
    assert lines(QRELS, RUN, asked) == [
        "relstring             \t10\t'-2'\n",
        "relstring             \t9\t'1'\n",
        "relstring             \tb\t'1'\n",
        "runid                 \tall\trun\n",
        "num_q                 \tall\t3\n",
        f"gm_map                \tall\t{0.5 ** (1 / 3):6.4f}\n",
        "gm_bpref              \tall\t1.0000\n",
    ]
    assert lines(QRELS, RUN, asked, summary=False) == lines(QRELS, RUN, asked)[:3]


def test_parameters_take_the_place_of_defaults_and_add_up():
    def names(*measures):
        return [column.name for column in trec_eval(QRELS, RUN, measures).columns]

    assert names("P", "P.7") == ["P_7"]
    assert names("P.7", "P.5,10", "P_5") == ["P_5", "P_7", "P_10"]
    assert names("iprec_at_recall..10,.2", "iprec_at_recall_0.50") == [
        "iprec_at_recall_0.10",
        "iprec_at_recall_0.20",
        "iprec_at_recall_0.50",
    ]
    assert names("ndcg.1=3,2=9", "ndcg", "utility.2,-1,0,0", "set_F_0.5") == [
        "utility_2,-1,0,0",
        "ndcg_1=3,2=9",
        "set_F_0.5",
    ]
    assert names("official")[-1] == "P_1000"
    assert {"relstring_20", "relstring"} & set(names("relstring.20", "all_trec")) == {"relstring_20"}
    assert names("set") == [
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility"),
        *("set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    ]


def test_missing_topics():
    run = {"9": {"y": 0.5}}
    with pytest.raises(PolicyError) as caught:
        trec_eval(QRELS, run)
    assert str(caught.value) == (
        "run 'run' returns nothing for 2 of 3 judged topics (b, 10): "
        "use -c (complete=True) to count them as empty rankings."
    )
    asked = ["num_q", "num_ret", "num_rel", "map", "gm_map", "relstring", "utility", "rbp_resid", "unj.5"]
    assert lines(QRELS, run, asked, complete=True)[:7] == [
        "num_ret               \t10\t0\n",
        "num_rel               \t10\t1\n",
        "map                   \t10\t0.0000\n",
        "relstring             \t10\t''\n",
        "utility               \t10\t0.0000\n",
        "rbp_resid             \t10\t0.0000\n",
        "unj_5                 \t10\t0.0000\n",
    ]
    summary = trec_eval(QRELS, run, asked, complete=True).summary
    assert summary["num_q"] == 3
    assert summary["map"] == pytest.approx(1 / 3)
    assert summary["gm_map"] == pytest.approx((1e-5 * 1e-5 * 1) ** (1 / 3))


def test_scores_are_compared_as_float64():
    """Version 10 does; in version 9, as float32, these tie, and y comes first as the greater id."""
    qrels, close = {"q": {"x": 1, "y": 0}}, {"q": {"x": 1.0 + 1e-9, "y": 1.0}}
    assert trec_eval(qrels, close, "recip_rank").summary["recip_rank"] == 1.0
    assert gf.evaluate(qrels, close, "RR").mean()["RR"].item() == 0.5
    unsorted = {"q": {"y": 1.0, "x": 1.0 + 1e-9}}
    assert trec_eval(qrels, unsorted, "recip_rank").summary["recip_rank"] == 1.0
    tied = {"q": {"x": -0.0, "y": 0.0, "z": -1e300, "w": -2e300}}
    assert trec_eval(qrels, tied, "relstring").values["relstring"] == ["01--"]
    unsorted = {"q": {"z": -1e300, "x": -0.0, "y": 0.0, "w": -2e300}}
    assert trec_eval(qrels, unsorted, "relstring").values["relstring"] == ["01--"]


def test_large_runs(tmp_path, monkeypatch):
    """Read in chunks, packed or not, they give the same, the tag of the last line included."""
    lines = [f"{topic} Q0 d{doc} 1 {1 + doc * 1e-9} tag{topic}\n" for topic in range(9) for doc in range(50)]
    qrels = {str(topic): {f"d{topic}": 1, "d49": 1} for topic in range(9)}
    (tmp_path / "r.txt").write_text("".join(lines))
    (tmp_path / "r.gz").write_bytes(gzip.compress("".join(lines).encode()))
    expected = trec_eval(qrels, tmp_path / "r.txt")
    assert expected.summary["recip_rank"] == 1.0
    monkeypatch.setattr(chunks, "STREAMED", 0)
    monkeypatch.setattr(chunks, "CHUNK", 100)
    for name in ("r.txt", "r.gz"):
        found = trec_eval(qrels, tmp_path / name)
        assert found.summary == expected.summary
        assert found.summary["runid"] == "tag8"


def test_a_data_set_has_no_tag(tmp_path):
    (tmp_path / "r.parquet").mkdir()
    pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1.0]}).write_parquet(
        tmp_path / "r.parquet" / "1.parquet"
    )
    assert trec_eval({"q": {"a": 1}}, tmp_path / "r.parquet").summary["runid"] == "r"


def test_options():
    qrels, run = {"q": {"a": 1, "b": 2, "c": 0}}, {"q": ["u", "a", "v", "b", "c"]}
    assert trec_eval(qrels, run, "map", level=2).summary["map"] == 1 / 4
    assert trec_eval(qrels, run, "map", depth=3).summary["map"] == (1 / 2) / 2
    assert trec_eval(qrels, run, "num_ret", depth=3).summary["num_ret"] == 3
    assert trec_eval(qrels, run, "map", judged_only=True).summary["map"] == 1.0
    assert trec_eval(qrels, run, "map", judged_only=True, depth=2).summary["map"] == 1 / 2
    assert trec_eval(qrels, run, "utility.0,0,0,1", documents=100).summary["utility_0,0,0,1"] == 100 + 2 - 5 - 2


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"level": -1}, "The 'level' parameter must be a number of at least 0, got -1 instead."),
        ({"level": "x"}, "The 'level' parameter must be a number of at least 0, got 'x' instead."),
        ({"depth": 0}, "The 'depth' parameter must be a whole number of at least 1, got 0 instead."),
        ({"depth": 1.5}, "The 'depth' parameter must be a whole number of at least 1, got 1.5 instead."),
        ({"documents": True}, "The 'documents' parameter must be a whole number of at least 0, got True instead."),
    ],
    ids=str,
)
def test_options_that_are_refused(option, message):
    with pytest.raises(PolicyError) as caught:
        trec_eval(QRELS, RUN, **option)
    assert str(caught.value) == message


def test_negative_labels_are_not_judged():
    qrels, run = {"q": {"a": 1, "b": -1, "c": 0}}, {"q": ["b", "a"]}
    assert trec_eval(qrels, run, "bpref").summary["bpref"] == 1.0
    assert trec_eval(qrels, run, "num_nonrel_judged_ret").summary["num_nonrel_judged_ret"] == 0
    assert trec_eval({"q": {"a": -1}}, run, ["map", "ndcg", "relstring"]).values == {
        "map": [0.0],
        "relstring": ["-."],
        "ndcg": [0.0],
    }


def test_result_as_frame_and_dict():
    result = trec_eval(QRELS, RUN, ["runid", "map", "relstring.1"])
    assert str(result) == "TrecResult: 3 measures × 3 topics"
    assert result.to_frame().rows() == [
        ("map", "10", 0.5),
        ("map", "9", 1.0),
        ("map", "b", 1.0),
        ("map", "all", pytest.approx(2.5 / 3)),
    ]
    assert result.to_frame().schema == {"measure": pl.String, "query_id": pl.String, "score": pl.Float64}
    assert result.to_dict() == {
        "summary": {"runid": "run", "map": pytest.approx(2.5 / 3)},
        "scores": {"map": {"10": 0.5, "9": 1.0, "b": 1.0}, "relstring_1": {"10": "-", "9": "1", "b": "1"}},
        "settings": {
            **{"level": 1.0, "complete": False, "depth": None, "judged_only": False, "documents": 0},
            **{"format": "qrels", "zscores": False, "version": 10},
        },
    }


class TestTag:
    def tag(self, path) -> object:
        return trec_eval({"q": {"d": 1}}, path, "runid").summary["runid"]

    def test_is_that_of_the_last_line(self, tmp_path):
        path = tmp_path / "a.txt"
        path.write_text("q Q0 d 1 2.0 first\nq Q0 e 2 1.0 last\n# not this\n\n")
        assert self.tag(path) == "last"
        packed = tmp_path / "a.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert self.tag(str(packed)) == "last"

    def test_is_the_runs_name_in_other_formats(self, tmp_path):
        path = tmp_path / "b.csv"
        path.write_text("query_id,doc_id,score\nq,d,1\n")
        assert self.tag(path) == "b"
        assert self.tag(gf.read_run({"q": ["d"]}, name="mine")) == "mine"


class TestStandardInput:
    def give(self, monkeypatch, content: bytes):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))

    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_run(self, monkeypatch, pack):
        self.give(monkeypatch, pack(b"q Q0 d 1 2.0 tagged\n"))
        assert trec_eval({"q": {"d": 1}}, "-", ["runid", "map"]).summary == {"runid": "tagged", "map": 1.0}

    @pytest.mark.parametrize(
        ("content", "message"),
        {
            b"": "standard input: expected a run, got nothing",
            b"q Q0 d\n": "standard input:1: expected 6 fields (topic Q0 doc rank score tag), got 3: 'q Q0 d'",
        }.items(),
    )
    def test_bad_input(self, monkeypatch, content, message):
        self.give(monkeypatch, content)
        with pytest.raises(DataError) as caught:
            trec_eval({"q": {"d": 1}}, "-")
        assert str(caught.value) == message


def test_duplicates():
    rows = [("9", "y", 0.5), ("9", "y", 0.4)]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    with pytest.raises(DataError) as caught:
        trec_eval(QRELS, frame)
    assert str(caught.value) == "run 'run': document 'y' appears twice in topic '9': remove one."


def test_several_runs():
    with pytest.raises(DataError) as caught:
        trec_eval(QRELS, {"a": RUN, "b": RUN})
    assert str(caught.value) == "expected one run, got several, 'b' among them"


@pytest.mark.parametrize(
    ("measure", "message"),
    {
        "mapp": "Unknown measure 'mapp'. Did you mean 'map'? 'gainful trec_eval -h -m all_trec' lists them.",
        "ndgc_cut.10": "Unknown measure 'ndgc_cut.10'. Did you mean 'ndcg_cut.10'? "
        "'gainful trec_eval -h -m all_trec' lists them.",
        "": "Unknown measure ''. 'gainful trec_eval -h -m all_trec' lists them.",
        "map_5": "Unknown measure 'map_5'. Did you mean 'map'? 'gainful trec_eval -h -m all_trec' lists them.",
        "official.5": "official is a group of measures and takes no parameters, got 'official.5'",
        "map.5": "map takes no parameters, got 'map.5'",
        "P.": "P takes whole numbers of at least 1, such as P.5,10; got 'P.'",
        "P.0": "P takes whole numbers of at least 1, such as P.5,10; got 'P.0'",
        "ndcg_cut.10,0.4": "ndcg_cut takes whole numbers of at least 1, such as ndcg_cut.5,10; got 'ndcg_cut.10,0.4'",
        "success.x": "success takes whole numbers of at least 1, such as success.5,10; got 'success.x'",
        "iprec_at_recall.-1": "iprec_at_recall takes numbers of at least 0, such as iprec_at_recall.0.2,0.5; "
        "got 'iprec_at_recall.-1'",
        "utility.1,2": "utility takes four numbers, such as utility.1,-1,0,0; got 'utility.1,2'",
        "utility.1,2,3,x": "utility takes four numbers, such as utility.1,-1,0,0; got 'utility.1,2,3,x'",
        "set_F.-1": "set_F takes one number of at least 0, such as set_F.0.5; got 'set_F.-1'",
        "relstring.2.5": "relstring takes one whole number of at least 1, such as relstring.20; got 'relstring.2.5'",
        "11pt_avg.-1": "11pt_avg takes numbers of at least 0, such as 11pt_avg.0.2,0.5,0.8; got '11pt_avg.-1'",
        "ndcg.3": "ndcg takes pairs of a label and its gain, such as ndcg.1=3.5,2=9; got 'ndcg.3'",
        "ndcg.1=3,1=4": "ndcg takes pairs of a label and its gain, such as ndcg.1=3.5,2=9; got 'ndcg.1=3,1=4'",
        "G.-1=3": "G takes pairs of a label and its gain, such as G.1=3.5,2=9; got 'G.-1=3'",
        "rbp.p=1": "rbp takes p, between 0 and 1, and pairs of a label and its gain, such as rbp.p=0.8,1=0.5; "
        "got 'rbp.p=1'",
        "rbp_resid.1=2": "rbp_resid takes p, between 0 and 1, such as rbp_resid.p=0.8; got 'rbp_resid.1=2'",
        "prefs_simp": "prefs_simp is computed from judgments as prefs or qrels_prefs, got qrels: say what the "
        "judgments are with -R (format=…), or ask for -m official",
        "qrels_jg": "map_avgjg is computed from judgments as qrels_jg, got qrels: say what the judgments are with -R "
        "(format=…), or ask for -m official",
    }.items(),
)
def test_measures_that_are_refused(measure, message):
    with pytest.raises(MeasureError) as caught:
        trec_eval(QRELS, RUN, measure)
    assert str(caught.value) == message


def test_the_whole_part_of_a_cutoff():
    with pytest.warns(GainfulWarning, match=r"^P\.2\.9 is read as P\.2, as trec_eval does$"):
        result = trec_eval({"q": {"a": 1}}, {"q": ["b", "a", "c"]}, "P.1,2.9")
    assert dict(result.summary) == {"P_1": 0.0, "P_2": 1 / 2}
    assert result.notes() == ("P.2.9 is read as P.2, as trec_eval does",)


def test_relevant_documents_in_all_are_counted_whatever_the_level():
    """If topics are completed, trec_eval counts labels above 0 anew."""
    qrels, run = {"q": {"a": 1, "b": 2, "c": -1}, "p": {"a": 3}}, {"q": ["a"]}
    assert trec_eval(qrels, run, "num_rel", complete=True, level=2).summary == {"num_rel": 3}
    assert trec_eval(qrels, run, "num_rel", complete=True, level=2).values == {"num_rel": [1, 1]}


@pytest.mark.parametrize("packed", [False, True])
def test_text_after_the_tag(tmp_path, packed):
    """Also if it begins long after the first line; comments and what is no text are left as they are."""
    plain = "".join(f"# a b c d e f g\nq Q0 d{number} 1 {-number} first\n" for number in range(3000))
    lines = f"{plain}q Q0 x 1 5 last more text\n \n"
    path = tmp_path / "run"
    path.write_bytes(gzip.compress(lines.encode()) if packed else lines.encode())
    result = trec_eval({"q": {"x": 1, "d0": 1}}, path, ["map", "num_ret", "runid"])
    assert result.summary == {"runid": "last", "num_ret": 3001, "map": 1.0}
    path.write_text(lines + "q Q0 short\n")
    with pytest.raises(DataError, match=r"run:6003: expected 6 fields .* got 3"):
        trec_eval({"q": {"x": 1}}, path)


class TestVersion9:
    """trec_eval 9.0.8, through pytrec_eval."""

    QRELS: ClassVar = {t: {f"d{number}": int(number % 3 == 0) for number in range(12)} for t in ("7", "70", "8")}
    # d1 and d3 are equal as float32, and d3 is the greater name; recall levels are truncated with 4 relevant ones.
    RUN: ClassVar = {t: {"d1": 1 + 1e-9, "d3": 1.0, "d2": 0.5, "d6": 0.4, "x": 0.3} for t in ("70", "8", "none")}

    def test_values(self):
        theirs = pytrec_eval.RelevanceEvaluator(self.QRELS, pytrec_eval.supported_measures).evaluate(self.RUN)
        found = trec_eval(self.QRELS, self.RUN, "all_trec", version=9)
        assert found.topics == ("70", "8")
        assert not {"rbp", "unj_5"} & found.values.keys()
        ours = {name: values for name, values in found.values.items() if not isinstance(values[0], str)}
        for name, values in ours.items():
            logs = [math.log(value) for value in values] if name.startswith("gm_") else values
            assert logs == pytest.approx([theirs["70"][name], theirs["8"][name]]), name
        assert len(ours) == len(theirs["8"]) - 2  # runid and relstring are text
        newer = trec_eval(self.QRELS, self.RUN, "all_trec", complete=True)
        assert newer.values["recip_rank"] == [0, 1 / 2, 1 / 2] != found.values["recip_rank"] == [1, 1]
        assert newer.values["iprec_at_recall_0.30"] != found.values["iprec_at_recall_0.30"]

    def test_missing_topics(self):
        """They count in means, if asked for, but are never shown."""
        asked = ["num_q", "num_ret", "num_rel", "recip_rank", "gm_map"]
        some = trec_eval(self.QRELS, self.RUN, asked, version=9)
        all_ = trec_eval(self.QRELS, self.RUN, asked, version=9, complete=True)
        assert some.topics == all_.topics == ("70", "8")
        assert [found.summary["num_q"] for found in (some, all_)] == [2, 3]
        assert [found.summary["num_ret"] for found in (some, all_)] == [10, 10]
        assert [found.summary["num_rel"] for found in (some, all_)] == [8, 12]
        assert [found.summary["recip_rank"] for found in (some, all_)] == [1, pytest.approx(2 / 3)]
        assert all_.summary["gm_map"] == pytest.approx((some.summary["gm_map"] ** 2 * 1e-5) ** (1 / 3))

    def test_what_is_refused(self):
        with pytest.raises(MeasureError, match=r"^unj_5 is not in version 9 of trec_eval: "):
            trec_eval(self.QRELS, self.RUN, "unj", version=9)
        with pytest.raises(DataError, match=r"^run 'run' returns nothing for any judged topic$"):
            trec_eval(self.QRELS, {"none": ["d1"]}, version=9)
        with pytest.raises(PolicyError, match=r"The 'version' parameter must be one of 9, 10, got 8 instead\."):
            trec_eval(self.QRELS, self.RUN, version=8)


def test_zscores(tmp_path):
    """Deviations from a mean; a value that never varied is 0 if it is the mean; -1000000 stands for no score."""
    qrels, run = {"1": {"a": 1, "b": 1}, "2": {"a": 1}}, {"1": ["x", "a"], "2": ["a"]}
    known = ("1 map 0.5 0.125", "2 map 0.5 0.25", "1 recip_rank 0.5 0", "2 recip_rank 0.5 0", "1 gm_map 0 2")
    (tmp_path / "means").write_text("\n".join(known))
    asked = ["num_q", "map", "recip_rank", "num_ret", "relstring", "gm_map"]
    result = trec_eval(qrels, run, asked, zscores=tmp_path / "means")
    assert result.values["map"] == [(0.25 - 0.5) / 0.125, (1 - 0.5) / 0.25]
    assert result.values["recip_rank"] == [0.0, -1e6]
    assert result.values["num_ret"] == [-1e6, -1e6]
    assert result.values["gm_map"] == [pytest.approx(math.log(0.25) / 2), -1e6]
    assert list(result.lines(per_topic=True)) == [
        "Znum_ret               \t1\t-1000000.0000\n",
        "Zmap                   \t1\t-2.0000\n",
        "Zrecip_rank            \t1\t0.0000\n",
        "relstring             \t1\t'-1'\n",
        "Znum_ret               \t2\t-1000000.0000\n",
        "Zmap                   \t2\t2.0000\n",
        "Zrecip_rank            \t2\t-1000000.0000\n",
        "relstring             \t2\t'1'\n",
        "Znum_q                 \tall\t2.0000\n",
        "Znum_ret               \tall\t-2000000.0000\n",
        "Zmap                   \tall\t0.0000\n",
        "Zgm_map                \tall\t0.0000\n",
        "Zrecip_rank            \tall\t-500000.0000\n",
    ]
    same = {"1": {"map": (0.5, 0.125)}, "2": {"map": (0.5, 0.25)}}
    assert trec_eval(qrels, run, "map", zscores=same).values["map"] == result.values["map"]
    (tmp_path / "means").write_text("1 map high 0.1\n")
    with pytest.raises(DataError, match=r"means: expected a number as mean of map in topic '1', got 'high'"):
        trec_eval(qrels, run, zscores=tmp_path / "means")


def test_extra_measures_are_not_in_the_registry():
    from gainful.measures import REGISTRY

    assert not {"G", "binG", "Rndcg", "utility", "yaap", "relstring"} & set(REGISTRY)


@pytest.mark.parametrize("group", ["official", "set", "all_trec"])
def test_groups_in_evaluate(group):
    """What there is of trec_eval's groups has its values; with five relevant documents no recall level is rounded."""
    labels = [1, 0, 1, 2, 0, 1, 0, 1]
    qrels = {t: {f"d{number}": label for number, label in enumerate(labels)} for t in ("1", "2")}
    run = {"1": [f"d{number}" for number in range(0, 8, 2)], "2": ["d5", "x", "d3"]}
    scores = gf.evaluate(qrels, run, group)
    theirs = trec_eval(qrels, run, group, complete=True)
    left_out = {"runid", "relstring", "gm_bpref", "utility", "11pt_avg", "binG", "G", "ndcg_rel", "Rndcg"}
    families = ("Rprec_mult_", "relative_P_", "num_nonrel_judged_ret", "unj_", "rbp")  # rbp is graded there
    names = [name for name in theirs.values if name not in left_out and not name.startswith(families)]
    assert len(scores.measures) == len(names) + 2 * (group == "all_trec")
    for name in names:
        ours = gf.evaluate(qrels, run, "bpref" if name == "bpref" else name)
        assert ours.values[0, 0].tolist() == pytest.approx(theirs.values[name]), name
        assert str(gf.parse_measures(name)[0]).partition("(")[0] in {m.partition("(")[0] for m in scores.measures}
    with pytest.raises(MeasureError, match=r"Did you mean 'official'\?"):
        gf.evaluate(qrels, run, "offical")
