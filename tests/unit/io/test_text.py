"""TREC text: the quick way for plain files and the patient one for the rest agree with a reader of ten lines."""

from __future__ import annotations

import gc
import os
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from effort import examples
from gainful.errors import DataError
from gainful.io import files, text
from gainful.io.encoding import decode
from gainful.io.read import read_qrels, read_run
from gainful.io.text import QRELS, RUN, LargeFile, Layout, has_iterations, is_text, read_fields, read_lines, read_text

RUN_TEXT = b"1 Q0 a 1 2.5 tag\n1 Q0 b 2 -1e-3 tag\n2 Q0 a 1 7 tag\n"
RUN_ROWS = [("1", "a", 2.5), ("1", "b", -0.001), ("2", "a", 7.0)]
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

Result = list[tuple[str, str, float]] | int


def reference(data: bytes, layout: Layout) -> Result:
    """Rows of a text, or the number of its first bad line (0 if there is no line at all)."""
    rows = []
    at = {"a run": (0, 2, 4), "qrels": (0, 2, 3)}[layout.what]
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        fields = line.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) != len(layout.fields) or not NUMBER.fullmatch(fields[at[2]]):
            return number
        rows.append((decode(fields[0]), decode(fields[at[1]]), float(fields[at[2]])))
    return rows or 0


def actual(data: bytes, layout: Layout) -> Result:
    try:
        return read_text(data, layout, "f").rows()
    except DataError as error:
        message = str(error)
    found = re.match(r"f:(\d+): ", message)
    assert found or message == f"f: expected {layout.what}, got no line with data"
    return int(found[1]) if found else 0


@pytest.fixture
def only_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> None:
        pytest.fail("took the slow path")

    monkeypatch.setattr(text, "_read_any", slow)


@pytest.fixture(scope="module")
def small_slices() -> object:
    """Slices of 64 bytes, so that short texts have all the borders of long ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_SLICE", 64)
        patch.setattr(text, "_BATCH", 192)
        patch.setattr(text, "LARGE", 400)
        yield


@pytest.mark.usefixtures("only_quick")
@pytest.mark.parametrize(
    "data",
    [
        RUN_TEXT,
        RUN_TEXT.removesuffix(b"\n"),
        RUN_TEXT.replace(b" ", b"\t"),
        RUN_TEXT.replace(b" a", b" doc#a!"),
        RUN_TEXT.replace(b" a", " é".encode()),
        RUN_TEXT.replace(b"2 ", b"\xef\xbb\xbf2 "),
    ],
    ids=["spaces", "no last line end", "tabs", "# in a doc", "not ASCII", "byte order mark in an id"],
)
def test_plain_files_take_the_quick_path(data: bytes) -> None:
    assert read_text(data, RUN, "f").rows() == reference(data, RUN)


@pytest.mark.usefixtures("only_quick", "small_slices")
@pytest.mark.parametrize("shift", range(70))
def test_plain_files_of_all_lengths_take_the_quick_path(shift: int) -> None:
    data = b"".join(b"%d Q0 %s 1 %d t\n" % (i, b"d" * (1 + shift + i % 7), i) for i in range(1, 20))
    for end in range(1, 20):
        part = b"".join(data.splitlines(keepends=True)[:end])
        assert read_text(part, RUN, "f").height == end


@pytest.mark.usefixtures("only_quick")
@pytest.mark.parametrize("large", [0, 1000])
def test_plain_files_on_disk(folder: Path, monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    monkeypatch.setattr(text, "LARGE", large)
    monkeypatch.setattr(files, "LARGE", large)
    (folder / "r[1]*.txt").write_bytes(RUN_TEXT)
    assert read_run("r[1]*.txt").frame.rows() == RUN_ROWS


def test_a_byte_order_mark_where_a_large_file_is_cut_is_part_of_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first is none, wherever the file is cut."""
    monkeypatch.setattr(text, "LARGE", 0)
    data = b"".join(b"\xef\xbb\xbf%d Q0 d 1 2 t\n" % topic for topic in range(100))
    found = read_text(data, RUN, "f")["query_id"].to_list()
    assert found == ["0", *(f"\ufeff{topic}" for topic in range(1, 100))]


@pytest.mark.parametrize(
    "data",
    [
        RUN_TEXT.replace(b" ", b"   "),
        RUN_TEXT.replace(b" ", b" \t"),
        RUN_TEXT.replace(b"Q0 ", b"Q0\t"),
        RUN_TEXT.replace(b"\n", b"\r\n"),
        RUN_TEXT.replace(b"\n", b" \n  "),
        RUN_TEXT.replace(b"\n", b"\n\n \t\n"),
        b"\n" + RUN_TEXT,
        b"\xef\xbb\xbf" + RUN_TEXT,
        b"# made by me\n" + RUN_TEXT,
        RUN_TEXT + b"#1 Q0 z 1 2.5 tag\n",
        RUN_TEXT.replace(b"\n1", b"\n \t# c\n1"),
        b"\xef\xbb\xbf#\r\n" + RUN_TEXT.replace(b"\n", b"\t\r\n"),
        RUN_TEXT.replace(b" tag", b"\vtag\f"),
    ],
    ids=[
        "many spaces",
        "spaces and tabs",
        "a tab in some places",
        "CRLF",
        "blanks around lines",
        "blank lines",
        "blank first line",
        "byte order mark",
        "comment first",
        "comment last",
        "indented comment",
        "all at once",
        "vertical tab and form feed",
    ],
)
def test_odd_files_are_read_as_their_plain_form(data: bytes) -> None:
    assert read_text(data, RUN, "f").rows() == RUN_ROWS


def test_a_byte_order_mark_after_blank_lines_is_part_of_the_id() -> None:
    data = b"\n\xef\xbb\xbf1 Q0 a 1 2 t\n2 Q0 b 1 3 t\n"
    assert read_text(data, RUN, "f").rows() == [("\ufeff1", "a", 2.0), ("2", "b", 3.0)]


@pytest.mark.parametrize("topic", [b"x^2", b"x\x01", b"x\x9c", b"x\xda", b"\x1f\x8b", b"(\xb5/\xfd"])
@pytest.mark.parametrize("separator", [b" ", b"\t", b"  "])
def test_a_topic_like_the_start_of_a_packed_file(topic: bytes, separator: bytes) -> None:
    line = separator.join([topic, b"0", b"d", b"1"])
    assert read_text(line + b"\n" + line.replace(b"d", b"e"), QRELS, "f").rows() == [
        (decode(topic), "d", 1.0),
        (decode(topic), "e", 1.0),
    ]


def test_qrels(folder: Path) -> None:
    (folder / "q").write_bytes(b"1 0 a 2\n1 0 b -1\n2 0 a 0.5\n")
    qrels = read_qrels("q")
    assert qrels.frame.rows() == [("1", "a", 2.0), ("1", "b", -1.0), ("2", "a", 0.5)]
    assert qrels.frame.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}


TOKENS = [b"1", b"ab", b"2.5", b"-1e3", b"#", b"x#", "é".encode(), b"\xe9", b'"', b"nan", b"1_0", b"+", b"\x01"]
BLANKS = st.sampled_from([b" "] * 20 + [b"\t", b"  ", b" \t", b"\r", b"\v", b" \n"])


def fields(count: int) -> st.SearchStrategy[list[bytes]]:
    good = st.tuples(*[st.sampled_from(TOKENS[:3])] * count).map(list)
    return st.one_of(good, good, good, st.lists(st.sampled_from(TOKENS), min_size=count - 2, max_size=count + 2))


@st.composite
def texts(draw: st.DrawFn, layout: Layout) -> bytes:
    plain = draw(st.booleans())
    separator = draw(st.sampled_from([b" ", b"\t"]))
    lines = draw(st.lists(fields(len(layout.fields)), max_size=12))
    joined = [
        b"".join(token + (separator if plain else draw(BLANKS)) for token in line[:-1]) + b"".join(line[-1:])
        for line in lines
    ]
    end = b"\n" if plain else draw(st.sampled_from([b"\n", b"\r\n", b"\n\n", b" \n", b"\n#c d\n"]))
    data = end.join(joined) + draw(st.sampled_from([b"", end]))
    return data if plain else draw(st.sampled_from([b"", b"\xef\xbb\xbf", b"\n", b"# x\n"])) + data


@pytest.mark.usefixtures("small_slices")
@settings(max_examples=examples(2500), deadline=None)
@given(texts(RUN))
@example(b"1 Q0 a 1 2\n1 Q0 a 1 2 t x\n")
@example(b"1 Q0 a 1 2 t x\n1 Q0 a 1 2\n")
@example(b"1 Q0 a 1 2 t x\n1 Q0 a 1 2")
@example(RUN_TEXT + b"1 Q0\n1 Q0 a 1 2 t x y z w\n")
@example(RUN_TEXT + b"1 Q0 a 1 2 t\r1 Q0 a 1 2 t\n")
@example(RUN_TEXT + b"1 Q0 a 1 2 t x y\n")
@example(b"1  a 1 2 t\n")
@example(b"1 Q0 a 1 2 \n")
@example(b"1\tQ0\ta b\t1\t2\n")
def test_runs_agree_with_the_reference(data: bytes) -> None:
    assert actual(data, RUN) == reference(data, RUN)


@pytest.mark.usefixtures("small_slices")
@settings(max_examples=examples(2500), deadline=None)
@given(texts(QRELS))
@example(b"1 0 a 1\n1 0\n1 0 a 1 2 3\n")
@example(b"1 0 a 1\n1 0 a 1 2\n1 0 1\n")
@example(b"1  a 1\n")
def test_qrels_agree_with_the_reference(data: bytes) -> None:
    assert actual(data, QRELS) == reference(data, QRELS)


@pytest.mark.usefixtures("small_slices")
@pytest.mark.parametrize("shift", range(260))
def test_no_border_hides_a_missing_field(shift: int) -> None:
    """Wherever they lie: two spaces for a field, or a field too few made up for by one too many."""
    first = b"1 Q0 " + b"d" * (shift + 1) + b" 1 2 t\n"
    for bad in (b"1  a 1 2 t\n", b"1 Q0 a 1 2\n1 Q0 a 1 2 t x\n"):
        assert actual(first + bad + RUN_TEXT, RUN) == 2


def test_a_bad_line_in_a_long_file_is_found(folder: Path, refused) -> None:
    lines = [b"%d Q0 %sdoc%d %d 1.5 tag" % (i // 100, b"x" * 60, i, i % 100) for i in range(100_000)]
    (folder / "long.txt").write_bytes(b"\n".join(lines))
    assert (folder / "long.txt").stat().st_size > text.LARGE
    assert read_run("long.txt").frame.height == 100_000
    lines[70_000] += b" more"
    lines[80_000] = lines[80_000].removesuffix(b" tag")
    (folder / "long.txt").write_bytes(b"\n".join(lines))
    shown = f"700 Q0 {'x' * 60}doc70000 0..."
    message = f"expected 6 fields (topic Q0 doc rank score tag), got 7: '{shown}'"
    with refused(f"long.txt:70001: {message}"):
        read_run("long.txt")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("301 Q0 FT911 12", "expected 6 fields (topic Q0 doc rank score tag), got 4"),
        ("301 Q0 FT911 1 2.0", "expected 6 fields (topic Q0 doc rank score tag), got 5"),
        ("301 Q0 FT911 1 2.0 tag tag", "expected 6 fields (topic Q0 doc rank score tag), got 7"),
        ("301 Q0 FT911 1 nan tag", "expected a finite score, got 'nan'"),
        ("301 Q0 FT911 1 -Infinity tag", "expected a finite score, got '-Infinity'"),
        ("301 Q0 FT911 1 1e999 tag", "expected a finite score, got '1e999'"),
        ("301 Q0 FT911 1 high tag", "expected a number as score, got 'high'"),
        ("301 Q0 FT911 1 1_000 tag", "expected a number as score, got '1_000'"),
        ("301 Q0 FT911 1 0x10 tag", "expected a number as score, got '0x10'"),
        ("301 Q0 FT911 1 ١ tag", "expected a number as score, got '١'"),
    ],
)
@pytest.mark.parametrize("before", ["1 Q0 a 1 2 t\n", "# comment\r\n\r\n"], ids=["plain", "odd"])
def test_bad_run_lines(folder: Path, refused, before: str, line: str, problem: str) -> None:
    (folder / "r.txt").write_text(f"{before}{line}\n1 Q0 a\n", newline="")
    hint = ". It looks like qrels; qrels come before runs" if "got 4" in problem and before.startswith("#") else ""
    with refused(f"r.txt:{before.count(chr(10)) + 1}: {problem}: {line!r}{hint}"):
        read_run("r.txt")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("301 0 FT911", "expected 4 fields (topic iteration doc label), got 3"),
        ("301 0 FT911 rel", "expected a number as label, got 'rel'"),
        ("301 0 FT911 -", "expected a number as label, got '-'"),
        ("301 0 FT911 inf", "expected a finite label, got 'inf'"),
    ],
)
def test_bad_qrels_lines(folder: Path, refused, line: str, problem: str) -> None:
    (folder / "q.txt").write_text(f"301 0 a 1\n301 0 b 1\n{line}\n")
    with refused(f"q.txt:3: {problem}: {line!r}"):
        read_qrels("q.txt")


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["1 0 a b 1", "1 0 c 1", "1 0 d 1"], "q.txt:1: expected 4 fields (topic iteration doc label), got 5"),
        (
            ["1 0 a 1", "1 0 c 1 0", "1 0 d 2 1"],
            "q.txt:1: expected 5 fields (topic iteration doc stratum label), got 4",
        ),
    ],
)
def test_a_first_line_that_is_unlike_the_others(folder: Path, refused, lines: list[str], problem: str) -> None:
    (folder / "q.txt").write_text("\n".join(lines) + "\n")
    with refused(f"{problem}: {lines[0]!r}"):
        read_qrels("q.txt")


def test_a_run_given_as_qrels(folder: Path, refused) -> None:
    (folder / "r.txt").write_bytes(RUN_TEXT)
    message = "expected 4 fields (topic iteration doc label), got 6: '1 Q0 a 1 2.5 tag'"
    with refused(f"r.txt:1: {message}. It looks like a run; qrels come before runs"):
        read_qrels("r.txt")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("qid Q0 docno rank score tag", ". It looks like the names of columns"),
        ("1 Q0 docno rank score tag", ""),
        ("qid Q0 d rank nan tag", ""),
    ],
)
def test_a_line_of_names(folder: Path, refused, line: str, hint: str) -> None:
    (folder / "r.txt").write_bytes(line.encode() + b"\n" + RUN_TEXT)
    wanted = "a finite score, got 'nan'" if "nan" in line else "a number as score, got 'score'"
    with refused(f"r.txt:1: expected {wanted}: '{line}'{hint}"):
        read_run("r.txt")
    (folder / "r.txt").write_bytes(RUN_TEXT + line.encode() + b"\n")  # below others it is no header
    with pytest.raises(DataError) as caught:
        read_run("r.txt")
    assert "names of columns" not in str(caught.value)


def test_long_lines_are_shortened(folder: Path, refused) -> None:
    (folder / "r.txt").write_text("1 Q0 " + "d" * 500 + " 1 2\n")
    shown = "1 Q0 " + "d" * 72 + "..."
    with refused(f"r.txt:1: expected 6 fields (topic Q0 doc rank score tag), got 5: '{shown}'"):
        read_run("r.txt")


@pytest.mark.parametrize("content", [b"\n", b" \r\n\t\n", b"# nothing\n", b"\xef\xbb\xbf"])
def test_files_without_data(folder: Path, refused, content: bytes) -> None:
    (folder / "r.txt").write_bytes(content)
    with refused("r.txt: expected a run, got no line with data"):
        read_run("r.txt")
    with refused("r.txt: expected qrels, got no line with data"):
        read_qrels("r.txt")


@pytest.mark.parametrize("content", [RUN_TEXT + b"1 Q0 a\0b 1 2 t\n", RUN_TEXT + b"\0\n", RUN_TEXT + b"1\0 Q0"])
def test_nul_bytes(folder: Path, refused, content: bytes) -> None:
    (folder / "r.txt").write_bytes(content)
    with refused("r.txt:4: expected text, got a NUL byte (is this UTF-16, or a binary file?): write it in UTF-8"):
        read_run("r.txt")


def test_decimal_comma(folder: Path, refused) -> None:
    (folder / "r.txt").write_bytes(RUN_TEXT + b"1 Q0 z 1 2,5 t\n")
    with refused("r.txt:4: expected a number as score, got '2,5': '1 Q0 z 1 2,5 t'. Write a decimal point"):
        read_run("r.txt")


def test_utf_16(folder: Path, refused) -> None:
    (folder / "r.txt").write_text(RUN_TEXT.decode(), encoding="utf-16")
    with refused("r.txt:1: expected text, got a NUL byte (is this UTF-16, or a binary file?): write it in UTF-8"):
        read_run("r.txt")


def test_no_line_is_wrong_and_yet_polars_complains(folder: Path, refused, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise pl.exceptions.ComputeError("a bug")

    monkeypatch.setattr(text, "_scan", fail)
    (folder / "r.txt").write_bytes(RUN_TEXT)
    with refused("r.txt: cannot be read as a run: a bug"):
        read_run("r.txt")


class TestLines:
    """Some lines of a text, which come after others."""

    @pytest.mark.parametrize("more", [b"", b"\n"], ids=["plain", "odd"])
    @pytest.mark.parametrize(("layout", "line"), [(RUN, b"1 Q0 a 1 2 t\n"), (QRELS, b"1 0 a 2\n")])
    def test_a_byte_order_mark_is_none_but_at_the_start(self, layout: Layout, line: bytes, more: bytes) -> None:
        data = b"\xef\xbb\xbf" + line + line + more
        assert read_lines(data, layout, "f").rows() == [("1", "a", 2.0)] * 2
        assert read_lines(data, layout, "f", before=3).rows() == [("\ufeff1", "a", 2.0), ("1", "a", 2.0)]

    @pytest.mark.parametrize("start", ["", "\ufeff"])
    @pytest.mark.parametrize("before", [1, 7])
    def test_lines_are_counted_from_the_start_of_the_file(self, refused, start: str, before: int) -> None:
        data = f"{start}1 Q0 a 1 2 t\n1 Q0 b\n".encode()
        with refused(f"f:{before + 2}: expected 6 fields (topic Q0 doc rank score tag), got 3: '1 Q0 b'"):
            read_lines(data, RUN, "f", before=before)
        with refused(
            f"f:{before + 1}: character U+10FFFF is kept for bytes that are not UTF-8; remove it from the file"
        ):
            read_lines(f"{start}\U0010ffff Q0 b 1 2 t\n".encode(), RUN, "f", before=before)

    def test_only_the_first_line_of_a_file_tells_what_it_is(self, refused) -> None:
        problem = "expected 6 fields (topic Q0 doc rank score tag), got 4: '1 0 a 1'"
        for before, hint in ((0, ". It looks like qrels; qrels come before runs"), (1, "")):
            with refused(f"f:{before + 1}: {problem}{hint}"):
                read_lines(b"1 0 a 1\n", RUN, "f", before=before)

    def test_a_mark_is_shown_where_it_is_part_of_the_line(self, refused) -> None:
        for before, shown in ((0, "1 Q0"), (2, "\ufeff1 Q0")):
            with refused(f"f:{before + 1}: expected 6 fields (topic Q0 doc rank score tag), got 2: {shown!r}"):
                read_lines(b"\xef\xbb\xbf1 Q0\n", RUN, "f", before=before)

    def test_no_line_with_data(self) -> None:
        assert read_lines(b"# nothing\n", RUN, "f").schema == {
            "query_id": pl.String,
            "doc_id": pl.String,
            "score": pl.Float64,
        }


def test_all_fields(refused) -> None:
    frame = read_fields(b"1  s1 a 2\n\n1 s2 a 0\n", QRELS, "f")
    assert frame.columns == ["query_id", "iteration", "doc_id", "relevance"]
    assert frame.rows() == [("1", "s1", "a", 2.0), ("1", "s2", "a", 0.0)]
    with refused("f:2: expected a number as label, got 'x': '1 s a x'"):
        read_fields(b"1 s a 1\n1 s a x\n", QRELS, "f")


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"1 0 a 1\n1 1 b 1\n", True),
        (b"1 0 a 1\n2 0 b 1\n", False),
        (b"1 0 a 1\n1 1 b\n1 2 b 1 1\n", False),  # not four fields
        (b"1 0 a 1\n# 1 b 1\n", False),
        (b"\xef\xbb\xbf# 1 b 1\n1 0 a 1\n", False),
    ],
)
def test_iterations(head: bytes, found: bool) -> None:
    assert has_iterations(head) is found


def test_which_lines_are_text() -> None:
    run, qrels = b"1 Q0 a 1 2 t\n", b"1\t0 a -1"
    assert is_text(run)
    assert is_text(qrels)
    assert is_text(qrels, QRELS)
    assert not is_text(qrels, RUN)
    assert is_text(qrels, RUN, QRELS)
    assert not is_text(b"1 Q0 a 1 x t")
    assert not is_text(b"1 0 a")


class TestLargeFile:
    @pytest.fixture
    def large(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> LargeFile:
        """Ten bytes, of which the system gives four at a time."""
        pread = os.pread
        monkeypatch.setattr(os, "pread", lambda file, size, start: pread(file, min(size, 4), start))
        monkeypatch.setattr(text, "_SLICE", 3)
        (folder / "f").write_bytes(b"0123456780")
        return LargeFile((folder / "f").open("rb"), "f")

    def test_is_its_bytes(self, large: LargeFile) -> None:
        assert len(large) == 10
        assert (large[2:9], large[:3], large[8:], large[9:99], large[5:5]) == (b"2345678", b"012", b"80", b"0", b"")
        assert bytes(large) == b"0123456780"

    def test_finds(self, large: LargeFile) -> None:
        assert [large.find(b"0", start) for start in (0, 1, 9, 10)] == [0, 9, 9, -1]
        assert [large.find(b"%d" % digit, 1) for digit in range(1, 9)] == [1, 2, 3, 4, 5, 6, 7, 8]
        assert large.find(b"9", 0) == -1

    def test_all_of_it_needs_memory(self, large: LargeFile, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []
        monkeypatch.setattr(text, "check_memory", lambda *given: asked.append(given))
        bytes(large)
        assert asked == [("f", 10)]

    def test_cannot_be_read(self, large: LargeFile, monkeypatch: pytest.MonkeyPatch, refused) -> None:
        def fail(*_: object) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "pread", fail)
        with refused("f: cannot be read: Input/output error"):
            large[:]

    def test_changed(self, large: LargeFile, refused) -> None:
        Path("f").write_bytes(b"012")
        with refused("f: changed while it was read; wait until it is complete"):
            large[:2]

    def test_is_closed_with_the_last_of_it(self, folder: Path) -> None:
        (folder / "f").write_bytes(b"")
        file = (folder / "f").open("rb")
        LargeFile(file, "f")
        gc.collect()
        assert file.closed


def test_memory_of_unusual_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """About six times the text, which is asked for before anything is done."""
    asked = []
    monkeypatch.setattr(text, "check_memory", lambda *given: asked.append(given))
    read_text(b"1  Q0 a 1 2 t\n", RUN, "f")
    assert asked == [("f", 6 * 14)]


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        (b"1 Q0 a\n", "Write each line as: topic Q0 doc rank score tag, with no blank inside a field."),
        (b"1 Q0 a 1 x t\n", "Write a finite number in this field."),
        (b"1\0\n", "Write the file as text in UTF-8."),
        (b"\n", "Write the file again, or leave it out."),
    ],
)
def test_what_to_do(data: bytes, remedy: str) -> None:
    with pytest.raises(DataError) as caught:
        read_text(data, RUN, "f")
    assert caught.value.remedy == remedy
