"""Bytes that are not UTF-8 come through."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gainful.io.encoding import decode, from_utf8, to_utf8
from gainful.io.read import read_run
from gainful.io.write import write_run


def test_an_undecodable_byte_is_a_private_use_character() -> None:
    assert decode(b"caf\xe9 \xc3\xa9 \x80\xff") == "caf\U0010ffe9 é \U0010ff80\U0010ffff"


def test_only_decoding_is_escaped() -> None:
    with pytest.raises(UnicodeEncodeError):
        "é".encode("ascii", "gainful.escape")


@given(st.binary() | st.text().map(str.encode))
def test_bytes_come_back(data: bytes) -> None:
    if not any(0x10FF80 <= ord(character) <= 0x10FFFF for character in data.decode("utf-8", "ignore")):
        assert from_utf8(to_utf8(data, "f")) == data


@given(st.binary(max_size=4), st.binary(max_size=4))
def test_equal_ids_have_equal_bytes(one: bytes, other: bytes) -> None:
    assert (decode(one) == decode(other)) == (one == other)


@pytest.mark.parametrize(
    "ids", [(b"caf\xe9", b"caf\xe8"), (b"\xff", b"\xfe"), (b"\xc3", b"\xc3\xa9"), (b"\xed\xa0\x80", b"\xed\xa0\x81")]
)
def test_a_file_with_bytes_is_written_as_it_was(folder: Path, ids: tuple[bytes, bytes]) -> None:
    content = b"1 Q0 %s 1 2.0 r\n\xe9 Q0 %s 1 1.0 r\n" % ids
    (folder / "r.txt").write_bytes(content)
    run = read_run("r.txt")
    assert run.frame["doc_id"].n_unique() == 2
    write_run(run, "r.txt")
    assert (folder / "r.txt").read_bytes() == content


@pytest.mark.parametrize("suffix", ["", ".csv", ".jsonl"])
@pytest.mark.parametrize(("character", "name"), [("\U0010ff80", "U+10FF80"), ("\U0010ffff", "U+10FFFF")])
def test_reserved_characters_are_refused(folder: Path, refused, character: str, name: str, suffix: str) -> None:
    (folder / f"r{suffix}").write_text(
        {
            "": f"1 Q0 a 1 2 t\n1 Q0 {character} 2 1 t\n",
            ".csv": f"qid,docno,score\n1,{character},1\n",
            ".jsonl": f'{{"qid": "1", "docno": "a", "score": 1}}\n{{"qid": "1", "docno": "{character}", "score": 1}}\n',
        }[suffix]
    )
    with refused(f"r{suffix}:2: character {name} is kept for bytes that are not UTF-8; remove it from the file"):
        read_run(f"r{suffix}")


def test_the_character_before_the_reserved_ones_is_not_reserved(folder: Path) -> None:
    (folder / "r").write_text("1 Q0 \U0010ff7f 1 2 t\n")
    assert read_run("r").frame["doc_id"].to_list() == ["\U0010ff7f"]
