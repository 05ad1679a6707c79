"""Which column of a table holds what: by its name, by what the reader calls it, or by its place without a header."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from gainful.data.policies import Columns
from gainful.errors import DataError, GainfulError, did_you_mean, setting, spoken
from gainful.io.text import BOM, Layout

# The first that is there counts: PyTerrier's frames have its own "docid" beside the "docno" that was judged, and the
# text of the "query" beside its "qid".
SPELLINGS = {
    "query_id": ("query_id", "qid", "q_id", "topic", "topic_id", "queryid", "question_id", "query", "question"),
    "doc_id": (
        *("doc_id", "docno", "corpus_id", "document", "document_id", "docid", "doc"),
        *("passage_id", "pid", "passage", "chunk_id", "chunk", "node_id"),
    ),
    "relevance": ("relevance", "label", "rel", "grade", "judgment", "judgement"),
    "score": ("score", "sim", "similarity"),
    "rank": ("rank", "position"),
    "run": ("run", "run_id", "run_name", "system"),
    "iteration": ("iteration", "iter"),
    "stratum": ("stratum",),
    "inclusion": ("inclusion", "inclusion_probability"),
}
IDS = ("query_id", "doc_id")
_UNNAMED = "without names"
# Columns of a table without a header, by their number.
_PLACES = {
    "relevance": {3: (*IDS, "relevance"), 4: ("query_id", "iteration", "doc_id", "relevance")},
    "score": {3: (*IDS, "score"), 6: ("query_id", "q0", "doc_id", "rank", "score", "run")},
}


def named_columns(given: Columns) -> tuple[tuple[str, str], ...]:
    """What the reader calls columns, checked."""
    if not given:
        return ()
    pairs: Iterable[tuple[Any, Any]]
    if isinstance(given, Mapping):
        pairs = given.items()
    elif isinstance(given, str) or not all(isinstance(word, str) for word in given):
        raise GainfulError(f"{setting('columns')}: expected a dict such as {{'query_id': 'question'}}, got {given!r}")
    else:
        words = [part for word in given for part in word.split(",")]
        pairs = [(ours.strip(), theirs.strip()) for ours, _, theirs in (word.partition("=") for word in words)]
    found: dict[str, str] = {}
    for ours, theirs in pairs:
        if ours not in SPELLINGS:
            reverse = f" Write {_example({theirs: ours})}: gainful's name comes first." if theirs in SPELLINGS else ""
            hint = reverse or did_you_mean(str(ours), SPELLINGS)
            raise GainfulError(f"{setting('columns')}: expected one of {', '.join(SPELLINGS)}, got {ours!r}.{hint}")
        if not isinstance(theirs, str | int) or isinstance(theirs, bool) or theirs == "":
            raise GainfulError(
                f"{setting('columns')}: expected the name or number of a column as {ours}, got {theirs!r}"
            )
        found[ours] = str(theirs)
    return tuple(found.items())


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def check_once(names: Sequence[str], found: Mapping[str, str], where: str) -> None:
    """Refuse a column that is there twice and matters: which of them counts, nobody has said."""
    wanted = {*map(_plain, found.values())}
    seen: dict[str, str] = {}
    for name in names:
        if _plain(name) in seen:
            both = f"{seen[_plain(name)]!r} and {name!r}"
            raise DataError(f"{where}: expected each column once, got {both}; rename or remove one")
        if _plain(name) in wanted:
            seen[_plain(name)] = name


def check_header(line: bytes, separator: str, layout: Layout, where: str) -> None:
    """The same of the columns that a line names."""
    text = line.removeprefix(BOM).decode("utf-8", "replace").strip("\r\n")
    with suppress(csv.Error):  # which whoever reads the table words better
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
        check_once(names, match_columns(names, layout), where)


def match_columns(names: Sequence[str], layout: Layout) -> dict[str, str]:
    """Which of these columns holds what: gainful's name → the name found."""
    plain = {_plain(name): name for name in reversed(names)}
    optional = ("iteration", "stratum", "inclusion") if layout.judged else ("rank", "run")
    found = _given(names, layout)
    for column in (*IDS, layout.value, *optional):
        spelling = next((spelling for spelling in SPELLINGS[column] if spelling in plain), None)
        if column not in found and spelling is not None and plain[spelling] not in found.values():
            found[column] = plain[spelling]
    # BEIR calls the labels scores; elsewhere a score means that this is a run.
    if layout.judged and "relevance" not in found and "score" in plain and "corpus_id" in plain:
        found["relevance"] = plain["score"]
    wanted = (*IDS, layout.value, *optional)
    return {column: found[column] for column in wanted if column in found}


def _given(names: Sequence[str], layout: Layout) -> dict[str, str]:
    """The columns that the reader has named, as far as they are there; a number is a place, counted from 1."""
    found = {}
    for column, name in layout.named:
        if name in names:
            found[column] = name
        elif name.isdecimal() and 1 <= int(name) <= len(names):
            found[column] = names[int(name) - 1]
    return found


def needed_columns(names: Sequence[str], layout: Layout, where: str) -> dict[str, str]:
    """What `match_columns` found, if that is enough."""
    found = match_columns(names, layout)
    check_once(names, found, where)
    missing = [column for column in (*IDS, layout.value) if column not in found]
    if "rank" in found and layout.value in missing:
        missing.remove(layout.value)
    if not missing:
        return found
    wanted = ", ".join((*IDS, layout.value))
    got = ", ".join(names) or "none"
    if _is_numbered(names):
        got = f"{len(names)} {_UNNAMED}"
    message = f"{where}: expected columns {wanted}, got {got}"
    others = {name.strip().lower() for name in names}
    if {"measure", "score"} <= others:
        raise DataError(f"{message}. It looks like a table of scores, which takes the place of judgments and runs")
    if layout.judged and others & {*SPELLINGS["score"], *SPELLINGS["rank"]}:
        raise DataError(f"{message}. It looks like a run; qrels come before runs")
    if not layout.judged and others & {*SPELLINGS["relevance"]}:
        raise DataError(f"{message}. It looks like qrels; qrels come before runs")
    raise ColumnsError(message, *missing, remedy="Rename the columns, or say what they are called.")


class ColumnsError(DataError):
    """A table without columns that are needed: what was got, and the names of those missing."""

    def __str__(self) -> str:
        message, *missing = map(str, self.args)
        if message.endswith(_UNNAMED):
            places = {column: str(place) for place, column in enumerate((*IDS, missing[-1]), 1)}
            return f"{message}: say which column is which, such as {_example(places)}."
        known = [f"{column} may be called {_either(SPELLINGS[column][1:])}" for column in missing]
        return f"{message}. {'; '.join(known)}. For any other name: {_example(dict.fromkeys(missing[:1], 'NAME'))}."


def _either(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)


def _example(columns: Mapping[str, str]) -> str:
    """As the reader would write it: columns={'doc_id': 'chunk'}, or --columns doc_id=chunk."""
    if spoken.get() == "python":
        return f"columns={columns}"
    return f"--columns {','.join(f'{ours}={theirs}' for ours, theirs in columns.items())}"


def _is_numbered(names: Sequence[str]) -> bool:
    return bool(names) and list(names) == [str(number) for number in range(1, len(names) + 1)]


def added_header(line: bytes, separator: str, layout: Layout) -> bytes:
    """The header that a table lacks that begins with this line; nothing if it has one, or says nothing.

    A line is no header if it has a number after the ids and no name that could be one of an id.
    """
    text = line.removeprefix(BOM).decode("utf-8", "replace").strip("\r\n")
    try:
        cells = next(csv.reader([text], delimiter=separator), [])
    except csv.Error:  # which whoever reads the table words better
        return b""
    places = [str(number) for number in range(1, len(cells) + 1)]
    by_name = replace(layout, named=tuple(pair for pair in layout.named if not pair[1].isdecimal()))
    if match_columns(cells, by_name).keys() & {*IDS}:
        return b""
    numbers = [cell for cell in cells[2:] if _is_number(cell)]
    if not numbers or cells in (places, [str(at) for at in range(len(cells))]):
        return b""
    names: Sequence[str] = places
    by_place = _PLACES[layout.value].get(len(cells))
    # A whole number may be a rank, of which a lower one is better: that is for the reader to say.
    doubtful = not layout.judged and len(cells) == len(IDS) + 1 and cells[2].strip().isdecimal()
    if by_place is not None and not layout.named and not doubtful:
        names = by_place
    return (separator.join(names) + "\n").encode()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
