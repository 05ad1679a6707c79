"""Read each file as evaluation would, and look at what it then goes by: topics, ranks, scores, tags, ids."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.data.align import align
from gainful.data.notes import notes_of, signs_of
from gainful.data.qrels import Qrels
from gainful.data.rankings import Rankings
from gainful.data.run import LargeRun, RawRun, Run, UnreadRun
from gainful.errors import DataError, DuplicateError, GainfulError, setting
from gainful.io.columns import SPELLINGS
from gainful.io.files import HEAD, load, read_bytes, unpacked
from gainful.io.read import Entry, entries_of, read_qrels
from gainful.io.sources import Selection
from gainful.io.strays import stray
from gainful.io.text import WRITE_AGAIN
from gainful.progress import track
from gainful.results import percent, plural, some
from gainful.verbs.check.fields import Fields, byte_findings, fields_of, rank_findings, tag_findings
from gainful.verbs.check.qrels import check_qrels
from gainful.verbs.check.result import FileCheck, Finding
from gainful.verbs.source import check_columns

# Ties are worth a warning from this share of documents on.
_TIED = 0.5
# A topic has few documents if it has less than this share of what is usual in the run, where that is not few itself.
_FEW, _USUAL = 0.1, 20
# What the column or key of a topic's id is called, beside one of its text.
_TOPIC = (*(name for name in SPELLINGS["query_id"] if name not in ("query", "question")), "id", "_id")
_SAME_IDS = "Check that both have the ids of the same corpus, written alike."
_REMEDIES = {
    "all-tied": "Give each document a score of its own, such as 1/rank.",
    "rank-contradicts-score": "Make the score fall as the rank grows: negate the scores, or swap the columns back.",
    "no-topic-matches": "Use the topic ids of the judgments.",
    "no-document-matches": _SAME_IDS,
    "mostly-unjudged": "Check that the run was made on this corpus; judge more documents if it was.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What files must keep to."""

    max_docs: int | None
    labels: tuple[float, ...] | None
    tag_is_name: bool
    topics: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """The runs of files that were checked before."""

    names: dict[str, str] = field(default_factory=dict)  # the file of each
    contents: dict[int, str] = field(default_factory=dict)  # by a hash of all topics, documents and scores: its name


def split(files: Any, runs: Any) -> tuple[Any, Any]:
    """Judgments, or None, and runs."""
    if runs is not None:
        return files, runs
    listed = list(files) if isinstance(files, list | tuple) else [files]
    first = listed[0] if listed else None
    if not isinstance(first, str | os.PathLike) or str(first) == "-" or not os.path.isfile(first):
        return None, files
    try:
        content = unpacked_head(Path(first))
    except DataError:
        return None, files
    if stray(content, Path(first)) != "qrels":
        return None, files
    if len(listed) < 2:
        return first, ()
    return first, listed[1:]


def unpacked_head(path: Path) -> bytes:
    """The first bytes of a file."""
    return load(path).data[:HEAD]


def topics_in(source: Any) -> tuple[str, ...]:
    """Ids of topics: given, or those of a file."""
    if not isinstance(source, str | os.PathLike):
        return tuple(map(str, source))
    text = bytes(unpacked(read_bytes(Path(source)), Path(source)).data).decode("utf-8", "replace")
    if "<top" in text:
        numbers = re.findall(r"<num>\s*(?:Number:)?\s*([^\s<]+)|<topic\s[^>]*?(?:number|id)=[\"']([^\"']+)", text)
        found = [first or second for first, second in numbers]
    else:
        lines = (line.strip() for line in text.removeprefix("\ufeff").splitlines())
        found = [_topic(line, source) for line in lines if line and not line.startswith("#")]
        if found and found[0].lower() in _TOPIC:  # a header
            del found[0]
    if not found:
        raise DataError(f"{source}: expected the ids of topics, one per line, got none")
    return tuple(dict.fromkeys(found))


def _topic(line: str, source: object) -> str:
    """The id that a line begins with, or has under a key of JSON."""
    if not line.startswith("{"):
        return re.split(r"[\s,;]", line, maxsplit=1)[0].strip('"')
    try:
        record = json.loads(line)
        return str(next(record[key] for key in _TOPIC if key in record))
    except (ValueError, StopIteration):
        raise DataError(f"{source}: expected objects with a key such as query_id or _id, got {line[:40]!r}") from None


def check_files(qrels: Any, runs: Any, limits: Limits, selection: Selection) -> tuple[FileCheck, ...]:
    """All files, the judgments first."""
    found: list[FileCheck] = []
    judged: Qrels | None = None
    entries = [] if isinstance(runs, tuple) and not runs else entries_of(runs, selection)
    check_columns(qrels, entries, dict(selection.columns))
    if qrels is not None:
        name = str(qrels) if isinstance(qrels, str | os.PathLike) else "qrels"
        try:
            judged = read_qrels(qrels, columns=dict(selection.columns))
            one = check_qrels(judged, name, limits.labels)
        except DataError as error:
            if name != "qrels" and not os.path.exists(name):
                raise
            one = FileCheck(file=name, run=None, kind="qrels", findings=(_refused(error),))
        found.append(one)
        if any(finding.code in ("unreadable", "duplicate") for finding in one.findings):
            judged = None  # nothing can be joined with it
    seen = _Seen()
    for entry in track(entries, len(entries), "Checking files"):
        found += _check_entry(entry, judged, limits, seen)
    return tuple(found)


def _refused(error: GainfulError) -> Finding:
    remedy = getattr(error, "remedy", "") or WRITE_AGAIN
    return Finding(level="error", code="unreadable", text=str(error), remedy=remedy)


def _check_entry(entry: Entry, judged: Qrels | None, limits: Limits, seen: _Seen) -> Iterator[FileCheck]:
    file = str(entry) if entry.path is not None else entry.name or entry.default
    try:
        found = entry.read(raw=False)
        for run in found:
            if isinstance(run, UnreadRun):
                first = "; give judgments first" if run.reason == "qrels" and judged is None else ""
                yield FileCheck(file=file, run=None, kind="no run", what=f"{run.reason}{first}")
            else:
                yield _check_run(run, entry, file, judged, limits, seen)
    except DataError as error:
        if entry.path is not None and not entry.searched and not os.path.exists(entry.path):
            raise
        yield FileCheck(file=file, run=entry.name or entry.default, kind="run", findings=(_refused(error),))


def _check_run(
    run: Run | RawRun | LargeRun, entry: Entry, file: str, judged: Qrels | None, limits: Limits, seen: _Seen
) -> FileCheck:
    whole = run if isinstance(run, Run) else run.read()
    frame, findings = whole.frame, []
    if whole.name in seen.names:
        text = f"two runs are called {whole.name!r}; the other is in {seen.names[whole.name]}"
        findings.append(Finding(level="error", code="same-name", text=text, remedy="Rename one of them."))
    seen.names.setdefault(whole.name, file)
    twin = seen.contents.setdefault(_hash(frame), whole.name)
    if twin != whole.name and frame.height:
        text = f"The same topics, documents and scores as in run {twin!r}."
        remedy = "Ask whether it was sent in twice, or in place of another run."
        findings.append(Finding(level="warning", code="same-content", text=text, remedy=remedy))
    fields = fields_of(entry)
    topics, first = frame["query_id"].unique(maintain_order=True), frame.select("query_id", "doc_id")
    twice = first.is_duplicated()
    if twice.any():
        findings.append(_duplicates(whole, twice, fields))
    known = limits.topics if limits.topics is not None else None if judged is None else tuple(judged.topics)
    of_judgments = None
    if judged is not None and not twice.any():
        rankings = align(judged, [whole])
        of_judgments = rankings if rankings.systems else None
        if of_judgments is None:
            return FileCheck(file=file, run=None, kind="no run", what="settings, since none of its topics is judged")
    notes = notes_of(of_judgments) if of_judgments is not None else whole.notes
    findings += [
        Finding(level="warning", code=note.code, text=note.text, remedy=_REMEDIES.get(note.code, "")) for note in notes
    ]
    said = {finding.code for finding in findings}
    findings += _topics(topics, known, said)
    findings += _lengths(frame, limits)
    if fields is not None:
        findings += tag_findings(fields, entry.default, tag_is_name=limits.tag_is_name)
        findings += rank_findings(fields) if "rank-contradicts-score" not in said else ()
        findings += byte_findings(fields)
    tied = float(frame.select(pl.struct("query_id", "score").is_duplicated().mean()).item()) if frame.height else 0.0
    if tied >= _TIED and "all-tied" not in said:
        text = f"{percent(tied)} of the documents share their score with another one of their topic."
        findings.append(Finding(level="warning", code="ties", text=text, remedy=_REMEDIES["all-tied"]))
    if of_judgments is not None and judged is not None and "no-topic-matches" not in said:
        findings += _corpus(frame, judged)
    return FileCheck(
        file=whole.name if entry.path is None else file,
        run=whole.name,
        kind="run",
        topics=len(topics),
        documents=frame.height,
        judged=None if of_judgments is None else _judged_share(of_judgments),
        tied=tied,
        findings=tuple(sorted(findings, key=lambda finding: finding.level != "error")),
    )


def _hash(frame: pl.DataFrame) -> int:
    """Of all rows, in any order."""
    rows = frame.select("query_id", "doc_id", "score").hash_rows().to_numpy()
    return hash((len(rows), int(np.sum(rows, dtype=np.uint64))))


def _duplicates(run: Run, twice: pl.Series, fields: Fields | None) -> Finding:
    at = run.frame.with_columns(at=pl.int_range(pl.len())).filter(twice)
    topic, document = at.select("query_id", "doc_id").row(0)
    same = at.filter((pl.col("query_id") == topic) & (pl.col("doc_id") == document))["at"].to_list()
    where = "" if fields is None else f" (lines {' and '.join(fields.line(row).split(' ')[1] for row in same[:2])})"
    number = at.select("query_id", "doc_id").n_unique()
    more = f"; {plural(number - 1, 'other document')} likewise" if number > 1 else ""
    text = f"{DuplicateError(f'run {run.name!r}: document {document!r} appears twice in topic {topic!r}{where}{more}')}"
    return Finding(level="error", code="duplicate", text=text, remedy="Keep each document once per topic.")


def _topics(topics: pl.Series, known: tuple[str, ...] | None, said: set[str]) -> Iterator[Finding]:
    if known is None or "no-topic-matches" in said:
        return
    there = dict.fromkeys(topics)
    wanted = set(known)
    strangers = [topic for topic in there if topic not in wanted]
    missing = [topic for topic in known if topic not in there]
    if strangers:
        text = f"{plural(len(strangers), 'topic')} of {len(there)} not known, and not scored: {some(strangers)}."
        yield Finding(level="warning", code="unknown-topics", text=text, remedy="Use the ids of the task's topics.")
    if missing:
        text = f"Nothing for {len(missing)} of {plural(len(known), 'topic')}: {some(missing)}."
        remedy = f"Complete the run; as it is, {setting('missing')} decides how these topics count."
        yield Finding(level="warning", code="missing-topics", text=text, remedy=remedy)


def _lengths(frame: pl.DataFrame, limits: Limits) -> Iterator[Finding]:
    sizes = frame.group_by("query_id", maintain_order=True).agg(size=pl.len())
    if limits.max_docs is not None:
        long = sizes.filter(pl.col("size") > limits.max_docs)
        if long.height:
            topic, size = long.row(0)
            text = (
                f"More than {limits.max_docs} documents in {plural(long.height, 'topic')}: for example {size} in "
                f"{topic!r}."
            )
            remedy = f"Keep the first {limits.max_docs} of each topic."
            yield Finding(level="error", code="too-many-documents", text=text, remedy=remedy)
    usual = float(np.median(sizes["size"].to_numpy())) if sizes.height else 0.0
    short = sizes.filter(pl.col("size") < _FEW * usual)
    if usual >= _USUAL and short.height:
        named = some([f"{topic} ({size})" for topic, size in short.iter_rows()])
        text = f"Few documents in {plural(short.height, 'topic')}: {named}; {usual:g} are usual in this run."
        yield Finding(level="warning", code="few-documents", text=text, remedy="Check whether the run is complete.")


def _corpus(frame: pl.DataFrame, judged: Qrels) -> Iterator[Finding]:
    documents, pool = frame["doc_id"].unique(), judged.frame["doc_id"].unique()
    if not documents.is_in(pool.implode()).any():
        text = (
            f"None of the {plural(len(documents), 'document')} is among the {len(pool)} of the judgments: one of the "
            f"run is {documents[0]!r}, one of the judgments {pool[0]!r}."
        )
        yield Finding(level="warning", code="unknown-documents", text=text, remedy=_SAME_IDS)


def _judged_share(rankings: Rankings) -> float | None:
    """The share of the first ten documents that are judged, of those that could be, over topics; as notes have it."""
    share = signs_of(rankings)[0]
    known = ~np.isnan(share)
    return float(share[known].mean()) if known.any() else None
