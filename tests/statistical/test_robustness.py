"""What theory says becomes of scores when judgments are dropped at random, on simulated runs with deep pools."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gainful as gf
from gainful.data.align import align

pytestmark = pytest.mark.slow

LEVELS = (0.1, 0.3)
BATCHES, TRIALS = 16, 5
MEASURES = ("bpref", "infAP", "AP", "nDCG(gain={1: 1, 2: 1, 3: 1, 4: 1})@1000")
BPREF, INFAP, AP, NDCG = range(4)


@pytest.fixture(scope="module")
def made() -> gf.Collection:
    return gf.simulate(topics=20, systems=6, depth=300, pool_depth=100, seed=11)


@pytest.fixture(scope="module")
def found(made) -> list[gf.Robustness]:
    """Batches from seeds of their own: how far they differ tells how far their mean may be off."""
    return [
        gf.robustness(made.qrels, made.runs, MEASURES, levels=LEVELS, trials=TRIALS, pairs=1, seed=seed)
        for seed in range(BATCHES)
    ]


def mean_and_error(values):
    """Over batches, the first axis: mean and standard error."""
    values = np.asarray(values)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))


def expectations(made, share):
    """Per run the exact expected AP and binary nDCG when ⌈f·R⌉ of a topic's R relevant documents are drawn.

    Every one stays with probability k/R, and so does another one, given the first, with (k - 1)/(R - 1). So
    E[AP] = (1/R)·Σ (1 + c·(k-1)/(R-1))/r over relevant documents at rank r with c relevant above, and
    E[nDCG] = (k/R)·DCG/IDCG_k: the ideal of k documents of gain 1 is the same whichever they are.
    """
    rankings = align(made.qrels, made.runs)
    good = rankings.grades[rankings.pool_grade] >= 1
    ap, ndcg = np.zeros((2, rankings.n_rows))
    above: dict[int, int] = {}
    for row, rank, document in zip(rankings.row, rankings.rank, rankings.document, strict=True):
        if good[document]:
            topic = row % len(rankings.topics)
            relevant = int(good[rankings.pool_topic == topic].sum())
            kept = max(1, math.ceil(share * relevant - 1e-9))
            c = above.get(row, 0)
            above[row] = c + 1
            ap[row] += (1 + c * (kept - 1) / max(relevant - 1, 1)) / rank / relevant
            ideal = sum(1 / math.log2(1 + i) for i in range(1, kept + 1))
            ndcg[row] += kept / relevant / math.log2(1 + rank) / ideal
    shape = (len(rankings.systems), len(rankings.topics))
    return ap.reshape(shape).mean(axis=1), ndcg.reshape(shape).mean(axis=1)


@pytest.mark.parametrize("at", [0, 1])
def test_ap_and_ndcg_fall_as_expected(made, found, at):
    """Every run within 5 standard errors of its exact expectation, their mean (all runs share the samples) within 4."""
    for m, expected in zip((AP, NDCG), expectations(made, LEVELS[at]), strict=True):
        runs, error = mean_and_error([one.scores[m, at] for one in found])
        assert (np.abs(runs - expected) < 5 * error).all()
        mean, error = mean_and_error([one.scores[m, at].mean() for one in found])
        assert abs(mean - expected.mean()) < 4 * error


@pytest.mark.parametrize(("m", "share"), [(NDCG, 0.13), (AP, 0.16)])
def test_that_would_notice_other_samples(made, found, m, share):
    """nDCG tells 13 per cent of the relevant documents from 10; AP, which varies more, 16 per cent."""
    expected = dict(zip((AP, NDCG), expectations(made, share), strict=True))[m].mean()
    mean, error = mean_and_error([one.scores[m, 0].mean() for one in found])
    assert abs(mean - expected) > 4 * error


def ratios(found, m):
    """Mean score at each level over that under all judgments, and its standard error."""
    return mean_and_error([one.scores[m].mean(axis=1) / one.full[m].mean() for one in found])


def test_ap_loses_most_of_its_value(found):
    assert ratios(found, AP)[0][0] < 0.35
    assert ratios(found, NDCG)[0][0] < 0.75


def test_infap_stays(found):
    """It estimates AP under all judgments: within 10 per cent at a tenth of them, 5 at three tenths; errors included.

    Not without bias: where few of those above a document are judged, it is some per cent too low. AP loses 3/4.
    """
    assert found[0].full[INFAP] == pytest.approx(found[0].full[AP], rel=1e-3)  # with all judged, infAP is AP
    mean, error = ratios(found, INFAP)
    assert (np.abs(mean - 1.0) + 2 * error < [0.1, 0.05]).all()


def test_bpref_stays(found):
    """Nonrelevant documents above and their limit shrink together: within 10 per cent, errors included."""
    mean, error = ratios(found, BPREF)
    assert (np.abs(mean - 1.0) + 2 * error < 0.1).all()


def test_order_gets_closer_with_more_judgments(found):
    tau = np.mean([one.tau()[:, :, 0] for one in found], axis=0)
    assert (tau[:, 1] > tau[:, 0]).all()
    assert (tau > 0.5).all()


def test_interval_covers_the_mean_of_many_trials():
    """95 per cent of the intervals of 8 trials hold the mean of them all; at least 85 of 100 do."""
    small = gf.simulate(topics=10, systems=8, depth=60, seed=2)
    every = gf.robustness(small.qrels, small.runs, "AP", levels=[0.3], trials=800, seed=3)
    truth = every.taus.mean()
    low, high = [], []
    for part in np.split(every.taus[0, 0], 100):
        half = 2.3646 * part.std(ddof=1) / math.sqrt(8)  # t, 7 degrees of freedom, 97.5 per cent
        low.append(part.mean() - half)
        high.append(part.mean() + half)
    first = gf.robustness(small.qrels, small.runs, "AP", levels=[0.3], trials=8, seed=3).tau()[0, 0]
    assert first[1:] == pytest.approx([low[0], min(high[0], 1.0)], abs=1e-4)
    covered = sum(a <= truth <= b for a, b in zip(low, high, strict=True))
    assert covered >= 85
