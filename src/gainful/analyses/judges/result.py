"""What `judges` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.analyses.judges import chart, tables
from gainful.analyses.judges.conclusions import Conclusion
from gainful.analyses.judges.labels import Agreement, Estimate
from gainful.errors import GainfulError, setting
from gainful.results import Chart, Note, Result, Settings, listed, percent, plural
from gainful.tables import Table

# Topics from which on the coverage of prediction-powered intervals was found good.
_ENOUGH = 15
# Runs that a sentence names.
_NAMED = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Judges(Result):
    """What `judges` found; the first judge is the one that the others are held against.

    Parameters
    ----------
    judges
        Their names.
    labels
        All labels that any of them gave, ascending.
    judged
        Per judge, how many judgments there are.
    agreements
        One entry per pair of judges.
    alphas
        Krippendorff's α of all judges: nominal, ordinal and interval.
    conclusions
        One entry per judge but the first, and measure; none without runs.
    missing
        For how many topics of the first judge every run returns nothing and is scored as empty, at least.
    settings
        What repeats it.
    """

    judges: tuple[str, ...]
    labels: tuple[float, ...]
    judged: tuple[int, ...]
    agreements: tuple[Agreement, ...]
    alphas: dict[str, Estimate]
    conclusions: tuple[Conclusion, ...]
    missing: int
    settings: Settings

    def agreement(self, first: str | None = None, second: str | None = None) -> Agreement:
        """How far two judges agree on labels; the first two, where none are named."""
        wanted = {first or self.judges[0], second or self.judges[1]}
        for found in self.agreements:
            if {found.first, found.second} == wanted:
                return found
        raise GainfulError(f"No two judges {' and '.join(sorted(wanted))}; there are: {', '.join(self.judges)}")

    def conclusion(self, judge: str | None = None, measure: str | None = None) -> Conclusion:
        """The runs under a judge by a measure; the first of both, where none is named."""
        for found in self.conclusions:
            if judge in (None, found.judge) and measure in (None, found.measure):
                return found
        there = ", ".join(f"{found.judge} by {found.measure}" for found in self.conclusions)
        raise GainfulError(f"No scores of runs under {judge} by {measure}; there are: {there or 'none, without runs'}")

    def verdict(self) -> str:
        """How far labels agree; how far conclusions do; whom a judge favours, or what its labels save."""
        concluded = {found.judge: found for found in reversed(self.conclusions)}
        others = self.judges[1:]
        if len(others) == 1:
            sentences = [self._on_labels(self.agreements[0])]
            sentences += [_on_order(found, self.judges[0]) for found in concluded.values()]
            sentences += [_on_bias(found) for found in concluded.values()]
        else:
            sentences = [self._on_all_labels()]
            if concluded:
                every = [concluded[name] for name in others]
                least = min(every, key=lambda found: np.nan_to_num(found.tau_b, nan=2.0))
                sentences.append(f"Least like {self.judges[0]}: {_on_order(least, self.judges[0])}")
        return " ".join(sentence for sentence in sentences if sentence)

    def _on_labels(self, found: Agreement) -> str:
        kappa = found.estimates["kappa"]
        text = (
            f"{found.second} gives the same label as {found.first} to {percent(found.value('agreed'))} of "
            f"{plural(found.pairs, 'document')} (κ = {_number(kappa.value)}{_ends(kappa)}; with quadratic weights "
            f"{_number(found.value('quadratic'))})."
        )
        shares = found.value("sensitivity"), found.value("specificity")
        if not np.isnan(shares).any():
            text += (
                f" It finds {percent(shares[0])} of what {found.first} calls relevant, and calls {percent(shares[1])} "
                "of the rest not relevant."
            )
        return text

    def _on_all_labels(self) -> str:
        mine = [found for found in self.agreements if found.first == self.judges[0]]
        mine.sort(key=lambda found: -np.nan_to_num(found.value("quadratic"), nan=-2.0))
        best, worst, ordinal = mine[0], mine[-1], self.alphas["ordinal"]
        return (
            f"{len(self.judges)} judges agree with Krippendorff's α = {_number(ordinal.value)}{_ends(ordinal)} "
            f"(ordinal). Nearest to {self.judges[0]} is {best.second} (κ with quadratic weights "
            f"{_number(best.value('quadratic'))}), farthest {worst.second} ({_number(worst.value('quadratic'))})."
        )

    def tables(self) -> tuple[Table, ...]:
        """Agreement of labels; all coefficients with intervals; labels given; orders, bias and estimates of runs."""
        labels = (tables.agreement(self), tables.coefficients(self), tables.confusion(self))
        if not self.conclusions:
            return labels
        powered = (tables.predicted(self),) if any(found.predicted for found in self.conclusions) else ()
        return (*labels, tables.orders(self), tables.bias(self), tables.savings(self), *powered)

    def compact(self) -> tuple[Table, ...]:
        """Agreement; the labels of two judges side by side; orders, bias and estimates of runs."""
        shown = [tables.agreement(self)]
        if len(self.judges) == 2:
            shown.append(tables.wide_confusion(self, self.agreements[0]))
        if self.conclusions:
            shown += [tables.orders(self), tables.bias(self, brief=True), tables.savings(self)]
            powered = any(found.predicted for found in self.conclusions)
            shown += [tables.predicted(self, brief=True)] if powered else []
        return tuple(shown)

    def _content(self) -> dict[str, Any]:
        judged = [{"judge": name, "judgments": number} for name, number in zip(self.judges, self.judged, strict=True)]
        return {"judges": judged, **Result._content(self)}

    def _notes(self) -> tuple[Note, ...]:
        notes = []
        few = {found.judge: found for found in self.conclusions if found.predicted and found.topics < _ENOUGH}
        for name, one in few.items():
            text = f"only {one.topics} topics have judgments of both: intervals with {name}'s labels may be too narrow."
            notes.append(Note("few-good-topics", name, f"{name}: {text}"))
        alone = [found for found in self.agreements if found.topics == 1]
        for found in alone:
            text = f"{found.first} and {found.second} share one topic: there is nothing to resample, and no interval."
            notes.append(Note("one-topic", found.second, text))
        if any(found.predicted for found in self.conclusions):
            text = (
                "Estimates with more topics suppose that the topics with judgments of both are a random choice of all."
            )
            notes.append(Note("random-topics", "", text))
        notes += [note for note in (_on_empty(self.missing, self.conclusions),) if note is not None]
        runs = {found.judge: len(found.systems) for found in self.conclusions}
        if runs:
            number = next(iter(runs.values()))
            if number > tables.MOST:
                text = f"Of each judge and measure, {tables.MOST} of {number} runs are printed: JSON has them all."
                notes.append(Note("rows-not-printed", "", text))
            level = self.settings["confidence"]
            text = (
                f"Bias is told run by run: of {plural(number, 'run')} without any, about {number * (1 - level):.2g} "
                "would seem to have some by chance."
            )
            notes.append(Note("many-intervals", "", text))
        return tuple(notes)

    def chart(self) -> Chart:
        """Labels given; with runs also the orders, the bias of each run and, if they help, the widths of intervals.

        Of two judges, or of the first and the one after it; see `confusion_chart`, `order_chart`, `bias_chart` and
        `width_chart` for others.
        """
        parts = [chart.confusion(self.agreement(), self.labels)]
        if self.conclusions:
            found = self.conclusion()
            parts += [chart.order(found, self.judges[0]), chart.bias(found)]
            parts += [chart.widths(found, self.judges[0])] if found.predicted else []
        return chart.together(parts, f"{self.judges[1]} held against {self.judges[0]}")

    def confusion_chart(self, first: str | None = None, second: str | None = None) -> Chart:
        """How often the one judge gave which label where the other gave which."""
        return chart.alone(chart.confusion(self.agreement(first, second), self.labels))

    def order_chart(self, judge: str | None = None, measure: str | None = None) -> Chart:
        """The ranks of the runs under the first judge and under another."""
        return chart.alone(chart.order(self.conclusion(judge, measure), self.judges[0]))

    def bias_chart(self, judge: str | None = None, measure: str | None = None) -> Chart:
        """The bias of each run, with its interval."""
        return chart.alone(chart.bias(self.conclusion(judge, measure)))

    def width_chart(self, judge: str | None = None, measure: str | None = None) -> Chart:
        """The interval of each run's mean from good labels alone, and with the cheap ones."""
        found = self.conclusion(judge, measure)
        if found.predicted is None:
            raise GainfulError(f"{found.judge} has judged no more topics than {self.judges[0]}: nothing to draw")
        return chart.alone(chart.widths(found, self.judges[0]))


def _on_order(found: Conclusion, first: str) -> str:
    significant = {
        "under both judges": found.both,
        f"under {first} alone": found.only_first,
        f"under {found.judge} alone": found.only_other,
        "in opposite directions": found.reversed,
    }
    told: list[str] = []
    for where, number in significant.items():
        verb = "" if told else "differs significantly " if number == 1 else "differ significantly "
        told += [f"{number} {verb}{where}"] if number else []
    runs, tested = plural(len(found.systems), "run"), plural(found.tested, "pair")
    outcome = listed(told) if told else "none differs significantly under either"
    return (
        f"By {found.measure}, {found.judge} orders {runs} with τ_b = {_number(found.tau_b)} (τ_AP "
        f"{_number(found.tau_ap)}). Of {tested}, {outcome}."
    )


def _on_bias(found: Conclusion) -> str:
    high, low = found.favoured(), found.disfavoured()
    if not high and not low:
        return "No run is shown to be favoured."
    told = [f"favours {listed(high, _NAMED)}"] if high else []
    told += [f"disfavours {listed(low, _NAMED)}"] if low else []
    shift = float((found.means[1] - found.means[0]).mean())
    way = "higher" if shift > 0.0 else "lower"
    return f"It scores all runs {way} by {abs(shift):.4f} on average; relative to that, it {' and '.join(told)}."


def _on_empty(missing: int, conclusions: Sequence[Conclusion]) -> Note | None:
    """What to know where judges cannot but agree."""
    if not missing or not conclusions:
        return None
    text = (
        f"For {plural(missing, 'topic')} or more, every run returns nothing: judges agree there without merit. "
        f"{setting('missing', 'skip')} and {setting('gaps', 'drop')} leave them out."
    )
    return Note("empty-topics", "", text, warn=True)


def _number(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.2f}"


def _ends(found: Estimate) -> str:
    return "" if np.isnan(found.low) else f", {found.low:.2f} to {found.high:.2f}"
