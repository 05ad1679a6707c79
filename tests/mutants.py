"""How many small errors in a module its tests find: `python tests/mutants.py dcg --sample 150`.

mutmut makes the mutants. Its own runner leaves out functions with a decorator, which all measures are, and forks after
polars has started threads. So the runner is here: in a copy of the repository the decorators are moved out of the way,
the tests are collected once, and one process per mutant is forked from there, which runs the tests that come by the
mutated function, the quickest and the sharpest first, until one fails. Properties are tried on few examples, always the
same ones. (No test module may make a frame while it is imported: that starts the threads of polars, too.)
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import gc
import importlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = {
    "align": ("data/align.py", "unit/data/test_align.py unit/verbs/test_align.py"),
    "dcg": ("measures/dcg.py", "unit/measures/test_dcg.py unit/verbs/test_explain.py contract/test_measures.py"),
    "incomplete": ("measures/incomplete.py", "unit/measures/test_incomplete.py contract/test_measures.py"),
    "anova": ("stats/anova.py", "unit/stats/test_anova.py"),
    "paired": ("stats/paired.py", "unit/stats/test_paired.py unit/stats/test_corrections.py unit/stats/test_scale.py"),
    "robustness": (
        "analyses/robustness/compute.py",
        "unit/analyses/test_robustness.py unit/analyses/test_robustness_result.py unit/analyses/test_decisions.py",
    ),
    "sweep": ("tune/threshold/sweep.py", "unit/tune/test_sweep.py unit/tune/test_threshold.py"),
    "text": ("io/text.py", "unit/io/test_text.py unit/io/test_encoding.py"),
}
EXAMPLES = 10
SECONDS = 10  # of processor time, and twenty times as long by the clock: then a mutant is one that never ends


class Mutants:
    """Runs no test in this process, but each of the mutants in one of its own."""

    def __init__(self, names: list[str], log: Path, longest: float) -> None:
        self.names, self.log, self.longest = names, log, longest

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        from hypothesis import Phase, settings

        for item in items:
            body = getattr(item, "obj", None)
            if known := getattr(body, "_hypothesis_internal_use_settings", None):
                few = min(known.max_examples, EXAMPLES)
                phases = (Phase.explicit, Phase.generate)
                body = getattr(body, "__func__", body)
                body._hypothesis_internal_use_settings = settings(
                    known, max_examples=few, phases=phases, derandomize=True, database=None
                )

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        from mutmut.utils.format_utils import mangled_name_from_mutant_name

        code, found = forked(lambda: self._watched(session))
        if code:
            raise SystemExit(f"a test fails without any mutant: {found}")
        seconds, passed_by, modules = json.loads(found)
        for module in modules:  # what tests import would be imported anew for every mutant
            with contextlib.suppress(Exception):
                importlib.import_module(module)
        gc.freeze()
        print(f"{len(seconds)} tests, {sum(seconds.values()):.1f} s", flush=True)
        kills = Counter()
        with self.log.open("a") as log:
            for name in self.names:
                function = mangled_name_from_mutant_name(name)
                tests = [item for item in session.items if function in passed_by.get(item.nodeid, ())]
                tests = [item for item in tests if seconds[item.nodeid] <= self.longest]
                tests.sort(key=lambda item: seconds[item.nodeid] / (1 + kills[item.nodeid]))
                code, by = forked(lambda name=name, tests=tests: self._mutated(name, tests))
                kills[by] += code == 1
                status = {0: "survived", 1: "killed"}.get(code, "timeout" if code < 0 else f"ended {code}")
                log.write(json.dumps({"mutant": name, "status": status, "by": by, "tests": len(tests)}) + "\n")
                log.flush()
        return True

    def _watched(self, session: pytest.Session) -> tuple[int, str]:
        from mutmut.mutation.trampoline import set_mutant_under_test
        from mutmut.state import state

        set_mutant_under_test("stats")
        seconds, passed_by = {}, {}
        for item, following in pairwise([*session.items, None]):
            state()._stats.clear()
            begin = time.process_time()
            if not passes(item, following):
                return 1, item.nodeid
            if state()._stats:
                seconds[item.nodeid] = time.process_time() - begin
                passed_by[item.nodeid] = sorted(state()._stats)
        return 0, json.dumps([seconds, passed_by, list(sys.modules)])

    def _mutated(self, name: str, items: list[pytest.Item]) -> tuple[int, str]:
        from mutmut.mutation.trampoline import set_mutant_under_test

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        set_mutant_under_test(name)
        gc.disable()
        for item, following in pairwise([*items, None]):
            if not passes(item, following):
                return 1, item.nodeid
        return 0, ""


def passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    from _pytest.runner import runtestprotocol

    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def forked(work) -> tuple[int, str]:
    """What this returns in a process of its own; the status is negative if it was killed."""
    with tempfile.TemporaryFile("w+") as answer:
        pid = os.fork()
        if not pid:
            status = 70
            try:
                status, text = work()
                answer.write(text)
                answer.flush()
            finally:
                os._exit(status)
        end = time.monotonic() + 20 * SECONDS
        while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)
        answer.seek(0)
        return os.waitstatus_to_exitcode(ended[1]), answer.read()


def undecorated(code: str) -> tuple[str, set[str]]:
    """`f = measure(…)(f)` after the function, for `@measure(…)` before it: the same, and mutmut takes it."""
    lines = code.splitlines()
    functions = [node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef) and node.decorator_list]
    for node in reversed(functions):
        first = node.decorator_list[0].lineno - 1
        decorator = "\n".join(lines[first : node.lineno - 1]).removeprefix("@")
        lines.insert(node.end_lineno, f"{node.name} = {decorator}({node.name})")
        del lines[first : node.lineno - 1]
    return "\n".join(lines) + "\n", {f"x_{node.name}" for node in functions}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", nargs="+", choices=MODULES)
    parser.add_argument("--sample", type=int, help="so many mutants of each module, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="these mutants, by name")
    parser.add_argument("--longest", type=float, default=1.0, help="leave out tests of more seconds")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    given = parser.parse_args()
    if len(given.module) > 1:
        others = [word for word in sys.argv[1:] if word not in given.module]
        for module in given.module:
            subprocess.run([sys.executable, __file__, module, *others], check=True)
        return

    (module,) = given.module
    path, tests = MODULES[module]
    folder = given.folder.resolve() / module
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("src", "tests", "docs"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    os.chdir(folder)
    # The readers of the compiled core would do the work of those that are mutated.
    pure = str(int(module == "text"))
    os.environ |= {"GAINFUL_PURE": pure, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": "src"}
    sys.path[:0] = [str(folder / "src")]

    from mutmut.mutation.file_mutation import mutate_file_contents

    file = folder / "src" / "gainful" / path
    code, registered = undecorated(file.read_text())
    mutated = mutate_file_contents(str(file), code)
    file.write_text(mutated.code)
    lines, spans = mutated.code.splitlines(), mutated.line_span_by_function_name
    prefix = "gainful." + path.removesuffix(".py").replace("/", ".") + "."

    def body(name: str) -> list[str]:
        return lines[spans[name].start - 1 : spans[name].end]

    def diff(name: str) -> list[str]:
        plain = body(name.rpartition("_")[0] + "_orig")
        changed = difflib.unified_diff(plain, body(name), n=0, lineterm="")
        return [line for line in changed if not line.startswith(("---", "+++", "@@")) and "__mutmut_" not in line]

    def parameters(name: str) -> str:
        return ast.dump(ast.parse(textwrap.dedent("\n".join(body(name)))).body[0].args)

    # What is registered has read the parameters already: their mutants could not be found by any test.
    names = [
        name
        for name in mutated.mutant_names
        if name.partition("__mutmut_")[0] not in registered
        or parameters(name) == parameters(name.rpartition("_")[0] + "_orig")
    ]
    total = len(names)
    if given.only:
        names = [name for name in names if name in given.only]
    else:
        random.Random(given.seed).shuffle(names)  # so that the first of them are a sample
        names = names[: given.sample]
    log = folder / "log.jsonl"
    pytest.main(
        ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", "--hypothesis-seed=0"]
        + [f"tests/{test}" for test in tests.split()],
        plugins=[Mutants([prefix + name for name in names], log, given.longest)],
    )
    found = [json.loads(line) for line in log.read_text().splitlines()]
    for one in found:
        if one["status"] != "killed":
            name = one["mutant"].removeprefix(prefix)
            print(f"\n{one['status']}: {name} ({one['tests']} tests)", *diff(name), sep="\n")
    killed = sum(one["status"] != "survived" for one in found)
    print(f"\n{module}: {total} mutants, {len(found)} tried, {killed} killed")


if __name__ == "__main__":
    main()
