"""What `robustness` says in sentences: how deep the judgments are, and when the order of the runs breaks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gainful import _polars as pl
from gainful.analyses.robustness.decisions import Decisions
from gainful.analyses.robustness.depletion import LEAST_NONRELEVANT, LEAST_RELEVANT
from gainful.analyses.robustness.judged import ENOUGH
from gainful.data.rankings import FloatArray
from gainful.results import Note, listed, percent, plural

if TYPE_CHECKING:
    from gainful.analyses.robustness.result import Robustness

# Two orders of runs are alike if their τ is above this.
KEPT = 0.9
# With fewer topics, an order is easily kept.
_FEW = 5
_NO_ORDER = "There is no order that the runs could keep: by every measure they score the same, or one has no score."
_LEVELS = {
    "leave-one-out": "Each run is scored without the judgments of documents that {} alone has among the first ones; a "
    "level is how many.",
    "depth": "A level is the depth of the pool of these runs; documents outside of the pool lose their judgments.",
    "stratified": "A level is the share of the judgments that is kept; what is taken away stays pooled, but unjudged.",
}


def sentences(found: Robustness) -> Iterator[str]:
    """How deep the judgments are, and what becomes of the order of the runs."""
    yield from _depth(found)
    yield _lost(found) if found.settings["depletion"] == "leave-one-out" else _order(found)


def _depth(found: Robustness) -> Iterator[str]:
    """How deep the judgments are, for which measures that is enough, and the first ten documents."""
    depth, share = found.reach.depth(), f"{ENOUGH:.0%}"
    if depth:
        end = "the end of the rankings, " if depth == found.reach.shares.shape[1] else ""
        first = "first documents" if depth == 1 else f"first {depth} documents"
        yield f"The judgments reach {end}depth {depth}: at least {share} of the {first} of the median run are judged."
    else:
        yield f"The judgments do not even cover the first documents: fewer than {share} of the median run's are judged."
    cutoffs = [(name, cutoff) for name, cutoff in zip(found.measures, found.cutoffs, strict=True) if cutoff]
    enough = listed([name for name, cutoff in cutoffs if cutoff <= depth])
    deeper = [name for name, cutoff in cutoffs if cutoff > depth and depth < found.reach.shares.shape[1]]
    looks = f"{listed(deeper)} {'looks' if len(deeper) == 1 else 'look'} deeper"
    if cutoffs and depth and (enough or deeper):
        both = f"That is enough for {enough}" + (f"; {looks}." if deeper else ".")
        yield both if enough else f"{looks}."
    ten = found.reach.first(10)
    there = np.flatnonzero(~np.isnan(ten))
    if len(there):
        worst = int(there[np.argmin(ten[there])])
        median, least = percent(float(np.median(ten[there]))), percent(float(ten[worst]))
        yield (
            "The first ten documents of all runs are judged."
            if ten[worst] == 1.0
            else f"Of the first ten documents {median} are judged in the median run, and {least} in the worst, "
            f"{found.systems[worst]}."
        )


def _order(found: Robustness) -> str:
    """From what level on each measure keeps the order of the runs."""
    known = _ordering(found)
    if not known:
        return _NO_ORDER
    knees = found.knees(KEPT)
    level = {name: math.inf if knees[name].sustained is None else float(knees[name].sustained) for name in known}  # type: ignore[arg-type]
    least, most = min(level.values()), max(level.values())
    best = listed([name for name in known if level[name] == least])
    worst = listed([name for name in known if level[name] == most])
    keep = "keeps" if best in level else "keep"
    if least == math.inf:
        return f"No measure keeps the order of the runs (τ > {KEPT:g}) at the highest of these levels."
    kept = f"{best} {keep} the order of the runs (τ > {KEPT:g}) {_level(found, least)}"
    if least == most:
        return f"{kept}."
    late = "not even at the highest level" if most == math.inf else _level(found, most, only="only ")
    return f"{kept}; {worst} {late}."


def _ordering(found: Robustness) -> list[str]:
    """The measures that give the runs an order under all judgments."""
    measures = zip(found.measures, found.full, strict=True)
    return [name for name, full in measures if not np.isnan(full).any() and np.ptp(tidy(full)) > 0]


def _level(found: Robustness, level: float, only: str = "") -> str:
    if found.by_depth():
        return f"{only}from a pool depth of {level:g} on"
    return "only with all of the judgments" if level == 1.0 else f"{only}from {100 * level:g}% of the judgments on"


def _who(found: Robustness) -> str:
    return "it" if found.settings["teams"] is None else "its team"


def _lost(found: Robustness) -> str:
    """How many places a run loses at most by not having contributed."""
    known = _ordering(found)
    if not known:
        return _NO_ORDER
    frame = found.runs().filter(pl.col("measure").is_in(known))
    frame = frame.with_columns(places=pl.col("rank") - pl.col("full_rank"))
    most = frame.sort("places", descending=True, maintain_order=True).row(0, named=True)
    if most["places"] <= 0:
        return f"Scored without the documents that {_who(found)} alone contributed, no run loses a place."
    return (
        f"Scored without the documents that {_who(found)} alone contributed, a run loses at most {most['places']} of "
        f"{len(found.systems)} places: {most['run']} by {most['measure']} at depth {most['level']:g}."
    )


def notes(found: Robustness) -> Iterator[Note]:
    """No order to keep, nothing to decide, weights without effect; how to read the table."""
    alpha = found.settings["alpha"]
    topics = len(found.scored.topics)
    if topics < _FEW:
        text = f"{plural(len(found.systems), 'run')} on {plural(topics, 'topic')}"
        yield Note("few-topics", "", f"{text} say little of the order of others: it may be kept here by chance.")
    for measure, full, cells in zip(found.measures, found.full, found.decisions, strict=True):
        if np.isnan(full).any() or np.ptp(tidy(full)) == 0:
            why = "some run has no score" if np.isnan(full).any() else "all runs score the same"
            yield Note("no-order", measure, f"{measure}: {why} under all judgments, so there is no order to keep.")
        if cells[0] == Decisions():
            text = (
                f"{measure}: no two runs differ on enough topics for a test at alpha={alpha:g} to tell them "
                "apart, so nothing is said of decisions."
            )
            yield Note("no-decision", measure, text)
    if found.settings["weights"] and sum(label >= found.settings["rel"] for label in found.labels) == 1:
        text = "Only one label is relevant, so all weights give the same nDCG, the binary one."
        yield Note("weights-without-effect", "weights", text)
    depletion = found.settings["depletion"]
    yield Note("levels", "", _LEVELS.get(depletion, _LEVELS["stratified"]).format(_who(found)))
    yield from _floors(found)
    if depletion != "leave-one-out":
        yield Note("for-good", "", "For good: at that level and all higher ones.")


def _floors(found: Robustness) -> Iterator[Note]:
    """Where a topic has so few judgments that stratified depletion cannot keep so small a share of them."""
    shares = zip(found.levels, (judged / max(found.judgments, 1) for judged in found.judged), strict=True)
    more = [(level, share) for level, share in shares if share > 1.1 * level]
    if found.settings["depletion"] == "stratified" and more:
        ends = listed([f"level {level:g} keeps {share:.0%}" for level, share in dict.fromkeys((more[0], more[-1]))])
        text = (
            f"A topic keeps at least {LEAST_RELEVANT} relevant and {LEAST_NONRELEVANT} other documents, so low "
            f"levels keep more than they say: {ends}."
        )
        yield Note("floors", "", text)


def tidy(scores: FloatArray) -> FloatArray:
    """Scores that tie but for the last bits of their sums, tied: all rounded at the same digit."""
    largest = float(np.nanmax(np.abs(scores), initial=0.0))
    return np.round(scores, 11 - math.floor(math.log10(largest))) if largest else scores
