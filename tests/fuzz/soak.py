"""Random commands on random collections with random faults: `make soak SECONDS=3600`.

After each: the right result or a clear error, nothing left behind, old outputs intact. What is right, the same command
says that ran without a fault. The last line is the tally for docs/promises.md.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

GAINFUL = [sys.executable, "-m", "gainful"]
OLD = b"what was there before\n"
MEASURES = ("nDCG@10", "AP", "nDCGf@5", "P@5", "bpref", "RR", "infAP", "RBP(p=0.8)")
# Ends of a command that are not its own doing.
KILLED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}


@dataclass
class World:
    """A collection, and how often it is used."""

    folder: Path
    seed: int
    runs: list[Path] = field(default_factory=list)

    @property
    def qrels(self) -> Path:
        return self.folder / "c" / "qrels.txt"


def made(folder: Path, seed: int) -> World:
    """A simulated collection whose runs are in several formats."""
    dice = random.Random(seed)
    sizes = {"--topics": dice.randint(3, 40), "--systems": dice.randint(2, 6), "--depth": dice.choice([20, 100, 400])}
    words = [word for name, size in sizes.items() for word in (name, str(size))]
    subprocess.run(
        [*GAINFUL, "simulate", folder / "c", *words, "--pool-depth", "10", "--seed", str(seed)],
        check=True,
        capture_output=True,
    )
    found = World(folder, seed)
    for path in sorted((folder / "c" / "runs").iterdir()):
        shape = dice.choice(["txt", "txt", "gz", "csv", "parquet", "jsonl", "zst", "arrow"])
        if shape == "gz":
            path.with_suffix(".txt.gz").write_bytes(gzip.compress(path.read_bytes()))
        elif shape != "txt":
            target = path.with_suffix(".txt.zst" if shape == "zst" else f".{shape}")
            code = "import sys, gainful as gf; gf.write_run(gf.read_run(sys.argv[1]), sys.argv[2])"
            subprocess.run([sys.executable, "-c", code, path, target], check=True, capture_output=True)
        if shape != "txt":
            path.unlink()
    found.runs = sorted((folder / "c" / "runs").iterdir())
    return found


def command(dice: random.Random, world: World) -> tuple[list[str], str]:
    """Words of a command, and the file that it writes."""
    shape = dice.choice(["csv", "json", "txt", "md", "tex"])
    output = f"out.{shape}"
    measures = [word for one in dice.sample(MEASURES, dice.randint(2, 3)) for word in ("-m", one)]
    runs = [str(run) for run in dice.sample(world.runs, dice.randint(2, len(world.runs)))]
    policies = dice.choice([[], ["--ties", "order"], ["--unjudged", "condensed"], ["--missing", "skip"]])
    both = [str(world.qrels), *runs]
    kind = dice.choice(["evaluate", "evaluate", "compare", "reliability", "stability", "sensitivity", "robustness",
                        "agreement", "topics", "check", "explain", "pool", "threshold"])  # fmt: skip
    if kind == "evaluate":
        return ["evaluate", *both, *measures, *policies, *dice.choice([[], ["--per-topic"]]), "-o", output], output
    if kind == "check":
        return ["check", *both, "-o", output], output
    if kind == "explain":
        return ["explain", str(world.qrels), runs[0], "-m", "nDCG@10", "-o", output], output
    if kind == "pool":
        return ["pool", *both, "--depth", "15", "--save", "out.csv"], "out.csv"
    if kind == "threshold":
        return ["threshold", "fit", str(world.qrels), runs[0], "--save", "out.json"], "out.json"
    few = {"stability": ["--draws", "20"], "sensitivity": ["--resamples", "50"], "robustness": ["--trials", "2"]}
    more = few.get(kind, ["--resamples", "100"] if kind == "compare" else [])
    return [kind, *both, *measures, *more, "-o", output], output


def damage(dice: random.Random, path: Path) -> None:
    """Some bytes of a file changed, lost or added."""
    data = bytearray(path.read_bytes())
    kind = dice.choice(["bytes", "cut", "garbage", "empty"])
    if kind == "bytes":
        for _ in range(dice.randint(1, 20)):
            data[dice.randrange(len(data))] = dice.randrange(256)
    elif kind == "cut":
        del data[dice.randrange(len(data)) :]
    elif kind == "garbage":
        at = dice.randrange(len(data))
        data[at:at] = dice.randbytes(dice.randint(1, 200))
    else:
        data.clear()
    path.write_bytes(data)


@dataclass
class Ended:
    """How a command ended."""

    status: int
    said: str
    wrote: bytes | None


def _prepared(before: Callable[[], None] | None) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):  # which a shell in the background has its children ignore
        signal.signal(number, signal.SIG_DFL)
    if before is not None:
        before()


def run(folder: Path, words: list[str], output: str, *, after: tuple[float, Callable[[int], None]] | None = None,
        before: Callable[[], None] | None = None, memory: str = "2GB") -> Ended:  # fmt: skip
    """Run a command beside an old output, with something that happens to it meanwhile."""
    (folder / output).write_bytes(OLD)
    child = subprocess.Popen(
        [*GAINFUL, *words, "--memory", memory],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=partial(_prepared, before),
        start_new_session=True,
    )
    timer = Timer(after[0], after[1], (child.pid,)) if after else None
    if timer:
        timer.start()
    try:
        said, _ = child.communicate(timeout=300)
    finally:
        if timer:
            timer.cancel()
            timer.join()
    try:  # what a command started must have ended with it, unless it was killed outright
        os.killpg(child.pid, 0)
        alive = True
    except ProcessLookupError:
        alive = False
    left = "\nA PROCESS IS LEFT" if alive else ""
    wrote = (folder / output).read_bytes() if (folder / output).exists() else None
    return Ended(child.returncode, said.decode("utf-8", "replace") + left, wrote)


def signalled(number: int) -> Callable[[int], None]:
    def send(process: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(process, number)

    return send


def faulty(dice: random.Random, world: World, words: list[str], output: str) -> tuple[str, Ended, Ended | None]:
    """The same command with a fault, and which; and what is right if a file was another from the start."""
    kind = dice.choice(["none", "signal", "signal", "kill", "disk full", "shrinking", "growing", "bad bytes", "memory"])
    victim = Path(dice.choice([str(world.qrels), *(word for word in words if word in map(str, world.runs))]))
    saved = victim.read_bytes()
    moment = dice.uniform(0.0, 1.6)
    size = dice.choice([0, 10, 500])
    number = dice.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])

    def with_fault(**fault: Any) -> Ended:
        return run(world.folder, words, output, **fault)

    def grow(_: int) -> None:
        with victim.open("ab") as file:
            file.write(saved[: len(saved) // 2])

    try:
        match kind:
            case "signal":
                return number.name, with_fault(after=(moment, signalled(number))), None
            case "kill":
                return kind, with_fault(after=(moment, signalled(signal.SIGKILL))), None
            case "disk full":
                return kind, with_fault(before=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))), None
            case "shrinking":
                cut = dice.randrange(len(saved))
                return kind, with_fault(after=(moment, lambda _: os.truncate(victim, cut))), with_fault()
            case "growing":
                return kind, with_fault(after=(moment, grow)), with_fault()
            case "bad bytes":
                damage(dice, victim)
                return kind, with_fault(), with_fault()
            case "memory":
                return kind, with_fault(memory="100MB"), None
        return kind, with_fault(), None
    finally:
        victim.write_bytes(saved)


def problems(world: World, fault: str, right: Ended, found: Ended, other: Ended | None, known: set[str]) -> list[str]:
    """Which promises are broken."""
    wrong = []
    # Before gainful begins, it is Python that is interrupted.
    if re.search(r"Traceback(.|\n)*gainful|panicked|core dumped|PROCESS IS LEFT", found.said):
        wrong.append("a traceback, a panic or a process")
    if found.status not in {0, 1, 3, *KILLED}:
        wrong.append(f"status {found.status}")
    if found.status == 1 and right.status != 1 and not re.search("gainful: error: |failed: |errors", found.said):
        wrong.append("no message")
    same = [one.wrote for one in (right, other) if one is not None and one.status in (0, 1, 3)]
    if found.status in (0, 3):
        allowed = [one for one in same if one != OLD] or [OLD]
    elif found.status == 1 and not found.said.startswith("gainful: error: "):
        allowed = [OLD, *same]  # what was left out is said beside a result
    else:
        allowed = [OLD, *(same if found.status != 1 else [])]
    if found.wrote not in allowed:
        wrong.append("another output")
    left = {path.name for path in world.folder.iterdir()} - known
    if fault == "kill":  # nobody can tidy up after that: the name says what it is
        for name in [name for name in left if name.startswith(".gainful-")]:
            (world.folder / name).unlink()
            left.discard(name)
    if left:
        wrong.append(f"left behind: {sorted(left)}")
    return wrong


def main() -> int:
    """Go on for so long; 1 if any promise was broken."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    begun, number, tally, broken = time.monotonic(), 0, Counter[tuple[str, str]](), 0
    with tempfile.TemporaryDirectory() as root:
        while time.monotonic() < begun + options.seconds:
            world = made(Path(root, str(number)), dice.randrange(10**6))
            for _ in range(6):
                words, output = command(dice, world)
                known = {path.name for path in world.folder.iterdir()} | {output}
                right = run(world.folder, words, output)
                fault, found, other = faulty(dice, world, words, output)
                wrong = problems(world, fault, right, found, other, known)
                outcome = {0: "right", 3: "right", 1: "refused"}.get(found.status, "ended")
                tally[fault, outcome] += 1
                number += 1
                for one in wrong:
                    broken += 1
                    print(f"BROKEN: {one}: {fault}: gainful {' '.join(words)}", flush=True)
                    print(f"{found.status}: {found.said[-1500:]}", flush=True)
                (world.folder / output).unlink(missing_ok=True)
            shutil.rmtree(world.folder)
            print(summary(number, begun, tally, broken), flush=True)
    return bool(broken)


def summary(number: int, begun: float, tally: Counter[tuple[str, str]], broken: int) -> str:
    minutes = (time.monotonic() - begun) / 60
    parts = [f"{fault} {outcome} {count}" for (fault, outcome), count in sorted(tally.items())]
    return f"{number} commands, {minutes:.0f} minutes, {broken} promises broken; {', '.join(parts)}"


if __name__ == "__main__":
    sys.exit(main())
