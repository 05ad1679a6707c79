"""Whatever bytes a file holds, readers return or raise an error of ours; ten thousand times under `make fuzz`."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import GainfulError
from gainful.io.compression import compress
from gainful.io.read import read_qrels, read_run

RUN = pl.DataFrame({"query_id": ["1", "1", "é"], "doc_id": ["a", "b", "c"], "score": [1.5, -2.0, 1e-3]})
QRELS = RUN.rename({"score": "relevance"})
PIECES = [
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"#",
    b"\xef\xbb\xbf",
    b"\0",
    b"nan",
    b"1e999",
    b'"',
    b",",
    b"{",
    b"}",
    b"[",
    b"\xff",
]
PIECES += [b"\xf4\x8f\xbe\x80", b"\xed\xa0\x80", b"PAR1", b"1_0", b"null", b"\\ud800", b"\xff\xff\xff\x7f", b"\x1f\x8b"]


def binary(write: str) -> list[bytes]:
    contents = []
    for frame in (RUN, QRELS):
        buffer = io.BytesIO()
        getattr(frame, write)(buffer)
        contents.append(buffer.getvalue())
    return contents


TEXT = [
    "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in RUN.rows()).encode(),
    "".join(f"{q}\t0\t{d}\t{s}\n" for q, d, s in RUN.rows()).encode(),
]
SEEDS = {
    ".txt": TEXT,
    ".csv": [RUN.write_csv().encode(), QRELS.write_csv().encode()],
    ".tsv": [RUN.write_csv(separator="\t").encode(), QRELS.write_csv(separator="\t").encode()],
    ".jsonl": [RUN.write_ndjson().encode(), QRELS.write_ndjson().encode()],
    ".parquet": binary("write_parquet"),
    ".arrow": binary("write_ipc"),
    ".ipc": binary("write_ipc_stream"),
    ".gz": [gzip.compress(text) for text in TEXT],
    ".bz2": [bz2.compress(text) for text in TEXT],
    ".xz": [lzma.compress(text) for text in TEXT],
    ".zst": [compress(text, ".zst", "x") for text in TEXT],
}


def mutate(data: bytes, changes: random.Random, count: int) -> bytes:
    content = bytearray(data)
    for _ in range(count):
        at = changes.randrange(len(content) + 1)
        match changes.randrange(5):
            case 0:
                content[at : at + 1] = changes.randbytes(1)
            case 1:
                content[at:at] = changes.choice(PIECES)
            case 2:
                del content[at : at + changes.randint(1, 8)]
            case 3:
                del content[at:]
            case 4:
                content[at:at] = content[: changes.randint(0, 30)]
    return bytes(content)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", SEEDS)
@settings(max_examples=examples(910), deadline=None)
@given(st.data())
def test_any_bytes(suffix: str, data: st.DataObject) -> None:
    seeds = st.sampled_from([*SEEDS[suffix], b""])
    content = data.draw(
        st.builds(mutate, seeds, st.randoms(use_true_random=False), st.integers(0, 5)) | st.binary(max_size=50)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        path.write_bytes(content)
        for read, kind in ((read_qrels, Qrels), (read_run, Run)):
            try:
                assert isinstance(read(path), kind)
            except GainfulError as error:
                message = str(error)
            else:
                continue
            assert message.startswith(str(path))
