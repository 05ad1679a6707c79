"""The simulated collection keeps its promises; the expected values are computed here, from the published formulas."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from gainful.data.qrels import Qrels
from gainful.data.simulate import simulate
from gainful.data.simulate.collection import Collection
from gainful.data.simulate.tracks import TRACKS
from gainful.errors import GainfulError

SEEDS = (0, 1, 2, 3)

# Carmel et al., SIGIR 2022, Table 3: label shares (%) in the qrels of the Web Tracks 2010, 2011, 2012, 2013, 2014.
TABLE_3 = {
    -2: (5.65, 5.25, 5.34, 1.62, 3.86),
    0: (73.70, 78.45, 72.71, 69.80, 56.90),
    1: (15.90, 10.50, 13.75, 21.03, 26.25),
    2: (4.25, 3.67, 2.52, 6.36, 11.18),
    3: (0.54, 2.11, 0.32, 1.24, 1.59),
    4: (0.00, 0.00, 5.34, 0.05, 0.23),
}


@pytest.fixture(scope="module")
def tracks() -> dict[int, Collection]:
    return {seed: simulate(seed=seed) for seed in SEEDS}


@pytest.fixture(scope="module")
def small() -> Collection:
    return simulate(topics=6, systems=12, depth=60, pool_depth=7, contributors=5, seed=3)


def best_documents(collection: Collection, count: int) -> list[dict[str, list[str]]]:
    """Per run and topic the first documents, as given."""
    tops = []
    for run in collection.runs:
        rows = run.frame.group_by("query_id", maintain_order=True).head(count)
        top = defaultdict(list)
        for query, doc in rows.select("query_id", "doc_id").iter_rows():
            top[query].append(doc)
        tops.append(top)
    return tops


def label_table(frame: pl.DataFrame) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for query, doc, label in frame.select("query_id", "doc_id", "relevance").iter_rows():
        table[query][doc] = label
    return table


def ndcg20(collection: Collection) -> np.ndarray:
    """Systems x topics: linear gain, log2 discount, negative and unjudged as 0, ideal from the pool."""
    labels = label_table(collection.qrels.frame)

    def dcg(gains: list[float]) -> float:
        return sum(max(gain, 0.0) / math.log2(1 + rank) for rank, gain in enumerate(gains[:20], start=1))

    ideal = {query: dcg(sorted(pool.values(), reverse=True)) for query, pool in labels.items()}
    return np.array(
        [
            [dcg([labels[query].get(doc, 0.0) for doc in top[query]]) / ideal[query] for query in labels]
            for top in best_documents(collection, 20)
        ]
    )


def phi(y: np.ndarray, topics: int = 50) -> float:
    """Dependability: system variance over itself plus the error of a mean over so many topics."""
    s, t = y.shape
    rows, columns, grand = y.mean(axis=1, keepdims=True), y.mean(axis=0, keepdims=True), y.mean()
    ms_s = t * ((rows - grand) ** 2).sum() / (s - 1)
    ms_t = s * ((columns - grand) ** 2).sum() / (t - 1)
    ms_e = ((y - rows - columns + grand) ** 2).sum() / ((s - 1) * (t - 1))
    var_s, var_t = (ms_s - ms_e) / t, (ms_t - ms_e) / s
    return float(var_s / (var_s + (var_t + ms_e) / topics))


@pytest.fixture(scope="module")
def scores(tracks: dict[int, Collection]) -> dict[int, np.ndarray]:
    return {seed: ndcg20(track) for seed, track in tracks.items()}


def digest(collection: Collection) -> str:
    frames = [collection.qrels.frame, collection.truth.labels, collection.truth.systems]
    texts = [frame.write_csv() for frame in frames + [run.frame for run in collection.runs]]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


# --- the frames ---


def test_frames_have_the_columns_of_qrels_and_runs(tracks):
    track = tracks[0]
    assert dict(track.qrels.frame.schema) == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}
    for run in track.runs:
        assert dict(run.frame.schema) == {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    assert track.qrels.topics == [str(number) for number in range(101, 151)]
    assert [run.name for run in track.runs] == track.truth.systems["run"].to_list()
    assert len({run.name for run in track.runs}) == 60
    assert track.qrels.frame["doc_id"].str.contains(r"^sim-\d{4}-\d{7}$").all()


def test_documents_are_best_first_in_trec_order_also_as_float32(tracks):
    order = {"by": ["query_id", "score", "doc_id"], "descending": [False, True, True]}
    for run in tracks[1].runs:
        assert run.frame.equals(run.frame.sort(**order))
        single = run.frame.with_columns(pl.col("score").cast(pl.Float32))
        assert single["doc_id"].equals(single.sort(**order)["doc_id"])


def test_runs_answer_every_topic_without_duplicates_to_the_depth_or_less(tracks):
    lengths = np.array(
        [run.frame.group_by("query_id").len().sort("query_id")["len"].to_list() for run in tracks[0].runs]
    )
    assert lengths.shape == (60, 50)
    assert lengths.max() == 1000
    assert lengths.min() >= 20
    assert 0.05 < np.mean((lengths < 1000).any(axis=1)) < 0.4
    assert all(not run.frame.select("query_id", "doc_id").is_duplicated().any() for run in tracks[0].runs)


def test_score_scales_differ_and_some_runs_tie(tracks):
    track = tracks[0]
    tied = []
    for run, scale in zip(track.runs, track.truth.systems["scale"], strict=True):
        low, high = run.frame["score"].min(), run.frame["score"].max()
        bounds = {"bm25": (0, 40), "logprob": (-20, 0), "cosine": (0, 1)}[scale]
        assert bounds[0] < low < high < bounds[1]
        tied.append(1 - run.frame.select("query_id", "score").n_unique() / len(run))
    assert set(track.truth.systems["scale"]) == {"bm25", "logprob", "cosine"}
    assert np.median(tied) < 0.02
    assert max(tied) > 0.2


# --- the pool ---


@pytest.mark.parametrize("which", ["small", "track"])
def test_judged_is_exactly_what_contributors_ranked_in_the_pool_depth(which, small, tracks):
    collection, depth = (small, 7) if which == "small" else (tracks[0], 20)
    contributes = collection.truth.systems["contributes"].to_list()
    assert sum(contributes) == (5 if which == "small" else 60)
    pool = defaultdict(set)
    for top, counts in zip(best_documents(collection, depth), contributes, strict=True):
        for query, docs in top.items() if counts else ():
            pool[query].update(docs)
    judged = {query: set(labels) for query, labels in label_table(collection.qrels.frame).items()}
    assert judged == pool


def test_truth_labels_every_returned_document_and_agrees_with_the_judgments(small):
    truth = label_table(small.truth.labels)
    returned = defaultdict(set)
    for top in best_documents(small, 60):
        for query, docs in top.items():
            returned[query].update(docs)
    assert {query: set(labels) for query, labels in truth.items()} == returned
    judged = label_table(small.qrels.frame)
    assert all(truth[query][doc] == label for query, pool in judged.items() for doc, label in pool.items())
    assert len(Qrels(small.truth.labels)) > 2 * len(small.qrels)


def test_unjudged_documents_have_labels_of_every_kind(tracks):
    unjudged = tracks[0].truth.labels.join(tracks[0].qrels.frame, on=["query_id", "doc_id"], how="anti")
    assert set(unjudged["relevance"]) == {-2, 0, 1, 2, 3, 4}


def test_a_run_returns_as_much_of_the_pool_as_in_a_track(tracks):
    """Carmel et al., Table 4 over judgments a topic of Table 3: 39 to 49 %, by year."""
    track = tracks[0]
    judged = track.qrels.frame.select("query_id", "doc_id").with_columns(judged=True)
    found = [len(run.frame.join(judged, on=["query_id", "doc_id"])) / len(track.qrels) for run in track.runs]
    assert 0.35 < np.mean(found) < 0.55


def test_left_out_runs_have_unjudged_documents_at_the_top():
    collection = simulate(topics=20, depth=100, contributors=30, seed=0)
    labels = label_table(collection.qrels.frame)
    shares = defaultdict(list)
    for top, counts in zip(best_documents(collection, 20), collection.truth.systems["contributes"], strict=True):
        shares[counts].append(np.mean([doc in labels[query] for query, docs in top.items() for doc in docs]))
    assert min(shares[True]) == 1
    assert 0.6 < np.mean(shares[False]) < 0.95


# --- the labels ---


def test_label_shares_of_a_track_are_near_those_of_the_web_tracks(tracks):
    shares = {label: [100 * track.label_shares()[label] for track in tracks.values()] for label in TABLE_3}
    tolerance = {-2: 1.5, 0: 4, 1: 3, 2: 1.5, 3: 0.8, 4: 0.8}  # percentage points, of the mean of four tracks
    for label, years in TABLE_3.items():
        assert np.mean(shares[label]) == pytest.approx(np.mean(years), abs=tolerance[label]), label
        assert all(min(years) - 1 < share < max(years) + 1 for share in shares[label]), label


def test_label_shares_over_many_topics_are_the_mean_of_the_web_tracks():
    """The tolerance is three standard errors: the shares of 1,500 topics vary with sd sqrt(p(1-p)/9)."""
    collection = simulate(topics=1500, systems=4, depth=20, seed=11)
    counts = Counter(collection.qrels.frame["relevance"].to_list())
    assert set(counts) == set(TABLE_3)
    for label, years in TABLE_3.items():
        p = np.mean(years) / 100
        assert counts[label] / len(collection.qrels) == pytest.approx(p, abs=3 * math.sqrt(p * (1 - p) / 9 / 1500))


@pytest.mark.parametrize("seed", SEEDS)
def test_pools_are_as_large_and_as_different_as_in_a_track(seed, tracks):
    pools = [list(pool.values()) for pool in label_table(tracks[seed].qrels.frame).values()]
    sizes = np.array([len(pool) for pool in pools])
    relevant = np.array([sum(label > 0 for label in pool) for pool in pools])
    spam = np.array([sum(label < 0 for label in pool) for pool in pools])
    assert 250 < sizes.mean() < 400
    assert sizes.max() > 2 * sizes.min()
    assert relevant.min() >= 1
    assert relevant.min() < 25
    assert relevant.mean() > np.median(relevant)
    assert 0.02 < np.mean(spam == 0) < 0.5
    assert spam.mean() > 1.3 * np.median(spam)


def test_spam_share_is_as_asked():
    assert simulate(topics=20, systems=5, depth=20, spam=0).label_shares()[-2] == 0
    share = simulate(topics=400, systems=5, depth=20, spam=0.3).label_shares()[-2]
    assert share == pytest.approx(0.3, abs=3 * math.sqrt(0.3 * 0.7 / 9 / 400))


# --- the systems ---


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_look_like_those_of_a_track(seed, scores):
    y = scores[seed]
    systems = y.mean(axis=1)
    assert 0.7 <= phi(y) <= 0.9
    assert 0.04 < systems.min() < 0.16
    assert 0.28 < systems.max() < 0.45
    assert 0.16 < y.std() < 0.26
    assert y.mean(axis=0).std() > 0.08
    assert 0.05 < np.mean(y == 0) < 0.25


@pytest.mark.parametrize("seed", SEEDS)
def test_other_sizes_stay_reasonable(seed):
    y = ndcg20(simulate(topics=25, systems=20, depth=100, seed=seed))
    assert 0.6 < phi(y) < 0.96
    assert 0.15 < y.mean() < 0.35


@pytest.mark.parametrize("seed", SEEDS)
def test_quality_shows_in_the_scores(seed, tracks, scores):
    quality = tracks[seed].truth.systems["quality"].to_numpy()
    assert spearmanr(quality, scores[seed].mean(axis=1)).statistic > 0.8


@pytest.mark.parametrize("seed", SEEDS)
def test_spam_resistance_keeps_spam_out_of_the_top(seed, tracks):
    track = tracks[seed]
    labels = label_table(track.qrels.frame)
    spam = [
        sum(labels[query][doc] == -2 for query, docs in top.items() for doc in docs)
        for top in best_documents(track, 20)
    ]
    resistance = track.truth.systems["spam_resistance"].to_numpy()
    assert spearmanr(resistance, spam).statistic < -0.85
    assert 0.1 < spearmanr(resistance, track.truth.systems["quality"].to_numpy()).statistic < 0.8


def test_runs_of_a_team_are_alike(tracks, scores):
    team = tracks[0].truth.systems["team"].to_numpy()
    same = team[:, None] == team[None, :]
    left, right = np.triu_indices(60, k=1)
    residual = np.corrcoef(scores[0] - scores[0].mean(axis=0))[left, right]
    tops = best_documents(tracks[0], 20)
    overlap = np.array(
        [
            np.mean([len(set(tops[a][q]) & set(tops[b][q])) / 20 for q in tops[a]])
            for a, b in zip(left, right, strict=True)
        ]
    )
    same = same[left, right]
    assert same.sum() == 15 * 6
    assert 0.4 < overlap[same].mean() < 0.8
    assert 0.05 < overlap[~same].mean() < 0.3
    assert residual[same].mean() > 0.4
    assert abs(residual[~same].mean()) < 0.15


def test_team_size_one_makes_every_run_a_team():
    systems = simulate(topics=1, systems=7, depth=5, team_size=1).truth.systems
    assert systems["team"].n_unique() == 7


# --- seeds, edges, refusals ---


def test_same_seed_same_collection_and_other_seed_another(small):
    arguments = {"topics": 6, "systems": 12, "depth": 60, "pool_depth": 7, "contributors": 5}
    assert digest(simulate(**arguments, seed=3)) == digest(small)
    assert digest(simulate(**arguments, seed=4)) != digest(small)
    assert digest(simulate(**small.settings)) == digest(small)


def test_first_topics_do_not_depend_on_the_number_of_topics():
    few, more = (simulate(topics=topics, systems=5, depth=30, seed=2) for topics in (3, 6))
    first = pl.col("query_id").is_in(["101", "102", "103"])
    assert few.qrels.frame.equals(more.qrels.frame.filter(first))
    for a, b in zip(few.runs, more.runs, strict=True):
        assert a.frame.equals(b.frame.filter(first))


def test_result_does_not_depend_on_the_number_of_threads(small):
    code = (
        "import hashlib; from gainful.data.simulate import simulate\n"
        "c = simulate(topics=6, systems=12, depth=60, pool_depth=7, contributors=5, seed=3)\n"
        "frames = [c.qrels.frame, c.truth.labels, c.truth.systems] + [run.frame for run in c.runs]\n"
        "print(hashlib.sha256('\\n'.join(f.write_csv() for f in frames).encode()).hexdigest())"
    )
    env = os.environ | {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == digest(small)


@pytest.mark.parametrize(("topics", "systems"), [(1, 1), (1, 5), (3, 1)])
def test_one_topic_or_one_system_works(topics, systems):
    collection = simulate(topics=topics, systems=systems, depth=30)
    y = ndcg20(collection)
    assert y.shape == (systems, topics)
    assert ((y >= 0) & (y <= 1)).all()


def test_every_topic_has_a_relevant_document_even_in_the_smallest_pool():
    collection = simulate(topics=200, systems=1, depth=1, pool_depth=1, spam=0.5)
    assert len(collection.qrels) == 200
    assert (collection.qrels.frame["relevance"] >= 1).all()


def test_missing_topics_only_when_asked_and_every_topic_stays_judged():
    collection = simulate(topics=200, systems=4, depth=10, missing=0.5, seed=5)
    answered = [len(run.topics) for run in collection.runs]
    assert 0.4 < np.mean(answered) / 200 < 0.65
    assert len(collection.qrels.topics) == 200


def test_prints_one_line_and_exports(small):
    labels = small.qrels.frame["relevance"]
    expected = (
        f"Collection(6 topics, 12 runs, {len(labels)} judgments: "
        f"{(labels > 0).mean():.1%} relevant, {(labels == -2).mean():.1%} spam; seed 3)"
    )
    assert str(small) == repr(small) == expected
    exported = json.loads(json.dumps(small.to_dict()))
    assert exported["settings"] == {
        "topics": 6, "systems": 12, "depth": 60, "pool_depth": 7, "contributors": 5,
        "team_size": 4, "spam": 0.0434, "missing": 0.0, "seed": 3,
    }  # fmt: skip
    assert exported["judgments"] == len(labels)
    assert exported["returned"] == sum(run.frame.height for run in small.runs)
    assert sum(exported["label_shares"].values()) == pytest.approx(1)
    assert [row["run"] for row in exported["systems"]][:5] == [
        "team01-1",
        "team01-2",
        "team01-3",
        "team01-4",
        "team02-1",
    ]
    assert repr(small.truth) == f"Truth(12 systems, {small.truth.labels.height} labels)"


@pytest.mark.parametrize("name", ["topics", "systems", "depth", "pool_depth", "team_size"])
@pytest.mark.parametrize("value", [0, -1, 2.0, "3", True])
def test_counts_must_be_positive_integers(name, value):
    with pytest.raises(GainfulError, match=rf"^{name}: expected a whole number of at least 1, got {value!r}$"):
        simulate(**{name: value})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ({"seed": None}, "seed: expected a whole number of at least 0, got None"),
        (
            {"systems": 4, "contributors": 5},
            "contributors: expected a whole number from 1 to 4, got 5",
        ),
        ({"contributors": 0}, "contributors: expected a whole number from 1 to 60, got 0"),
        ({"spam": 1}, "spam: expected a number of at least 0 and below 1, got 1"),
        ({"spam": -0.1}, "spam: expected a number of at least 0 and below 1, got -0.1"),
        ({"missing": float("nan")}, "missing: expected a number of at least 0 and below 1, got nan"),
        ({"missing": "no"}, "missing: expected a number of at least 0 and below 1, got 'no'"),
        ({"missing": False}, "missing: expected a number of at least 0 and below 1, got False"),
    ],
)
def test_other_parameters_are_checked_too(arguments, message):
    with pytest.raises(GainfulError) as caught:
        simulate(**arguments)
    assert str(caught.value) == message


def test_numpy_numbers_are_numbers():
    collection = simulate(topics=np.int64(2), systems=np.int32(2), depth=5, spam=np.float32(0.0), seed=np.uint8(9))
    assert json.dumps(collection.to_dict())


# --- stand-ins for the Web Tracks ---

# Topics of Carmel et al., Table 3; runs of Gienapp et al. (CIKM 2020), Table 1, and the pool depths that they name.
YEARS = {2010: (48, 56, 20), 2011: (50, 37, 20), 2012: (50, 32, 20), 2013: (50, 34, 15), 2014: (50, 30, 15)}


@pytest.mark.parametrize(("at", "year"), list(enumerate(YEARS)))
def test_a_stand_in_has_sizes_and_labels_as_published(at, year):
    track = TRACKS[f"web{year}"]
    assert (track.topics, track.systems, track.pool_depth) == YEARS[year]
    whole = sum(shares[at] for shares in TABLE_3.values())
    assert track.shares == pytest.approx({label: shares[at] / whole for label, shares in TABLE_3.items()}, abs=1e-6)


def test_a_stand_in_says_what_it_is():
    made = simulate(like="web2013", topics=3, depth=30, seed=2)
    assert len(made.runs) == 34
    assert made.settings == {
        "like": "web2013", "topics": 3, "systems": 34, "depth": 30, "pool_depth": 15, "contributors": 34,
        "team_size": 3, "spam": TRACKS["web2013"].shares[-2], "missing": 0.0, "seed": 2,
    }  # fmt: skip
    assert str(made).endswith("; like web2013, seed 2)")
    assert simulate(**{**made.settings}).qrels.frame.equals(made.qrels.frame)
    fitted, *_ = made.likeness()
    assert fitted.startswith("Fitted, as means over 20 seeds: judgments per topic ")
    assert "ρ(nDCGorg, nDCG0) " in fitted
    assert simulate(topics=2, systems=2, depth=10).likeness() == ()
    small = simulate(like="web2012", topics=2, systems=3, depth=10)
    assert small.likeness()[-1] == "These are figures of 50 topics and 32 runs; here are 2 and 3."


def test_what_was_not_fitted_is_said():
    fitted, other = TRACKS["web2011"].likeness()
    assert "Φ(nDCG0@20)" in fitted
    assert other.startswith("Not fitted: Φ(nDCGorg@20) ")
    assert "(published 0.984)" in other  # Gienapp et al., Table 2d


def test_an_unknown_track_is_refused():
    message = "like: expected one of web2010, web2011, web2012, web2013, web2014, got 'web2015'. Did you mean 'web201"
    with pytest.raises(GainfulError) as caught:
        simulate(like="web2015")
    assert str(caught.value).startswith(message)
