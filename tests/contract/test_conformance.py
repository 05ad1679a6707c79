"""Official numbers on real collections, for whoever has them: set GAINFUL_DATA to the folder that holds them."""

import csv
import gzip
import math
import os
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from gainful.compat.trec_eval import trec_eval
from gainful.io.read import read_qrels, read_runs
from gainful.measures import parse_measure
from gainful.verbs.evaluate import evaluate

DATA = Path(os.environ.get("GAINFUL_DATA", "/nonexistent"))

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="GAINFUL_DATA is not set to a folder")


def test_trec_covid():
    """The leaderboard of round 1: every run has all topics, so trec_eval's -c does not matter; no label is negative."""
    folder = DATA / "trec-covid-round1"
    scores = evaluate(read_qrels(folder / "qrels.txt.gz"), read_runs(folder / "runs"), ["ndcg_cut_10", "bpref", "map"])
    means = {row["run"]: row for row in scores.mean().to_dicts()}
    with (folder / "leaderboard.csv").open(encoding="utf-8") as file:
        official = list(csv.DictReader(file))
    assert len(official) == 30
    assert scores.missing == (0,) * 30
    for row in official:
        found = means[row["run"]]
        ours = {"run": row["run"]}
        for column, measure in {"ndcg@10": "nDCG@10", "bpref": "bpref", "map": "AP"}.items():
            ours[column] = f"{found[measure]:.4f}"
        assert ours == row


@pytest.mark.slow
def test_version_9_of_trec_eval():
    """The leaderboard, 90 numbers, was made with version 9 (on these runs version 10 prints the same)."""
    folder, asked = DATA / "trec-covid-round1", {"ndcg@10": "ndcg_cut.10", "bpref": "bpref", "map": "map"}
    with (folder / "leaderboard.csv").open(encoding="utf-8") as file:
        official = list(csv.DictReader(file))
    for row in official:
        found = trec_eval(folder / "qrels.txt.gz", folder / "runs" / f"{row['run']}.gz", asked.values(), version=9)
        printed = {name: f"{found.summary[measure.replace('.', '_')]:.4f}" for name, measure in asked.items()}
        assert {"run": row["run"], **printed} == row


def test_trec_eval_itself():
    """trec_eval 10.0's own test: all that `-m all_trec -q` prints and we understand."""
    folder = DATA / "trec_eval"
    lines = [line.split() for line in (folder / "out.test.aq").read_text(encoding="utf-8").splitlines()]
    foreign = {"11pt_avg", "G", "Rndcg", "binG", "gm_bpref", "ndcg_rel", "num_nonrel_judged_ret", "relstring", "runid"}
    foreign |= {"set_map", "set_relative_P", "utility", "rbp"}  # rbp is RBP(p=0.9) there
    families = ("Rprec_mult_", "relative_P_", "unj_")
    names = {name for name, *_ in lines if name not in foreign and not name.startswith(families)}
    assert len(names) == 65
    scores = evaluate(folder / "qrels.test", folder / "results.test", [*names, "RBP(p=0.9)", "NumRel"])
    relevant = dict(zip(scores.topics, scores["NumRel"].values[0], strict=True))
    means = scores.mean().row(0, named=True)
    compared = 0
    for name, topic, printed in lines:
        if name in names | {"rbp"}:
            label = "RBP(p=0.9)" if name == "rbp" else name
            if name.startswith("iprec_at_recall"):
                # It rounds to a number of documents, where the smallest that reaches the recall is meant.
                needed = [float(name.rpartition("_")[2]) * r for t, r in relevant.items() if topic in (t, "all")]
                if any(math.floor(n + 0.5) != math.ceil(n - 1e-9) for n in needed):
                    continue
            matrix = scores[label]
            value = means[matrix.measure] if topic == "all" else matrix.values[0, scores.topics.index(topic)]
            decimals = len(printed.partition(".")[2])
            assert value == pytest.approx(float(printed), abs=0.51 * 10**-decimals), (name, topic)
            compared += 1
    assert compared == 244


@pytest.mark.parametrize("run", ["ql-cata-filtered", "ql-cata", "ql-catb-filtered", "ql-catb"])
def test_web_track_2012(run):
    """Labels from -2 to 4, per topic, against trec_eval."""
    path, judged = DATA / "web-2012-runs" / f"{run}.txt.gz", DATA / "web-track" / "qrels.web.2012.txt.gz"
    qrels, ranking = {}, {}
    with gzip.open(judged, "rt") as file:
        for topic, _, doc, label in map(str.split, file):
            qrels.setdefault(topic, {})[doc] = int(label)
    with gzip.open(path, "rt") as file:
        for topic, _, doc, _, score, _ in map(str.split, file):
            ranking.setdefault(topic, {})[doc] = float(score)
    assert min(min(labels.values()) for labels in qrels.values()) == -2
    asked = {
        "ndcg_cut_20": "nDCG@20",
        "ndcg": "nDCG",
        "map": "AP",
        "P_20": "P@20",
        "Rprec": "Rprec",
        "bpref": "bpref(negatives=unjudged)",
        "infAP": "infAP(negatives=unjudged)",
        "recip_rank": "RR",
    }
    theirs = {"ndcg_cut", "ndcg", "map", "P", "Rprec", "bpref", "infAP", "recip_rank"}
    found = pytrec_eval.RelevanceEvaluator(qrels, theirs).evaluate(ranking)
    scores = evaluate(judged, path, list(asked.values()))
    for name, text in asked.items():
        values = dict(zip(scores.topics, scores[str(parse_measure(text))].values[0], strict=True))
        for topic, result in found.items():
            assert values[topic] == pytest.approx(result[name], abs=1e-9), (name, topic)
    assert np.isfinite(scores.values).all()
