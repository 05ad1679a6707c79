"""How far raters agree on labels: counts in, coefficients out, vectorised over leading axes.

Counts are … × labels × labels; `values` are the labels, ascending. All are NaN where they are undefined: nothing was
rated by two, or all ratings are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gainful.stats.resample import FloatArray

IntArray = NDArray[np.int64]
Weights = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]


def cohen(counts: FloatArray, values: FloatArray, weights: Weights = "none") -> FloatArray:
    """Cohen's κ of two raters, from how often the first gave a label (rows) and the second another one (columns).

    κ = 1 − Σ w·o/Σ w·e, with o the counts and e those of two raters who give their labels at random. w is 0 for the
    same label and else 1 (none), the difference of the two labels (linear), or its square (quadratic).

    >>> round(float(cohen(np.array([[20.0, 5.0], [10.0, 15.0]]), np.array([0.0, 1.0]))), 3)
    0.4
    """
    apart = np.abs(values[:, None] - values)
    weight = {"none": (apart > 0.0).astype(np.float64), "linear": apart, "quadratic": apart**2}[weights]
    total = counts.sum(axis=(-2, -1))
    chance = counts.sum(axis=-1)[..., :, None] * counts.sum(axis=-2)[..., None, :]
    observed, expected = (counts * weight).sum(axis=(-2, -1)), (chance * weight).sum(axis=(-2, -1))
    return 1.0 - _ratio(observed * total, expected)


def krippendorff(coincidences: FloatArray, values: FloatArray, level: Level = "nominal") -> FloatArray:
    """Krippendorff's α of any number of raters, from what `coincidences_of` counts.

    α = 1 − (n − 1)·Σ o·δ²/Σ n_c·n_k·δ², with o the coincidences, n_c their sum for a label and n for all. δ² is 1 for
    different labels (nominal), the square of their difference (interval), or of the number of ratings from the one
    label to the other, half of those with either of them (ordinal).

    >>> ratings = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    >>> counted = coincidences_of(ratings, np.zeros(4, np.int64), topics=1, labels=2)
    >>> round(float(krippendorff(counted.sum(axis=0), np.array([0.0, 1.0]))), 3)
    0.533
    """
    number = coincidences.sum(axis=-1)
    total = number.sum(axis=-1)
    if level == "ordinal":
        # The ratings below a label and half of its own: differences of these count what is between two labels.
        middle = np.cumsum(number, axis=-1) - number / 2.0
        apart = (middle[..., :, None] - middle[..., None, :]) ** 2
    else:
        difference = values[:, None] - values
        apart = difference**2 if level == "interval" else (difference != 0.0).astype(np.float64)
    observed = (coincidences * apart).sum(axis=(-2, -1))
    expected = (number[..., :, None] * number[..., None, :] * apart).sum(axis=(-2, -1))
    return 1.0 - _ratio((total - 1.0) * observed, expected)


def counts_of(first: IntArray, second: IntArray, topic: IntArray, *, topics: int, labels: int) -> FloatArray:
    """Topics × labels × labels: how often which two labels were given; a rating of -1 is a gap."""
    both = (first >= 0) & (second >= 0)
    return _counted(topic[both], first[both], second[both], None, topics, labels)


def coincidences_of(ratings: IntArray, topic: IntArray, *, topics: int, labels: int) -> FloatArray:
    """Topics × labels × labels: all pairs of ratings of a thing by different raters, each thing with its m ratings.

    Things × raters, -1 for gaps; a pair counts 1/(m − 1), and things with fewer than two ratings do not.
    """
    given = ratings >= 0
    share = 1.0 / np.maximum(given.sum(axis=1) - 1.0, 1.0)
    found = np.zeros((topics, labels, labels))
    for one in range(ratings.shape[1]):
        for other in range(ratings.shape[1]):
            if one != other:
                both = given[:, one] & given[:, other]
                found += _counted(topic[both], ratings[both, one], ratings[both, other], share[both], topics, labels)
    return found


def rates(counts: FloatArray, relevant: Sequence[bool]) -> tuple[FloatArray, FloatArray]:
    """Sensitivity and specificity of the second rater by the first one's labels.

    The share of what the first calls relevant that the second does, too; and the same for what is not relevant.
    """
    yes = np.asarray(relevant, np.bool_)
    both, no = counts[..., yes, :][..., yes].sum(axis=(-2, -1)), counts[..., ~yes, :][..., ~yes].sum(axis=(-2, -1))
    return _ratio(both, counts[..., yes, :].sum(axis=(-2, -1))), _ratio(no, counts[..., ~yes, :].sum(axis=(-2, -1)))


def agreed(counts: FloatArray) -> FloatArray:
    """The share of what both rated that has the same label."""
    return _ratio(np.trace(counts, axis1=-2, axis2=-1), counts.sum(axis=(-2, -1)))


def _counted(
    topic: IntArray, first: IntArray, second: IntArray, share: FloatArray | None, topics: int, labels: int
) -> FloatArray:
    cell = (topic * labels + first) * labels + second
    counted = np.bincount(cell, weights=share, minlength=topics * labels * labels)
    return counted.reshape(topics, labels, labels).astype(np.float64)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """NaN where there is nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(whole > 0, part / whole, np.nan), np.float64)
