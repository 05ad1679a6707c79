"""The threshold that training chooses is the one that `gf.threshold.fit` finds, by other code."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gainful as gf
from gainful.errors import GainfulError
from gainful.ltrf.targets import Scale
from gainful.ltrf.validation import Validation

GAINS = {-2: -10.0, 0: 0.0, 1: 1.0, 2: 3.0}
SCALE = Scale.of(GAINS)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("cutoff", [1, 3, 20])
def test_best_threshold(seed, cutoff):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, 15)
    labels = rng.choice([-2, 0, 1, 2], sizes.sum(), p=[0.15, 0.2, 0.35, 0.3])
    scores = np.round(rng.normal(size=sizes.sum()) + labels / 3, 1)  # many ties
    ids = [f"d{n}" for n in rng.permutation(sizes.sum())]
    found = Validation(SCALE, labels, sizes, cutoff=cutoff, doc_ids=ids).best(scores)
    ends = np.cumsum(sizes)
    qrels, run = {}, {}
    for query, (start, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        qrels[f"q{query}"] = {ids[d]: float(SCALE.gain(labels[d])) for d in range(start, end)}
        run[f"q{query}"] = {ids[d]: float(scores[d]) for d in range(start, end)}
    cut = gf.threshold.fit(qrels, run, measure=f"nDCGf@{cutoff}", resamples=1, folds=2, repeats=1)
    assert found.value == pytest.approx(float(cut.curve.score[cut.number]), abs=1e-12)
    # Scores are whole tenths: halfway down to the next lower one keeps the same documents.
    assert (scores >= found.threshold).tolist() == (scores >= cut.threshold).tolist()
    shown = {query: {d: s for d, s in docs.items() if s >= found.threshold} for query, docs in run.items()}
    assert gf.evaluate(qrels, shown, f"nDCGf@{cutoff}").summary()[0, 0] == pytest.approx(found.value, abs=1e-12)


def test_by_hand():
    """Pools {2, -10} and {1}: the second query's document is worth 1, the first query's good one 2/12 at rank 1."""
    judged = Validation(Scale.of({0: -10.0, 1: 1.0, 2: 2.0}), [2, 0, 1], [2, 1], cutoff=3)
    assert judged.empty == pytest.approx((10 / 12 + 0) / 2)
    assert judged.best([0.9, 0.1, 0.5]) == pytest.approx((1.0, 0.3))
    # The forbidden document on top can only go with everything below it: keep the third alone.
    assert judged.best([0.5, 0.8, 0.9]) == pytest.approx(((10 / 12 + 1) / 2, 0.85))


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_scores_that_are_none(score):
    """NaN would sort first, and threshold and value of a broken model would look like any other."""
    with pytest.raises(GainfulError) as caught:
        Validation(SCALE, [1, -2], [1, 1], cutoff=3).best([0.2, score])
    assert str(caught.value) == "expected finite scores, got others"


def test_nothing_or_everything():
    assert Validation(SCALE, [-2, -2], [1, 1], cutoff=3).best([0.2, 0.4]) == (1.0, math.inf)
    assert Validation(SCALE, [1, 2], [1, 1], cutoff=3).best([0.2, 0.4]) == (1.0, 0.2)
    assert Validation(SCALE, [0], [1], cutoff=3).best([0.2]) == (0.0, 0.2)  # undefined counts 0; nothing is cut
