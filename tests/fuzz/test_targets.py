"""What fuzzing starts from, and what it once found: each input is read, or refused with an error of ours."""

from __future__ import annotations

import pytest

from fuzz import targets

FOUND = [
    # Scores by run whose measures hold no topics: AttributeError.
    ("scores-json", b'{"scores": {"a": {"AP": "AP", "RR": {"1": 0.5}}}}'),
    ("scores-json", b'{"scores": {"a": 1}}'),
    # Half of a surrogate pair, which JSON allows and text does not: UnicodeEncodeError.
    ("examples-jsonl", b'{"query_id": "1", "doc_id": "a", "label": 1, "\xed\xa0\x80": 2}\n'),
    ("examples-jsonl", b'{"query_id": "1", "doc_id": "\\ud800", "label": 1, "x": 2}\n'),
]


@pytest.mark.parametrize("name", targets.TARGETS)
def test_seeds(name):
    target = targets.TARGETS[name]
    for seed in target.seeds:
        target.check(seed)
        inside = targets.unpack(target, seed)
        assert targets.unpack(target, targets.pack(target, inside)) == inside


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_found(name, data):
    targets.TARGETS[name].check(data)
