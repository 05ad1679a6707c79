"""One tool, one case, one process: called by run.py inside the benchmark environment."""

from __future__ import annotations

import gc
import math
import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

Scores = dict[str, tuple[float, float]]  # topic -> nDCG@20, AP


def write_data(folder: str) -> None:
    """One run of 2,000 topics × 1,000 documents; a track of 126 runs × 50 topics × 1,000; ids as in MS MARCO.

    Labels are 0–3 and scores distinct, so that tools which differ on negative labels or ties can all agree.
    """
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(20090720)

    def collection(name: str, runs: int, topics: int, depth: int = 1000, judged: int = 100) -> None:
        names = np.arange(1, topics + 1)
        documents = np.stack([rng.choice(3_200_000, 4 * depth, replace=False) for _ in names])
        ids = pl.Series(documents.ravel()).cast(pl.String).str.zfill(7)
        ids = ("D" + ids).to_numpy().reshape(documents.shape)
        for number in range(runs):
            # Better documents come first in `documents`; runs differ in how well they find them.
            strength = rng.normal(size=documents.shape) * (0.5 + rng.random()) - np.arange(4 * depth) / depth
            order = np.argsort(-strength, axis=1)[:, :depth]
            score = np.round(30 + 3 * np.take_along_axis(strength, order, 1), 6)
            score -= np.arange(depth) * 1e-5
            frame = pl.DataFrame(
                {
                    "topic": np.repeat(names, depth),
                    "q0": "Q0",
                    "doc": np.take_along_axis(ids, order, 1).ravel(),
                    "rank": np.tile(np.arange(1, depth + 1), topics),
                    "score": score.ravel(),
                    "tag": f"run{number:03d}",
                }
            )
            target = f"{folder}/{name}.run" if runs == 1 else f"{folder}/{name}/run{number:03d}.txt"
            frame.write_csv(target, separator=" ", include_header=False, float_precision=6)
        pool = np.stack([rng.choice(2 * depth, judged, replace=False) for _ in names])
        label = np.where(rng.random(pool.shape) < 0.5 * np.exp(-pool / depth), rng.integers(1, 4, pool.shape), 0)
        pl.DataFrame(
            {
                "topic": np.repeat(names, judged),
                "q0": 0,
                "doc": np.take_along_axis(ids, pool, 1).ravel(),
                "label": label.ravel(),
            }
        ).write_csv(f"{folder}/{name}.qrels", separator=" ", include_header=False)

    Path(folder, "track").mkdir(exist_ok=True)
    collection("big", 1, 2000)
    collection("track", 126, 50)


def gainful_files(qrels: str, run: str) -> Scores:
    """gainful, from files."""
    import gainful as gf

    return _ours(gf.evaluate(qrels, run, ["nDCG@20", "AP"]))


def gainful_dicts(qrels: dict, run: dict) -> Scores:
    """gainful, from dicts."""
    import gainful as gf

    return _ours(gf.evaluate(qrels, run, ["nDCG@20", "AP"]))


def gainful_compat(qrels: dict, run: dict) -> Scores:
    """gainful behind pytrec_eval's API, from dicts to dicts."""
    from gainful.compat import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.20", "map"}).evaluate(run)
    return {topic: (row["ndcg_cut_20"], row["map"]) for topic, row in found.items()}


def _ours(scores: object) -> Scores:
    return {topic: (a, b) for topic, a, b in zip(scores.topics, *scores.values[:, 0].tolist(), strict=True)}


def pytrec_files(qrels: str, run: str) -> Scores:
    """pytrec_eval, from files, with its own parsers."""
    import pytrec_eval

    with open(qrels) as file:
        judged = pytrec_eval.parse_qrel(file)
    with open(run) as file:
        ranked = pytrec_eval.parse_run(file)
    return pytrec_dicts(judged, ranked)


def pytrec_dicts(qrels: dict, run: dict) -> Scores:
    """pytrec_eval, from dicts."""
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.20", "map"}).evaluate(run)
    return {topic: (row["ndcg_cut_20"], row["map"]) for topic, row in found.items()}


def ir_measures_files(qrels: str, run: str) -> Scores:
    """ir_measures, from files, with its own readers."""
    import ir_measures
    from ir_measures import AP, nDCG

    found: dict[str, dict[object, float]] = {}
    judged, ranked = ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run)
    for value in ir_measures.iter_calc([nDCG @ 20, AP], judged, ranked):
        found.setdefault(value.query_id, {})[value.measure] = value.value
    return {topic: (row[nDCG @ 20], row[AP]) for topic, row in found.items()}


def ranx_files(qrels: str, run: str) -> Scores:
    """ranx, from files, with its own readers."""
    import ranx

    judged, ranked = ranx.Qrels.from_file(qrels, kind="trec"), ranx.Run.from_file(run, kind="trec")
    ranx.evaluate(judged, ranked, ["ndcg@20", "map"], return_mean=False, make_comparable=True)
    return {topic: (row["ndcg@20"], row["map"]) for topic, row in _by_topic(ranked.scores).items()}


def _by_topic(scores: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    turned: dict[str, dict[str, float]] = {}
    for measure, values in scores.items():
        for topic, value in values.items():
            turned.setdefault(topic, {})[measure] = value
    return turned


def polars_files(qrels: str, run: str) -> None:
    """Nothing but reading the needed columns."""
    import polars as pl

    pl.read_csv(run, separator=" ", has_header=False, quote_char=None, columns=[0, 2, 4])
    pl.read_csv(qrels, separator=" ", has_header=False, quote_char=None, columns=[0, 2, 3])


FROM_FILES: dict[str, Callable[[str, str], object]] = {
    "gainful": gainful_files,
    "pytrec_eval": pytrec_files,
    "ir_measures": ir_measures_files,
    "ranx": ranx_files,
    "polars": polars_files,
}
FROM_DICTS: dict[str, Callable[[dict, dict], Scores]] = {"gainful": gainful_dicts, "pytrec_eval": pytrec_dicts}


def track(name: str, folder: str) -> object:
    """All runs of the track."""
    files = sorted(str(path) for path in Path(folder, "track").iterdir())
    if name == "gainful":
        import gainful as gf

        return gf.evaluate(f"{folder}/track.qrels", files, ["nDCG@20", "AP"]).mean()
    import pytrec_eval

    with open(f"{folder}/track.qrels") as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"ndcg_cut.20", "map"})
    means = []
    for path in files:
        with open(path) as file:
            found = evaluator.evaluate(pytrec_eval.parse_run(file))
        rows = found.values()
        means.append([sum(row[key] for row in rows) / len(rows) for key in ("ndcg_cut_20", "map")])
    return means


def seconds(name: str, case: str, folder: str) -> float:
    """How long the first call of this process takes, imports done; for "ranx again" the second call."""
    qrels, run = f"{folder}/big.qrels", f"{folder}/big.run"
    if name == "gainful":
        import gainful.compat.pytrec_eval  # noqa: F401
        from gainful import evaluate  # noqa: F401 (imports what it needs; `import gainful` alone imports nothing)
    elif name == "polars":
        import polars  # noqa: F401
    else:
        __import__(name.removesuffix(" again"))
    call: Callable[[], object]
    if case in ("dicts", "shuffled", "compat"):
        import pytrec_eval

        with open(qrels) as first, open(run) as second:
            judged, ranked = pytrec_eval.parse_qrel(first), pytrec_eval.parse_run(second)
        if case == "shuffled":
            mix = random.Random(0)
            ranked = {topic: dict(mix.sample(list(some.items()), len(some))) for topic, some in ranked.items()}
        call = partial(gainful_compat if (name, case) == ("gainful", "compat") else FROM_DICTS[name], judged, ranked)
    elif case == "track":
        call = partial(track, name, folder)
    elif Path(folder, f"{case}.run").exists():
        call = partial(FROM_FILES[name], qrels, f"{folder}/{case}.run")
    else:
        call = partial(FROM_FILES[name.removesuffix(" again")], qrels, run)
    if name.endswith(" again"):
        call()
    gc.collect()
    started = time.perf_counter()
    result = call()
    taken = time.perf_counter() - started
    del result
    return taken


def small(name: str) -> float:
    """Seconds per call of one topic with ten documents; judgments are given once where the tool keeps them."""
    judged = {"1": {f"d{number}": number % 3 for number in range(10)}}
    ranked = {"1": {f"d{number}": 1.0 / (1 + number * 7 % 10) for number in range(10)}}
    call: Callable[[], object]
    if name == "gainful.evaluate":
        import gainful as gf

        call = partial(gf.evaluate, judged, ranked, ["nDCG@10", "AP"])
    else:
        evaluator = import_module(name).RelevanceEvaluator(judged, {"ndcg_cut.10", "map"})
        call = partial(evaluator.evaluate, ranked)
    timings = []
    for _ in range(20):
        started = time.perf_counter()
        for _ in range(100):
            call()
        timings.append(time.perf_counter() - started)
    return statistics.median(timings) / 100


def write_odd(folder: str) -> None:
    """The run of `write_data` as text that is not plain."""
    plain = Path(folder, "big.run").read_bytes()
    Path(folder, "tabs.run").write_bytes(plain.replace(b" ", b"\t"))
    Path(folder, "double spaces.run").write_bytes(plain.replace(b" ", b"  "))
    Path(folder, "CRLF.run").write_bytes(plain.replace(b"\n", b"\r\n"))
    lines = plain.split(b"\n")
    lines[::1000] = [b"# a comment\n" + line for line in lines[::1000]]
    Path(folder, "comments.run").write_bytes(b"\n".join(lines))


def report(folder: str) -> None:
    """All that is known of simulated runs, on a page."""
    import gainful as gf

    gf.report(f"{folder}/qrels.txt", f"{folder}/runs").save(f"{folder}/report.html")


def commands() -> str:
    """All commands, separated by commas."""
    from gainful.cli.commands import COMMANDS

    return ",".join(COMMANDS)


def agree(folder: str) -> None:
    """Refuse to time tools that do not compute the same thing."""
    qrels, run = f"{folder}/big.qrels", f"{folder}/big.run"
    ours = gainful_files(qrels, run)
    for name in ("pytrec_eval", "ir_measures", "ranx"):
        theirs = FROM_FILES[name](qrels, run)
        assert ours.keys() == theirs.keys(), name
        worst = max(abs(a - b) for topic in ours for a, b in zip(ours[topic], theirs[topic], strict=True))
        assert worst < 1e-9, f"{name} differs by {worst}"
        print(f"{name} agrees to {worst:.1e} on {len(ours)} topics", file=sys.stderr)
    means = track("gainful", folder).select("nDCG@20", "AP").rows()
    for mine, theirs in zip(means, track("pytrec_eval", folder), strict=True):
        assert all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(mine, theirs, strict=True))
    print(f"pytrec_eval agrees on the means of {len(means)} runs", file=sys.stderr)


def main() -> None:
    """data, agree, odd or report FOLDER | time TOOL CASE FOLDER | small TOOL | print TOOL FOLDER | commands."""
    verb, *rest = sys.argv[1:]
    if verb == "data":
        write_data(*rest)
    elif verb == "agree":
        agree(*rest)
    elif verb == "time":
        print(seconds(*rest))
    elif verb == "odd":
        write_odd(*rest)
    elif verb == "report":
        report(*rest)
    elif verb == "commands":
        print(commands())
    elif verb == "small":
        print(small(*rest))
    else:
        name, folder = rest
        for topic, row in FROM_FILES[name](f"{folder}/big.qrels", f"{folder}/big.run").items():
            print(topic, *row)


if __name__ == "__main__":
    main()
