"""Figures 2 to 9 of Kanoulas & Aslam (2009), of what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from gainful.studies.gain_discount_found import BEST_OF_ALL, ORDER, VARIANTS, Found, Plan, variant
from gainful.studies.panels import Axis, panels
from gainful.studies.result import Exhibit
from gainful.tune.optimize.result import OPTIMAL, Candidate, Part

if TYPE_CHECKING:
    import altair

# A discount has the same colour in all figures.
_AS_DRAWN = (OPTIMAL, "log2", "zipf", "linear")
_FREE, _FIXED = "free to rise", "never rising"


def figure_2(found: Sequence[Found]) -> Exhibit:
    """The optimal discount beside those that people use."""
    frame = _stacked(
        _discount(one.name, part, {name: part[name] for name in _AS_DRAWN})
        for one in found
        for _, part in sorted(one.discounts.items())
    )
    return Exhibit(
        name="Figure 2",
        title="Discounts by rank",
        text="The discount of the largest Φ for linear gains, never rising with the rank, beside those that people "
        "use; each adds up to 1. As in the paper, save that its optimiser was MATLAB's fmincon.",
        frame=frame,
        draw=lambda: _discounts_chart(frame, "Discounts, each made to add up to 1"),
        brief=_telling(frame, "discount"),
    )


def figure_3(found: Sequence[Found]) -> Exhibit:
    """The optimal discount with and without the constraint."""
    frame = _stacked(
        _discount(one.name, part, {_FREE: part[OPTIMAL], _FIXED: part["constrained"]})
        for one in found
        for part in one.free_discount.values()
    )
    return Exhibit(
        name="Figure 3",
        title="The optimal discount if it may also rise with the rank",
        text="As in Figure 2 without the constraint; the best order of the judgments then follows the discounts. As in "
        "the paper.",
        frame=frame,
        draw=lambda: _discounts_chart(frame, "Optimal discounts with and without the constraint"),
        brief=_telling(frame, "discount"),
    )


def figure_4(deep: dict[str, Part]) -> Exhibit:
    """Φ by the number of topics."""
    frame = _stacked(
        pl.DataFrame(
            {
                "collection": name,
                "cutoff": part.cutoff,
                "discount": discount,
                "topics": part.reliability.sizes,
                "Φ": part.reliability[discount].curve(part.reliability.sizes)[0],
            }
        )
        for name, part in deep.items()
        for discount in reversed(ORDER)
    )
    return Exhibit(
        name="Figure 4",
        title="Reliability by number of topics",
        text="Φ(n) of nDCG with each discount and linear gains. As in the paper, which reads about .80 (zipf) and .90 "
        "(optimal) from 50 topics of TREC 12, .90 and .95 of TREC 9, .88 and .90 of TREC 10.",
        frame=frame,
        draw=lambda: panels(
            frame,
            title="Φ and the number of topics",
            x=Axis(field="topics", title="topics", whole=True, own=True),
            y=Axis(field="Φ", title="Φ", domain=(0, 1)),
            by="discount",
            names=_AS_DRAWN,
        ),
        brief=_near(frame, "topics", (10, 25, 50, 100), "discount", "Φ"),
    )


def figure_5(found: Sequence[Found]) -> Exhibit:
    """Where relevant documents stand."""
    frame = _stacked(one.shares for one in found)
    return Exhibit(
        name="Figure 5",
        title="Share of relevant documents by rank and label",
        text="The mean over all runs and topics. The paper draws it for TREC 12 alone, with two labels.",
        frame=frame,
        draw=lambda: panels(
            frame,
            title="Documents of each label, by rank",
            x=Axis(field="rank", title="rank", whole=True, tight=True),
            y=Axis(field="share", title="share of the rankings", format="%", zero=True),
            by="label",
        ),
        brief=_near(frame, "rank", (1, 5, 10, 20, 50, 100), "label", "share"),
    )


def figure_6(found: Sequence[Found], plan: Plan) -> Exhibit:
    """The optimal discount sought with the gain and without."""
    together, alone = "sought with the gain", "for linear gains"
    frame = _stacked(
        _discount(one.name, part, {together: part[OPTIMAL], alone: part["optimal discount"]})
        for one in found
        for cutoff, part in one.both.items()
        if cutoff == plan.cutoff
    )
    return Exhibit(
        name="Figure 6",
        title="The optimal discount sought together with the gain, and for linear gains",
        text="Both make Φ of the one collection largest. The paper's minimax over gain and discount is this same "
        "maximum, searched by MATLAB's minimax; it draws TREC 9 alone.",
        frame=frame,
        draw=lambda: _discounts_chart(frame, "Optimal discounts, with optimal and with linear gains"),
        brief=_telling(frame, "discount"),
    )


def figure_7(deep: dict[str, Part]) -> Exhibit:
    """Means by the optimal discount against others."""
    frame = _stacked(_means(name, part, "discount", OPTIMAL, ("log2", "zipf", "linear")) for name, part in deep.items())
    return Exhibit(
        name="Figure 7",
        title="Mean nDCG of the runs, by the optimal discount and by others",
        text="A row a run, with Kendall's τ between the two orders and the root mean square difference of the means. "
        "As in the paper; Table 4 has its τ.",
        frame=frame,
        draw=lambda: _scatter(frame, "discount", "Mean nDCG by the optimal discount and by others"),
        brief=_agreement(frame, "discount"),
    )


def figure_8(gains: dict[str, Part]) -> Exhibit:
    """Means by the optimal gain against others."""
    frame = _stacked(_means(name, part, "gain", "constrained", ("exp", "linear")) for name, part in gains.items())
    return Exhibit(
        name="Figure 8",
        title="Mean nDCG of the runs, by optimal gains and by others",
        text="As Figure 7, for gains with the log2 discount. The paper leaves linear gains out, as they look the same, "
        "and gives a τ of .94 for exponential gains on TREC 12.",
        frame=frame,
        draw=lambda: _scatter(frame, "gain", "Mean nDCG by optimal gains and by others"),
        brief=_agreement(frame, "gain"),
    )


def figure_9(found: Sequence[Found], plan: Plan) -> Exhibit:
    """Significance of all pairs of the best runs."""
    names = [BEST_OF_ALL, *(variant(*one) for one in VARIANTS)]
    frames = []
    for one in found:
        for cutoff, tested in one.pairs.items():
            for name, test in zip(names, tested.tests, strict=True):
                levels = test.curve()[::-1]
                columns = {"pair": np.arange(1, len(levels) + 1), "ASL": levels}
                head = {"collection": one.name, "cutoff": cutoff, "runs": len(test.systems), "measure": name}
                frames.append(pl.DataFrame({**head, **columns}))
    frame = _stacked(frames)
    brief = None
    if frames:
        keys = ["collection", "cutoff", "runs", "measure"]
        told = (pl.col("ASL") < 0.05).mean().alias("pairs told apart at 0.05")
        brief = frame.group_by(keys, maintain_order=True).agg(pl.len().alias("pairs"), told)
    return Exhibit(
        name="Figure 9",
        title="Pairs of runs by their achieved significance level",
        text=f"Studentised bootstrap of all pairs of the {plan.best} best runs (or of all, if there are fewer) by nDCG "
        "with linear gains and the log2 discount. As in the paper, which does not say by what its 30 runs are best.",
        frame=frame,
        draw=lambda: panels(
            frame,
            title="Achieved significance level of the pairs of runs",
            x=Axis(field="pair", title="pairs of runs, the least clear first", whole=True, own=True),
            y=Axis(field="ASL", title="achieved significance level", domain=(0, 1)),
            by="measure",
            mark="steps",
            level=0.05,
        ),
        brief=brief,
    )


def _discount(collection: str, part: Part, candidates: dict[str, Candidate]) -> pl.DataFrame:
    """Rank by rank, the weight of several discounts."""
    return _stacked(
        pl.DataFrame(
            {
                "collection": collection,
                "cutoff": part.cutoff,
                "discount": name,
                "rank": range(1, len(candidate.discount) + 1),
                "weight": candidate.discount,
            }
        )
        for name, candidate in candidates.items()
    )


def _discounts_chart(frame: pl.DataFrame, title: str) -> altair.TopLevelMixin:
    return panels(
        frame.with_columns(depth=pl.format("nDCG@{}", "cutoff")),
        title=title,
        x=Axis(field="rank", title="rank", whole=True, tight=True, own=True),
        y=Axis(field="weight", title="discount", zero=True, own=True),
        by="discount",
        column="depth",
    )


def _means(collection: str, part: Part, what: str, optimal: str, others: Iterable[str]) -> pl.DataFrame:
    """Run by run, the mean by the optimum and by another choice."""
    means, names = part.scores.summary(), list(part.scores.measures)
    first = names.index(optimal)
    tau, rms = part.tau()[first], part.rms()[first]
    return _stacked(
        pl.DataFrame(
            {
                "collection": collection,
                "cutoff": part.cutoff,
                what: other,
                "run": list(part.scores.systems),
                OPTIMAL: means[first],
                "other": means[names.index(other)],
                "τ": float(tau[names.index(other)]),
                "RMS": float(rms[names.index(other)]),
            }
        )
        for other in others
    )


def _scatter(frame: pl.DataFrame, what: str, title: str) -> altair.TopLevelMixin:
    return panels(
        frame.with_columns(
            panel=pl.format("{}, {}: τ {}, RMS {}", "collection", what, pl.col("τ").round(3), pl.col("RMS").round(3))
        ),
        title=title,
        x=Axis(field=OPTIMAL, title=f"mean nDCG, optimal {what}"),
        y=Axis(field="other", title="mean nDCG"),
        by=what,
        column="panel",
        titled=True,
        mark="dots",
        diagonal=True,
        tooltip=("run", "τ", "RMS"),
    )


def _agreement(frame: pl.DataFrame, what: str) -> pl.DataFrame | None:
    """One row a collection and choice: how far the orders agree."""
    if frame.is_empty():
        return None
    keys = ["collection", "cutoff", what]
    return frame.group_by(keys, maintain_order=True).agg(pl.len().alias("runs"), pl.first("τ"), pl.first("RMS"))


def _telling(frame: pl.DataFrame, what: str) -> pl.DataFrame | None:
    """The weights at a few ranks, a column each."""
    return _near(frame, "rank", (1, 2, 5, 10, 20, 50, 100), what, "weight", "cutoff")


def _near(
    frame: pl.DataFrame, at: str, wanted: Sequence[int], what: str, value: str, *further: str
) -> pl.DataFrame | None:
    """A few places of long curves, side by side; the nearest to those wanted."""
    if frame.is_empty():
        return None
    have = frame[at].unique()
    chosen = list(dict.fromkeys(int(have[int((have - place).abs().arg_min() or 0)]) for place in wanted))
    found = frame.filter(pl.col(at).is_in(chosen)).pivot(at, index=["collection", *further, what], values=value)
    return found.rename({str(place): f"{at} {place}" for place in chosen if str(place) in found.columns})


def _stacked(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    some = [frame for frame in frames if not frame.is_empty()]
    return pl.concat(some) if some else pl.DataFrame()
