from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from gainful.data.cube import Cube, complete_cube
from gainful.data.policies import Gaps
from gainful.verbs.evaluate import read_scores

ROWS = [(run, measure, topic, 0.5) for measure in ("AP", "GMAP") for run in "ab" for topic in "312"]


def cube(rows, gaps: Gaps = "error") -> Cube:
    return complete_cube(
        read_scores(pl.DataFrame(rows, schema=["run", "measure", "query_id", "score"], orient="row")), gaps=gaps
    )


def test_axes():
    found = cube(ROWS)
    assert found.values.shape == (2, 2, 3)
    assert (found.measures, found.systems, found.geometric) == (("AP", "GMAP"), ("a", "b"), (False, True))


def test_topics_that_one_measure_lacks_are_left_out_of_all_in_the_order_of_the_scores():
    given = [
        (run, measure, topic, float(topic))
        for run, measure, topic, _ in ROWS
        if (run, measure, topic) not in {("b", "AP", "1")}
    ]
    found = cube(given, gaps="drop")
    kept = [float(topic) for topic in found.topics]
    assert set(kept) == {2.0, 3.0}
    assert found.values.tolist() == [[kept, kept]] * 2


def test_weighted_means():
    values = np.array([[[0.2, 0.4, 0.9]], [[0.1, 0.1, 0.4]]])
    found = Cube(
        values=values, measures=("AP", "GMAP"), systems=("a",), topics=("1", "2", "3"), geometric=(False, True)
    )
    means = found.means(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]]))
    assert means.shape == (2, 2, 1)
    assert means[:, 0, 0] == pytest.approx([0.3, 2.2 / 3])
    assert means[:, 1, 0] == pytest.approx([0.1, (0.1 * 0.4**2) ** (1 / 3)])
