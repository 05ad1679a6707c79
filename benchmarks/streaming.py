"""Runs larger than memory: peak memory and speed as the file grows, read in chunks and as a whole.

`python streaming.py [--lines 1 5 20 100] [--whole 20] [--chart FILE]` (in millions) prints the table of
docs/benchmarks.md. Every file holds 1,000 topics of which 100 documents each are judged: what grows is only the run.
Files are written to the folder for temporary files, one at a time, and deleted; 100 million lines take 4 GB.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from environment import verdict

TOPICS, JUDGED, DOCUMENTS = 1000, 100, 3_200_000
KINDS = {"text": "run.txt", "Parquet": "run.parquet"}
WAYS = ("chunks", "whole")
_BAR = (20, "text", "chunks")


def write(folder: Path, millions: int) -> None:
    """A run of so many lines as text and as Parquet, ids as in MS MARCO; the judgments are always as many."""
    depth = millions * 1_000_000 // TOPICS
    rng = np.random.default_rng(millions)
    step = DOCUMENTS // depth
    parts = folder / "parts.parquet"
    parts.mkdir()
    batch = max(1, 2_000_000 // depth)
    with (folder / "run.txt").open("wb") as run, (folder / "qrels.txt").open("wb") as qrels:
        for first in range(0, TOPICS, batch):
            topics = np.arange(first, min(first + batch, TOPICS))
            documents = np.arange(depth) * step + rng.integers(0, step, (len(topics), depth))
            rng.permuted(documents, axis=1, out=documents)
            ids = "D" + pl.Series(documents.ravel()).cast(pl.String).str.zfill(7)
            frame = pl.DataFrame(
                {
                    "query_id": np.repeat(topics + 1, depth),
                    "q0": "Q0",
                    "doc_id": ids,
                    "rank": np.tile(np.arange(1, depth + 1), len(topics)),
                    "score": np.round(30 * np.sort(rng.random((len(topics), depth)), axis=1)[:, ::-1], 6).ravel(),
                    "tag": "run000",
                }
            )
            frame.write_csv(run, separator=" ", include_header=False, float_precision=6)
            rows = np.concatenate(
                [at * depth + rng.choice(min(2 * JUDGED, depth), JUDGED, replace=False) for at in range(len(topics))]
            )
            judged = frame[rows].select("query_id", "q0", "doc_id", label=pl.Series(rng.integers(0, 4, len(rows))))
            judged.write_csv(qrels, separator=" ", include_header=False)
            frame.select(pl.col("query_id").cast(pl.String), "doc_id", "score").write_parquet(
                parts / f"part-{first}.parquet"
            )
    pl.scan_parquet(parts / "*.parquet").sink_parquet(folder / "run.parquet")
    for part in parts.iterdir():
        part.unlink()


def measure(folder: str, kind: str, way: str) -> None:
    """In a process of its own: seconds, processor seconds, the most memory held, and the scores in short."""
    import gainful.io.chunks
    from gainful import evaluate

    gainful.io.chunks.STREAMED = 0 if way == "chunks" else 1 << 60
    cpu, started = time.process_time(), time.perf_counter()
    scores = evaluate(f"{folder}/qrels.txt", f"{folder}/{KINDS[kind]}", ["nDCG@20", "AP"])
    taken, cpu = time.perf_counter() - started, time.process_time() - cpu
    peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    found = {
        "seconds": taken,
        "cpu": cpu,
        "peak": int(peak[1]) / 1024 if peak else float("nan"),
        "scores": hashlib.sha256(scores.values.tobytes()).hexdigest(),
    }
    print(json.dumps(found))


def measured(folder: Path, kind: str, way: str) -> dict[str, float]:
    """What a fresh process tells."""
    command = [sys.executable, __file__, "--measure", str(folder), kind, way]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def table(millions: list[int], whole: int, repeat: int) -> list[dict]:
    """Both ways take turns; the quickest counts, since the machine may have other work."""
    rows = []
    for size in millions:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, size)
            found: dict[tuple[str, str], list[dict]] = {}
            for _ in range(repeat if size <= whole else 1):
                for kind in KINDS:
                    for way in WAYS:
                        if way == "chunks" or size <= whole:
                            found.setdefault((kind, way), []).append(measured(folder, kind, way))
            assert len({one["scores"] for timings in found.values() for one in timings}) == 1
            for (kind, way), timings in found.items():
                best = {key: min(one[key] for one in timings) for key in ("seconds", "cpu")}
                peak = max(one["peak"] for one in timings)
                bytes_on_disk = (folder / KINDS[kind]).stat().st_size
                row = {"millions": size, "kind": kind, "way": way, "peak": peak, "bytes": bytes_on_disk, **best}
                rows.append(row)
                speed = f"{best['seconds']:7.2f} s (CPU {best['cpu']:6.2f} s)  {size / best['seconds']:5.2f}M lines/s"
                file = f"{size:4d}M lines  {kind:8s} {bytes_on_disk / 2**20:7,.0f} MiB"
                met = size / best["seconds"] >= 20 and peak <= 300
                bar = f"  bar ≥ 20M lines/s, about 261 MiB: {verdict(met)}" if (size, kind, way) == _BAR else ""
                print(f"{file}  {way:7s} {speed}  peak {peak:6,.0f} MiB{bar}", flush=True)
    return rows


def draw(rows: list[dict], chart: str) -> None:
    """Memory and speed against the size, in chunks and as a whole; by processor time, which others do not change."""
    from gainful.charts import load_altair, save_chart, styled

    alt = load_altair()
    names = {"chunks": "in chunks", "whole": "as a whole"}
    frame = pl.DataFrame(
        [{**row, "read": f"{row['kind']}, {names[row['way']]}", "speed": row["millions"] / row["cpu"]} for row in rows]
    )
    ticks = alt.Axis(values=sorted({row["millions"] for row in rows}))
    panels = [
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=alt.X("millions:Q", title="million lines", scale=alt.Scale(type="log", nice=False), axis=ticks),
            y=alt.Y(f"{column}:Q", title=title, scale=scale),
            color=alt.Color("read:N", title=None, sort=None),
            tooltip=["read", "millions", alt.Tooltip(f"{column}:Q", title=title, format=",.1f")],
        )
        .properties(width=300, height=260)
        for column, title, scale in (
            ("peak", "peak memory, MiB", alt.Scale(type="log", nice=False, domain=[50, 2_000])),
            ("speed", "million lines per processor second", alt.Scale(zero=True)),
        )
    ]
    save_chart(styled(alt.hconcat(*panels), "Scoring one run, as its file grows"), chart)


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, nargs="+", default=[1, 5, 20, 100], help="sizes, in millions of lines")
    parser.add_argument("--whole", type=int, default=20, help="up to which size files are also read as a whole")
    parser.add_argument("--repeat", type=int, default=3, help="timings, of which the quickest counts")
    parser.add_argument("--chart", help="draw the growth into this file")
    parser.add_argument("--json", type=Path, help="write all figures to this file, or draw those in it if it exists")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
        return
    if options.json and options.json.exists():
        rows = json.loads(options.json.read_text())
    else:
        print(f"{os.cpu_count()} cores, polars {pl.__version__}", flush=True)
        rows = table(options.lines, options.whole, options.repeat)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    if options.chart:
        draw(rows, options.chart)


if __name__ == "__main__":
    main()
