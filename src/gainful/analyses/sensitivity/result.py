"""What `sensitivity` found: significance levels, and the share of the pairs of runs that each measure tells apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.analyses.sensitivity import Method
from gainful.charts import level_at, load_altair, sized, tips
from gainful.errors import GainfulError, check_share
from gainful.results import Chart, Note, Result, Settings, listed, percent, plural
from gainful.stats.paired import IntArray, pairs
from gainful.stats.resample import FloatArray
from gainful.tables import Table

# Levels that papers report.
LEVELS = (0.01, 0.05, 0.1)
# More points than this on a curve cannot be seen, and more dots are in each other's way.
_POINTS, _DOTS = 200, 30
# Methods that resample topics, and on how many topics a pair has to differ for that to mean much: of 2 topics half of
# the samples have no variance, of 5 one in 600; of 5 differences among many topics one in 150.
RESAMPLED = ("studentized", "shifted", "sign")
LEAST_TOPICS = 5
_NAMES: dict[Method, str] = {
    "studentized": "studentised paired bootstrap",
    "shifted": "shifted paired bootstrap",
    "sign": "sign of the paired bootstrap",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "tukey": "randomised Tukey HSD",
}
# The share of pairs that may differ on too few topics without doubt about the rest.
_FEW_PAIRS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairTests:
    """The significance of all pairs of runs under one measure and method."""

    # What was measured, whether a higher score is better, worse or neither, and how pairs were tested.
    measure: str
    higher: str
    method: Method
    topics: int  # how many topics the runs were compared on
    systems: tuple[str, ...]
    asl: FloatArray  # runs × runs: the achieved significance level (p-value) of each pair
    difference: FloatArray  # runs × runs: mean of the row's run less that of the column's
    differing: IntArray  # runs × runs: the number of topics on which the two differ

    def curve(self) -> FloatArray:
        """The levels of all pairs, ascending: a measure is the more sensitive the lower its curve."""
        return np.sort(self.asl[pairs(len(self.systems))])

    def discriminative_power(self, alpha: float = 0.05) -> float:
        """The share of the pairs whose level is below `alpha`."""
        check_share("alpha", alpha)
        return float((self.asl[pairs(len(self.systems))] < alpha).mean())

    def detectable_difference(self, alpha: float = 0.05) -> float | None:
        """The smallest difference of means from which on every pair is significant at `alpha`; None if none is."""
        check_share("alpha", alpha)
        at = pairs(len(self.systems))
        difference, significant = np.abs(self.difference[at]), self.asl[at] < alpha
        beyond = difference[significant & (difference > difference[~significant].max(initial=-1.0))]
        return float(beyond.min()) if len(beyond) else None

    def doubtful(self) -> int:
        """How many pairs differ on too few topics for the resamples to mean much; 0 for methods that resample none."""
        differing = self.differing[pairs(len(self.systems))]
        return int(((differing > 0) & (differing < LEAST_TOPICS)).sum()) if self.method in RESAMPLED else 0

    def in_doubt(self) -> bool:
        """Whether such pairs are so many that the share of pairs says little."""
        return self.doubtful() > _FEW_PAIRS * len(self.curve())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Sensitivity(Result):
    """What `sensitivity` found, for every measure and method.

    Parameters
    ----------
    tests
        One entry per measure and method.
    settings
        What repeats it.
    """

    tests: tuple[PairTests, ...]
    settings: Settings

    def verdict(self) -> str:
        """Which measure tells most pairs of runs apart: a sentence for the first method, a few words for the others."""
        first, *others = (self._by(method) for method in dict.fromkeys(test.method for test in self.tests))
        found = [self._brief(tests) for tests in others if not any(test.in_doubt() for test in tests)]
        most = "Most by the other methods" if len(first) > 1 else "By the other methods"
        return " ".join([self._says(first), *([f"{most}: {', '.join(found)}."] if found else [])])

    def _by(self, method: Method) -> list[PairTests]:
        """Of one method; measures of which neither end is better say nothing about runs, unless there is no other."""
        tests = [test for test in self.tests if test.method == method]
        return [test for test in tests if test.higher != "neither"] or tests

    def _brief(self, tests: list[PairTests]) -> str:
        power = [test.discriminative_power(self.settings["alpha"]) for test in tests]
        names = listed([test.measure for test, share in zip(tests, power, strict=True) if share == max(power)])
        return f"{f'{names} ' if len(tests) > 1 else ''}{percent(max(power))} ({tests[0].method})"

    def _says(self, tests: list[PairTests]) -> str:
        alpha = self.settings["alpha"]
        number = plural(len(tests[0].curve()), "pair")
        corrected = "corrected" if tests[0].method == "tukey" else "not corrected"
        how = f"({_NAMES[tests[0].method]}, α = {alpha:g}, {corrected} for the number of pairs)"
        power = {test.measure: test.discriminative_power(alpha) for test in tests}
        most, least = max(power.values()), min(power.values())
        best = [test for test in tests if power[test.measure] == most]
        names = listed([test.measure for test in best])
        if most == 0.0:
            none = "No measure tells" if len(tests) > 1 else f"{names} does not tell"
            return f"{none} any two of the runs apart {how}."
        if any(test.in_doubt() for test in best):
            which = "which measure tells most" if len(tests) > 1 else f"how many {names} tells"
            few = f"Many pairs of runs differ on fewer than {LEAST_TOPICS} topics"
            return f"{few}, too few for the bootstrap to say {which} apart {how}."
        if least == most:
            tell = "tells" if len(tests) == 1 else "each tell"
            return f"{names} {tell} {percent(most)} of the {number} of runs apart {how}."
        tells, last = "tells" if len(best) == 1 else "tell", listed([name for name in power if power[name] == least])
        fewest = f"{last} the fewest, {percent(least)}"
        return f"{names} {tells} most runs apart, {percent(most)} of the {number}; {fewest} {how}."

    def tables(self) -> tuple[Table, ...]:
        """Per measure and method the share of the pairs that is told apart; then all pairs."""
        alpha = self.settings["alpha"]
        rows = [
            (
                one.measure,
                one.method,
                len(one.curve()),
                one.discriminative_power(alpha),
                one.detectable_difference(alpha),
            )
            for one in self.tests
        ]
        kinds = {"measure": pl.String, "method": pl.String, "pairs": pl.Int64, "told_apart": pl.Float64}
        frame = pl.DataFrame(rows, schema={**kinds, "detectable_difference": pl.Float64}, orient="row")
        headers = {
            **{name: name for name in ("measure", "method", "pairs")},
            "told_apart": (f"told apart (α={alpha:g})", "share"),
            "detectable_difference": "detectable difference",
        }
        return Table.of("tests", frame, headers), Table.of("pairs", self.to_frame())

    def _notes(self) -> tuple[Note, ...]:
        """Pairs that differ on too few topics to be resampled."""
        doubtful = {test.measure: test for test in self.tests if test.doubtful()}
        why = (
            f"differ on fewer than {LEAST_TOPICS} topics. On so few most resamples are identical, and the bootstrap "
            "may call noise significant; the methods t and wilcoxon do not."
        )
        return tuple(
            Note("few-differences", name, f"{name}: {test.doubtful()} of {len(test.curve())} pairs {why}")
            for name, test in doubtful.items()
        )

    def __getitem__(self, key: tuple[str, Method]) -> PairTests:
        """The tests of a measure by a method."""
        for test in self.tests:
            if (test.measure, test.method) == key:
                return test
        known = ", ".join(f"({test.measure!r}, {test.method!r})" for test in self.tests)
        raise GainfulError(f"No tests of {key}; there are: {known}")

    def to_frame(self) -> pl.DataFrame:
        """Long: measure, method, run, other, difference, asl; one row per pair."""
        frames = []
        for test in self.tests:
            first, second = pairs(len(test.systems))
            names = pl.Series(test.systems, dtype=pl.String)
            columns = {"run": names.gather(first), "other": names.gather(second)}
            numbers = {"difference": test.difference[first, second], "asl": test.asl[first, second]}
            frames.append(pl.DataFrame({"measure": test.measure, "method": test.method, **columns, **numbers}))
        return pl.concat(frames)

    def _content(self) -> dict[str, Any]:
        return {
            "tests": [
                {
                    "measure": test.measure,
                    "method": test.method,
                    "topics": test.topics,
                    "discriminative_power": {str(level): test.discriminative_power(level) for level in LEVELS},
                    "detectable_difference": {str(level): test.detectable_difference(level) for level in LEVELS},
                }
                for test in self.tests
            ],
            "pairs": self.to_frame().to_dicts(),
        }

    def chart(self) -> Chart:
        """The ASL curve of every measure and method: the lower, the more pairs are told apart."""
        alt = load_altair()
        frames, methods = [], {test.method: _NAMES[test.method] for test in self.tests}
        one = len(methods) == 1  # or what is told apart by each is too much for a legend
        for test in self.tests:
            curve = test.curve()
            at = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), _POINTS)).astype(int))
            share = np.concatenate([[0.0], (at + 1) / len(curve)])
            points = {"share": share, "asl": curve[[0, *at]]}
            named = f"{test.measure}: {percent(test.discriminative_power())}" if one else test.measure
            frames.append(pl.DataFrame({"measure": named, "method": test.method, **points}))
        share = alt.X("share:Q", title="share of the pairs of runs", axis=alt.Axis(format="%"))
        base = alt.Chart(pl.concat(frames)).encode(
            x=share.scale(domain=[0, 1]),
            y=alt.Y("asl:Q", title="achieved significance level (p)", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("measure:N", title="told apart" if one else "measure", sort=None),
            tooltip=tips("measure:N", "method:N", ("share:Q", "share", ".1%"), ("asl:Q", "asl", ".4f")),
        )
        # The i-th pair holds the share from i - 1 to i: a line crosses the rule at the share that is told apart.
        dash = alt.StrokeDash("method:N", title="method", sort=None, **({"legend": None} if one else {}))
        layers = [level_at(0.05), base.mark_line(interpolate="step-before").encode(strokeDash=dash)]
        if max(len(frame) for frame in frames) <= _DOTS:
            layers.append(base.mark_point(filled=True, size=25).transform_filter("datum.share > 0"))
        said = "Dashed: p = 0.05; a curve crosses it at the share of the pairs that the measure tells apart."
        tested = f", by a {next(iter(methods.values()))}" if one else ""
        return sized(alt.layer(*layers), f"Pairs of runs by how clearly they differ{tested}", said)
