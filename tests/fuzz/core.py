"""Fuzz the compiled core under AddressSanitizer and UndefinedBehaviorSanitizer: `make fuzz` does.

`python tests/fuzz/core.py --seconds 60` builds the core with both, and without SSE2 as well, and gives it damaged text,
blocks with any border, and dicts of anything; then a million calls must not make the process grow. Needs gcc.
"""

from __future__ import annotations

import argparse
import array
import ctypes
import importlib.util
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import OrderedDict, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "gainful" / "_core" / "native.c"
SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
BLANKS = (b" ", b"\t", b"\n", b"\r", b"\v", b"\0", b"#", b"  ", b"\n\n")
PIECES = (
    b"1",
    b"q1",
    b"Q0",
    b"d1",
    b"\xff",
    b"\xf4\x8f\xbf\x80",
    b"\xe2\x82\xac",
    b"\xef\xbb\xbf",
    b"1e308",
    b"-0.0",
    b"1e999",
)
PIECES += (b"0.1234567890123456789", b"9" * 40, b".", b"e", b"nan", b"1e-30", b"x" * 70, b"\xe9" * 9)


def build(folder: Path, *flags: str) -> Path:
    """The core, compiled with these flags."""
    target = folder / "native.abi3.so"
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run(["gcc", "-std=c11", "-shared", "-fPIC", include, *flags, str(SOURCE), "-o", str(target)], check=True)
    return target


def load(path: str):
    """The module in a file."""
    spec = importlib.util.spec_from_file_location("native", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(draw: random.Random, fields: int) -> bytes:
    """Lines that are right for the most part."""
    lines = []
    topic = b"1"
    for at in range(draw.randrange(40)):
        topic = draw.choice((topic, topic, topic, b"2", b"3", draw.choice(PIECES)))
        values = [
            topic,
            b"0",
            b"d%d" % draw.choice((at, at, draw.randrange(20))),
            b"1",
            b"%d" % draw.randrange(9),
            b"t",
        ]
        if fields == 4:
            values = [*values[:3], values[4]]
        if draw.random() < 0.1:
            values[draw.randrange(len(values))] = draw.choice(PIECES)
        lines.append(draw.choice((b" ", b" ", b"\t", b"  ")).join(values))
    return draw.choice((b"\n", b"\n", b"\r\n")).join(lines) + draw.choice((b"", b"\n"))


def damaged(draw: random.Random, data: bytes) -> bytes:
    """The same with some bytes changed, put in or taken away."""
    found = bytearray(data)
    for _ in range(draw.choice((0, 0, 1, 2, 5))):
        at = draw.randrange(len(found) + 1)
        end = min(at + draw.choice((0, 1, 1, 3, 30)), len(found))
        found[at:end] = draw.choice(
            (b"", draw.choice(BLANKS), draw.choice(PIECES), draw.randbytes(draw.randrange(1, 5)))
        )
    return bytes(found)


class Text(str):
    """A string that is not what it seems."""

    def __hash__(self):
        return 7

    def __eq__(self, other):
        return True


class Number(float):
    """A number that clears the dict it is in."""

    owner: dict | None = None

    def __float__(self):
        if self.owner is not None:
            self.owner.clear()
        return 1.0


def anything(draw: random.Random, owner: dict) -> object:
    """A value of a dict."""
    number = Number(2.0)
    number.owner = owner
    odd = (
        number,
        True,
        None,
        10**400,
        -(10**400),
        float("nan"),
        float("inf"),
        "1",
        b"1",
        1j,
        [],
        {},
        object(),
        -0.0,
        2**63,
    )
    return draw.choice(odd) if draw.random() < 0.02 else draw.choice((draw.random(), draw.randrange(5), 1e308, 0.5))


def name(draw: random.Random) -> object:
    """A key of a dict."""
    odd = (Text("a"), 1, 1.5, None, b"a", ("a",), "\ud800", "\udc80", "", "\0", "\U0010ff80", "é" * 99, 10**99, True)
    return (
        draw.choice(odd) if draw.random() < 0.02 else draw.choice("abcdefghij") + draw.choice(("", "é", "語", "x" * 20))
    )


def nested(draw: random.Random) -> object:
    """A dict of dicts, or nearly so."""
    made = draw.choice((dict, dict, dict, OrderedDict, defaultdict))
    found = made()
    for _ in range(draw.randrange(6)):
        inner = draw.choice((dict, dict, dict, OrderedDict, defaultdict))()
        for _ in range(draw.choice((0, 1, 5, 60))):
            inner[name(draw)] = anything(draw, inner)
        found[name(draw)] = inner if draw.random() < 0.98 else draw.choice(([], None, "ab", 1))
    return found


def once(native, draw: random.Random) -> None:
    """One of everything."""
    import numpy as np

    def exact(data: bytes) -> object:
        return (ctypes.c_char * len(data)).from_buffer_copy(data)  # which lies between red zones, byte for byte

    types = ((np.float64, np.float32), (defaultdict,))
    judged = nested(draw)
    indexes = [
        native.index_text(exact(damaged(draw, text(draw, 4))), draw.random() < 0.5),
        native.index_dict(judged, *types),
    ]
    count = draw.randrange(5)
    parts = [draw.choice((*PIECES, b"", draw.randbytes(3))) for _ in range(count)]
    ids, lengths = b"".join(parts), array.array("q", [len(part) - (draw.random() < 0.05) for part in parts])
    topics = tuple(draw.choice(("1", "2", "é", "\ud800")) for _ in range(draw.randrange(4)))
    numbers = array.array("q", [draw.randrange(-1, 4) for _ in range(draw.choice((count, count, 3)))])
    indexes.append(native.index_columns(topics, numbers, exact(ids), lengths))
    for index in filter(None, indexes):
        if (
            len(index.ids()) != len(index)
            or len(index.topic()) != 8 * len(index)
            or len(index.label()) != 8 * len(index)
        ):
            raise AssertionError("an index of several lengths")
        data = damaged(draw, text(draw, 6))
        start = draw.randrange(len(data) + 1)
        part = exact(data[start:])
        own = draw.choice((len(part), draw.randrange(-1, len(part) + 3)))
        kept = draw.choice((0, 1, 3, 99)), draw.random() < 0.5
        flags = (draw.random() < 0.5, draw.random() < 0.5)
        native.match_text(index, part, own, *flags, draw.randrange(4), draw.random() < 0.5, *kept)
        native.cut_text(part, draw.randrange(-1, len(part) + 2))
        native.match_dict(index, nested(draw), draw.randrange(4), *kept, *types)


def grows(native) -> int:
    """By how many bytes a million calls make the process grow."""
    import resource

    lines, wrong = b"1 Q0 a 1 2 t\n1 Q0 b\xff 2 1 t\n2 Q0 c 1 1 t\n", b"1 Q0 a 1 x t\n"
    index = native.index_text(b"1 0 a 1\n1 0 b 0\n", False)
    run = {"1": {"a": 1.0, "b": 2.0}, "2": {"c": 1.0}}

    def some(number: int) -> None:
        for _ in range(number // 10):
            native.index_text(b"1 0 a 1\n1 0 b\xff 0\n", True).ids()
            native.index_text(b"1 0 a 1\n1 0 a 0\n", False)
            native.index_dict(run, (), ())
            native.index_dict({"1": {"a": "b"}}, (), ())
            native.index_columns(("1",), array.array("q", [0]), b"a", array.array("q", [1])).topics  # noqa: B018
            native.match_text(index, lines, len(lines), True, True, 0, False, 2, True)
            native.match_text(index, wrong, len(wrong), True, True, 0, False, 2, True)
            native.match_dict(index, run, 0, 2, True, (), ())
            native.match_dict(index, {"1": {"a": 1.0, 2: 1.0}}, 0, 2, True, (), ())
            native.cut_text(lines, 3)

    some(50_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    some(1_000_000)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


def child(path: str, seconds: float, seed: int) -> None:
    """Fuzz the core in this process, which ends with the first thing that a sanitizer has to say."""
    native = load(path)
    end, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        draw = random.Random(f"{seed} {rounds}")
        once(native, draw)
        rounds += 1
    print(f"{rounds} rounds without a report")


def main() -> int:
    """Build, fuzz, count."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.seconds, options.seed)
        return 0
    if shutil.which("gcc") is None:
        print("no gcc: the compiled core is not fuzzed", file=sys.stderr)
        return 0
    print(f"seed {options.seed}")
    for flags in ((), ("-DGAINFUL_PORTABLE",)):
        with tempfile.TemporaryDirectory() as folder:
            path = build(Path(folder), *SANITIZED, *flags)
            library = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
            # Objects of Python lie between red zones, too; what the interpreter leaves at its end is not our leak.
            environment = {**os.environ, "LD_PRELOAD": library.stdout.strip(), "PYTHONMALLOC": "malloc"}
            environment["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1"
            words = ["--child", str(path), "--seconds", str(options.seconds / 2), "--seed", str(options.seed)]
            if subprocess.run([sys.executable, __file__, *words], env=environment).returncode:
                return 1
    with tempfile.TemporaryDirectory() as folder:
        more = grows(load(str(build(Path(folder), "-O3"))))
    print(f"a million calls: {more / 1024:.0f} KB more")
    return 1 if more > 1 << 21 else 0


if __name__ == "__main__":
    sys.exit(main())
