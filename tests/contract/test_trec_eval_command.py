"""`gainful trec_eval` prints what trec_eval prints: its own test files, and random collections through pytrec_eval."""

from __future__ import annotations

import importlib.util
import math
import os
import random
from pathlib import Path

import pytest
import pytrec_eval

from gainful.compat.trec_eval import trec_eval

GOLDEN = Path(__file__).parents[1] / "golden" / "trec_eval"
DATA = Path(os.environ.get("GAINFUL_DATA", "/nonexistent")) / "trec_eval"
COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
ALL_ONLY = ("runid", "num_q", "gm_map", "gm_bpref")
# What pytrec_eval has not got: 10.0's own, and text.
NOT_THERE = ("relstring", "rbp", "rbp_resid", "unj_5", "unj_10", "unj_20")
LEVELS = [step / 10 for step in range(11)]


# Of its `make quicktest`; `make conformance` runs all of it.
QUICKTEST = {
    "out.test": "qrels.test results.test",
    "out.test.a": "-m all_trec qrels.test results.test",
    "out.test.aq": "-m all_trec -q qrels.test results.test",
    "out.test.aql": "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test",
    "out.test.prefs": "-m all_prefs -q -R prefs prefs.test prefs.results.test",
    "out.test.qrels_jg": "-m qrels_jg -q -R qrels_jg qrels.123 results.test",
    "out.test.meas_params": "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
    "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 "
    "-msuccess.2,5,20 qrels.test results.test",
}


@pytest.mark.skipif(not DATA.is_dir(), reason="GAINFUL_DATA is not set to a folder")
@pytest.mark.parametrize("file", QUICKTEST)
def test_its_own_files(file, gainful, monkeypatch):
    monkeypatch.chdir(DATA)
    status, out, err = gainful("trec_eval", *QUICKTEST[file].split())
    assert status == 0
    assert ("ndcg_cut.23.4 is read as" in err) == (file == "out.test.meas_params")
    assert out == (DATA / file).read_text(encoding="utf-8")


def test_goldens_are_what_their_generator_writes(tmp_path):
    spec = importlib.util.spec_from_file_location("generate", GOLDEN / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    generate.HERE = tmp_path
    generate.main()
    kept = {path.name: path.read_bytes() for path in GOLDEN.iterdir() if path.suffix in (".txt", ".json")}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    assert len(kept) == 11


def collection(seed: int, labels: tuple[int, ...]):
    """Ties, topics on one side alone; what differs also differs as float32, in which 9.0.8 compares scores."""
    rng = random.Random(seed)
    ids = [f"{rng.choice(('d', 'D', 'é', '_'))}{number}" for number in range(90)]
    topics = rng.sample([str(number) for number in range(1, 40)], 7)
    qrels = {t: {doc: rng.choice(labels) for doc in rng.sample(ids, rng.randint(1, 70))} for t in topics}
    for judged in qrels.values():
        judged[next(iter(judged))] = 0  # pytrec_eval crashes where all labels are negative
    run = {t: {doc: rng.randint(0, 60) / 8 for doc in rng.sample(ids, rng.randint(1, 90))} for t in [*topics, "none"]}
    return qrels, run


def same_in_10(relevant: int) -> bool:
    """Whether 9.0.8 and 10.0 need as many relevant documents at all of the eleven recall levels."""
    return all(int(share * relevant + 0.9) == math.floor(share * relevant + 0.5) for share in LEVELS)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("labels", [(0, 1), (0, 0, 1, 2, 3), (-1, -2, 0, 0, 1)], ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_every_line(seed, labels, level):
    qrels, run = collection(seed, labels)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures, relevance_level=level)
    results = evaluator.evaluate(run)
    topics = sorted(qrels, key=str.encode)
    clear = {t: same_in_10(sum(label >= level for label in qrels[t].values())) for t in topics}

    def line(name: str, topic: str, value: float) -> str:
        return ("%-22s\t%s\t%d\n" if name in COUNTS else "%-22s\t%s\t%6.4f\n") % (name, topic, value)

    def left_out(text: str) -> bool:
        name, topic = text.split("\t")[0].rstrip(), text.split("\t")[1]
        unclear = not (all(clear.values()) if topic == "all" else clear[topic])
        return name in (*NOT_THERE, "runid") or (unclear and name.startswith(("iprec_at_recall", "11pt_avg")))

    expected = [line(k, t, v) for t in topics for k, v in results[t].items() if k not in ALL_ONLY]
    for name in results[topics[0]]:
        values = [results[topic][name] for topic in topics]
        total = 0.0
        for value in values:
            total += value
        value = total if name in COUNTS else total / len(values)
        expected.append(line(name, "all", math.exp(value) if name.startswith("gm_") else value))
    found = trec_eval(qrels, run, "all_trec", level=level).lines(per_topic=True)
    assert [text for text in found if not left_out(text)] == [text for text in expected if not left_out(text)]


@pytest.mark.parametrize("relevant", [1, 2, 3, 7, 12, 25, 33])
def test_recall_levels_are_rounded_to_documents(relevant):
    """What 10.0 says at a recall level, 9.0.8 says at the recall of the rounded number of documents."""
    assert [number for number in range(1, 25) if same_in_10(number)] == [5, 10, 15, 20]
    rng = random.Random(relevant)
    qrels = {"q": {f"d{number}": 1 for number in range(relevant)}}
    run = {"q": {f"d{number}": float(rng.randint(0, 99)) for number in rng.sample(range(3 * relevant), 2 * relevant)}}
    found = trec_eval(qrels, run, "iprec_at_recall").values
    for share in LEVELS:
        equivalent = math.floor(share * relevant + 0.5) / relevant
        ((_, value),) = (
            pytrec_eval.RelevanceEvaluator(qrels, {f"iprec_at_recall.{equivalent}"}).evaluate(run)["q"].items()
        )
        assert found[f"iprec_at_recall_{share:.2f}"] == [pytest.approx(value)]
    average = trec_eval(qrels, run, "11pt_avg").summary["11pt_avg"]
    assert average == pytest.approx(sum(values[0] for values in found.values()) / 11)
