"""Runs and judgments as trec_eval sees them: text after the tag, negative labels, ties, depth."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np

from gainful import _polars as pl
from gainful.data.align import align
from gainful.data.policies import Policies, Ties
from gainful.data.pool import Judged
from gainful.data.qrels import Qrels, RawQrels
from gainful.data.rankings import Rankings
from gainful.data.run import LargeRun, RawRun, Run, UnreadRun
from gainful.errors import DataError, DuplicateError
from gainful.io.compression import decompress_blocks, is_compressed
from gainful.io.encoding import decode
from gainful.io.files import Content, is_standard_input, load, standard_input
from gainful.io.read import AnyRun, iterate_runs
from gainful.io.text import RUN, is_text

_TAIL = 1 << 16
_POLICIES: dict[Ties, Policies] = {ties: Policies(ties=ties) for ties in get_args(Ties)}
# Text after the sixth field of a line that is no comment.
_AFTER_TAG = re.compile(rb"^([^\S\n]*[^\s#]\S*(?:[^\S\n]+\S+){5})[^\S\n]+\S[^\n]*", re.MULTILINE)


class RankedRun:
    """One run, which is read in the background from now on."""

    def __init__(self, run: object) -> None:
        self._source, self.tag = _source(run)
        self._reading = iterate_runs(self._source, raw=True)

    def join(
        self, judged: Judged, *, depth: int | None, judged_only: bool, exact: bool, ascending: bool = False
    ) -> Rankings:
        """The rankings; lines with text after their tag are understood, though slower than others.

        Documents with equal scores come in the descending order of their names, as in trec_eval; if `ascending`, in the
        other order, as in its preferences.
        """

        def joined(reading: Iterator[AnyRun]) -> Rankings:
            runs = (_by_name(run, exact=exact) if ascending else run for run in _one(reading))
            ties: Ties = "order" if ascending else "trec"
            return topics_of_trec(judged, runs, depth=depth, judged_only=judged_only, exact=exact, ties=ties)

        try:
            return joined(self._reading)
        except DataError:
            shorter = _without_text_after_tag(self._source)
            if shorter is None:
                raise
        return joined(iterate_runs(shorter, raw=True))


def _by_name(run: Run | RawRun | LargeRun, *, exact: bool) -> Run:
    """The run, sorted so that of two documents with equal scores that with the lesser name comes first."""
    whole = run if isinstance(run, Run) else run.read()
    score = pl.col("score") if exact else pl.col("score").cast(pl.Float32).cast(pl.Float64)
    frame = whole.frame.with_columns(score)
    return replace(whole, frame=frame.sort("query_id", "score", "doc_id", descending=[False, True, False]))


def _without_text_after_tag(source: object) -> dict[str, Content] | None:
    """The run by its name, without what follows its tags; None if nothing does."""
    if isinstance(source, Path) and not source.is_file():
        return None
    content = load(source) if isinstance(source, Path) else source
    if not isinstance(content, Content) or content.format != "text":
        return None
    data, times = _AFTER_TAG.subn(rb"\1", bytes(content.data))
    name = source.name if isinstance(source, Path) else "stdin"
    return {name: replace(content, data=data)} if times else None


def judged_in_trec(qrels: Qrels | RawQrels) -> Judged:
    """Judgments as trec_eval sees them: negative labels are not judged, and nothing is judged twice."""
    try:
        judged = Judged(qrels, "error", "unjudged")
    except DuplicateError as error:
        raise _without_policy(error) from None
    if judged.subtopics is not None:
        twice = np.flatnonzero((~np.isnan(judged.subtopics)).sum(axis=1) > 1)
        if len(twice):
            doc, topic = judged.doc[int(twice[0])], judged.topics[judged.topic[twice[0]]]
            raise DataError(
                f"qrels {qrels.name!r}: document {doc!r} is judged twice for topic {topic!r}: remove one, or use "
                "'gainful evaluate' for judgments by subtopic."
            )
    return judged


def topics_of_trec(
    judged: Judged,
    runs: Iterable[Run | RawRun | LargeRun],
    *,
    depth: int | None = None,
    judged_only: bool = False,
    exact: bool = False,
    ties: Ties = "trec",
) -> Rankings:
    """Rankings as trec_eval sees them: ranks beyond `depth` are cut off.

    Scores are compared as float32, as version 9 does; if `exact`, as float64, as version 10 does.
    """
    try:
        rankings = align(judged, runs, _POLICIES[ties], exact=exact)
    except DuplicateError as error:
        raise _without_policy(error) from None
    if depth is not None:
        retrieved = np.minimum(rankings.retrieved, depth)
        rankings = replace(rankings.with_hits(rankings.rank <= depth), retrieved=retrieved)
    return rankings.condensed() if judged_only else rankings


def without_negative(rankings: Rankings) -> Rankings:
    """Rankings whose negative labels are not judged, as trec_eval sees them."""
    label = np.append(np.where(rankings.grades < 0.0, -1, np.arange(len(rankings.grades))), -1)
    return replace(rankings, pool_grade=label[rankings.pool_grade])


def _without_policy(error: DuplicateError) -> DataError:
    """An error that speaks of none of gainful's policies, which trec_eval does not have."""
    return DataError(f"{error.args[0]}: remove one.")


def _source(run: object) -> tuple[object, Callable[[], str]]:
    """What to read as the run, and how to learn its tag; standard input is read here."""
    if is_standard_input(run):
        content = standard_input()
        return content, lambda: _last_tag(content.data[-_TAIL:])
    if isinstance(run, str | os.PathLike):
        path = Path(run)
        return path, lambda: _tag_of(path)
    return run, str


def _tag_of(path: Path) -> str:
    if path.is_dir():
        return ""
    with path.open("rb") as file:
        if is_compressed(file.read(_TAIL)):
            end = b""
            for block in decompress_blocks(path, str(path), _TAIL):
                end = (end + block)[-_TAIL:]
            return _last_tag(end)
        file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
        return _last_tag(file.read())


def _last_tag(content: bytes) -> str:
    """The tag on the last line of TREC text; nothing for other formats."""
    for line in reversed(content[-_TAIL:].splitlines()):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            first = fields[: len(RUN.fields)]
            return decode(first[-1]) if is_text(b" ".join(first), RUN) else ""
    return ""


def _one(found: Iterator[AnyRun]) -> Iterator[Run | RawRun | LargeRun]:
    """The only run."""
    runs = (run for run in found if not isinstance(run, UnreadRun))  # what lies beside it and is none
    yield next(runs)
    for other in runs:
        raise DataError(f"expected one run, got several, {other.name!r} among them")
