"""What becomes of measures as judgments are taken away, and how deep the judgments are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import special

from gainful import _polars as pl
from gainful.analyses.robustness.decisions import Decisions
from gainful.analyses.robustness.judged import JudgedDocuments
from gainful.analyses.robustness.verdict import KEPT, notes, sentences, tidy
from gainful.data.rankings import FloatArray
from gainful.data.scores import Scores
from gainful.errors import check_choice
from gainful.results import Chart, Note, Result, Settings
from gainful.tables import Table

Curve = Literal["tau", "accuracy"]


class Knee(NamedTuple):
    """Where a curve comes above a threshold; None where it never does."""

    first: float | None
    sustained: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Robustness(Result):
    """What `robustness` found.

    Parameters
    ----------
    measures, levels, systems
        The names of the axes below; a level is a share of the judgments, or the depth of a pool.
    cutoffs
        Per measure, down to which rank it looks; None if it has no cutoff.
    taus
        Measures × levels × trials: Kendall's τ_b between the orders of runs under the depleted and the full judgments.
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
    judgments, pairs
        How many judgments there are, and how many pairs of runs were tested.
    reach
        How much of the first documents of each run is judged.
    labels
        The labels that documents have, ascending.
    settings
        What repeats it.
    """

    measures: tuple[str, ...]
    levels: tuple[float, ...]
    systems: tuple[str, ...]
    cutoffs: tuple[int | None, ...]
    taus: FloatArray
    scores: FloatArray
    full: FloatArray
    scored: Scores
    decisions: tuple[tuple[Decisions, ...], ...]
    judged: tuple[float, ...]
    judgments: int
    pairs: int
    reach: JudgedDocuments
    labels: tuple[float, ...]
    settings: Settings

    def verdict(self) -> str:
        """To what depth the pool is judged, how much of the first ten, and when the order of the runs breaks."""
        return " ".join(sentences(self))

    def by_depth(self) -> bool:
        """Whether a level is the depth of a pool."""
        return self.settings["depletion"] in ("depth", "leave-one-out")

    def tables(self) -> tuple[Table, ...]:
        """Per measure where its curves rise, or whom leaving out hurts; then all levels, and what is judged per run."""
        numbers = {"tau": "τ", "tau_low": "low", "tau_high": "high", "score": "mean score", "accuracy": "accuracy"}
        levels = Table.of(
            "levels",
            self.to_frame(),
            {
                "measure": "measure",
                "level": ("level", "level"),
                "judged": ("judged", "number"),
                **numbers,
                "g_mean": "g-mean",
                "false_positive": "differences lost",
            },
        )
        judged = pl.DataFrame(
            {"run": list(self.systems), "first_ten": self.reach.first(), "depth": self.reach.depths()},
            schema_overrides={"depth": pl.Int64},
        )
        headers = {"run": "run", "first_ten": ("first ten judged", "share"), "depth": "judged to depth"}
        if self.settings["depletion"] != "leave-one-out":
            return self._knees(), levels, Table.of("judged", judged, headers)
        lost = self._lost_by()
        most = lost.sort("places", descending=True, maintain_order=True).unique("measure", keep="first")
        order = pl.DataFrame({"measure": list(self.measures)}).join(most, on="measure", maintain_order="left")
        compact, every = self._lost_table("measures", order), self._lost_table("lost", lost)
        return compact, levels, every, Table.of("judged", judged, headers)

    def _knees(self) -> Table:
        """One row per measure."""
        tau, accuracy = self.knees(KEPT), self.knees(KEPT, by="accuracy")
        usual = 10.0 if self.by_depth() else 0.1
        at = min(range(len(self.levels)), key=lambda i: abs(self.levels[i] - usual))
        rows = [
            (measure, *tau[measure], *accuracy[measure], float(mean))
            for measure, mean in zip(self.measures, self.taus[:, at].mean(axis=1), strict=True)
        ]
        names = ["tau_first", "tau_sustained", "accuracy_first", "accuracy_sustained", "tau"]
        frame = pl.DataFrame(rows, {"measure": pl.String, **dict.fromkeys(names, pl.Float64)}, orient="row")
        level = f"depth {self.levels[at]:g}" if self.by_depth() else f"{100 * self.levels[at]:g}%"
        headers: dict[str, Any] = {"measure": "measure"}
        for curve, sign in (("tau", "τ"), ("accuracy", "accuracy")):
            headers[f"{curve}_first"] = (f"{sign} > {KEPT:g} first", "level")
            headers[f"{curve}_sustained"] = (f"{sign} > {KEPT:g} for good", "level")
        return Table.of("measures", frame, {**headers, "tau": f"τ at {level}"})

    def _lost_by(self) -> pl.DataFrame:
        """Per measure and depth, the run that loses most by not having contributed, and the places lost at most."""
        change, places = pl.col("score") - pl.col("full_score"), pl.col("rank") - pl.col("full_rank")
        frame = self.runs().with_columns(change=change, places=places)
        higher = dict(zip(self.measures, self.scored.higher, strict=True))
        rows = []
        for (measure, level), part in frame.group_by("measure", "level", maintain_order=True):
            gains = higher[str(measure)] == "worse"  # a run loses by a higher score, too
            worst = part.sort("change", descending=gains, maintain_order=True).row(0, named=True)
            mean = float(part["change"].to_numpy().mean())
            rows.append((measure, level, worst["run"], worst["change"], mean, max(part["places"].to_list())))
        return pl.DataFrame(rows, ["measure", "level", "run", "change", "mean_change", "places"], orient="row")

    @staticmethod
    def _lost_table(name: str, frame: pl.DataFrame) -> Table:
        headers = {"measure": "measure", "level": ("level", "level"), "run": "loses most"}
        more = {"change": "change", "mean_change": "mean change", "places": "most places lost"}
        return Table.of(name, frame, {**headers, **more})

    def _notes(self) -> tuple[Note, ...]:
        return tuple(notes(self))

    def tau(self) -> FloatArray:
        """Measures × levels × (mean, low, high) of τ: a t interval over the trials, NaN if there is one trial only."""
        mean, trials = self.taus.mean(axis=2), self.taus.shape[2]
        half = np.full(mean.shape, np.nan)
        if trials > 1:
            t = float(special.stdtrit(trials - 1, (1.0 + self.settings["confidence"]) / 2.0))
            half = t * self.taus.std(axis=2, ddof=1) / np.sqrt(trials)
        return np.stack([mean, np.maximum(mean - half, -1.0), np.minimum(mean + half, 1.0)], axis=2)

    def knees(self, threshold: float = 0.9, *, by: Curve = "tau") -> dict[str, Knee]:
        """Per measure, the lowest level above the threshold, and the lowest from which on no higher one falls back.

        The curve is the mean τ of the orders of runs, or the accuracy of the decisions on pairs. Leave-one-out has no
        knees: its levels are not more or fewer judgments.
        """
        check_choice("by", by, get_args(Curve))
        if self.settings["depletion"] == "leave-one-out":
            return dict.fromkeys(self.measures, Knee(None, None))
        if by == "tau":
            curves = self.taus.mean(axis=2)
        else:
            curves = np.array([[cell.accuracy for cell in row] for row in self.decisions])
        return {name: knee(self.levels, curve, threshold) for name, curve in zip(self.measures, curves, strict=True)}

    def to_frame(self) -> pl.DataFrame:
        """Long: one row per measure and level, with τ and its interval, the mean score, and the decisions on pairs."""
        tau, mean, levels = self.tau(), self.scores.mean(axis=2), [float(level) for level in self.levels]
        shares = ("accuracy", "true_positive", "predicted_positive", "g_mean", "false_positive")
        names = (*(field.name for field in fields(Decisions)), *shares)
        frames = []
        for m, measure in enumerate(self.measures):
            columns = {"measure": measure, "level": levels, "judged": self.judged}
            taus = dict(zip(("tau", "tau_low", "tau_high"), tau[m].T, strict=True))
            scores = {"score": mean[m], "full_score": float(self.full[m].mean())}
            decided = {name: [getattr(cell, name) for cell in self.decisions[m]] for name in names}
            frames.append(pl.DataFrame({**columns, **taus, **scores, **decided}))
        return pl.concat(frames)

    def runs(self) -> pl.DataFrame:
        """Long: measure, level, run, score, full_score and its two ranks (1 is the best score, equals share one).

        The rank at a level is among all runs at that level; of leave-one-out, where each run is scored without its own
        judgments, among the full scores of the others.
        """
        frames = []
        for m, measure in enumerate(self.measures):
            for at, level in enumerate(self.levels):
                better = -1.0 if self.scored.higher[m] == "worse" else 1.0
                now, full = tidy(better * np.stack([self.scores[m, at], self.full[m]]))
                above = (full if self.settings["depletion"] == "leave-one-out" else now) > now[:, None]
                np.fill_diagonal(above, False)
                names = {"measure": measure, "level": float(level), "run": self.systems}
                scores = {"score": self.scores[m, at], "full_score": self.full[m]}
                ranks = {"rank": 1 + above.sum(axis=1), "full_rank": 1 + (full > full[:, None]).sum(axis=1)}
                frames.append(pl.DataFrame({**names, **scores, **ranks}))
        return pl.concat(frames)

    def _content(self) -> dict[str, Any]:
        """Depth, curves, knees at .9, the scores of every run."""
        return {
            "depth": self.reach.depth(),
            "judged": self.tables()[-1].frame.to_dicts(),
            "levels": self.to_frame().to_dicts(),
            "knees": {
                by: {measure: found._asdict() for measure, found in self.knees(by=by).items()} for by in get_args(Curve)
            },
            "runs": self.runs().to_dicts(),
            "judgments": self.judgments,
            "topics": len(self.scored.topics),
            "pairs": self.pairs,
        }

    def chart(self) -> Chart:
        """τ against the level with its interval; one panel per measure where intervals would hide each other."""
        from gainful.analyses.robustness.chart import draw

        return draw(self)


def knee(levels: Sequence[float], curve: FloatArray, threshold: float) -> Knee:
    """Where a curve over ascending levels comes above the threshold, at first and for good."""
    # A mean τ of exactly the threshold may come out a last bit above it; False for NaN.
    above = curve > threshold + 1e-12
    first = levels[int(np.argmax(above))] if above.any() else None
    if not above[-1]:
        return Knee(first, None)
    return Knee(first, levels[len(above) - int(np.argmin(np.append(above[::-1], False)))])
