"""What the compiled core offers: judgments as an index, runs as hits.

Nothing here explains what is wrong with an input. On anything irregular the answer is None ("not mine"): the pure path
reads it again and says what is wrong, or takes what the core does not. Arrays come as bytes for `numpy.frombuffer`:
int64 or float64. All functions may be called by several threads; those on text release the GIL.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Buffer: TypeAlias = bytes | bytearray | memoryview | NDArray[np.int64]

# Ties: score as float32 then id; score as float64 then id; score as float64 then order; the same, with tied groups.
SINGLE: int
EXACT: int
ORDER: int
EXPECTED: int

class Index:
    """The pool: documents by topic, topics in the order of their first appearance. Never changes."""

    topics: tuple[str, ...]

    def __len__(self) -> int: ...  # documents of the pool
    def topic(self) -> bytes: ...  # int64 per document: its topic
    def label(self) -> bytes: ...  # float64 per document; NaN for pooled but unjudged
    def ids(self) -> list[str]: ...  # the documents' names

def index_text(data: Buffer, keep_first: bool, /) -> Index | None: ...
def index_dict(qrels: object, numbers: tuple[type, ...], mappings: tuple[type, ...], /) -> Index | None: ...
def index_columns(topics: tuple[str, ...], topic: Buffer, ids: Buffer, lengths: Buffer, /) -> Index | None: ...

# What was found in some whole topics:
# - per judged topic, in the order found: its number, how many documents it has (without repeated ones), and as float64
#   whether all of them have the same score (1) or not (0), NaN if there is but one;
# - per hit, by topic and rank: the topic's number, the rank, the document's number in the pool, and for EXPECTED the
#   first and the last rank of the documents that are tied with it (else nothing);
# - per document among the first `most` of a topic, by topic and rank: its number in the pool, -1 if it is not there;
# - per document, by topic and rank: its score as float64, if `scores` are asked for (else nothing);
# - the names of the documents listed; topics without judgments, in the order found, once or more; and how many
#   documents there were in all.
Matched: TypeAlias = tuple[
    bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, list[str], list[str], int
]

def match_text(
    index: Index,
    data: Buffer,
    own: int,
    begins: bool,
    ends: bool,
    ties: int,
    keep_first: bool,
    most: int,
    scores: bool,
    /,
) -> Matched | int | None:
    """Match what `data` holds of a text: the topics that begin in its first `own` bytes.

    A topic belongs to the place where it begins, so that blocks can be matched side by side: what comes before the
    first change of topic is the block's before, and the last topic goes on beyond `own`. `begins`: a topic begins here,
    as with the text (a byte order mark is not looked for); `ends`: the text ends here, or a topic. Returns 1 where more
    than `data` is needed, 2 for a topic that goes on after others.
    """

def cut_text(data: Buffer, at: int, /) -> int:
    """The first change of topic after the line of place `at`, where a topic is known to begin; -1 if not in `data`."""

def match_dict(
    index: Index,
    run: object,
    ties: int,
    most: int,
    scores: bool,
    numbers: tuple[type, ...],
    mappings: tuple[type, ...],
    /,
) -> Matched | None: ...
