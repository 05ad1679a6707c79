from __future__ import annotations

import numpy as np
import pytest

from gainful.errors import GainfulError
from gainful.stats import resample
from gainful.stats.resample import (
    all_sign_flips,
    blocks,
    bootstrap_counts,
    check_resamples,
    generator,
    sign_flips,
)


class TestBlocks:
    @pytest.mark.parametrize(
        ("total", "width", "sizes"), [(10, 25, [4, 4, 2]), (8, 25, [4, 4]), (3, 1, [3]), (2, 999, [1, 1])]
    )
    def test_sizes(self, monkeypatch, total, width, sizes):
        monkeypatch.setattr(resample, "BLOCK", 100)
        assert list(blocks(total, width, "x")) == sizes

    def test_none(self):
        assert list(blocks(0, 0, "x")) == []

    def test_not_listed_beforehand(self):
        """A list of 10¹³ blocks would not fit into memory."""
        sizes = blocks(10**13, 10**9, "x")
        assert [next(sizes) for _ in range(3)] == [1, 1, 1]


class TestDraws:
    def test_counts_are_those_of_the_drawn(self):
        drawn = np.random.default_rng(3).integers(5, size=(40, 5))
        expected = [[list(row).count(thing) for thing in range(5)] for row in drawn]
        np.testing.assert_array_equal(bootstrap_counts(np.random.default_rng(3), 40, 5), expected)

    @pytest.mark.parametrize("draw", [bootstrap_counts, sign_flips])
    @pytest.mark.parametrize("n", [5, 8])
    def test_blocks_continue_each_other(self, draw, n):
        rng = generator(3)
        parts = np.vstack([draw(rng, 7, n), draw(rng, 1, n), draw(rng, 12, n)])
        np.testing.assert_array_equal(parts, draw(generator(3), 20, n))

    def test_signs(self):
        signs = sign_flips(np.random.default_rng(0), 1000, 4)
        assert set(np.unique(signs)) == {-1.0, 1.0}
        assert abs(signs.mean()) < 0.1

    def test_all_signs(self):
        everything = all_sign_flips(4)
        assert len({tuple(row) for row in everything}) == 16
        assert everything[0].tolist() == [1, 1, 1, 1]
        np.testing.assert_array_equal(np.vstack([all_sign_flips(4, 0, 5), all_sign_flips(4, 5, 16)]), everything)


class TestRefused:
    @pytest.mark.parametrize("seed", [-1, 1.5, True, "x", None])
    def test_seed(self, seed):
        with pytest.raises(GainfulError, match=f"^seed: expected a whole number of at least 0, got {seed}$"):
            generator(seed)

    @pytest.mark.parametrize("resamples", [0, -5, 2.5, True])
    def test_resamples(self, resamples):
        with pytest.raises(GainfulError, match=f"^resamples: expected a whole number of at least 1, got {resamples}$"):
            check_resamples(resamples)

    def test_more_than_anybody_waits_for(self):
        check_resamples(10_000_000)
        with pytest.raises(GainfulError, match=r"^resamples: expected at most 10,000,000, got 10,000,001$"):
            check_resamples(10_000_001)

    def test_numpy_numbers_are_fine(self):
        check_resamples(np.int64(5))
        assert generator(np.int64(5)).random() == generator(5).random()
