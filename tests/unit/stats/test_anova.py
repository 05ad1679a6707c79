"""Mean squares and what follows from them, against hand calculation, loops and statsmodels."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gainful.errors import GainfulError
from gainful.stats.anova import absolute_ratios, components, relative_ratios, reliability_of, two_way

# By hand: means 2 and 5, column means 2, 3 and 5.5, all 3.5; squares 13.5 (1 df), 13 (2) and 3 (2) of 29.5.
TABLE = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 8.0]])


def numbers(seed, *shape):
    return np.random.default_rng(seed).random(shape)


def by_loops(y):
    rows, columns = y.shape
    mean = y.mean()
    between_rows = sum(columns * (y[i].mean() - mean) ** 2 for i in range(rows)) / (rows - 1)
    between_columns = sum(rows * (y[:, j].mean() - mean) ** 2 for j in range(columns)) / (columns - 1)
    rest = sum((y[i, j] - y[i].mean() - y[:, j].mean() + mean) ** 2 for i in range(rows) for j in range(columns)) / (
        (rows - 1) * (columns - 1)
    )
    return between_rows, between_columns, rest


class TestTwoWay:
    def test_by_hand(self):
        squares = two_way(TABLE)
        assert (squares.rows, squares.columns, squares.residual) == pytest.approx((13.5, 6.5, 1.5))
        assert (squares.df_rows, squares.df_columns, squares.df_residual) == (1, 2, 2)

    @given(st.integers(0, 1000), st.integers(2, 6), st.integers(2, 7))
    def test_is_what_loops_give(self, seed, rows, columns):
        y = numbers(seed, rows, columns)
        squares = two_way(y)
        assert (squares.rows, squares.columns, squares.residual) == pytest.approx(by_loops(y))

    def test_is_what_statsmodels_gives(self):
        import pandas as pd
        from statsmodels.formula.api import ols
        from statsmodels.stats.anova import anova_lm

        y = numbers(3, 5, 8)
        frame = pd.DataFrame({"y": y.ravel(), "row": np.repeat(range(5), 8), "column": np.tile(range(8), 5)})
        table = anova_lm(ols("y ~ C(row) + C(column)", frame).fit())
        squares = two_way(y)
        assert [squares.rows, squares.columns, squares.residual] == pytest.approx(table["mean_sq"].to_list())
        one_way = anova_lm(ols("y ~ C(row)", frame).fit())
        assert squares.within_rows() == pytest.approx(one_way["mean_sq"]["Residual"])

    def test_many_tables_in_one_call(self):
        y = numbers(4, 2, 3, 4, 5)
        squares = two_way(y)
        assert squares.rows.shape == squares.columns.shape == squares.residual.shape == (2, 3)
        for at in np.ndindex(2, 3):
            alone = (squares.rows[at], squares.columns[at], squares.residual[at])
            assert alone == pytest.approx(by_loops(y[at]))

    def test_rounding_is_not_variance(self):
        same = np.tile([0.1, 0.7, 0.3, 1 / 3], (3, 1))
        additive = np.add.outer([0.1, 0.2, 1 / 3], [0.7, 0.1, 0.3, 0.6])
        assert two_way(same).rows == two_way(same).residual == 0.0
        assert two_way(same).columns > 0.1
        assert two_way(additive).residual == 0.0
        assert two_way(np.full((3, 4), 1 / 3)).columns == 0.0
        # The more cells, the more of it; few rows of many columns have as much as their cells make.
        assert two_way(np.add.outer(numbers(1, 3), numbers(2, 600))).residual == 0.0

    def test_rounding_is_that_of_the_table(self):
        """What would be lost in a table of large numbers is not in one beside it."""
        squares = two_way(np.stack([TABLE, TABLE * 1e-14, np.zeros((2, 3))]))
        assert squares.rows == pytest.approx([13.5, 13.5e-28, 0.0], rel=1e-9, abs=0)
        assert squares.residual == pytest.approx([1.5, 1.5e-28, 0.0], rel=1e-9, abs=0)

    def test_small_differences_at_a_high_level_are_kept(self):
        y = np.floor(numbers(8, 3, 7) * 10)
        assert two_way(y + 2.0**40).residual == pytest.approx(by_loops(y)[2], rel=1e-9)

    @pytest.mark.parametrize("scale", [1e-140, 1e-75, 1e75, 1e140])
    def test_scale_changes_no_ratio(self, scale):
        table = np.array([[0.1, 0.2, 0.4], [0.3, 0.5, 0.6], [0.2, 0.5, 1.0]])
        for ratios in (relative_ratios, absolute_ratios):
            expected = np.array(ratios(two_way(table), 0.95))
            assert np.array(ratios(two_way(table * scale), 0.95)) == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("scale", [1e300, 1e-300, 1e141, 1e-141])
    def test_what_cannot_be_squared_is_refused(self, scale):
        message = (
            "expected numbers whose squares can be held, the largest between 1e-140 and 1e+140, got "
            f"{scale:g}: multiply all of them by the same factor"
        )
        with pytest.raises(GainfulError, match=f"^{re.escape(message)}$"):
            two_way(np.array([[0.1, 0.2], [0.3, 1.0]]) * scale)

    def test_leaves_its_argument_alone(self):
        y = TABLE.copy()
        two_way(y)
        assert (y == TABLE).all()


class TestRatios:
    def test_components_by_hand(self):
        assert components(two_way(TABLE)) == pytest.approx((4.0, 2.5, 1.5))  # 12/3, 5/2, 1.5

    def test_feldt(self):
        """(MS_s/(MS_e·F) − 1)/T, F with 1 and 2 degrees of freedom."""
        value, low, high = relative_ratios(two_way(TABLE), 0.5)
        assert value == pytest.approx(4.0 / 1.5)
        ends = [(13.5 / (1.5 * stats.f.ppf(p, 1, 2)) - 1) / 3 for p in (0.75, 0.25)]
        assert (low, high) == pytest.approx(ends)
        assert low > 0

    def test_arteaga(self):
        """S/T times r, as the paper has it."""
        value, low, high = absolute_ratios(two_way(TABLE), 0.5)
        assert value == pytest.approx(4.0 / (2.5 + 1.5))
        ends = []
        for p in (0.75, 0.25):
            f_inf, f_e, f_t = stats.chi2.ppf(p, 1) / 1, stats.f.ppf(p, 1, 2), stats.f.ppf(p, 1, 2)
            above = 13.5**2 - f_inf * 13.5 * 1.5 + (f_inf - f_e) * f_e * 1.5**2
            ends.append(2 * above / (1 * f_inf * 13.5 * 1.5 + f_t * 13.5 * 6.5) / 3)
        assert (low, high) == pytest.approx(ends)

    def test_degrees_of_freedom_are_not_confused(self):
        y = numbers(5, 4, 9) + np.arange(4)[:, None]
        squares = two_way(y)
        (s, t, e), p = by_loops(y), 0.95
        f_inf, f_e, f_t = stats.chi2.ppf(p, 3) / 3, stats.f.ppf(p, 3, 24), stats.f.ppf(p, 3, 8)
        r = (s**2 - f_inf * s * e + (f_inf - f_e) * f_e * e**2) / (3 * f_inf * s * e + f_t * s * t)
        assert absolute_ratios(squares, 0.9)[1] == pytest.approx(4 * r / 9)
        assert relative_ratios(squares, 0.9)[1] == pytest.approx((s / (e * f_e) - 1) / 9)

    def test_no_ratio_is_negative(self):
        """Rows differ less than chance: the components say −; ratios and both ends say 0."""
        y = np.array([[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.02]])
        squares = two_way(y)
        assert components(squares)[0] < 0
        for ratios in (relative_ratios, absolute_ratios):
            assert [float(end) for end in ratios(squares, 0.95)] == [0.0, 0.0, 0.0]

    def test_the_less_rows_differ_the_lower_the_upper_end(self):
        """Its formula has a square in it that would turn and rise without bound as the rows become alike."""
        y = numbers(6, 8, 5)
        y -= y.mean(axis=1, keepdims=True)
        steps = np.arange(8.0)[:, None]
        upper = [float(absolute_ratios(two_way(y + step * steps), 0.95)[2]) for step in (1e-6, 1e-3, 0.1, 1.0)]
        assert upper == sorted(upper)
        assert upper[0] == 0.0 < upper[-1]

    def test_negative_column_variance_counts_as_0(self):
        y = np.array([[1.0, 2.0, 1.5], [4.0, 3.0, 3.6]])
        squares = two_way(y)
        rows, columns, residual = components(squares)
        assert columns < 0 < rows
        assert absolute_ratios(squares, 0.95)[0] == pytest.approx(rows / residual)

    @pytest.mark.parametrize(
        ("table", "relative", "absolute"),
        [
            (np.ones((3, 4)), np.nan, np.nan),
            (np.tile([0.1, 0.2, 0.7], (3, 1)), np.nan, 0.0),  # the same rows
            (np.tile([[0.1], [0.2], [0.7]], (1, 3)), np.inf, np.inf),  # the same columns
            (np.eye(2), 0.0, 0.0),  # the same means of rows and of columns
        ],
    )
    def test_without_variance(self, table, relative, absolute):
        squares = two_way(table)
        assert np.array_equal(relative_ratios(squares, 0.95), [relative] * 3, equal_nan=True)
        assert np.array_equal(absolute_ratios(squares, 0.95), [absolute] * 3, equal_nan=True)

    def test_reliability(self):
        assert reliability_of(0.5, [1, 2, 4]).tolist() == pytest.approx([0.5 / 1.5, 1 / 2, 2 / 3])
        assert reliability_of(np.array([0.0, np.inf]), 7).tolist() == [0.0, 1.0]
        assert np.isnan(reliability_of(np.nan, 7))
