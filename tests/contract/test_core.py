"""The compiled core and its pure twin: the same rankings to the last bit, the same errors word for word."""

from __future__ import annotations

import bz2
import gc
import gzip
import lzma
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict, defaultdict
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import gainful as gf
from gainful._core import native
from gainful.data import core
from gainful.data.run import check_unchanged
from gainful.errors import DataError, GainfulError
from gainful.io.files import load
from gainful.io.text import RUN

compiled = pytest.mark.skipif(native is None, reason="gainful was installed without a compiler, or GAINFUL_PURE is set")


@contextmanager
def pure():
    """As if the core had not been built."""
    with (
        mock.patch("gainful.io.read.native", None),
        mock.patch("gainful.data.core.native", None),
        mock.patch("gainful.data.pool.native", None),
    ):
        yield


@contextmanager
def blocks(size, margin):
    """Texts are cut into blocks of so many bytes."""
    with mock.patch.multiple(core, SMALL=size, LARGE=size, MARGIN=margin):
        yield


@contextmanager
def streamed(size):
    """Runs are large from one byte on, and come in chunks of so many bytes if they are packed; 0: as usual."""
    if not size:
        yield
        return
    with mock.patch.multiple("gainful.io.chunks", STREAMED=1, PACKED=1, CHUNK=size):
        yield


@contextmanager
def joins():
    """How many runs were joined by the core, and how many were not for it."""
    counts = {True: 0, False: 0}

    def join(*arguments):
        found = core.join_raw(*arguments)
        counts[found is not None] += 1
        return found

    with mock.patch("gainful.data.align.join_raw", join):
        yield counts


def told(qrels, run, **settings):
    """All that `align` finds, as bytes where it is numbers; or the error."""
    try:
        found = gf.align(qrels, run, **settings)
    except GainfulError as error:
        return type(error), str(error)
    arrays = ("retrieved", "present", "row", "rank", "document", "tie_first", "tie_last", "pool_topic", "pool_grade")
    return (
        {name: (getattr(found, name).dtype, getattr(found, name).tobytes()) for name in (*arrays, "grades", "tied")},
        found.topics,
        found.systems,
        found.ignored,
        found.stranger,
        found.run_notes,
        found.pool_doc.to_list(),
        None if found.scores is None else found.scores.tobytes(),
        None if found.listed is None else _told(found.listed),
    )


def _told(listed):
    return listed.doc_id.to_list(), *((one.dtype, one.tobytes()) for one in (listed.row, listed.rank, listed.document))


ODD = (
    "a",
    "b",
    "c",
    "d1",
    "D0594935",
    "WSJ870324-0001",
    "é",
    "ж",
    "語",
    "🂡",
    "\U0010ff7e",
    "\ufeff",
    "x^",
    "-",
    "0",
    '"',
    "'",
    ",",
)
WRONG = (
    b"\xff",
    b"a\xe9",
    b"\x80\x80",
    b"\xed\xa0\x80",
    b"\xc3",
    b"\xf0\x9f\x82",
    b"\xf4\x90\x80\x80",
    b"\xc0\xaf",
    b"x\x01y",
)
BLANKS = (b" ", b"\t", b"  ", b" \t ", b"\v", b"\f")
SCORES = ("0", "-0.0", "0.0", "1", "1.0", "1e308", "-1e308", "1.7976931348623157e308", "5e-324", "1e-400", "3.3333333")
SCORES += ("0.1", "0.10000000000000001", "0.1000000000000000055", "14.523000717163086", "+2.5", ".5", "5.", "1E+2")
POLICIES = [
    {"ties": ties, "duplicates": duplicates, "unjudged": unjudged}
    for ties in ("trec", "order", "expected")
    for duplicates in ("error", "first")
    for unjudged in ("zero", "condensed")
]
KEPT = ({}, {"documents": 3}, {"scores": True}, {"documents": 40, "scores": True})


class World:
    """A random collection, as text."""

    def __init__(self, seed):
        self.draw = draw = random.Random(seed)
        self.odd = draw.random() < 0.5
        self.bytes = draw.random() < 0.2
        self.damage = draw.random() < 0.1
        self.twice = draw.random() < 0.15
        self.scattered = draw.random() < 0.15
        self.ids = [self.name() for _ in range(draw.randrange(1, 40))]
        self.topics = list(dict.fromkeys(self.name() for _ in range(draw.randrange(1, 7))))

    def name(self):
        draw = self.draw
        if self.bytes and draw.random() < 0.3:
            return draw.choice(WRONG)
        return "".join(draw.choice(ODD) for _ in range(draw.choice((1, 1, 2, 2, 3, 9)))).encode()

    def score(self):
        draw = self.draw
        kind = draw.random()
        if kind < 0.2:
            return draw.choice(SCORES).encode()
        if kind < 0.5:
            return str(draw.randrange(5)).encode()
        if kind < 0.7:
            return f"{draw.uniform(-30, 30):.6f}".encode()
        value = draw.uniform(-1, 1) * 10.0 ** draw.randrange(-30, 30)
        return repr(float(np.float32(value)) if kind < 0.8 else value).encode()

    def rows(self, known):
        """Topic, document and value of each line."""
        draw = self.draw
        found = []
        for topic in draw.sample(self.topics, len(self.topics)):
            if draw.random() < 0.15:
                continue
            chosen = [draw.choice(self.ids) for _ in range(draw.choice((0, 1, 2, 5, 20, 70)))]
            if not self.twice:
                chosen = list(dict.fromkeys(chosen))
            values = [str(draw.randrange(-2, 4)).encode() if known else self.score() for _ in chosen]
            if not known and draw.random() < 0.6:
                values.sort(key=float, reverse=True)
            found += [(topic, doc, value) for doc, value in zip(chosen, values, strict=True)]
        if self.scattered:
            draw.shuffle(found)
        return found

    def text(self, rows, *, known):
        """The lines, with whatever is allowed around them."""
        draw = self.draw
        lines = []
        for topic, doc, value in rows:
            fields = (
                [topic, b"0", doc, value] if known else [topic, b"Q0", doc, b"1", value, draw.choice((b"t", b"\xe9"))]
            )
            blank = draw.choice(BLANKS) if self.odd and draw.random() < 0.3 else b" "
            line = blank.join(fields)
            if self.odd and draw.random() < 0.1:
                line = draw.choice((b" ", b"\t")) + line + draw.choice((b" ", b"\r", b"\t "))
            if self.odd and draw.random() < 0.05:
                lines.append(draw.choice((b"", b"# note", b"  ", b"\r", b" #x y z w v u")))
            lines.append(line)
        if self.damage and lines:
            at = draw.randrange(len(lines))
            wrong = (
                b"x",
                b"1 2",
                b"1 Q0 d 1 nan t",
                b"1 Q0 d 1 0x1 t",
                b"1 Q0 d 1 1e999 t",
                b"\0",
                b"1 0 \xf4\x8f\xbf\x80 1",
            )
            lines[at] = draw.choice((*wrong, lines[at] + b" more", lines[at].replace(b" ", b"_", 1)))
        end = draw.choice((b"\n", b"\n", b"\n", b"", b"\r\n", b"\n\n"))
        return (b"\xef\xbb\xbf" if self.odd and draw.random() < 0.2 else b"") + b"\n".join(lines) + end

    def nested(self, rows):
        """A dict of dicts with the same rows, as far as it can hold them."""
        found = defaultdict(dict) if self.draw.random() < 0.2 else {}
        for topic, doc, value in rows:
            kind = self.draw.choice(
                (float, float, np.float64, lambda text: round(float(text)) if abs(float(text)) < 9 else 0.5)
            )
            name = topic.decode("utf-8", "surrogateescape")
            found.setdefault(name, {})[doc.decode("utf-8", "surrogateescape")] = kind(value)
        return found


def compare_worlds(seeds, folder):
    """Each collection as text and as dicts, by the core and without it; how many runs the core joined."""
    total = {True: 0, False: 0}
    for seed in seeds:
        world = World(seed)
        judged, returned = world.rows(known=True), world.rows(known=False)
        qrels, run = folder / "qrels.txt", folder / "run.txt"
        qrels.write_bytes(world.text(judged, known=True))
        text = world.text(returned, known=False)
        run.write_bytes(gzip.compress(text, 1) if seed % 7 == 0 else text)
        sources = [(str(qrels), str(run)), (str(qrels), world.nested(returned)), (world.nested(judged), str(run))]
        sources.append((world.nested(judged), world.nested(returned)))
        settings = world.draw.choice(POLICIES) | world.draw.choice(KEPT)
        for given in sources:
            sizes = world.draw.choice((1, 7, 64, 300, 1 << 20)), world.draw.choice((1, 30, 1 << 16))
            with blocks(*sizes), streamed(world.draw.choice((0, 0, 20, 500))), joins() as counts:
                ours = told(*given, **settings)
            with pure():
                theirs = told(*given, **settings)
            assert ours == theirs, (seed, settings)
            total = {kind: total[kind] + counts[kind] for kind in total}
    return total


@compiled
def test_random_collections(tmp_path):
    total = compare_worlds(range(40), tmp_path)  # four ways each
    assert total[True] > 75
    assert total[False] > 5


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_random_collections(tmp_path, part):
    total = compare_worlds(range(1000 * (part + 1), 1000 * (part + 2)), tmp_path)
    assert total[True] > 2000


def lines(topics=40, documents=50):
    """A run of some size, and judgments for it."""
    run = [f"{topic} Q0 d{at} {at} {documents - at} t\n" for topic in range(topics) for at in range(documents)]
    return "".join(run), "".join(f"{topic} 0 d{topic % documents} 1\n" for topic in range(topics))


def collection(folder):
    """Files of a run and its judgments."""
    run, qrels = folder / "run.txt", folder / "qrels.txt"
    for path, text in zip((run, qrels), lines(), strict=True):
        path.write_text(text)
    return qrels, run


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_file_that_grows_while_it_is_read(tmp_path, pack):
    qrels, run = collection(tmp_path)
    run.write_bytes(pack(run.read_bytes()))

    def growing(function):
        def call(*arguments, **options):
            with run.open("ab") as file:
                file.write(pack(b"1 Q0 new 1 1 t\n"))
            return function(*arguments, **options)

        return call

    inner = "gainful.data.core._match" if native is not None else "gainful.io.chunks.read_lines"
    module, _, name = inner.rpartition(".")
    with streamed(300), blocks(300, 30), mock.patch(inner, growing(getattr(sys.modules[module], name))):
        assert told(qrels, run) == (DataError, f"{run}: changed while it was read; wait until it is complete")


@compiled
@pytest.mark.parametrize("cut", [0, 1, 500, 20_000])
def test_a_file_that_shrinks_while_it_is_read(tmp_path, cut):
    qrels, run = collection(tmp_path)

    def shrinking(*arguments, **options):
        os.truncate(run, cut)
        return found(*arguments, **options)

    found = core._match
    with streamed(300), blocks(300, 30), mock.patch("gainful.data.core._match", shrinking):
        assert told(qrels, run) == (DataError, f"{run}: changed while it was read; wait until it is complete")


@compiled
def test_nobody_reads_from_a_file_that_is_closed(tmp_path):
    # The first block is not for the core, while threads are at those after it.
    qrels, run = collection(tmp_path)
    run.write_text("0 Q0 d0 0 x t\n" + run.read_text())
    found = core._read_at
    closed, another = [], threading.Event()

    def slow(file, view, start):
        if start:
            another.set()
            time.sleep(0.05)
        else:
            assert another.wait(60)
        closed.append(file.closed)
        return found(file, view, start)

    two = mock.patch("gainful.data.align.os.cpu_count", return_value=2)
    with streamed(300), blocks(300, 30), mock.patch("gainful.data.core._read_at", slow), two:
        assert told(qrels, run)[0] is DataError
    assert closed.count(False) > 1
    assert closed.count(True) == 0


def test_a_file_that_changes_while_it_is_read_as_a_whole(tmp_path):
    qrels, run = collection(tmp_path)
    status, later = os.stat(run), os.stat(qrels)
    with (
        mock.patch("gainful.data.run.os.fstat", side_effect=[later]),
        pytest.raises(DataError, match="changed while it"),
    ):
        check_unchanged(status, 0, str(run))


@pytest.mark.parametrize("change", [lambda run: os.truncate(run, 10), lambda run: run.write_text("longer" * 9999)])
def test_a_large_file_that_changes_before_it_is_parsed(tmp_path, change):
    _, run = collection(tmp_path)
    with mock.patch("gainful.io.files.LARGE", 1):
        content = load(run)
    assert content.frame(RUN).height == 2000
    change(run)
    with pytest.raises(DataError, match="changed while it was read"):
        content.frame(RUN)


@compiled
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_topic_that_is_too_large_is_not_held(tmp_path, pack):
    # Each block of a packed file was put to all of its topic before.
    run = tmp_path / "run.txt"
    run.write_bytes(pack("".join(f"0 Q0 d{at} 0 {at} t\n" for at in range(1000)).encode()))
    with pure():
        expected = told({"0": {"d3": 1}}, run)
    for most, joined in ((1 << 28, True), (2000, False)):
        with streamed(300), blocks(300, 30), mock.patch("gainful.data.core._MOST", most), joins() as counts:
            assert told({"0": {"d3": 1}}, run) == expected
        assert counts == {joined: 1, not joined: 0}


@compiled
def test_runs_that_the_core_does_not_take_are_read_all_the_same(tmp_path):
    qrels, run = collection(tmp_path)
    table = tmp_path / "table.csv"
    rows = [line.split() for line in lines()[0].splitlines()]
    table.write_text("query_id,doc_id,score\n" + "".join(f"{row[0]},{row[2]},{row[4]}\n" for row in rows))
    ranked = {topic: [row[2] for row in rows if row[0] == topic] for topic in dict.fromkeys(row[0] for row in rows)}
    runs = {"text": str(run), "table": str(table), "lists": ranked, "frame": gf.read_run(run)}
    with joins() as counts:
        found = gf.evaluate(gf.read_qrels(qrels), runs, ["AP", "nDCG@5"])
    assert counts == {True: 1, False: 1}  # text and lists: tables and frames are not asked about
    for system in range(1, 4):
        assert found.values[:, system].tobytes() == found.values[:, 0].tobytes()


@compiled
@pytest.mark.parametrize(
    "change",
    [
        lambda run: run["1"].update({5: 1.0}),
        lambda run: run["1"].update({"d3": True}),
        lambda run: run["1"].update({"d3": "1"}),
        lambda run: run["1"].update({"d3": None}),
        lambda run: run["1"].update({"d3": 10**400}),
        lambda run: run["1"].update({"d3": math.nan}),
        lambda run: run["1"].update({chr(0xD800): 1.0}),
        lambda run: run["1"].update({chr(0xDCFF): 1.0}),
        lambda run: run["1"].update({b"d3": 1.0}),
        lambda run: run.update({3: {"d": 1.0}}),
        lambda run: run.update({"strange": {"d": "no number"}}),
        lambda run: run.update({"2": [("d", 1.0)]}),
        lambda run: run.update({"2": OrderedDict(b=2.0, a=1.0)}),
        lambda run: run.update({"2": {}, "strange": {}}),
    ],
)
def test_odd_dicts(change):
    run = {"1": {"d1": 1.0, "d2": 2}, "0": {"d1": 1.0}}
    change(run)
    for judged in (
        {"1": {"d1": 1, "5": 0, "d3": 2}, "2": {"a": 1, "b": None}, "3": {"d": 1.5}},
        {"1": {"d2": np.int64(1)}},
    ):
        ours = told(judged, run)
        with pure():
            assert ours == told(judged, run)


@compiled
def test_a_dict_that_changes_while_garbage_is_collected():
    # Up to Python 3.11, to make a list may collect garbage at once, hence run any code.
    names = [f"a topic without judgments {at:03d}" for at in range(100)]
    run = {name[:1] + name[1:]: {"d": 1.0} for name in names}
    others = []

    class Garbage:
        def __init__(self):
            self.itself = self

        def __del__(self):
            run.clear()
            others.extend(name.upper() for name in names)  # where the keys were

    arguments = (native.index_dict({"1": {"d": 1}}, (), ()), run, 0, 0, False, (), ())
    gc.collect()
    gc.disable()
    try:
        Garbage()
        held = [[] for _ in range(1000)]  # so that no list is left to be used again
        gc.enable()
        found = native.match_dict(*arguments)
    finally:
        gc.enable()
    assert len(held) == 1000
    assert found[10:] == ([], names, 100)


@compiled
def test_what_cannot_be_read_is_called_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, line in (("bad", "1 Q0 a 1 x t"), ("twice", "1 Q0 a 1 2 t\n1 Q0 a 1 1 t"), ("fine", "1 Q0 a 1 2 t")):
        Path(name).write_text(line + "\n")
    wrong = {"1": {"a": "x"}}
    sources = (
        {"b": "bad", "t": "twice", "f": "fine"},
        ["./bad", Path("twice"), "fine"],
        {"w": wrong, "f": "fine"},
        [wrong, "fine"],
    )
    for runs in sources:
        ours = gf.evaluate({"1": {"a": 1}}, runs, "AP", keep_going=True).failed
        with pure():
            assert gf.evaluate({"1": {"a": 1}}, runs, "AP", keep_going=True).failed == ours


BLOCKS = """
#include <stdint.h>
#include <stdio.h>
typedef unsigned char byte;
{}
int main(void) {{
    byte block[64];
    while (fread(block, 1, 64, stdin) == 64)
        printf("%llu\\n", (unsigned long long)blanks_of_64(block));
    return 0;
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("compiler", "flags", "runner"),
    [
        ("gcc", (), ()),
        ("gcc", ("-DGAINFUL_PORTABLE",), ()),
        ("aarch64-linux-gnu-gcc", ("-static",), ("qemu-aarch64-static",)),
    ],
    ids=["as it is", "without SSE2", "NEON"],
)
def test_blanks(tmp_path, compiler, flags, runner):
    """64 bytes at a time, by the instructions of each processor, which is emulated if it is another one."""
    if not all(map(shutil.which, (compiler, *runner))):
        pytest.skip(f"needs {' and '.join((compiler, *runner))}")
    # What it needs of the source, and no header of Python: there is none for another processor.
    source = (Path(gf.__file__).parent / "_core" / "native.c").read_text(encoding="utf-8")
    needed = (
        r"#ifdef GAINFUL_PORTABLE\n.*?#endif\n",
        r"#define HIGH .*?\n",
        r"static inline uint64_t blanks_of_64.*?\n}\n",
    )
    parts = [re.search(pattern, source, re.DOTALL).group() for pattern in needed]
    (tmp_path / "blanks.c").write_text(BLOCKS.format("".join(parts)), encoding="utf-8")
    command = [compiler, "-std=c11", "-O2", *flags, "blanks.c", "-o", "blanks"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    alone = b"".join(b"x" * at + bytes([value]) + b"x" * (63 - at) for value in range(256) for at in range(64))
    blocks = alone + random.Random(0).randbytes(64 << 12) + bytes(random.Random(1).choices(range(48), k=64 << 12))
    done = subprocess.run([*runner, tmp_path / "blanks"], input=blocks, capture_output=True, check=True)
    blank = np.frombuffer(blocks, np.uint8).reshape(-1, 64) <= ord(" ")
    assert [int(mask) for mask in done.stdout.split()] == [
        sum(1 << at for at in np.flatnonzero(row).tolist()) for row in blank
    ]


def labels_of(texts):
    """What the core makes of numbers."""
    lines = b"".join(b"q 0 d%d %s\n" % (at, text) for at, text in enumerate(texts))
    index = native.index_text(lines, False)
    return None if index is None else np.frombuffer(index.label())


def decimals(draw, count):
    """Decimal numbers of all lengths and exponents, with those next to and halfway between two floats."""
    for _ in range(count):
        kind = draw.randrange(6)
        if kind == 0:
            digits = "".join(draw.choice("0123456789") for _ in range(draw.randrange(1, 40)))
            cut = draw.randrange(len(digits) + 1)
            text = digits[:cut] + draw.choice((".", "")) + digits[cut:]
            yield text + draw.choice(("", f"e{draw.randrange(-350, 300)}"))
        elif kind == 1:
            yield repr(struct.unpack("<d", draw.randbytes(8))[0])
        elif kind == 2:
            yield f"{draw.uniform(-100, 100):.{draw.randrange(25)}f}"
        elif kind == 3:
            yield repr(float(np.float32(draw.uniform(-40, 40))))
        else:
            # Halfway between two floats, exactly or with a digit more or less.
            exponent = draw.randrange(-1074, 970) if kind == 4 else draw.randrange(-90, 10)
            odd = 2 * draw.randrange(1 << 52, 1 << 53) + 1
            with_digits = odd * 5 ** max(-exponent, 0) * 2 ** max(exponent, 0)
            text = f"{with_digits}e{min(exponent, 0)}"
            yield (
                text
                if draw.random() < 0.5
                else f"{with_digits}{draw.choice(('1', '0', '00000001'))}e{min(exponent, 0)}"
            )


def check_decimals(seed, count):
    draw = random.Random(seed)
    texts = [text for text in decimals(draw, count) if math.isfinite(float(text))]
    found = labels_of([text.encode() for text in texts])
    expected = np.array([float(text) for text in texts])
    wrong = np.flatnonzero(found.view(np.int64) != expected.view(np.int64))
    assert [texts[at] for at in wrong] == []


@compiled
def test_numbers_are_those_of_float():
    check_decimals(1, 20_000)


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_numbers_are_those_of_float(seed):
    check_decimals(seed, 200_000)


@compiled
@pytest.mark.parametrize(
    "text", ["nan", "inf", "-inf", "1e999", "0x1", "1_0", "1e", "1e+", ".", "+", "-", "--1", "1.2.3", "1d2", "١", "1,5"]
)
def test_what_is_no_finite_decimal_is_not_for_the_core(text):
    assert labels_of([text.encode()]) is None
    with pytest.raises(DataError, match=r"expected a (number|finite)"):
        gf.align({"q": {"d": 1}}, _file_of(text))


@compiled
def test_an_exponent_of_any_length():
    # Zeros after the point make up for as large an exponent, and for no larger one.
    zeros = b"0." + b"0" * 99_999
    assert labels_of([zeros + b"1e100000"]).tolist() == [1.0]
    assert labels_of([zeros + b"1e1000000"]) is None
    assert labels_of([b"1" + b"0" * 100_000 + b"e-1000000"]).tolist() == [0.0]


def _file_of(text, *, name="run.txt"):
    path = Path(tempfile.mkdtemp()) / name
    path.write_bytes(f"q Q0 d 1 {text} t\n".encode())
    return path
