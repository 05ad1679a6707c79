"""What TREC text says besides topics, documents and scores: ranks, tags, bytes; and in which line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gainful import _polars as pl
from gainful.io.archives import Member
from gainful.io.files import load, unpacked
from gainful.io.read import Entry
from gainful.io.text import LARGE, RUN, read_fields, shorten
from gainful.results import plural, some
from gainful.verbs.check.result import Finding

# Larger files are not read a second time for what scores do not depend on.
_MOST = 16 * LARGE


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """All columns of a run in TREC text, as they are written, and the text itself."""

    frame: pl.DataFrame
    data: bytes

    def line(self, row: int) -> str:
        """'line 17 (301 Q0 FT911 12 0.5 mine)' for a row of the frame; lines without data count, too."""
        seen = -1
        for number, line in enumerate(self.data.split(b"\n"), 1):
            words = line.split()
            seen += bool(words) and not words[0].startswith(b"#")
            if seen == row:
                return f"line {number} ({shorten(line)})"
        return f"row {row + 1}"


def fields_of(entry: Entry) -> Fields | None:
    """The columns of a file of TREC text that was read without complaint; None for anything else."""
    if entry.path is None or not Path(entry.path).is_file() or Path(entry.path).stat().st_size > _MOST:
        return None
    source = entry.found()
    content = unpacked(source.read(), source.place) if isinstance(source, Member) else load(Path(str(source)))
    if content.format != "text":
        return None
    data = bytes(content.data)
    return Fields(read_fields(data, RUN, content.where), data)


def tag_findings(fields: Fields, name: str, *, tag_is_name: bool) -> Iterator[Finding]:
    """More than one tag, or one that is not the name of the file."""
    tags = fields.frame["tag"].unique(maintain_order=True).to_list()
    if len(tags) > 1:
        second = int((fields.frame["tag"] == tags[1]).arg_max() or 0)
        text = f"The run has {len(tags)} tags ({some(tags, 3)}); the second begins in {fields.line(second)}."
        yield Finding(level="warning", code="tags", text=text, remedy="Write the same tag in every line.")
    if tag_is_name and tags != [name]:
        text = f"The tag is {tags[0]!r}, and the file is called {name!r}."
        yield Finding(level="error", code="tag-is-not-name", text=text, remedy="Rename the file, or change the tag.")


def rank_findings(fields: Fields) -> Iterator[Finding]:
    """Topics in which a document ranks after one with a lower score; ranks that are all the same mean nothing."""
    frame = fields.frame.with_columns(
        at=pl.int_range(pl.len()),
        rank=pl.col("rank").cast(pl.Float64, strict=False),
        score=pl.col("score").cast(pl.Float32),
    )
    if frame["rank"].n_unique() < 2 or frame["rank"].null_count():
        return
    ranked = frame.sort("query_id", "rank", maintain_order=True)
    wrong = ranked.filter(
        (pl.col("query_id") == pl.col("query_id").shift(1))
        & (pl.col("rank") > pl.col("rank").shift(1))
        & (pl.col("score") > pl.col("score").shift(1))
    )
    if wrong.height:
        topics, number = wrong["query_id"].n_unique(), frame["query_id"].n_unique()
        text = (
            f"In {topics} of {plural(number, 'topic')} a document has a higher score than one that ranks before it, "
            f"for example in {fields.line(int(wrong['at'].to_numpy().min()))}. Documents are ranked by score."
        )
        remedy = "Make the score fall as the rank grows."
        yield Finding(level="warning", code="rank-contradicts-score", text=text, remedy=remedy)


def byte_findings(fields: Fields) -> Iterator[Finding]:
    """Ids that are not UTF-8."""
    try:
        fields.data.decode()
    except UnicodeDecodeError as error:
        line = fields.data.count(b"\n", 0, error.start) + 1
        text = f"Not UTF-8 from line {line} on; bytes stay what they are, and ids must have the same bytes everywhere."
        yield Finding(level="warning", code="encoding", text=text, remedy="Write the file in UTF-8.")
