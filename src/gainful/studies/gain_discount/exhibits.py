"""The tables and figures of Kanoulas & Aslam (2009), of any collections, with what the paper prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from gainful.studies.exhibits import PUBLISHED, Exhibit, nearest, read_published, stacked
from gainful.studies.gain_discount.compute import (
    BOTH,
    FREE,
    GAIN,
    GAINS,
    HELD_OUT,
    ORDER,
    TESTED,
    Found,
    gain_ratio,
    labels_above,
)
from gainful.studies.panels import Axis, panels
from gainful.tune.optimize.result import OPTIMAL, Part

_PUBLISHED = read_published("gain_discount")
# A discount has the same colour in all figures.
_AS_DRAWN = (OPTIMAL, "log2", "zipf", "linear")
_NOT_ASKED = "it was not asked for"
# What an exhibit stands on, to tell why it could not be made.
_NEEDS = {
    "Table 2": GAIN,
    "Table 3": GAIN,
    "Figure 8": GAIN,
    "Figure 6": BOTH,
    "Figure 9": BOTH,
    "Figure 3": FREE,
    "Held-out Φ": HELD_OUT,
}


def exhibits_of(found: Sequence[Found], settings: Mapping[str, Any]) -> list[Exhibit]:
    """All of them, in the paper's order; those that the data do not allow have no rows."""
    deep = {one.name: one.deep for one in found if one.deep is not None}
    gains = {one.name: one.deep_gain for one in found if one.deep_gain is not None}
    return [
        _discounts(
            ((one.name, part, _AS_DRAWN) for one in found for _, part in sorted(one.discounts.items())),
            name="Figure 2",
            title="Discounts by rank",
            text="The discount of the largest Φ for linear gains, never rising with the rank, beside those that people "
            "use; each adds up to 1. As in the paper, save that its optimiser was MATLAB's fmincon.",
            caption="Discounts, each made to add up to 1",
        ),
        _discounts(
            ((one.name, part, (OPTIMAL, "constrained")) for one in found for part in one.free_discount.values()),
            ("free to rise", "never rising"),
            name="Figure 3",
            title="The optimal discount if it may also rise with the rank",
            text="As in Figure 2 without the constraint; the best order of the judgments then follows the discounts. "
            "As in the paper.",
            caption="Optimal discounts with and without the constraint",
        ),
        _by_topics(deep),
        _needed(
            deep,
            dict(zip(ORDER, ORDER, strict=True)),
            name="Table 1",
            title=f"Topics that a Φ of {settings['phi']:g} takes, by discount",
            text="From the variance components of runs, topics and their interaction, with linear gains. The optimum "
            "is fitted to the same topics, here and in the paper, so it cannot lose: see the table of held-out Φ. The "
            "paper's text says .9, its table .95; its column for log2 is that for linear gains in Table 3, which is at "
            "rank 100.",
        ),
        _ratios(found, settings["gain_cutoffs"]),
        _labels(found),
        _needed(
            gains,
            {**dict(zip(GAINS, GAINS, strict=True)), OPTIMAL: "constrained"},
            name="Table 3",
            title=f"Topics that a Φ of {settings['phi']:g} takes, by gain",
            text="As Table 1, with the log2 discount. What the paper calls optimal on TREC 9 takes more topics than "
            "exponential gains, so it cannot be the optimum.",
        ),
        _held_out(deep),
        _discounts(
            (
                (one.name, one.both[settings["cutoff"]], (OPTIMAL, "optimal discount"))
                for one in found
                if settings["cutoff"] in one.both
            ),
            ("sought with the gain", "for linear gains"),
            name="Figure 6",
            title="The optimal discount sought together with the gain, and for linear gains",
            text="Both make Φ of the one collection largest. The paper's minimax over gain and discount is this same "
            "maximum, searched by MATLAB's minimax; it draws TREC 9 alone.",
            caption="Optimal discounts, with optimal and with linear gains",
        ),
        _means(
            deep,
            "discount",
            (OPTIMAL, "log2", "zipf", "linear"),
            name="Figure 7",
            title="Mean nDCG of the runs, by the optimal discount and by others",
            text="One row per run, with Kendall's τ between the two orders and the root mean square difference of the "
            "means. As in the paper; Table 4 has its τ.",
            caption="Mean nDCG by the optimal discount and by others",
        ),
        _orders(deep),
        _means(
            gains,
            "gain",
            ("constrained", "exp", "linear"),
            name="Figure 8",
            title="Mean nDCG of the runs, by optimal gains and by others",
            text="As Figure 7, for gains with the log2 discount. The paper leaves linear gains out, as they look the "
            "same, and gives a τ of .94 for exponential gains on TREC 12.",
            caption="Mean nDCG by optimal gains and by others",
        ),
        _pairs(found, settings["best"]),
    ]


def absent(made: Sequence[Exhibit], found: Sequence[Found]) -> dict[str, str]:
    """Exhibits without rows, and why; then what could not be sought on each collection."""
    reasons = {kind: why for one in found for kind, why in one.failed}
    empty = (exhibit.name for exhibit in made if exhibit.frame.is_empty())
    lacking = {name: reasons.get(_NEEDS.get(name, ""), _NOT_ASKED) for name in empty}
    for one in found:
        for (kind, why), cutoffs in one.failed.items():
            at = f" at {', '.join(map(str, sorted(cutoffs)))}" if cutoffs else ""
            lacking[f"{kind}{at} on {one.name}"] = why
    return lacking


def _discounts(
    parts: Iterable[tuple[str, Part, Sequence[str]]], names: Sequence[str] = (), *, caption: str, **about: str
) -> Exhibit:
    """Weights rank by rank: of candidates by collection, under other names if given."""
    frame = stacked(
        pl.DataFrame(
            {
                "collection": collection,
                "cutoff": part.cutoff,
                "discount": name,
                "rank": range(1, len(part[candidate].discount) + 1),
                "weight": part[candidate].discount,
            }
        )
        for collection, part, candidates in parts
        for candidate, name in zip(candidates, names or candidates, strict=True)
    )
    return Exhibit(
        **about,
        frame=frame,
        draw=lambda: panels(
            frame.with_columns(depth=pl.format("nDCG@{}", "cutoff")),
            title=caption,
            x=Axis(field="rank", title="rank", whole=True, tight=True, own=True),
            y=Axis(field="weight", title="discount", zero=True, own=True),
            by="discount",
            column="depth",
        ),
        brief=nearest(frame, "rank", (1, 2, 5, 10, 20, 50, 100), ["cutoff", "discount"], "weight"),
    )


def _by_topics(deep: Mapping[str, Part]) -> Exhibit:
    frame = stacked(
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
        brief=nearest(frame, "topics", (10, 25, 50, 100), ["discount"], "Φ"),
    )


def _needed(parts: Mapping[str, Part], columns: Mapping[str, str], *, name: str, title: str, text: str) -> Exhibit:
    """Topics needed, by discount or gain."""
    rows = [
        {
            "collection": collection,
            "cutoff": part.cutoff,
            **{column: part.topics_needed(candidate) for column, candidate in columns.items()},
        }
        for collection, part in parts.items()
    ]
    return Exhibit(name=name, title=title, text=text, frame=_PUBLISHED.below(name, rows))


def _ratios(found: Sequence[Found], cutoffs: Sequence[int]) -> Exhibit:
    rows, highest = [], []
    for one in found:
        for cutoff, part in one.gains.items():
            both = one.both.get(cutoff)
            for label in labels_above(part) if cutoff in cutoffs else ():
                over = f"{label:g} over {min(part.candidates[0].gain):g}"
                highest += [(one.name, over)] if label == labels_above(part)[-1] else []
                rows.append(
                    {
                        "collection": one.name,
                        "cutoff": cutoff,
                        "labels": over,
                        "unconstrained": gain_ratio(part[OPTIMAL], label),
                        "log2 discount": gain_ratio(part["constrained"], label),
                        "optimal discount": float("nan") if both is None else gain_ratio(both[OPTIMAL], label),
                        "linear": gain_ratio(part["linear"], label),
                        "exp": gain_ratio(part["exp"], label),
                    }
                )
    frame = _PUBLISHED.below("Table 2", rows)
    brief = None
    if rows:
        tops = pl.DataFrame(highest, schema=["collection", "labels"], orient="row")
        ours = frame.join(tops, on=["collection", "labels"], how="semi", maintain_order="left")
        brief = pl.concat([ours, frame.filter(pl.col("collection").str.ends_with(PUBLISHED))])
    return Exhibit(
        name="Table 2",
        title="The gain of each label over that of the lowest",
        text="Of the largest Φ: gains that may fall with the label, gains that may not, both for the log2 discount; "
        "and gains sought together with the discount. The paper has two labels, relevant (1) and highly relevant (2); "
        "inf where the lowest label is best given no gain at all.",
        frame=frame,
        brief=brief,
    )


def _labels(found: Sequence[Found]) -> Exhibit:
    frame = stacked(one.shares for one in found)
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
        brief=nearest(frame, "rank", (1, 5, 10, 20, 50, 100), ["label"], "share"),
    )


def _held_out(deep: Mapping[str, Part]) -> Exhibit:
    rows = [
        {
            "collection": name,
            "cutoff": part.cutoff,
            "discount": row["candidate"],
            "Φ": row["phi"],
            "Φ of the half fitted to": row["fitted_phi"],
            "Φ of the half held out": row["held_out_phi"],
            "standard deviation": row["held_out_sd"],
        }
        for name, part in deep.items()
        for row in part.rows()
        if row["candidate"] in ORDER and len(part[OPTIMAL].held_out)
    ]
    return Exhibit(
        name="Held-out Φ",
        title="Reliability on topics that the discount was not fitted to",
        text="Not in the paper. The topics are split into halves; the optimum of one half is measured on the other, "
        "the Φ of a half being told for as many topics as there are in all.",
        frame=pl.DataFrame(rows, infer_schema_length=None),
    )


def _means(parts: Mapping[str, Part], what: str, candidates: Sequence[str], *, caption: str, **about: str) -> Exhibit:
    """Run by run, the mean by the optimum, which is the first candidate, and by each of the others."""
    frames = []
    for collection, part in parts.items():
        means, names = part.scores.summary(), list(part.scores.measures)
        first, *others = map(names.index, candidates)
        frames += [
            pl.DataFrame(
                {
                    "collection": collection,
                    "cutoff": part.cutoff,
                    what: names[at],
                    "run": list(part.scores.systems),
                    OPTIMAL: means[first],
                    "other": means[at],
                    "τ": float(part.tau()[first, at]),
                    "RMS": float(part.rms()[first, at]),
                }
            )
            for at in others
        ]
    frame = stacked(frames)
    keys = ["collection", "cutoff", what]
    return Exhibit(
        **about,
        frame=frame,
        draw=lambda: panels(
            frame.with_columns(
                panel=pl.format(
                    "{}, {}: τ {}, RMS {}", "collection", what, pl.col("τ").round(3), pl.col("RMS").round(3)
                )
            ),
            title=caption,
            x=Axis(field=OPTIMAL, title=f"mean nDCG, optimal {what}"),
            y=Axis(field="other", title="mean nDCG"),
            by=what,
            column="panel",
            titled=True,
            mark="dots",
            diagonal=True,
            tooltip=("run", "τ", "RMS"),
        ),
        brief=frame.group_by(keys, maintain_order=True).agg(pl.len().alias("runs"), pl.first("τ"), pl.first("RMS"))
        if frames
        else None,
    )


def _orders(deep: Mapping[str, Part]) -> Exhibit:
    rows = []
    for name, part in deep.items():
        at = [part.scores.measures.index(discount) for discount in ORDER]
        for discount, row in zip(ORDER, part.tau()[np.ix_(at, at)], strict=True):
            values = dict(zip(ORDER, map(float, row), strict=True))
            rows.append({"collection": name, "cutoff": part.cutoff, "discount": discount, **values})
    return Exhibit(
        name="Table 4",
        title="Kendall's τ between the orders of runs by four discounts",
        text="Runs ordered by mean nDCG with linear gains. As in the paper, which has two different values for zipf "
        "and the optimum on TREC 12.",
        frame=_PUBLISHED.below("Table 4", rows),
    )


def _pairs(found: Sequence[Found], best: int) -> Exhibit:
    frames = [
        pl.DataFrame(
            {
                "collection": one.name,
                "cutoff": cutoff,
                "runs": len(test.systems),
                "measure": name,
                "pair": np.arange(1, len(test.curve()) + 1),
                "ASL": test.curve()[::-1],
            }
        )
        for one in found
        for cutoff, tested in one.pairs.items()
        for name, test in zip(TESTED, tested.tests, strict=True)
    ]
    frame = stacked(frames)
    keys = ["collection", "cutoff", "runs", "measure"]
    below = (pl.col("ASL") < 0.05).mean().alias("pairs told apart at 0.05")
    return Exhibit(
        name="Figure 9",
        title="Pairs of runs by their achieved significance level",
        text=f"Studentised bootstrap of all pairs of the {best} best runs (or of all, if there are fewer) by nDCG "
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
        brief=frame.group_by(keys, maintain_order=True).agg(pl.len().alias("pairs"), below) if frames else None,
    )
