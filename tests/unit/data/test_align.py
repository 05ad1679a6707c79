import gc
import re
import weakref

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gainful.data import align as joining
from gainful.data import match as module
from gainful.data.align import align, stray_notes
from gainful.data.policies import Policies
from gainful.data.qrels import Qrels
from gainful.data.rankings import Rankings
from gainful.data.run import LargeRun, RawRun, Run, UnreadRun
from gainful.errors import DataError, PolicyError
from gainful.results import Note
from worlds import World, qrels_of, run_of, worlds


def ranked(rankings: Rankings) -> dict[tuple[str, str], dict[int, tuple[int, float | None]]]:
    """By system and topic, by rank: the index in the pool and the label."""
    found = {(system, topic): {} for system in rankings.systems for topic in rankings.topics}
    names = list(found)
    for row, rank, document, grade in zip(rankings.row, rankings.rank, rankings.document, rankings.grade, strict=True):
        found[names[row]][int(rank)] = (int(document), None if grade < 0 else float(rankings.grades[grade]))
    return found


def ranks(qrels: dict, rows: list, **policies: str) -> dict[str, list[str | None]]:
    """By topic, the pool documents that a run returned, by rank; None for others."""
    rankings = World(qrels, {"run": rows}).align(**policies)
    docs = [doc for judged in qrels.values() for doc in judged]
    found = {}
    for (_, topic), hits in ranked(rankings).items():
        number = int(rankings.retrieved[rankings.topics.index(topic)])
        found[topic] = [docs[hits[rank][0]] if rank in hits else None for rank in range(1, number + 1)]
    return found


def test_every_field():
    """Two systems, two judged topics in the order of the qrels, one unknown topic."""
    qrels = {"2": {"a": 1.0, "b": -1.0, "c": None}, "1": {"a": 0.0, "x": 1.0}}
    runs = {
        "one": [("1", "x", 5.0), ("1", "u", 7.0), ("2", "c", 1.0), ("2", "b", 3.0), ("2", "v", 2.0), ("9", "a", 1.0)],
        "two": [("2", "a", 1.0)],
    }
    rankings = World(qrels, runs).align()
    assert rankings.systems == ("one", "two")
    assert rankings.topics == ("2", "1")
    assert rankings.n_rows == 4
    assert rankings.retrieved.tolist() == [3, 2, 1, 0]
    assert rankings.present.tolist() == [True, True, True, False]
    assert rankings.row.tolist() == [0, 0, 1, 2]
    assert rankings.rank.tolist() == [1, 3, 2, 1]
    assert rankings.document.tolist() == [1, 2, 4, 0]
    assert rankings.pool_topic.tolist() == [0, 0, 0, 1, 1]
    assert rankings.grades.tolist() == [-1, 0, 1]
    assert rankings.pool_grade.tolist() == [2, 0, -1, 1, 2]
    assert rankings.grade.tolist() == [0, -1, 2, 2]
    assert rankings.tie_first is rankings.rank
    assert rankings.tie_last is rankings.rank
    assert rankings.ignored == (1, 0)


def test_condensed():
    qrels = {"q": {"a": 1.0, "b": -1.0, "c": None}, "r": {"a": 1.0}}
    rows = [("q", doc, -at) for at, doc in enumerate(["u", "c", "b", "v", "a"])] + [("r", "w", 1.0)]
    rankings = World(qrels, {"run": rows}).align(unjudged="condensed")
    assert rankings.retrieved.tolist() == [2, 0]
    assert rankings.present.tolist() == [True, True]  # it was answered, with documents that nobody judged
    assert rankings.row.tolist() == [0, 0]
    assert rankings.rank.tolist() == [1, 2]
    assert rankings.document.tolist() == [1, 0]


def test_condensed_ties():
    """A tied group shrinks with its unjudged members."""
    rows = [("q", "u", 3.0), ("q", "v", 2.0), ("q", "a", 2.0), ("q", "b", 2.0), ("q", "c", 2.0), ("q", "d", 1.0)]
    world = World({"q": {"a": 1.0, "b": 0.0, "c": None, "d": 1.0}}, {"run": rows})
    rankings = world.align(ties="expected")
    assert rankings.tie_first.tolist() == [2, 2, 2, 6]
    assert rankings.tie_last.tolist() == [5, 5, 5, 6]
    rankings = world.align(ties="expected", unjudged="condensed")
    assert rankings.tie_first.tolist() == [1, 1, 3]
    assert rankings.tie_last.tolist() == [2, 2, 3]


JUDGED = {"q": {"a": 1.0, "b": 0.0, "B": 1.0, "é": 0.0, "10": 1.0, "9": 0.0, "豈": 1.0, "𝔄": 0.0}}


@pytest.mark.parametrize(
    ("scores", "ties", "order"),
    [
        # Byte order, descending: beyond the basic plane, beyond ASCII, small letters, capitals, digits.
        (dict.fromkeys(JUDGED["q"], 1.0), "trec", ["𝔄", "豈", "é", "b", "a", "B", "9", "10"]),
        (dict.fromkeys(JUDGED["q"], 1.0), "order", ["a", "b", "B", "é", "10", "9", "豈", "𝔄"]),
        # Equal as float32 only.
        ({"a": 1.0 + 1e-9, "b": 1.0}, "trec", ["b", "a"]),
        ({"a": 1.0, "b": 1.0 + 1e-9}, "order", ["b", "a"]),
        ({"a": 1.0 + 1e-6, "b": 1.0}, "trec", ["a", "b"]),
        # Both infinite as float32.
        ({"a": 2e300, "b": 1e300}, "trec", ["b", "a"]),
        ({"b": 1e300, "a": 2e300}, "order", ["a", "b"]),
        ({"a": -1e300, "b": -2e300, "9": -1e38}, "trec", ["9", "b", "a"]),
        # Both zero as float32.
        ({"a": 1e-300, "b": -1e-300}, "trec", ["b", "a"]),
        ({"a": 0.0, "b": -0.0}, "trec", ["b", "a"]),
        ({"a": -0.0, "b": 0.0}, "order", ["a", "b"]),
        ({"9": 0.5, "a": -0.0, "10": 3.0, "b": 0.0}, "order", ["10", "9", "a", "b"]),
        # Not sorted, with a tie in the middle.
        ({"a": 1.0, "9": 3.0, "b": 2.0, "B": 2.0, "10": 0.0}, "trec", ["9", "b", "B", "a", "10"]),
        ({"a": 1.0, "9": 3.0, "B": 2.0, "b": 2.0, "10": 0.0}, "order", ["9", "B", "b", "a", "10"]),
    ],
)
def test_order(scores, ties, order):
    assert ranks(JUDGED, [("q", doc, score) for doc, score in scores.items()], ties=ties) == {"q": order}


@pytest.mark.parametrize("ties", ["trec", "order"])
def test_many_ties(ties):
    """Enough of them that a sort would no longer happen to be stable."""
    rng = np.random.default_rng(0)
    scores = dict(zip(map(str, rng.permutation(5000)), rng.integers(0, 20, 5000).tolist(), strict=True))
    by_id = sorted(scores, key=lambda doc: doc.encode(), reverse=True) if ties == "trec" else list(scores)
    expected = sorted(by_id, key=lambda doc: -scores[doc])
    rows = [("q", doc, float(score)) for doc, score in scores.items()]
    assert ranks({"q": dict.fromkeys(scores, 1.0)}, rows, ties=ties) == {"q": expected}


def test_expected_ties_are_of_equal_float64_scores():
    rows = [("q", "u", 5.0), ("q", "a", 1.0), ("q", "b", 1.0), ("q", "v", 1.0), ("q", "9", 1.0 - 1e-9)]
    rankings = World(JUDGED, {"run": rows}).align(ties="expected")
    assert rankings.rank.tolist() == [2, 3, 5]
    assert rankings.tie_first.tolist() == [2, 2, 5]
    assert rankings.tie_last.tolist() == [4, 4, 5]


def test_expected_ties_do_not_reach_into_the_next_topic():
    rows = [("q", "a", 1.0), ("r", "a", 1.0), ("r", "b", 1.0), ("s", "a", 1.0)]
    world = World({topic: {"a": 1.0, "b": 1.0} for topic in "qrs"}, {"run": rows})
    rankings = world.align(ties="expected")
    assert rankings.tie_first.tolist() == [1, 1, 1, 1]
    assert rankings.tie_last.tolist() == [1, 2, 2, 1]


def test_interleaved_topics():
    rows = [("q", "a", 1.0), ("r", "b", 1.0), ("x", "a", 9.0), ("q", "b", 2.0), ("r", "u", 2.0), ("q", "u", 3.0)]
    qrels = {"r": {"b": 1.0}, "q": {"a": 1.0, "b": 0.0}}
    assert ranks(qrels, rows) == {"r": [None, "b"], "q": [None, "b", "a"]}


def test_interleaved_qrels():
    frame = pl.DataFrame({"query_id": ["q", "r", "q"], "doc_id": ["a", "a", "b"], "relevance": [1.0, 2.0, 3.0]})
    qrels = Qrels(frame)
    rankings = align(qrels, [run_of([("q", "b", 1.0), ("r", "a", 1.0)])])
    assert rankings.topics == ("q", "r")
    assert ranked(rankings) == {("run", "q"): {1: (1, 3.0)}, ("run", "r"): {1: (2, 2.0)}}


def test_unknown_topics_are_counted_once_each():
    rows = [("x", "a", 1.0), ("q", "a", 1.0), ("y", "a", 1.0), ("x", "b", 1.0)]
    rankings = World({"q": {"a": 1.0}}, {"run": rows, "other": [("q", "a", 1.0)]}).align()
    assert rankings.ignored == (2, 0)
    assert rankings.retrieved.tolist() == [1, 1]


def test_one_document_judged_for_two_topics():
    qrels = {"q": {"a": 1.0}, "r": {"a": 2.0}}
    rankings = World(qrels, {"run": [("r", "a", 1.0), ("q", "a", 1.0)]}).align()
    assert ranked(rankings) == {("run", "q"): {1: (0, 1.0)}, ("run", "r"): {1: (1, 2.0)}}


@pytest.mark.parametrize("rows", [[], [("x", "a", 1.0)]], ids=["no row", "no judged topic"])
def test_empty_runs(rows):
    rankings = World({"q": {"a": 1.0}, "r": {"b": 0.0}}, {"empty": rows, "full": [("r", "b", 1.0)]}).align()
    assert rankings.retrieved.tolist() == [0, 0, 0, 1]
    assert rankings.present.tolist() == [False, False, False, True]
    assert rankings.row.tolist() == [3]
    alone = World({"q": {"a": 1.0}}, {"empty": rows}).align(ties="expected", unjudged="condensed")
    assert alone.row.tolist() == alone.rank.tolist() == alone.tie_last.tolist() == []


def test_runs_are_taken_one_at_a_time():
    """Each is forgotten before the one after the next is read."""
    frames = []

    def generate():
        for number in range(4):
            gc.collect()
            assert sum(frame() is not None for frame in frames) <= 1
            run = run_of([("q", "a", 1.0)], f"run{number}")
            frames.append(weakref.ref(run.frame))
            yield run
            del run

    rankings = align(qrels_of({"q": {"a": 1.0}}), generate())
    assert rankings.systems == ("run0", "run1", "run2", "run3")
    assert rankings.row.tolist() == [0, 1, 2, 3]


# Refusals


def refused(error: type[Exception], message: str):
    return pytest.raises(error, match=f"^{re.escape(message)}$")


def test_no_runs():
    with refused(DataError, "expected at least one run, got none"):
        align(qrels_of({"q": {"a": 1.0}}), [])


def test_no_judgments():
    with refused(DataError, "qrels 'mine': expected judgments, got none"):
        align(qrels_of({}, "mine"), [run_of([("q", "a", 1.0)])])


def test_two_runs_of_one_name():
    with refused(DataError, "two runs are called 'run'; rename one"):
        align(qrels_of({"q": {"a": 1.0}}), [run_of([("q", "a", 1.0)]), run_of([("q", "a", 1.0)])])


def test_missing_topics():
    world = World({str(topic): {"a": 1.0} for topic in range(8)}, {"run": [("0", "a", 1.0), ("7", "b", 1.0)]})
    message = (
        "run 'run' returns nothing for 6 of 8 judged topics (1, 2, 3, 4, 5, …): "
        "use missing='empty' or missing='skip' to score it all the same."
    )
    with refused(PolicyError, message):
        world.align(missing="error")
    complete = World(world.qrels, {"run": [(str(topic), "b", 1.0) for topic in range(8)]})
    assert complete.align(missing="error").present.all()


REPEATED = [("q", "b", 1.0), ("q", "a", 2.0), ("r", "a", 3.0), ("q", "u", 1.5), ("q", "b", 9.0), ("q", "a", 0.0)]


def test_document_returned_twice():
    message = (
        "run 'run': document 'b' appears twice in topic 'q': remove one, or use duplicates='first' to keep the first."
    )
    with refused(DataError, message):
        World({"q": {"a": 1.0, "b": 1.0}, "r": {"a": 0.0}}, {"run": REPEATED}).align()


@pytest.mark.parametrize("piece", [1, 1 << 19])
def test_of_several_duplicates_the_first_of_the_first_judged_topic_is_named(monkeypatch, piece):
    """However the run is ordered, and wherever it is cut."""
    monkeypatch.setattr(module, "PIECE", piece)
    rows = [(topic, doc, 1.0) for topic in ("r", "q", "s") for doc in (f"{topic}2", f"{topic}1") for _ in range(2)]
    with pytest.raises(DataError, match=r"^run 'run': document 'q2' appears twice in topic 'q': "):
        World({"q": {"a": 1.0}, "r": {"a": 0.0}, "s": {"a": 1.0}}, {"run": rows}).align()


def test_first_of_repeated_documents():
    """In the order of the run, not the one with the highest score."""
    qrels = {"q": {"a": 1.0, "b": 1.0}, "r": {"a": 0.0}}
    assert ranks(qrels, REPEATED, duplicates="first") == {"q": ["a", None, "b"], "r": ["a"]}


def test_document_judged_twice():
    frame = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "a"], "relevance": [1.0, 2.0, 3.0]})
    qrels = Qrels(frame, "mine")
    message = (
        "qrels 'mine': document 'a' is judged twice for topic 'q': "
        "remove one, or use duplicates='first' to keep the first."
    )
    with refused(DataError, message):
        align(qrels, [run_of([("q", "a", 1.0)])])
    rankings = align(qrels, [run_of([("q", "a", 1.0)])], Policies(duplicates="first"))
    assert ranked(rankings) == {("run", "q"): {1: (0, 1.0)}}
    assert len(rankings.pool_grade) == 2


# Runs that are left out


def one():
    return qrels_of({"q": {"a": 1.0}})


def good():
    return run_of([("q", "a", 1.0)], "good")


def twice():
    return run_of([("q", "a", 2.0), ("q", "a", 1.0)], "twice")


HOW_TO_GO_ON = ["keep_going leaves out such runs, and goes on with the others."]


def test_what_could_not_be_read_and_what_is_no_run():
    unread, stray = UnreadRun("x.txt", "x.txt:1: no good"), UnreadRun("plot.png", "a PNG image", is_run=False)
    rankings = align(one(), [unread, stray, good()])
    assert rankings.systems == ("good",)
    assert rankings.failed == (("x.txt", "x.txt:1: no good"),)
    left_out = Note("no-run", "plot.png", "Left out 1 file that is no run: plot.png (a PNG image).")
    assert rankings.run_notes == (left_out,)
    for alone in (unread, stray):
        assert align(one(), [alone]).systems == ()


def test_strays_are_named_up_to_ten():
    strays = [(f"{name}.png", "a PNG image") for name in "abcdefghijk"]
    assert stray_notes([]) == []
    (two,), (ten,), (eleven,) = stray_notes(strays[:2]), stray_notes(strays[:10]), stray_notes(strays)
    left_out = "Left out 2 files that are no runs: a.png (a PNG image) and b.png (a PNG image)."
    assert two == Note("no-run", "a.png", left_out)
    assert "j.png" in ten.text
    assert eleven.text.startswith("Left out 11 files that are no runs: a.png (a PNG image), ")
    assert "k.png" not in eleven.text


def test_settings_that_may_be_a_run():
    """They are none where no topic of theirs is judged."""
    doubtful = Run(run_of([("k1", "a", 0.9)]).frame, "bm25", "bm25.json", doubtful=True)
    rankings = align(one(), [doubtful, good()])
    assert rankings.systems == ("good",)
    text = "Left out 1 file that is no run: bm25.json (settings, since none of its topics is judged)."
    assert rankings.run_notes == (Note("no-run", "bm25.json", text),)
    assert align(one(), [Run(good().frame, "bm25", "bm25.json", doubtful=True)]).systems == ("bm25",)
    assert align(one(), [Run(doubtful.frame, "bm25", "bm25.json")]).systems == ("bm25",)


def test_what_readers_noticed_is_kept():
    notes = [Note("ranks", name, "Read as ranks.") for name in ("one", "two")]
    runs = [Run(good().frame, note.subject, notes=(note,)) for note in notes]
    assert align(one(), runs).run_notes == tuple(notes)


def test_refused_among_others():
    """Only then there is something to go on with; a run of the same name, or a policy, is another matter."""
    for runs, error, notes in (
        ([twice(), good()], DataError, []),
        ([good(), twice()], DataError, HOW_TO_GO_ON),
        ([good(), good()], DataError, []),
        ([good(), run_of([("x", "a", 1.0)], "none")], PolicyError, []),
    ):
        with pytest.raises(error) as caught:
            align(one(), runs, Policies(missing="error"))
        assert getattr(caught.value, "__notes__", []) == notes


def test_keeps_going():
    """What was refused has the name of its file, or of itself where there is none."""
    files = [Run(run.frame, run.name, f"{run.name}.txt") for run in (twice(), run_of([("x", "a", 1.0)], "none"))]
    rankings = align(one(), [twice(), *files, good()], Policies(missing="error"), keep_going=True)
    assert rankings.systems == ("good",)
    assert [source for source, _ in rankings.failed] == ["'twice'", "twice.txt", "none.txt"]
    assert rankings.failed[0][1].startswith("run 'twice': document 'a' appears twice in topic 'q'")
    assert rankings.failed[2][1].startswith("run 'none' returns nothing for 1 of 1 judged topics (q)")
    none = align(one(), [twice()], keep_going=True)
    assert (none.systems, none.n_rows, none.rank.tolist(), none.tied.tolist()) == ((), 0, [], [])


def test_rows_that_cannot_be_read():
    def rows():
        raise DataError("r.txt:1: no good")

    raw = RawRun("r", b"1 Q0", rows, source="r.txt", entry="runs/")
    with refused(DataError, "r.txt:1: no good"):
        align(one(), [raw])
    assert align(one(), [raw, good()], keep_going=True).failed == (("runs/", "r.txt:1: no good"),)


# What the compiled core is given


def test_a_run_as_it_was_given_goes_to_the_core(monkeypatch):
    """Unless all documents are to be listed; what the core leaves is read."""
    asked = []

    def join_raw(raw, name, rules, threads):
        asked.append((raw, name, rules.documents, threads() is threads()))

    monkeypatch.setattr(joining, "join_raw", join_raw)
    raw = RawRun("r", b"q Q0 a 1 2 t", lambda: good().frame)
    assert align(one(), [raw], documents=3).rank.tolist() == [1]
    assert align(one(), [raw], documents=np.inf).rank.tolist() == [1]
    assert asked == [(b"q Q0 a 1 2 t", "r", 3, True)]


def test_scores_are_compared_as_float64_if_asked_for():
    rows = [("q", "a", 1.0 + 1e-9), ("q", "b", 1.0)]
    judged = qrels_of({"q": {"a": 1.0, "b": 0.0}})
    assert align(judged, [run_of(rows)]).document.tolist() == [1, 0]
    assert align(judged, [run_of(rows)], exact=True).document.tolist() == [0, 1]


# The two shortcuts: hashes and pieces


def same(one: Rankings, other: Rankings) -> bool:
    return (
        (one.systems, one.topics, one.ignored) == (other.systems, other.topics, other.ignored)
        and one.retrieved.tolist() == other.retrieved.tolist()
        and one.tie_first.tolist() == other.tie_first.tolist()
        and one.tie_last.tolist() == other.tie_last.tolist()
        and ranked(one) == ranked(other)
    )


policies = st.fixed_dictionaries(
    {"ties": st.sampled_from(("trec", "order", "expected")), "unjudged": st.sampled_from(("zero", "condensed"))}
)


@pytest.mark.parametrize("bits", [0, 1, 3, 0xFFFF << 40], ids=["one hash", "two", "four", "one slot of the table"])
@settings(max_examples=40, deadline=None)
@given(world=worlds(duplicates=True), policies=policies)
def test_colliding_hashes(bits, world, policies):
    """Documents whose hashes agree, wholly or where it counts, are told apart by their ids."""
    apart = world.align(**policies, duplicates="first")
    with pytest.MonkeyPatch.context() as patch:
        true = pl.Series.hash
        patch.setattr(pl.Series, "hash", lambda self, **seeds: true(self, **seeds) & bits)
        assert same(world.align(**policies, duplicates="first"), apart)


@pytest.mark.parametrize("piece", [1, 3, 7])
@settings(max_examples=40, deadline=None)
@given(world=worlds(duplicates=True), policies=policies)
def test_pieces(piece, world, policies):
    """A run cut into pieces gives the same ranks."""
    whole = world.align(**policies, duplicates="first")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE", piece)
        assert same(world.align(**policies, duplicates="first"), whole)


@pytest.mark.parametrize("size", [1, 2, 9])
@pytest.mark.parametrize("topics", ["aaxabbxyb", "abxbaaybx"], ids=["one after another", "scattered"])
def test_runs_in_chunks(monkeypatch, topics, size):
    monkeypatch.setattr(module, "PIECE", 1)
    whole = run_of([(topic, str(at), float(at % 3)) for at, topic in enumerate(topics)])
    judged = qrels_of({topic: {str(at): 1.0 for at in range(9)} for topic in "ba"})
    rankings = align(judged, [LargeRun("run", lambda: whole.frame.iter_slices(size), 100)])
    assert rankings.ignored == (2,)
    assert rankings.retrieved.tolist() == [3, topics.count("a")]
    assert same(rankings, align(judged, [whole]))


def test_large_run():
    """More rows than a piece, topics in no order."""
    rng = np.random.default_rng(0)
    topics, depth = 700, 1000
    order = rng.permutation(topics)
    frame = pl.DataFrame(
        {
            "query_id": np.repeat(order, depth).astype(str),
            "doc_id": np.tile(np.arange(depth), topics).astype(str),
            "score": rng.permutation(np.arange(topics * depth) % depth).astype(float),
        }
    )
    judged = frame.sample(fraction=0.05, seed=1, shuffle=True)
    qrels = Qrels(judged.with_columns(relevance=pl.lit(1.0)).drop("score"))
    assert frame.height > module.PIECE
    rankings = align(qrels, [Run(frame)])
    key = pl.col("score").cast(pl.Float32), pl.col("doc_id")
    expected = (
        frame.with_columns(rank=pl.struct(*key).rank("ordinal", descending=True).over("query_id"))
        .join(judged, on=["query_id", "doc_id"], how="semi")
        .select("query_id", "rank")
        .sort("query_id", "rank")
    )
    found = pl.DataFrame({"query_id": np.array(rankings.topics)[rankings.row], "rank": rankings.rank})
    assert found.sort("query_id", "rank").equals(expected.cast(found.schema))
