"""What the analyses say, as a page shows it: a lead, figures, a table, notes; or why there is nothing to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gainful.analyses.agreement import Correlation, agreement
from gainful.analyses.agreement.result import Agreement
from gainful.analyses.boundedness import boundedness
from gainful.analyses.reliability import reliability
from gainful.analyses.robustness import robustness
from gainful.analyses.sensitivity import sensitivity
from gainful.analyses.stability import stability
from gainful.analyses.topics import topics
from gainful.data.policies import Policies
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.data.scores import Scores
from gainful.errors import DataError, MeasureError, PolicyError
from gainful.measures import Measure
from gainful.tune import threshold

# Runs whose threshold curve is drawn, the best first.
MOST_CURVES = 6
_COEFFICIENTS: dict[Correlation, str] = {"tau_b": "Kendall's τ", "tau_ap": "τ_AP", "rho": "Spearman's ρ", "rbo": "RBO"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """What the analyses work on.

    Parameters
    ----------
    qrels, runs, scores
        Read already; the scores of the measures that are averaged or summed over topics.
    measures
        Those of the scores.
    policies
        Those in force.
    settings
        confidence, alpha, cutoff, resamples, trials, seed, gaps.
    findings
        Sentences that the front of the page shows, added to by the analyses.
    """

    qrels: Qrels
    runs: Sequence[Run]
    scores: Scores
    measures: Sequence[Measure]
    policies: Policies
    settings: dict[str, Any]
    findings: list[str] = field(default_factory=list)

    def has_negative(self) -> bool:
        """Whether a label is negative."""
        return bool((self.qrels.frame["relevance"] < 0).any())

    def directed(self) -> set[str]:
        """The measures of which one end is the better: those that can be for or against a run."""
        named = zip(self.scores.measures, self.scores.higher, strict=True)
        return {name for name, higher in named if higher != "neither"}

    def chosen(self, *names: str) -> dict[str, Any]:
        """Some of the settings."""
        return {name: self.settings[name] for name in names}

    def all_policies(self, *less: str) -> dict[str, Any]:
        """The policies as parameters."""
        return {name: value for name, value in self.policies.to_dict().items() if name not in less}


Content = dict[str, Any]
Analysis = Callable[[Task], Content]


def table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> Content:
    """A table: names and kinds (text, score, count, share, p) of its columns, and its rows."""
    return {"columns": [{"name": name, "kind": kind} for name, kind in columns], "rows": [list(row) for row in rows]}


def figure(chart: Any, label: str = "") -> Content:
    """A chart, and what to call it where there are several to choose from."""
    return {"label": label, "spec": chart.to_dict()}


def attempt(analysis: Analysis, task: Task) -> Content:
    """The analysis; a sentence if these data do not allow it. Wrong settings are still refused."""
    try:
        return analysis(task)
    except (DataError, MeasureError, PolicyError) as error:
        return {"absent": f"{str(error)[:1].upper()}{str(error)[1:]}"}


def agreeing(task: Task) -> Content:
    """How far measures agree on the order of runs."""
    found = agreement(task.scores, correlation=tuple(_COEFFICIENTS), **task.chosen("resamples", "seed", "gaps"))
    columns = [("measure", "text"), ("other", "text"), *((name, "score") for name in _COEFFICIENTS.values())]
    columns += [(f"τ, {found.ends()[0]}", "score"), (f"τ, {found.ends()[1]}", "score"), ("who moved most", "text")]
    rows = []
    for pair in (pair for pair in found.pairs if pair.correlation == "tau_b"):
        values = [found.between(pair.first, pair.second, name).value for name in _COEFFICIENTS]
        tied = pair.value != pair.value  # all runs are, by a measure: nothing that is resampled says more
        rows.append(
            [
                pair.first,
                pair.second,
                *values,
                None if tied else pair.resampled_low,
                None if tied else pair.resampled_high,
                _mover(found, pair.first, pair.second),
            ]
        )
    defined = [pair for pair in found.pairs if pair.correlation == "tau_b" and pair.value == pair.value]
    telling = [pair for pair in defined if {pair.first, pair.second} <= task.directed()]
    if telling:
        least = min(telling, key=lambda pair: pair.value)
        task.findings.append(
            f"The measures agree least in {least.first} and {least.second}: Kendall's τ of their orders is "
            f"{least.value:.2f}."
            if len(telling) > 1
            else f"{least.first} and {least.second} order the runs with a Kendall's τ of {least.value:.2f}."
        )
    return {"figures": [figure(found.chart())], "table": table(columns, rows), "line": str(found.settings)}


def _mover(found: Agreement, first: str, second: str) -> str:
    move = found.moved(first, second)[0]
    return "nobody" if move.first == move.second else f"{move.system}: {move.first:g} → {move.second:g}"


def reliable(task: Task) -> Content:
    """How reliable scores are, and how many topics that takes."""
    found = reliability(task.scores, **task.chosen("confidence", "gaps"))
    share, target = f"{found.settings['confidence']:.0%}", found.settings["target"]
    columns = [("measure", "text"), ("Φ", "score"), (f"low ({share})", "score"), ("high", "score"), ("Eρ²", "score")]
    columns += [(f"topics for Φ = {target:g}", "count"), (f"topics for Eρ² = {target:g}", "count")]
    columns += [("variance: runs", "share"), ("topics", "share"), ("rest", "share")]
    rows = [
        [
            *(m.measure, m.phi.value, m.phi.low, m.phi.high, m.erho2.value),
            *(m.topics_needed(target, name).value for name in ("phi", "erho2")),
            *(m.shares.run, m.shares.topic, m.shares.rest),
        ]
        for m in found.measures
    ]
    first = found.measures[0]
    needed = first.topics_needed(target).value
    if needed is not None:
        verdict = f"{needed} would reach" if needed > first.topics else f"{needed} of them reach"
        task.findings.append(
            f"The reliability Φ of {first.measure} is {first.phi.value:.3f} with {first.topics} topics; "
            f"{verdict} {target:g}."
        )
    return {
        "figures": [
            figure(found.chart("phi"), "Φ: the scores themselves"),
            figure(found.chart("erho2"), "Eρ²: the order of runs"),
        ],
        "table": table(columns, rows),
        "notes": list(map(str, found.notes())),
        "line": str(found.settings),
    }


def enough_topics(task: Task) -> Content:
    """How many topics a t-test needs."""
    found = topics(task.scores, **task.chosen("alpha", "gaps"))
    columns = [("measure", "text"), ("topics needed", "count"), ("topics here", "count")]
    columns += [("power here", "share"), ("smallest difference these topics find", "score")]
    rows = [[m.measure, m.needed, m.topics, m.now, m.detectable] for m in found.measures]
    return {
        "figures": [figure(found.chart())],
        "table": table(columns, rows),
        "notes": list(map(str, found.notes())),
        "line": str(found.settings),
    }


def stable(task: Task) -> Content:
    """How often fewer topics would order two runs the other way round."""
    found = stability(task.scores, **task.chosen("seed", "gaps"))
    columns = [("measure", "text"), ("topics drawn", "count"), ("error rate", "share"), ("ties", "share")]
    rows = [[curve.measure, curve.sizes[-1], curve.error[-1], curve.ties[-1]] for curve in found.curves]
    return {"figures": [figure(found.chart())], "table": table(columns, rows), "line": str(found.settings)}


def sensitive(task: Task) -> Content:
    """Which measure tells runs apart."""
    found = sensitivity(task.scores, **task.chosen("resamples", "seed", "gaps"))
    alpha = task.settings["alpha"]
    columns = [("measure", "text"), (f"pairs told apart at {alpha:g}", "share"), ("pairs", "count")]
    columns += [("difference from which all pairs are told apart", "score")]
    rows = [
        [test.measure, test.discriminative_power(alpha), len(test.curve()), test.detectable_difference(alpha)]
        for test in found.tests
    ]
    telling = [test for test in found.tests if test.measure in task.directed()]
    if len(telling) > 1:
        power = {test.measure: test.discriminative_power(alpha) for test in telling}
        most = max(power.values())
        best = [name for name, share in power.items() if share == most]
        doubtful = any(text.startswith(f"{name}: ") for text in found.notes for name in best)
        if most == 0.0:
            task.findings.append(f"No measure tells any two runs apart at α = {alpha:g}.")
        elif not doubtful:
            task.findings.append(
                f"{_listed(best)} {'tells' if len(best) == 1 else 'tell'} most runs apart: {most:.0%} of the pairs at "
                f"α = {alpha:g}."
            )
    return {
        "figures": [figure(found.chart())],
        "table": table(columns, rows),
        "notes": list(found.notes),
        "line": str(found),
    }


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def robust(task: Task) -> Content:
    """Whether runs keep their order when judgments are taken away."""
    found = robustness(
        task.qrels,
        list(task.runs),
        list(task.measures),
        **task.chosen("trials", "alpha", "confidence", "seed"),
        **task.all_policies(),
    )
    columns = [("measure", "text"), ("τ > .9 from", "share"), ("for good from", "share")]
    middle = min(range(len(found.levels)), key=lambda at: abs(found.levels[at] - 0.1))
    columns += [(f"τ with {found.levels[middle]:.0%} of the judgments", "score")]
    tau = found.tau()
    if np.isnan(tau).all():
        return {"absent": "The runs score alike by every measure: there is no order that they could keep."}
    rows = [
        [measure, knee.first, knee.sustained, float(tau[at, middle, 0])]
        for at, (measure, knee) in enumerate(found.knees().items())
    ]
    return {
        "figures": [figure(found.chart())],
        "table": table(columns, rows),
        "notes": list(found.notes),
        "line": str(found),
    }


def bounded(task: Task) -> Content:
    """Which values nDCG can take with negative labels."""
    if not task.has_negative():
        return {"absent": "No label is negative: every nDCG lies between 0 and 1, whatever its norm."}
    cutoff = task.settings["cutoff"]
    found = boundedness(task.qrels, list(task.runs), cutoff=cutoff, **task.all_policies("degenerate"))
    share = found.shares().row(0, named=True)
    notes = [
        f"nDCGorg@{cutoff} of the worst ordering is below 0 in {share['below_0']} of {share['topics']} topics, and at "
        f"or below -1 in {share['at_most_minus_1']}.",
    ]
    columns = [("run", "text"), ("topics", "count"), ("nDCGmin above 1", "count"), ("nDCGmin below 0", "count")]
    columns += [("share outside", "share"), ("nDCGorg below 0", "count"), ("nDCGorg above 1", "count")]
    names = ("run", "topics", "over", "under", "share", "org_below_0", "org_above_1")
    rows = [[row[name] for name in names] for row in found.runs().iter_rows(named=True)]
    outside = sum(row[2] + row[3] for row in rows)
    notes.append(
        f"nDCGmin@{cutoff} leaves [0, 1] in {outside} of {len(rows) * len(found.topics)} rankings; nDCGf never does."
    )
    return {"figures": [figure(found.chart())], "table": table(columns, rows), "notes": notes, "line": str(found)}


def cut(task: Task) -> Content:
    """What a threshold on the scores of a run would gain and cost."""
    if not task.has_negative():
        return {"absent": "No label is negative: there is nothing that a threshold should keep from being shown."}
    measure = _filtering(task)
    curves = [threshold.curve(task.qrels, run, measure=measure, **task.all_policies()) for run in _best(task, measure)]
    columns = [
        ("run", "text"),
        (f"{measure} uncut", "score"),
        ("at the best threshold", "score"),
        ("threshold", "score"),
    ]
    columns += [("documents kept", "share"), (f"{curves[0].forbidden_label} uncut", "share"), ("cut", "share")]
    rows = []
    for curve in curves:
        best = curve.best
        at = float(curve.thresholds[best])
        rows.append(
            [
                *(curve.run, float(curve.score[-1]), float(curve.score[best])),
                None if at == float("inf") else at,
                float(curve.kept[best] / curve.documents) if curve.documents else None,
                *(float(curve.forbidden[-1]), float(curve.forbidden[best])),
            ]
        )
    first = curves[0]
    uncut, best_score = float(first.score[-1]), float(first.score[first.best])
    if first.higher == "better" and best_score > uncut + 5e-5:
        task.findings.append(
            f"A threshold on its scores, chosen on these topics, would lift {first.run} from {uncut:.3f} to "
            f"{best_score:.3f} in {measure}."
        )
    notes = ["The best threshold has seen these topics: 'gainful threshold fit' tells what it is worth on others."]
    return {
        "figures": [figure(curve.chart(), curve.run) for curve in curves],
        "table": table(columns, rows),
        "notes": notes,
        "line": str(curves[0].settings),
    }


def _filtering(task: Task) -> str:
    """The first measure that rewards filtering, or nDCGf at the cutoff."""
    for measure in task.measures:
        if measure.definition.name == "nDCG" and measure.parameters.get("norm") == "f":
            return str(measure)
    return f"nDCGf@{task.settings['cutoff']}"


def _best(task: Task, measure: str) -> list[Run]:
    """The best runs by the measure, or by the first if it was not computed."""
    at = task.scores.measures.index(measure) if measure in task.scores else 0
    sign = -1.0 if task.scores.higher[at] == "worse" else 1.0
    summary = task.scores.summary()[at].tolist()
    order = sorted(range(len(task.runs)), key=lambda s: (summary[s] != summary[s], -sign * summary[s]))
    return [task.runs[s] for s in order[:MOST_CURVES]]


# In the order of the page: what it is called, what it asks, the command that tells more, and what computes it.
ANALYSES: tuple[tuple[str, str, str, str, Analysis], ...] = (
    (
        "agreement",
        "Do the measures agree?",
        "Two measures that order the runs alike say the same thing twice; where they differ, it matters which one you "
        "believe.",
        "agreement",
        agreeing,
    ),
    (
        "reliability",
        "Would other topics say the same?",
        "Φ is the share of the variance of mean scores that is due to the runs, not to which topics were asked; Eρ² "
        "the same for differences between runs.",
        "reliability",
        reliable,
    ),
    (
        "topics",
        "Are there enough topics?",
        "The power of a paired t-test to find a true difference of 0.05 between two runs.",
        "topics",
        enough_topics,
    ),
    (
        "stability",
        "How often would fewer topics reverse a pair?",
        "Topics are drawn at random; the error rate is how often a pair of runs comes out the other way round.",
        "stability",
        stable,
    ),
    (
        "sensitivity",
        "Which measure tells runs apart?",
        "The significance of every pair of runs by a paired bootstrap, ascending: the lower the curve, the more pairs "
        "are told apart.",
        "sensitivity",
        sensitive,
    ),
    (
        "robustness",
        "Are the judgments deep enough?",
        "Judgments are taken away at random; τ is how far the runs keep the order that all judgments give.",
        "robustness",
        robust,
    ),
    (
        "boundedness",
        "What do negative labels do to nDCG?",
        "With negative labels nDCG can fall below 0 or rise above 1, depending on how it is normalised.",
        "boundedness",
        bounded,
    ),
    (
        "threshold",
        "Where would one cut?",
        "Documents that score below a threshold are not shown: what that gains, what it still lets through, and what "
        "it costs.",
        "threshold curve",
        cut,
    ),
)
