"""`make bench`: gainful beside its peers, on the same files, in one run. Standard library only.

Makes an environment of its own (.venv-bench), writes the collections, checks that all tools give the same scores,
then times each in a process of its own, tools taking turns, and prints medians and ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import single
from environment import HERE, PYTHON, ROOT, VENV, tool, verdict

# (title, case, bars): the least ratio of each peer to gainful; for read_csv the most of gainful to it; None: no bar.
# Every timing is the first call of a fresh process, as a script has it; ranx compiles in its first call, so its second
# is shown too. trec_eval, the C program, takes part where it is at hand: see `trec_eval_program`.
ROWS = [
    (
        "one run, 2,000 topics × 1,000 documents, text files → nDCG@20 + AP per topic, in-process after import",
        "files",
        {"pytrec_eval": 15.0, "ir_measures": 25.0, "ranx": None, "ranx again": None},
    ),
    (
        "the same, whole process, as `gainful trec_eval -q -m ndcg_cut.20 -m map`",
        "trec_eval",
        {"trec_eval": 6.0, "pytrec_eval": 6.0, "ir_measures": None},
    ),
    (
        "the same, whole process, as `gainful evaluate`",
        "process",
        {"trec_eval": None, "pytrec_eval": None, "ir_measures": None},
    ),
    ("the same, in-process, over polars.read_csv of the needed columns alone", "read_csv", {"polars": 1.0}),
    ("the same from dict of dicts", "dicts", {"pytrec_eval": 5.0}),
    ("the same from dict of dicts, documents shuffled", "shuffled", {"pytrec_eval": 3.0}),
    ("the same through gainful.compat.pytrec_eval, results as dict of dicts", "compat", {"pytrec_eval": None}),
    ("126 runs × 50 topics × 1,000 documents, text files", "track", {"pytrec_eval": 12.0}),
]
# What is measured by itself, and the most it may take.
OTHERS = ("odd", "small", "help", "report")


def main() -> None:
    """Parse, prepare, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=7, help="timings per tool and row, of which the median counts")
    cases = [*(case for _, case, _ in ROWS), *OTHERS]
    parser.add_argument("--only", choices=cases, help="just this row")
    parser.add_argument("--trec-eval", help="trec_eval, or the folder of its source, which is built; or $TREC_EVAL")
    parser.add_argument("--json", type=Path, help="write all timings to this file")
    parser.add_argument("--chart", type=Path, help="draw how the cost of the analyses grows into this file")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled
    prepare()
    with tempfile.TemporaryDirectory() as folder:
        program = trec_eval_program(options.trec_eval or os.environ.get("TREC_EVAL"), folder)
        results = {}
        if options.only not in ("small", "help", "report"):
            tool("data", folder)
            tool("agree", folder)
        for title, case, bars in ROWS:
            if options.only in (None, case):
                here = {peer: bar for peer, bar in bars.items() if peer != "trec_eval" or program}
                results[case] = row(title, case, here, folder, options.repeat, program)
        for case in OTHERS:
            if options.only in (None, case):
                results[case] = getattr(single, case)(folder, options.repeat)
    if options.only is None:
        chart = [] if options.chart is None else [str(options.chart)]
        subprocess.run([str(PYTHON), str(HERE / "analyses.py"), *chart], check=True)
        subprocess.run([str(PYTHON), str(HERE / "tuning.py")], check=True)
        subprocess.run([str(PYTHON), str(HERE / "learning.py")], check=True)
    print(f"\n{machine()}")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "seconds": results}, indent=1))


def prepare() -> None:
    """An environment with the peers and this checkout."""
    if not PYTHON.exists():
        venv.create(VENV, with_pip=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    files = ["--constraint", str(ROOT / "constraints.txt"), "--requirement", str(HERE / "requirements.txt")]
    subprocess.run([*pip, *files, "--editable", f"{ROOT}[plots]"], check=True)


def trec_eval_program(given: str | None, folder: str) -> str | None:
    """The C program: that given, built from its source if that is a folder; or the one on the PATH; else None."""
    if given and Path(given).is_dir():
        source = Path(folder, "trec_eval")
        shutil.copytree(given, source)
        subprocess.run(["make", "-C", str(source)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return str(source / "trec_eval")
    program = given or shutil.which("trec_eval")
    if program is None:
        print("trec_eval is left out: give its source or the program by --trec-eval, or put it on the PATH")
    return program


def row(
    title: str, case: str, bars: dict[str, float | None], folder: str, repeat: int, program: str | None
) -> dict[str, list[float]]:
    """Time gainful and the peers of one row, taking turns so that a slow moment hits all alike."""
    print(f"\n{title}")
    seconds: dict[str, list[float]] = {"gainful": [], **{peer: [] for peer in bars}}
    for _ in range(repeat):
        for name, timings in seconds.items():
            if case in ("process", "trec_eval"):
                asked = "gainful trec_eval" if (name, case) == ("gainful", "trec_eval") else name
                timings.append(whole_process(asked, folder, program))
            else:
                timings.append(float(tool("time", name, "files" if case == "read_csv" else case, folder)))
    ours = statistics.median(seconds["gainful"])
    for name, timings in seconds.items():
        middle = statistics.median(timings)
        spread = f"{min(timings):.3f}–{max(timings):.3f}"
        line = f"  {name:<12} {middle:8.3f} s  ({spread})"
        if name == "polars":
            longer = ours / middle
            line += f"   gainful takes {longer:.2f}× as long; bar ≤ {bars[name]:g}×: {verdict(longer <= bars[name])}"
        elif name in bars and bars[name] is None:
            line += f"   {middle / ours:6.1f}× gainful (no bar)"
        elif name in bars:
            line += f"   {middle / ours:6.1f}× gainful; bar ≥ {bars[name]:g}×: {verdict(middle / ours >= bars[name])}"
        print(line, flush=True)
    return seconds


_ASKED = ("-q", "-m", "ndcg_cut.20", "-m", "map")


def whole_process(name: str, folder: str, program: str | None) -> float:
    """Seconds from starting a process to its end, scores of all topics printed."""
    files = [f"{folder}/big.qrels", f"{folder}/big.run"]
    command = {
        "gainful": [
            str(VENV / "bin" / "gainful"),
            "evaluate",
            *files,
            "-m",
            "nDCG@20",
            "-m",
            "AP",
            "--per-topic",
            "--format",
            "csv",
        ],
        "gainful trec_eval": [str(VENV / "bin" / "gainful"), "trec_eval", *_ASKED, *files],
        "trec_eval": [str(program), *_ASKED, *files],
        "pytrec_eval": [str(PYTHON), str(HERE / "tools.py"), "print", "pytrec_eval", folder],
        "ir_measures": [str(VENV / "bin" / "ir_measures"), *files, "nDCG@20", "AP", "--by_query"],
    }[name]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def machine() -> str:
    """The machine's size, for the record."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"


if __name__ == "__main__":
    sys.exit(main())
