"""Random commands on random collections with random faults: `make soak SECONDS=3600`.

After each: the right result or a clear error, nothing left behind, old outputs intact. What is right, the same command
says that ran without a fault; after bad bytes, the readers in Python and those of `plain.py` say it. The last lines are
the tally for docs/promises.md.
"""

from __future__ import annotations

import argparse
import csv
import json
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from threading import Event, Thread

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz import plain
from fuzz.faults import LIBC, at, bomb, damage, full_disk, signalled, when_read

GAINFUL = [sys.executable, "-m", "gainful"]
OLD = b"what was there before\n"
MEASURES = ("nDCG@10", "AP", "nDCGf@5", "P@5", "bpref", "RR", "infAP", "RBP(p=0.8)")
# Ends of a command that are not its own doing.
KILLED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}
FAULTS = ["none", "signal", "signal", "kill", "disk full", "shrinking", "growing", "bad bytes", "bad bytes", "memory"]
SHAPES = ["txt", "txt", "txt.gz", "csv", "parquet", "jsonl", "txt.zst", "arrow"]
LEAST = 100_000_000  # the smallest limit that --memory takes
CONVERT = """
import sys, gainful as gf
for source, target in zip(sys.argv[1::2], sys.argv[2::2]):
    gf.write_run(gf.read_run(source), target)
"""


@dataclass
class World:
    """A collection, and where its commands run."""

    folder: Path
    dice: random.Random
    cluster: str  # the address of a scheduler, if there is one
    runs: list[Path] = field(default_factory=list)

    @property
    def qrels(self) -> Path:
        return self.folder / "c" / "qrels.txt"

    def left(self) -> list[str]:
        """Files that no command is to leave."""
        return sorted(
            str(path.relative_to(self.folder))
            for place in (self.folder, self.folder / "tmp", self.folder / "full")
            for path in place.glob("*")
            if path.name not in {"c", "tmp", "full", "home", "filler"}
        )


def made(folder: Path, dice: random.Random, cluster: str) -> World:
    """A simulated collection whose runs are in several formats."""
    sizes = {"--topics": dice.randint(3, 20), "--systems": dice.randint(2, 5), "--depth": dice.choice([20, 50, 200])}
    words = [word for name, size in sizes.items() for word in (name, str(size))]
    subprocess.run(
        [*GAINFUL, "simulate", folder / "c", *words, "--pool-depth", "10", "--seed", str(dice.randrange(10**6))],
        check=True,
        capture_output=True,
    )
    for name in ("tmp", "full", "home"):
        (folder / name).mkdir()
    pairs = [(path, path.with_suffix(f".{dice.choice(SHAPES)}")) for path in sorted((folder / "c" / "runs").iterdir())]
    pairs = [(path, target) for path, target in pairs if path != target]
    subprocess.run([sys.executable, "-c", CONVERT, *(path for pair in pairs for path in pair)], check=True)
    for path, _ in pairs:
        path.unlink()
    return World(folder, dice, cluster, sorted((folder / "c" / "runs").iterdir()))


def command(world: World) -> tuple[list[str], str, list[str]]:
    """Words of a command, the file that it writes, and on what engine."""
    dice = world.dice
    shape = dice.choice(["csv", "json", "txt", "md", "tex"])
    output = f"out.{shape}"
    measures = [word for one in dice.sample(MEASURES, dice.randint(2, 3)) for word in ("-m", one)]
    runs = [str(run) for run in dice.sample(world.runs, dice.randint(2, len(world.runs)))]
    policies = dice.choice([[], ["--ties", "order"], ["--unjudged", "condensed"], ["--missing", "skip"]])
    engine = dice.choice([[]] * 5 + [["--engine", "dask", "--address", world.cluster]]) if world.cluster else []
    both = [str(world.qrels), *runs]
    kind = dice.choice(["evaluate"] * 4 + ["compare", "reliability", "stability", "sensitivity", "robustness",
                        "agreement", "topics", "check", "explain", "pool", "threshold"])  # fmt: skip
    if kind == "evaluate":
        each = dice.choice([[], ["--per-topic"]])
        return ["evaluate", *both, *measures, *policies, *each, "-o", output], output, engine
    if kind == "check":
        return ["check", *both, "-o", output], output, []
    if kind == "explain":
        return ["explain", str(world.qrels), runs[0], "-m", "nDCG@10", "-o", output], output, []
    if kind == "pool":
        return ["pool", *both, "--depth", "15", "--save", "out.csv"], "out.csv", []
    if kind == "threshold":
        return ["threshold", "fit", str(world.qrels), runs[0], "--save", "out.json"], "out.json", []
    few = {"stability": ["--draws", "20"], "sensitivity": ["--resamples", "50"], "robustness": ["--trials", "2"]}
    more = few.get(kind, ["--resamples", "100"] if kind == "compare" else [])
    return [kind, *both, *measures, *more, "-o", output], output, engine if kind == "robustness" else []


@dataclass
class Ended:
    """How a command ended."""

    status: int
    said: str
    wrote: bytes | None
    seconds: float
    peak: int
    left: list[str]

    @property
    def message(self) -> str:
        """What it says went wrong, without a word of how it went on."""
        return next((line for line in self.said.splitlines() if line.startswith("gainful: error: ")), "")


def _prepared(before: Callable[[], None] | None) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):  # which a shell in the background has its children ignore
        signal.signal(number, signal.SIG_DFL)
    if before is not None:
        before()


def run(world: World, words: list[str], output: str, *, meanwhile: Callable[[int, Event], None] | None = None,
        before: Callable[[], None] | None = None, memory: str = "2GB", **environment: str) -> Ended:  # fmt: skip
    """Run a command beside an old output, with something that happens to it meanwhile."""
    (world.folder / output).write_bytes(OLD)
    aside, over, begun = _children(), Event(), time.monotonic()
    places = {"TMPDIR": str(world.folder / "tmp"), "XDG_CACHE_HOME": str(world.folder / "home")}
    child = subprocess.Popen(
        [*GAINFUL, *words, "--memory", memory],
        cwd=world.folder,
        env={**os.environ, **places, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=partial(_prepared, before),
        start_new_session=True,
    )
    said: list[bytes] = []
    threads = [Thread(target=lambda: said.extend(child.stdout or []))]
    if meanwhile:
        threads.append(Thread(target=meanwhile, args=(child.pid, over)))
    for thread in threads:
        thread.start()
    _, ended, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(ended)
    seconds = time.monotonic() - begun
    over.set()
    left = list(_orphans(aside))
    for thread in threads:
        thread.join()
    text = b"".join(said).decode("utf-8", "replace")
    wrote = (world.folder / output).read_bytes() if (world.folder / output).exists() else None
    (world.folder / output).unlink(missing_ok=True)
    return Ended(child.returncode, text, wrote, seconds, usage.ru_maxrss * 1024, [*left, *world.left()])


def _children() -> set[int]:
    """Processes that are children of this one; who loses its parent becomes one (`main` asks for it)."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread that has ended
            found.update(map(int, (task / "children").read_text().split()))
    return found


def _orphans(before: set[int]) -> Iterator[str]:
    """What a command started must have ended with it, or in the three seconds after it was killed outright."""
    for _ in range(30):
        for child in _children() - before:
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
        if not (left := _children() - before):
            return
        time.sleep(0.1)
    for child in left:
        yield f"process {Path(f'/proc/{child}/cmdline').read_bytes()!r}"
        os.kill(child, signal.SIGKILL)


@dataclass
class Trial:
    """A command, and what is right."""

    world: World
    words: list[str]
    output: str
    engine: list[str]
    kept: tuple[str, bytes] = ("", b"")  # the file that was changed last

    @cached_property
    def right(self) -> Ended:
        return run(self.world, self.words, self.output)

    def under(self, fault: str) -> tuple[Ended, list[str]]:
        """How it ends with a fault, and which promises are broken then."""
        dice, world = self.world.dice, self.world
        victim = Path(dice.choice([word for word in self.words if word.startswith(str(world.folder / "c"))]))
        moment = dice.uniform(0.0, 1.1 * self.right.seconds)
        saved = victim.read_bytes()
        go = partial(run, world, [*self.words, *self.engine], self.output)

        def changed(act: Callable[[int], None]) -> tuple[Ended, list[str]]:
            found = go(meanwhile=at(moment, act) if dice.random() < 0.5 else when_read(victim, act))
            wrong = self.broken(found)
            if not wrong and (victim.name in found.message or found.status in (0, 3)):
                return found, wrong
            other = go()  # as if the file had been another from the start
            same = (found.status, found.message, found.wrote) == (other.status, other.message, other.wrote)
            if same:
                return found, [one for one in wrong if one != "another output"]
            return found, [*wrong, f"not what follows from {victim.name}: {other.said}"]

        def grow(_: int) -> None:
            with victim.open("ab") as file:
                file.write(saved[: len(saved) // 2])

        try:
            match fault:
                case "SIGINT" | "SIGTERM" | "SIGHUP":
                    found = go(meanwhile=at(moment, partial(signalled, signal.Signals[fault])))
                case "kill":
                    found = go(meanwhile=at(moment, partial(signalled, signal.SIGKILL)))
                    found.left = [name for name in found.left if not Path(name).name.startswith(".gainful-")]
                    self.tidy()
                case "disk full" if dice.random() < 0.5:
                    size = dice.choice([0, 10, 500])
                    found = go(before=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size)))
                case "disk full":
                    with full_disk(world.folder / "full", dice.choice([0, 0, 1, 2])):
                        words = [f"full/{word}" if word == self.output else word for word in self.words]
                        found = run(world, words, f"full/{self.output}")
                case "shrinking":
                    size = dice.randrange(len(saved))
                    return changed(lambda _: os.truncate(victim, size))
                case "growing":
                    return changed(grow)
                case "bad bytes":
                    damage(dice, victim)
                    found = go()
                    return found, self.second_opinions(found, victim)
                case "memory":
                    return self.with_bomb(bomb(dice, victim), victim)
                case _:
                    found = go()
            return found, self.broken(found)
        finally:
            self.kept = victim.name, victim.read_bytes()
            victim.write_bytes(saved)

    def tidy(self) -> None:
        """Nobody can do so who is killed outright: the name says what it is."""
        for place in (self.world.folder, self.world.folder / "tmp"):
            for path in place.glob(".gainful-*"):
                path.unlink() if path.is_file() else shutil.rmtree(path)

    def broken(self, found: Ended, *, new: bool = False) -> list[str]:
        """Which promises are; a `new` result is looked at elsewhere."""
        wrong = [f"left behind: {found.left}"] if found.left else []
        # Before gainful begins, it is Python that is interrupted.
        early = "KeyboardInterrupt" in found.said and "gainful" not in found.said.partition("Traceback")[2]
        if not early and re.search("Traceback|panicked|core dumped|Segmentation|Fatal", found.said):
            wrong.append("a traceback or a panic")
        if found.status not in {0, 1, 3, *KILLED}:
            wrong.append(f"status {found.status}")
        told = early or self.right.status == 1 or re.search("gainful: error: |failed: |errors?\\b", found.said)
        if found.status == 1 and not told:
            wrong.append("no message")
        same = [self.right.wrote] if self.right.status in (0, 1, 3) else []
        if found.status in (0, 3):
            allowed = same
        elif found.status == 1 and found.message:
            allowed = [OLD]
        else:  # ended by a signal before or after; or what was left out is said beside a result
            allowed = [OLD, *same]
        if not (new and not found.message) and found.wrote not in allowed:
            wrong.append("another output")
        return wrong

    def with_bomb(self, large: Path, victim: Path) -> tuple[Ended, list[str]]:
        """It must be refused by name, within the limit."""
        words = [str(large) if word == str(victim) else word for word in self.words]
        try:
            found = run(self.world, words, self.output, memory=str(LEAST))
        finally:
            large.unlink()
        wrong = self.broken(found, new=True)
        told = rf"({re.escape(large.name)}\S*|this command): needs more than the 100 MB"
        if not (re.search(told, found.said) or (words[0] == "check" and b"-bomb" in (found.wrote or b""))):
            wrong.append("no word of the file")
        if found.status != 1:
            wrong.append(f"not refused: status {found.status}")
        if found.peak > LEAST + 60_000_000:  # what libraries have in files is not counted
            wrong.append(f"a peak of {found.peak / 1e6:.0f} MB")
        return found, wrong

    def second_opinions(self, found: Ended, victim: Path) -> list[str]:
        """Two other readers of the damaged file."""
        wrong = self.broken(found, new=True)
        pure = run(self.world, self.words, self.output, GAINFUL_PURE="1")
        if (found.status, found.message, found.wrote) != (pure.status, pure.message, pure.wrote):
            wrong.append(f"the readers in Python differ: {pure.said[-600:]}")
        first = next(Path(word) for word in self.words if Path(word) in self.world.runs)
        words = ["evaluate", str(self.world.qrels), str(first if victim == self.world.qrels else victim)]
        scored = run(self.world, [*words, "-m", "AP", "--per-topic", "-o", "plain.csv", "--raw"], "plain.csv")
        if scored.status == 1 and victim.stem.split(".")[0] not in scored.message:
            wrong.append(f"another file is blamed than {victim.name}: {scored.said}")
        try:
            qrels, rows = (plain.rows(Path(word)) for word in words[1:])
        except plain.Unsure:
            return wrong
        except plain.Refused as refused:
            name, line = re.escape(str(victim)), refused.line
            place = rf"{name}(:|, row ){line}:" if line else re.escape(victim.stem.split(".")[0])
            if scored.status != 1 or not re.search(place, scored.message):
                wrong.append(f"expected an error at {place}, got {scored.status}: {scored.said}")
            if found.status != 1 and not re.search("Left out|is no run", found.said):
                wrong.append(f"{victim.name} was not refused (line {refused.line})")
            return wrong
        if scored.status != 0:
            return [*wrong, f"refused what a plain reader takes: {scored.said}"]
        expected = plain.average_precision(qrels, rows)
        _, *table = csv.reader((scored.wrote or b"").decode().splitlines())
        got = {topic: float(score) for _, _, topic, score in table if topic != "all"}
        if got.keys() != expected.keys() or any(abs(got[topic] - expected[topic]) > 1e-12 for topic in got):
            wrong.append(f"other scores than those of plain Python: {got} {expected}")
        return wrong


@contextmanager
def dask(folder: Path) -> Iterator[str]:
    """The address of a cluster of one worker; none where distributed is not installed."""
    file = folder / "scheduler.json"
    begin = partial(subprocess.Popen, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    words = [sys.executable, "-m", "dask"]
    place = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    both = [begin([*words, "scheduler", *place])]
    both.append(begin([*words, "worker", "--scheduler-file", str(file), "--no-dashboard", "--nthreads", "1"]))
    try:
        for _ in range(300):
            if (file.exists() and file.read_text()) or both[0].poll() is not None:
                break
            time.sleep(0.1)
        yield json.loads(file.read_text())["address"] if file.exists() else ""
    finally:
        for process in both:
            process.terminate()
        for process in both:
            process.wait()


def main() -> int:
    """Go on for so long or for so many commands; 1 if any promise was broken."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--commands", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    LIBC.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: whoever a command leaves behind is ours
    dice = random.Random(options.seed)
    begun, number, tally, broken = time.monotonic(), 0, Counter[tuple[str, str]](), 0

    def goes_on() -> bool:
        return time.monotonic() < begun + options.seconds and number < options.commands

    with tempfile.TemporaryDirectory() as root, dask(Path(root)) as address:
        while goes_on():
            world = made(Path(root, str(number)), dice, address)
            for _ in range(5):
                trial = Trial(world, *command(world))
                for kind in dice.sample(FAULTS, 4):
                    if not goes_on():
                        break
                    fault = dice.choice(["SIGINT", "SIGTERM", "SIGHUP"]) if kind == "signal" else kind
                    found, wrong = trial.under(fault)
                    tally[fault, {0: "right", 3: "right", 1: "refused"}.get(found.status, "ended")] += 1
                    number += 1
                    for one in wrong:
                        broken += 1
                        print(f"BROKEN: {one}: {fault}: gainful {' '.join([*trial.words, *trial.engine])}", flush=True)
                        print(f"{found.status}: {found.said[-1500:]}", flush=True)
                    if wrong:
                        kept = Path(tempfile.gettempdir(), f"soak-{options.seed}", str(number))
                        shutil.copytree(world.folder / "c", kept, dirs_exist_ok=True)
                        (kept / trial.kept[0]).write_bytes(trial.kept[1])
            shutil.rmtree(world.folder)
            print(summary(number, begun, tally, broken), flush=True)
    print(*(f"| {fault} | " + " | ".join(str(tally[fault, one]) for one in ("right", "refused", "ended")) + " |"
            for fault in sorted({fault for fault, _ in tally})), sep="\n")  # fmt: skip
    return bool(broken)


def summary(number: int, begun: float, tally: Counter[tuple[str, str]], broken: int) -> str:
    minutes = (time.monotonic() - begun) / 60
    parts = [f"{fault} {outcome} {count}" for (fault, outcome), count in sorted(tally.items())]
    return f"{number} commands, {minutes:.0f} minutes, {broken} promises broken; {', '.join(parts)}"


if __name__ == "__main__":
    sys.exit(main())
