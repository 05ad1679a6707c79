"""Write the files of this folder: a small collection, and what trec_eval says about it through pytrec_eval.

Nothing of gainful is used. trec_eval 9.0.8, which pytrec_eval wraps, and 10.0 agree on all that is asked here:

- recall levels are 0, 0.5 and 1 alone: between them 9 truncates and 10 rounds to a number of documents;
- scores that differ also differ as float32, in which 9 compares them;
- relstring, rbp, rbp_resid and unj are left out: pytrec_eval has not got them (trec_eval's own test files have);
- -M is done by cutting the run beforehand, in trec_eval's order: score, then document id, both descending;
- for -c, a topic without documents is given one unjudged document, as trec_eval 10 does, and num_ret and utility are
  then set to 0.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytrec_eval

HERE = Path(__file__).parent
TAG = "golden-1.0"
FAMILIES = sorted(pytrec_eval.supported_measures - {"iprec_at_recall", "11pt_avg", "relstring"})
EVERYTHING = [*FAMILIES, "iprec_at_recall.0,0.5,1", "11pt_avg.0,0.5,1"]
SOME = [
    "P.3,7,50",
    "ndcg_cut.1,100",
    "map_cut_5",
    "set_F.0.5",
    "success.2",
    "Rprec_mult.0.5,3",
    "recall.1000",
    "gm_map",
]
# name: measures, options, qrels, run
CASES = {
    "everything": (EVERYTHING, ["-q"], "qrels.txt", "run.txt"),
    "summary": (["official"], [], "qrels.txt", "run.txt"),
    "level": (EVERYTHING, ["-q", "-l2"], "qrels.txt", "run.txt"),
    "depth": (EVERYTHING, ["-q", "-M100"], "qrels.txt", "run.txt"),
    "judged": (EVERYTHING, ["-qJ"], "qrels.txt", "run.txt"),
    "complete": (EVERYTHING, ["-qc"], "qrels.txt", "short.txt"),
    "parameters": (SOME, ["-q", "-n"], "qrels.txt", "run.txt"),
}
# In trec_eval's order, which pytrec_eval keeps; the summary of these is a sum, and they have no decimals.
COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
# As trec_eval's printf has them.
NUMBER, COUNT, TEXT = "%-22s\t%s\t%6.4f\n", "%-22s\t%s\t%d\n", "%-22s\t%s\t%s\n"
ALL_ONLY = ("runid", "num_q", "gm_map", "gm_bpref")


def collection() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Ids that sort oddly, ties, negative labels, a topic without relevant documents, one without judgments.

    Every topic keeps a judged document under -J: where none is left, trec_eval says nan.
    """
    rng = random.Random(2024)
    ids = [f"{rng.choice(('d', 'D', 'FT-', '_', 'é'))}{number}" for number in range(220)]
    qrels = {}
    for topic, labels in {
        "7": (0, 0, 0, 1, 2, 3),
        "10": (-2, -1, 0, 0, 1),
        "b": (0, 1),
        "A": (0, 0, 0, 0, 0, 11),
        "301": (0, -1),
        "9x": (-1, 0, 0, 1, 2),
    }.items():
        judged = rng.sample(ids, rng.randint(20, 120))
        qrels[topic] = {doc: rng.choice(labels) for doc in judged}
    run = {}
    for topic, size in {"9x": 130, "7": 140, "ignored": 5, "A": 20, "10": 60, "301": 40, "b": 3}.items():
        run[topic] = {doc: rng.randint(-8, 40) / 4 for doc in rng.sample(ids, size)}
    return qrels, run


def cut(run: dict[str, dict[str, float]], depth: int) -> dict[str, dict[str, float]]:
    order = {topic: sorted(docs, key=lambda d: (docs[d], d.encode()), reverse=True) for topic, docs in run.items()}
    return {topic: {doc: run[topic][doc] for doc in docs[:depth]} for topic, docs in order.items()}


def printed(name: str, topic: str, value: float) -> str:
    return (COUNT if name in COUNTS else NUMBER) % (name, topic, value)


def output(measures: list[str], options: list[str], qrels: dict, run: dict) -> str:
    level = 2 if "-l2" in options else 1
    if "-M100" in options:
        run = cut(run, 100)
    missing = set(qrels) - set(run)
    run = {**run, **{topic: {"nobody-judged-this": 1.0} for topic in missing}}
    asked = {measure for measure in measures if measure != "official"}
    names = {"set_F": "set_F_0.5"} if "set_F.0.5" in asked else {}
    names |= {"11pt_avg": "11pt_avg_0,0.5,1"} if "11pt_avg.0,0.5,1" in asked else {}
    if "official" in measures:
        asked = (pytrec_eval.supported_nicknames["official"] - {"iprec_at_recall"}) | {"iprec_at_recall.0,0.5,1"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, asked, level, judged_docs_only_flag="-qJ" in options)
    results = evaluator.evaluate(run)
    topics = sorted(qrels, key=str.encode)
    for topic in missing:
        for name in results[topic].keys() & {"num_ret", "utility"}:
            results[topic][name] = 0.0
    lines = []
    if options:
        for topic in topics:
            lines += [printed(names.get(k, k), topic, v) for k, v in results[topic].items() if k not in ALL_ONLY]
    if "-n" not in options:
        for name in results[topics[0]]:
            if name == "runid":
                lines.append(TEXT % ("runid", "all", TAG))
                continue
            values = [results[topic][name] for topic in topics]
            if name in COUNTS or name.startswith("gm_"):
                value = pytrec_eval.compute_aggregated_measure(name, values)
            else:
                value = 0.0
                for each in values:  # one after another, as trec_eval
                    value += each
                value /= len(values)
            lines.append(printed(names.get(name, name), "all", value))
    return "".join(lines)


def main() -> None:
    qrels, run = collection()
    rng = random.Random(7)
    judgments = [f"{t} 0 {doc} {label}\n" for t, docs in qrels.items() for doc, label in docs.items()]
    (HERE / "qrels.txt").write_text("".join(judgments), encoding="utf-8")
    runs = {"run.txt": run, "short.txt": {t: docs for t, docs in run.items() if t not in ("7", "301")}}
    for file, found in runs.items():
        rows = [f"{t}\tQ0\t{doc}\t0\t{score}\tanother\n" for t, docs in found.items() for doc, score in docs.items()]
        rng.shuffle(rows)
        rows[-1] = rows[-1].replace("another", TAG)  # the tag that counts is the last
        (HERE / file).write_text("# made by generate.py\n" + "".join(rows), encoding="utf-8")
    commands = {}
    for name, (measures, options, judged, ranked) in CASES.items():
        text = output(measures, options, qrels, runs[ranked])
        (HERE / f"{name}.txt").write_text(text, encoding="utf-8")
        asked = [f"-m{measure}" for measure in measures]
        if measures == ["official"]:
            asked += ["-miprec_at_recall.0,0.5,1"]
        commands[name] = [*options, *asked, judged, ranked]
    (HERE / "commands.json").write_text(json.dumps(commands, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
