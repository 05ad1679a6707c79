import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gainful.data.arrays import rankings_from_arrays
from gainful.errors import DataError, PolicyError
from gainful.measures import REGISTRY
from worlds import GRADED, World, measures

NAN, OUT = np.nan, -np.inf
# A document that is pooled and never returned changes what these measures estimate.
NOT_OF_SAMPLES = tuple(sorted(REGISTRY.keys() - {"statAP", "xinfAP", "infNDCG"}))


def by_rank(rankings) -> list[list[float | None]]:
    """By query, the labels by rank; None for unjudged."""
    found = [[None] * n for n in rankings.retrieved]
    for row, rank, grade in zip(rankings.row, rankings.rank, rankings.grade, strict=True):
        found[row][rank - 1] = float(rankings.grades[grade])
    return found


@pytest.mark.parametrize(
    ("labels", "scores", "mask", "expected"),
    [
        ([[3, 0, 1]], None, None, [[3, 0, 1]]),
        ([3, 0, 1], None, None, [[3, 0, 1]]),
        ([[3, 0, 1]], [[1, 3, 2]], None, [[0, 1, 3]]),
        ([[3, NAN, 1]], [[1, 3, 2]], None, [[None, 1, 3]]),
        ([[3, None, 1]], [[1, 3, 2]], None, [[None, 1, 3]]),
        ([[3, 0, 1]], [[1, OUT, 2]], None, [[1, 3]]),
        ([[3, NAN, 1]], [[1, OUT, 2]], None, [[1, 3]]),
        ([[3, 0, 1]], [[OUT, OUT, OUT]], None, [[]]),
        ([[3, 0, 1]], None, [[True, False, True]], [[3, 1]]),
        ([[3, 0, 1]], [[1, NAN, 2]], [[1, 0, 1]], [[1, 3]]),
        ([[3, 0, 1], [2, 0, 0]], [[1, 2, 3], [1, 9, 9]], [[1, 1, 1], [1, 0, 0]], [[1, 0, 3], [2]]),
        ([[1], [2, 3], []], None, None, [[1], [2, 3], []]),
        ([[1], [2, 3], []], [[5], [1, 2], []], None, [[1], [3, 2], []]),
        ([[1], [2, 3], []], [[5], [1, 2], []], [[True], [False, True], []], [[1], [3], []]),
        (np.array([[1, 2]], np.int8), np.array([[0.1, 0.2]], np.float32), np.array([[True, True]]), [[2, 1]]),
        (([1, 2], [3]), None, None, [[1, 2], [3]]),
        ([[True, False]], None, None, [[1, 0]]),
        ([], None, None, [[]]),
        ([[]], None, None, [[]]),
        (np.zeros((0, 3)), None, None, []),
        # Equal scores stay as given.
        ([[1, 2, 3]], [[5, 5, 5]], None, [[1, 2, 3]]),
        ([[1, 2, 3]], [[-0.0, 0.0, 1]], None, [[3, 1, 2]]),
    ],
)
def test_labels_by_rank(labels, scores, mask, expected):
    rankings = rankings_from_arrays(labels, scores, mask)
    assert by_rank(rankings) == expected
    assert rankings.systems == ("scores",)
    assert rankings.topics == tuple(str(query) for query in range(len(expected)))
    assert rankings.present.all()


def test_judged_documents_that_were_not_returned_are_in_the_pool():
    rankings = rankings_from_arrays([[3, 0, 1], [NAN, 2, 2]], [[1, OUT, OUT], [5, OUT, 1]], [[1, 1, 0], [1, 1, 1]])
    assert rankings.pool_topic.tolist() == [0, 0, 1, 1]
    assert rankings.grades[rankings.pool_grade].tolist() == [3, 0, 2, 2]
    assert rankings.document.tolist() == [0, 3]


def test_ties():
    rankings = rankings_from_arrays([[1, 0, NAN, 2, 3]], [[5, 5, 5, 1, OUT]], ties="expected")
    assert rankings.rank.tolist() == [1, 2, 4]
    assert rankings.tie_first.tolist() == [1, 1, 4]
    assert rankings.tie_last.tolist() == [3, 3, 4]
    assert rankings_from_arrays([[1, 0]], [[5, 5]]).tie_last.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, np.inf]],), "labels: expected finite numbers, or NaN for unjudged, got inf"),
        (([[1, 2]], [[1]]), "scores: expected the shape of labels, 1 × 2, got 1 × 1"),
        (([[1, 2]], [1]), "scores: expected the shape of labels, 1 × 2, got 1 × 1"),
        (([[1, 2], [3]], [[1], [2, 3]]), "scores: expected the shape of labels, 2 × 2 (ragged), got 2 × 2 (ragged)"),
        (([[1, 2], [3]], [[1, 2], [3, 4]]), "scores: expected the shape of labels, 2 × 2 (ragged), got 2 × 2"),
        (([[1, 2]], None, [[True]]), "mask: expected the shape of labels, 1 × 2, got 1 × 1"),
        (
            ([[1, 2]], [[1, NAN]]),
            "scores: expected a number (-inf for 'not returned') for query 0, document 1, got nan",
        ),
        (
            ([[1, 2], [1, 2]], [[1, 2], [np.inf, 2]]),
            "scores: expected a number (-inf for 'not returned') for query 1, document 0, got inf",
        ),
        ((np.zeros((1, 1, 1)),), "labels: expected queries × documents, got an array of 3 dimensions"),
        ((5,), "labels: expected queries × documents, got an array of 0 dimensions"),
        (("abc",), "labels: expected numbers, queries × documents, got str"),
        (({"q": 1},), "labels: expected numbers, queries × documents, got dict"),
        (([[1], ["x"]],), "labels: expected numbers, queries × documents, got list"),
        (([[[1], [2]], [[1]]],), "labels: expected one list of numbers per query"),
        (([[1], 2],), "labels: expected one list of numbers per query"),
        (([[1, 2]], None, "no"), "mask: expected numbers, queries × documents, got str"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        rankings_from_arrays(*arguments)


def test_ties_by_id_need_ids():
    message = "The 'ties' policy of arrays, which have no document ids, must be order or expected, got 'trec' instead."
    with pytest.raises(PolicyError, match=f"^{re.escape(message)}$"):
        rankings_from_arrays([[1]], ties="trec")


@settings(max_examples=60, deadline=None)
@given(
    documents=st.lists(
        st.lists(
            st.tuples(st.sampled_from((*GRADED, NAN)), st.sampled_from((0.0, 1.0, 1.5, OUT))), min_size=1, max_size=6
        ),
        min_size=1,
        max_size=4,
    ),
    chosen=st.lists(measures(NOT_OF_SAMPLES), min_size=6, max_size=6),
    ties=st.sampled_from(("order", "expected")),
)
def test_the_same_as_files(documents, chosen, ties):
    """Arrays score as the qrels and the run that they stand for."""
    labels, scores = [[d[0] for d in query] for query in documents], [[d[1] for d in query] for query in documents]
    rankings = rankings_from_arrays(labels, scores, ties=ties)
    qrels = {
        str(q): {"pooled": None, **{str(d): label for d, (label, _) in enumerate(query) if label == label}}
        for q, query in enumerate(documents)
    }
    rows = [(str(q), str(d), s) for q, query in enumerate(documents) for d, (_, s) in enumerate(query) if s > OUT]
    aligned = World(qrels, {"run": rows}).align(ties=ties)
    for measure in chosen:
        np.testing.assert_allclose(measure.compute(rankings), measure.compute(aligned), rtol=0, atol=1e-12)
