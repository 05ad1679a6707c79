"""What becomes of measures as judgments are taken away: curves over levels, and where they rise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import polars as pl
from scipy import stats

from gainful.analyses.robustness.decisions import Decisions
from gainful.analyses.robustness.samples import Depletion
from gainful.charts import HEIGHT, WIDTH, load_altair, styled
from gainful.data.policies import Policies
from gainful.data.rankings import FloatArray
from gainful.data.scores import Scores
from gainful.errors import check_choice

if TYPE_CHECKING:
    import altair

Curve = Literal["tau", "accuracy"]


class Knee(NamedTuple):
    """Where a curve comes above a threshold; None where it never does."""

    first: float | None
    sustained: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Robustness:
    """What `robustness` found.

    Parameters
    ----------
    measures, levels, systems
        The names of the axes below; a level is a share of the judgments, or the depth of a pool.
    taus
        Measures × levels × trials: Kendall's τ_b between the system orders of the depleted and the full judgments.
    scores
        Measures × levels × systems: the mean score over topics, averaged over the trials.
    full
        Measures × systems: the mean score under all judgments.
    scored
        The scores of every topic under all judgments.
    decisions
        Measures × levels: outcomes of the tests of pairs, summed over the trials.
    judged
        Per level, the number of judgments left, averaged over the trials; of leave-one-out, over the runs.
    judgments, topics, pairs
        How many judgments and topics there are, and how many pairs of runs were tested.
    higher
        Per measure, whether a higher score is better, worse or neither.
    labels
        The labels that documents have, ascending.
    depletion, trials, weights, rel, alpha, confidence, seed, policies
        The settings that repeat it.
    """

    measures: tuple[str, ...]
    levels: tuple[float, ...]
    systems: tuple[str, ...]
    taus: FloatArray
    scores: FloatArray
    full: FloatArray
    scored: Scores
    decisions: tuple[tuple[Decisions, ...], ...]
    judged: tuple[float, ...]
    judgments: int
    topics: int
    pairs: int
    higher: tuple[str, ...]
    labels: tuple[float, ...]
    depletion: Depletion
    trials: int
    weights: tuple[float, ...]
    rel: float
    alpha: float
    confidence: float
    seed: int
    policies: Policies

    def __str__(self) -> str:
        pairs = f"{self.pairs} {'pair' if self.pairs == 1 else 'pairs'}"
        weights = f"weights={','.join(f'{weight:g}' for weight in self.weights)} " if self.weights else ""
        return (
            f"robustness: {len(self.systems)} runs, {self.topics} topics, {self.judgments} judgments, {pairs}; "
            f"depletion={self.depletion} trials={self.trials} {weights}rel={self.rel:g} alpha={self.alpha:g} "
            f"confidence={self.confidence:g} seed={self.seed} {self.policies}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know about the numbers: no order to keep, nothing to decide, weights without effect."""
        notes = []
        for measure, full, cells in zip(self.measures, self.full, self.decisions, strict=True):
            if np.isnan(full).any():
                notes.append(f"{measure}: some run has no score under all judgments, so there is no order to keep")
            elif np.ptp(tidy(full)) == 0:
                notes.append(f"{measure}: all runs score the same under all judgments, so there is no order to keep")
            if cells[0] == Decisions():
                notes.append(
                    f"{measure}: no two runs differ on enough topics for a test at alpha={self.alpha:g} to tell them "
                    "apart, so nothing is said of decisions"
                )
        if self.weights and sum(label >= self.rel for label in self.labels) == 1:
            notes.append("weights: only one label is relevant, so all weights give the same nDCG, the binary one")
        return tuple(notes)

    def tau(self) -> FloatArray:
        """Measures × levels × (mean, low, high) of τ: a t interval over the trials, NaN if there is one trial only."""
        mean = self.taus.mean(axis=2)
        half = np.full(mean.shape, np.nan)
        if self.trials > 1:
            t = float(stats.t.ppf((1.0 + self.confidence) / 2.0, self.trials - 1))
            half = t * self.taus.std(axis=2, ddof=1) / np.sqrt(self.trials)
        return np.stack([mean, np.maximum(mean - half, -1.0), np.minimum(mean + half, 1.0)], axis=2)

    def knees(self, threshold: float = 0.9, *, by: Curve = "tau") -> dict[str, Knee]:
        """Per measure, the lowest level above the threshold, and the lowest from which on no higher one falls back.

        Leave-one-out has none: its levels are not more or fewer judgments.

        Parameters
        ----------
        threshold
            What the curve has to exceed.
        by
            The mean τ of the system orders, or the accuracy of the decisions on pairs.
        """
        check_choice("by", by, get_args(Curve))
        if self.depletion == "leave-one-out":
            return dict.fromkeys(self.measures, Knee(None, None))
        if by == "tau":
            curves = self.taus.mean(axis=2)
        else:
            curves = np.array([[cell.accuracy for cell in row] for row in self.decisions])
        return {name: knee(self.levels, curve, threshold) for name, curve in zip(self.measures, curves, strict=True)}

    def to_frame(self) -> pl.DataFrame:
        """Long: a row a measure and level, with τ and its interval, the mean score, and the decisions on pairs."""
        tau, mean = self.tau(), self.scores.mean(axis=2)
        rows = []
        for m, measure in enumerate(self.measures):
            for at, level in enumerate(self.levels):
                cell = self.decisions[m][at]
                rows.append(
                    {
                        "measure": measure,
                        "level": float(level),
                        "judged": self.judged[at],
                        "tau": float(tau[m, at, 0]),
                        "tau_low": float(tau[m, at, 1]),
                        "tau_high": float(tau[m, at, 2]),
                        "score": float(mean[m, at]),
                        "full_score": float(self.full[m].mean()),
                        **asdict(cell),
                        "accuracy": cell.accuracy,
                        "true_positive": cell.true_positive,
                        "predicted_positive": cell.predicted_positive,
                        "g_mean": cell.g_mean,
                        "false_positive": cell.false_positive,
                    }
                )
        return pl.DataFrame(rows)

    def runs(self) -> pl.DataFrame:
        """Long: measure, level, run, score, full_score and its two ranks (1 is the best score, equals share one).

        The rank at a level is among all runs at that level; of leave-one-out, where each run is scored without its own
        judgments, among the full scores of the others.
        """
        rows = []
        for m, measure in enumerate(self.measures):
            for at, level in enumerate(self.levels):
                better = -1.0 if self.higher[m] == "worse" else 1.0
                now, full = tidy(better * np.stack([self.scores[m, at], self.full[m]]))
                rivals = full if self.depletion == "leave-one-out" else now
                for s, run in enumerate(self.systems):
                    others = np.delete(rivals, s)
                    rows.append(
                        {
                            "measure": measure,
                            "level": float(level),
                            "run": run,
                            "score": float(self.scores[m, at, s]),
                            "full_score": float(self.full[m, s]),
                            "rank": 1 + int((others > now[s]).sum()),
                            "full_rank": 1 + int((full > full[s]).sum()),
                        }
                    )
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, object]:
        """Curves, knees at .9, the scores of every run, and the settings; ready for JSON."""
        return {
            "levels": self.to_frame().to_dicts(),
            "knees": {
                by: {measure: found._asdict() for measure, found in self.knees(by=by).items()}
                for by in ("tau", "accuracy")
            },
            "runs": self.runs().to_dicts(),
            "judgments": self.judgments,
            "topics": self.topics,
            "pairs": self.pairs,
            "notes": list(self.notes),
            "depletion": self.depletion,
            "trials": self.trials,
            "weights": list(self.weights),
            "rel": self.rel,
            "alpha": self.alpha,
            "confidence": self.confidence,
            "policies": self.policies.to_dict(),
            "seed": self.seed,
        }

    def chart(self) -> altair.TopLevelMixin:
        """τ against the level, a line a measure with its interval; runs keep their order above the rule at .9."""
        alt = load_altair()
        by_depth = self.depletion in ("depth", "leave-one-out")
        title = "pool depth" if by_depth else "share of the judgments that is kept"
        axis = alt.Axis() if by_depth else alt.Axis(format="%")
        scale = alt.Scale(type="log") if by_depth else alt.Scale(domain=[0, 1])
        x = alt.X("level:Q", title=title, axis=axis, scale=scale)
        frame = self.to_frame().select("measure", "level", "judged", "tau", "tau_low", "tau_high")
        base = alt.Chart(frame).encode(
            x=x, color=alt.Color("measure:N", sort=None, legend=alt.Legend(title="measure", symbolOpacity=1))
        )
        y = alt.Y("tau:Q", title="Kendall's τ with the order under all judgments", scale=alt.Scale(zero=False))
        lines = base.mark_line(point=True).encode(
            y=y,
            tooltip=[
                "measure:N",
                alt.Tooltip("level:Q", title=title, format="" if by_depth else ".0%"),
                alt.Tooltip("judged:Q", title="judgments left", format=",.0f"),
                alt.Tooltip("tau:Q", title="τ", format=".3f"),
                alt.Tooltip("tau_low:Q", title=f"low ({self.confidence:.0%})", format=".3f"),
                alt.Tooltip("tau_high:Q", title="high", format=".3f"),
            ],
        )
        band = base.mark_area(opacity=0.2).encode(y=alt.Y("tau_low:Q"), y2="tau_high:Q")
        rule = alt.Chart().mark_rule(strokeDash=[4, 4], color="#555555").encode(y=alt.datum(0.9))
        layers = (rule, band, lines) if self.trials > 1 else (rule, lines)
        return styled(
            alt.layer(*layers).properties(width=WIDTH, height=HEIGHT),
            "How far runs keep their order when judgments are taken away",
        )


def knee(levels: Sequence[float], curve: FloatArray, threshold: float) -> Knee:
    """Where a curve over ascending levels comes above the threshold, at first and for good."""
    # A mean τ of exactly the threshold may come out a last bit above it; False for NaN.
    above = curve > threshold + 1e-12
    first = levels[int(np.argmax(above))] if above.any() else None
    if not above[-1]:
        return Knee(first, None)
    return Knee(first, levels[len(above) - int(np.argmin(np.append(above[::-1], False)))])


def tidy(scores: FloatArray) -> FloatArray:
    """Scores that tie but for the last bits of their sums, tied: all rounded at the same digit."""
    largest = float(np.nanmax(np.abs(scores), initial=0.0))
    return np.round(scores, 11 - math.floor(math.log10(largest))) if largest else scores
