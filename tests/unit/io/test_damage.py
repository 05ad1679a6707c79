"""Damaged Parquet and Arrow files that made polars end the process are refused; good ones of all makers pass."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from gainful.errors import DataError
from gainful.io import damage
from gainful.io.read import read_run

N = 3000
FRAME = pl.DataFrame(
    {
        "query_id": [str(i // 100) for i in range(N)],
        "doc_id": [f"dé{i}" for i in range(N)],
        "score": np.linspace(0, 1, N),
        "lists": [[1, 2]] * N,
        "nothing": pl.Series([None] * N, dtype=pl.Int64),
        "category": pl.Series([str(i % 7) for i in range(N)], dtype=pl.Categorical),
        "flag": [True, False] * (N // 2),
    }
)
TABLE = pa.table(
    {
        "a": pa.array(range(N)),
        # A dictionary of which one entry is used.
        "d": pa.DictionaryArray.from_arrays(pa.array([0] * N), pa.array([f"x{i}" for i in range(N + 1000)])),
        "n": pa.nulls(N),
        "s": ["x", None] * (N // 2),
    }
)
SMALL = FRAME.select("query_id", "doc_id", "score").head(3)


def written(write: Callable[..., object], *first: object, **options: object) -> bytes:
    buffer = io.BytesIO()
    write(*first, buffer, **options)
    return buffer.getvalue()


@pytest.fixture(autouse=True)
def understood(monkeypatch):
    """Whatever is not understood is passed on, so that these tests would see nothing."""
    monkeypatch.setattr(damage, "_NOT_UNDERSTOOD", ())


class TestParquet:
    @pytest.mark.parametrize(
        "options",
        [
            *({"compression": name} for name in ("zstd", "snappy", "lz4", "gzip", "uncompressed")),
            {"row_group_size": 100},
            {"data_page_size": 100},
            {"statistics": "full"},
        ],
        ids=str,
    )
    def test_good_ones_of_polars(self, options):
        for rows in (0, 1, N):
            damage.check_parquet(written(FRAME.head(rows).write_parquet, **options), "f")

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"data_page_version": "2.0"},
            {"version": "1.0"},
            {"use_dictionary": False},
            {"compression": "zstd", "data_page_size": 100},
            {"write_page_index": True},
        ],
        ids=str,
    )
    def test_good_ones_of_pyarrow(self, options):
        damage.check_parquet(written(pyarrow.parquet.write_table, TABLE, **options), "f")

    def test_a_page_of_less_than_nothing(self, tmp_path):
        """-31 values, taken for 2^64 - 31: 'memory allocation of 2305843009213693952 bytes failed', and SIGABRT."""
        data = written(SMALL.write_parquet)
        # The data page of three values: type 0, sizes, and its header, the first field of which is 3 in zigzag.
        at = data.index(b"\x15\x06\x15", data.index(b"\x15\x00\x15")) + 1
        (tmp_path / "x.parquet").write_bytes(data[:at] + b"\x3d" + data[at + 1 :])
        with pytest.raises(
            DataError, match=r"x\.parquet: cannot be read as Parquet: damaged, a number of values of -31$"
        ):
            read_run(tmp_path / "x.parquet")


class TestArrow:
    @pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
    def test_good_ones(self, compression):
        for rows in (0, 1, N):
            damage.check_arrow(written(FRAME.head(rows).write_ipc, compression=compression), "f")
            damage.check_arrow(written(FRAME.head(rows).write_ipc_stream, compression=compression), "f")
        damage.check_arrow(written(pyarrow.feather.write_feather, TABLE, compression=compression), "f")

    @pytest.mark.parametrize("suffix", [".arrow", ".ipc"])
    def test_a_buffer_beyond_the_file(self, tmp_path, suffix):
        """'memory allocation of 72057594037927960 bytes failed', and SIGABRT."""
        data = written(SMALL.write_ipc if suffix == ".arrow" else SMALL.write_ipc_stream)
        at = data.rindex(struct.pack("<q", 24), 0, data.index(b"d\xc3\xa90"))  # three scores of eight bytes
        (tmp_path / f"x{suffix}").write_bytes(data[: at + 7] + b"\x01" + data[at + 8 :])
        message = rf"x\{suffix}: cannot be read as Arrow: damaged, a buffer of 72057594037927960$"
        with pytest.raises(DataError, match=message):
            read_run(tmp_path / f"x{suffix}")

    def test_a_buffer_that_unpacks_to_more_than_it_can(self):
        data = written(FRAME.select("score").write_ipc, compression="zstd")
        at = data.index(struct.pack("<q", 8 * N))
        with pytest.raises(DataError, match=r"^f: cannot be read as Arrow: damaged, a packed buffer of 1099511651776$"):
            damage.check_arrow(data[: at + 5] + b"\x01" + data[at + 6 :], "f")


@pytest.mark.parametrize("check", [damage.check_parquet, damage.check_arrow])
def test_what_is_not_understood_is_left_to_polars(check, monkeypatch):
    monkeypatch.undo()
    for data in (b"", b"PAR1", b"PAR1" * 9, b"ARROW1\0\0", b"\xff" * 40, b"x" * 100):
        try:
            check(data, "f")
        except DataError as error:
            assert "damaged" in str(error)  # noqa: PT017
