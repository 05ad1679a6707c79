"""LambdaRank on features beside LightGBM's own: called by run.py in its environment.

Each tool trains in a process of its own, on the same synthetic documents (as in MSLR-WEB: 136 features, 5 labels, 120
documents per query). What is compared is processor time per round of boosting, and peak memory.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from environment import verdict

FEATURES, DOCUMENTS, CUTOFF = 136, 120, 3
SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]
GAINS = "{0:-1,1:1,2:2,3:3,4:4}"
PARAMETERS = {"num_threads": 1, "verbosity": -1, "deterministic": True, "force_row_wise": True, "metric": "None"}


def documents(queries: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features that tell a little of the label, labels, and sizes of queries."""
    rng = np.random.default_rng(0)
    labels = rng.choice(5, queries * DOCUMENTS, p=SHARES)
    features = rng.standard_normal((len(labels), FEATURES), dtype=np.float32)
    for at, weight in enumerate(rng.normal(0.0, 0.15, FEATURES)):
        features[:, at] += (labels * weight).astype(np.float32)
    return features, labels, np.full(queries, DOCUMENTS)


def train(tool: str, queries: int, rounds: int) -> dict[str, float]:
    """Processor seconds per round, and megabytes beyond those of the documents and of LightGBM's bins."""
    import lightgbm

    from gainful.ltrf.losses import Objective
    from gainful.ltrf.targets import read_scale

    features, labels, sizes = documents(queries)
    data = lightgbm.Dataset(features, label=labels, group=sizes, params=PARAMETERS).construct()
    whole = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    before = _peak()
    spent = {"objective": 0.0}
    objective: object = "lambdarank"
    if tool == "gainful":
        ours = Objective("lambdarank", read_scale(GAINS, labels), labels, sizes, cutoff=CUTOFF)

        def objective(scores: np.ndarray, _: object) -> tuple[np.ndarray, np.ndarray]:
            began = time.process_time()
            found = ours(scores)
            spent["objective"] += time.process_time() - began
            return found

    began = time.process_time()
    lightgbm.train({**PARAMETERS, "objective": objective}, data, num_boost_round=rounds)
    taken = (time.process_time() - began) / rounds
    peak = _peak()
    return {
        "round": taken,
        "objective": spent["objective"] / rounds,
        "more": peak - before,
        "peak": max(whole, peak),
    }


def _peak() -> float:
    """Megabytes of memory, the most since it was last asked to start again; Linux only."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def main() -> None:
    """The bar at 2,000 queries, and what a million documents take."""
    for queries, rounds in ((2000, 30), (8400, 10)):
        number = f"{queries * DOCUMENTS:,}"
        print(f"\nLambdaRank on features, {queries:,} queries × {DOCUMENTS} documents × {FEATURES} features ({number})")
        found = {}
        for tool in ("lightgbm", "gainful"):
            words = [sys.executable, __file__, tool, str(queries), str(rounds)]
            found[tool] = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
            one = found[tool]
            print(f"  {tool}: {one['round']:.3f} s per round, {one['more']:.0f} MB more, {one['peak']:.0f} MB in all")
        ours, own = found["gainful"], found["lightgbm"]["round"]
        line = (
            f"  the objective alone {ours['objective']:.3f} s, {ours['objective'] / own:.2f} of LightGBM's whole round"
        )
        met = ours["round"] <= 2 * own and ours["more"] <= 150
        print(f"{line}; a whole round {ours['round'] / own:.2f}; bar ≤ 2, ≤ 150 MB more: {verdict(met)}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(train(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
    else:
        main()
