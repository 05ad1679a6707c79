"""What `stability` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gainful import _polars as pl
from gainful.charts import direct, end_labels, load_altair, sized, tips
from gainful.errors import GainfulError
from gainful.results import Chart, Note, Result, Settings, beside, of_measure, of_others, plural
from gainful.tables import Table

# Error rates that one may be content with; the verdict speaks of the middle one.
_RATES = (0.1, 0.05, 0.02)


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityCurve:
    """The error rate of one measure by the number of topics."""

    measure: str
    sizes: tuple[int, ...]  # how many topics were drawn, ascending
    error: tuple[float, ...]  # per size, the share of the comparisons that contradict the majority of their pair
    ties: tuple[float, ...]  # per size, the share of the comparisons that found both runs equal within the fuzziness

    def size_for(self, error: float) -> int | None:
        """The smallest size from which on the error rate is at most `error`; None if that is none of the sizes."""
        if not 0.0 <= error <= 1.0:
            raise GainfulError(f"error: expected a share from 0 to 1, got {error}")
        needed = None
        for size, rate in zip(reversed(self.sizes), reversed(self.error), strict=True):
            if rate > error:
                break
            needed = size
        return needed

    @property
    def all_tied(self) -> bool:
        """Whether no draw tells any two runs apart."""
        return min(self.ties) == 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Stability(Result):
    """What `stability` found: one curve per measure.

    Parameters
    ----------
    curves
        One per measure.
    systems, topics
        How many runs and topics there are.
    settings
        What repeats it.
    """

    curves: tuple[StabilityCurve, ...]
    systems: int
    topics: int
    settings: Settings

    def __getitem__(self, measure: str) -> StabilityCurve:
        """The curve of a measure."""
        return of_measure(self.curves, measure)

    def sizes_for(self, error: float) -> dict[str, int | None]:
        """Per measure, the smallest size from which on the error rate is at most `error`."""
        return {curve.measure: curve.size_for(error) for curve in self.curves}

    def verdict(self) -> str:
        """The error rate of the first measure at the largest size that says something; then those of the others."""
        at = self._telling()
        if at is None:
            return (
                f"No draw is of at most half of the {self.topics} topics: larger ones share too many topics to say how "
                "often other topics would reverse a pair."
            )
        first, *others = self.curves
        known = {curve.measure: curve.error[at] for curve in others if not curve.all_tied}
        return self._verdict_of(first, at) + of_others(
            known, "{:.1%}".format, "By {} the error rate is {}.", "By the other measures the error rate is {} to {}."
        )

    def _verdict_of(self, curve: StabilityCurve, at: int) -> str:
        if curve.all_tied:
            return f"By {curve.measure}, no draw of topics tells any two runs apart: there is no order to reverse."
        drawn, ties = curve.sizes[at], f"{curve.ties[at]:.1%}"
        error = f"{beside(100 * curve.error[at], 100 * _RATES[1], 1)}%"
        if self.settings["by"] == "topic":
            return (
                f"By {curve.measure}, with {drawn:,} of {self.topics:,} topics drawn, the run that is worse on most of "
                f"them wins on {error} of them; {ties} are ties."
            )
        needed, limit = curve.size_for(_RATES[1]), f"{_RATES[1]:.0%}"
        reached = (
            f"No number of topics up to {drawn:,} keeps that error rate at {limit} or below."
            if needed is None or needed > drawn
            else f"The error rate is at most {limit} from {plural(needed, 'topic')} on."
        )
        return (
            f"With {drawn:,} of {self.topics:,} topics drawn, {curve.measure} orders two runs the other way round in "
            f"{error} of the comparisons and ties them in {ties} (Buckley & Voorhees' error rate). {reached}"
        )

    def _telling(self) -> int | None:
        """The last size whose draws do not share most of their topics; by topic, each draw is looked at alone."""
        sizes = self.curves[0].sizes
        most = self.topics if self.settings["by"] == "topic" else self.topics // 2
        return max((at for at, size in enumerate(sizes) if size <= most), default=None)

    def tables(self) -> tuple[Table, ...]:
        """Per measure the error rate at the largest size, and the topics for some rates; then all sizes."""
        curves, sizes = self.curves, list(self.curves[0].sizes)
        columns: dict[str, Any] = {
            "measure": [curve.measure for curve in curves],
            "topics": sizes[-1],
            "error": [curve.error[-1] for curve in curves],
            "ties": [curve.ties[-1] for curve in curves],
        }
        headers: dict[str, Any] = {"measure": "measure", "topics": "topics drawn", "error": ("error rate", "share")}
        headers["ties"] = ("ties", "share")
        for rate in _RATES:
            columns[f"topics_for_{rate:g}"] = pl.Series([curve.size_for(rate) for curve in curves], dtype=pl.Int64)
            headers[f"topics_for_{rate:g}"] = f"topics: error ≤ {rate:g}"
        wide = pl.DataFrame({"topics": sizes, **{f"error of {curve.measure}": list(curve.error) for curve in curves}})
        return (
            Table.of("measures", pl.DataFrame(columns), headers),
            Table.of("sizes", wide, title="Error rates by number of topics drawn:"),
        )

    def compact(self) -> tuple[Table, ...]:
        """Both tables: a curve is at most 25 rows long, unless more were asked for."""
        return self.tables()

    def _content(self) -> dict[str, Any]:
        content = {"measures": self.tables()[0].frame.to_dicts(), "curves": self.to_frame().to_dicts()}
        return {**content, "systems": self.systems, "topics": self.topics}

    def _notes(self) -> tuple[Note, ...]:
        nothing = (
            "By {}, no draw tells any two runs apart, as all scores are the same within the fuzziness: an error rate "
            "of 0 says nothing here."
        )
        notes = [Note("all-tied", one.measure, nothing.format(one.measure)) for one in self.curves if one.all_tied]
        if self.settings["by"] == "mean" and self.curves[0].sizes[-1] > self.topics // 2:
            text = (
                f"Draws of more than half of the {self.topics} topics share so many that their error rates are too "
                f"low; at {self.topics} it is 0 by construction."
            )
            notes.append(Note("shared-topics", "", text))
        return tuple(notes)

    def to_frame(self) -> pl.DataFrame:
        """Long: measure, topics, error, ties; one row per measure and size."""
        return pl.concat(
            pl.DataFrame({"measure": one.measure, "topics": one.sizes, "error": one.error, "ties": one.ties})
            for one in self.curves
        )

    def chart(self) -> Chart:
        """The error rate against the number of topics, one line per measure: the lower, the more stable."""
        alt, frame, pairs = load_altair(), self.to_frame(), self.settings["by"] == "mean"
        ends = frame.group_by("measure", maintain_order=True).last().select("measure", "topics", "error").drop_nans()
        x = alt.X("topics:Q", title="topics drawn", scale=alt.Scale(nice=False), axis=alt.Axis(tickMinStep=1))
        y = alt.Y("error:Q", title=f"error rate (share of {'pairs' if pairs else 'topics'})", axis=alt.Axis(format="%"))
        colour = alt.Color(
            "measure:N", title="measure", sort=None, legend=None if direct(ends.height) else alt.Legend()
        )
        tooltip = tips(
            "measure:N", ("topics:Q", "topics drawn"), ("error:Q", "error rate", ".2%"), ("ties:Q", "ties", ".1%")
        )
        drawn = alt.Chart(frame).mark_line(point=alt.OverlayMarkDef(size=22))
        lines = alt.layer(
            drawn.encode(x=x, y=y, color=colour, tooltip=tooltip),
            *end_labels(ends, x, y, colour, domain=(0.0, float(frame["error"].max() or 1.0))),  # type: ignore[arg-type]
        )
        what = "Pairs of runs ordered the wrong way" if pairs else "Topics on which the worse run wins"
        return sized(lines, f"{what}, by number of topics")
