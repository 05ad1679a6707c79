"""The tables and figures of Kanoulas & Aslam (2009), of any collections, with what the paper prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.studies.exhibits import PUBLISHED, Exhibit, nearest, read_paper, stacked
from gainful.studies.gain_discount import compute
from gainful.studies.gain_discount.compute import GAINS, ORDER, TESTED, GainDiscount, gain_ratio, labels_above
from gainful.studies.panels import Axis
from gainful.tune.optimize.result import OPTIMAL, CollectionOptimum

_PAPER = read_paper("gain_discount")
# A discount has the same colour in all figures.
_AS_DRAWN = (OPTIMAL, "log2", "zipf", "linear")
# What an exhibit stands on, to tell why it could not be made.
_NEEDS = {
    **dict.fromkeys(("Table 2", "Table 3", "Figure 8"), compute.GAIN),
    **dict.fromkeys(("Figure 6", "Figure 9"), compute.BOTH),
    "Figure 3": compute.FREE,
    "Held-out Φ": compute.HELD_OUT,
}


def exhibits_of(found: Sequence[GainDiscount], settings: Mapping[str, Any]) -> list[Exhibit]:
    """All of them, in the paper's order; those that the data do not allow have no rows."""
    deep = {one.name: one.deep for one in found if one.deep is not None}
    gains = {one.name: one.deep_gain for one in found if one.deep_gain is not None}
    used = [(one.name, part) for one in found for _, part in sorted(one.discounts.items())]
    free = [(one.name, part) for one in found for part in one.free_discount.values()]
    both = [(one.name, part) for one in found for at, part in one.both.items() if at == settings["cutoff"]]
    return [
        _discounts("Figure 2", used, {name: name for name in _AS_DRAWN}),
        _discounts("Figure 3", free, {"free to rise": OPTIMAL, "never rising": "constrained"}),
        _by_topics(deep),
        _needed("Table 1", deep, {name: name for name in ORDER}, settings["phi"]),
        _ratios(found, settings["gain_cutoffs"]),
        _labels(found),
        _needed("Table 3", gains, {**{name: name for name in GAINS}, OPTIMAL: "constrained"}, settings["phi"]),
        _held_out(deep),
        _discounts("Figure 6", both, {"sought with the gain": OPTIMAL, "for linear gains": "optimal discount"}),
        _means("Figure 7", deep, "discount", _AS_DRAWN),
        _orders(deep),
        _means("Figure 8", gains, "gain", ("constrained", *GAINS)),
        _pairs(found, settings["best"]),
    ]


def absent(made: Sequence[Exhibit], found: Sequence[GainDiscount]) -> dict[str, str]:
    """Exhibits without rows, and why; then what could not be sought on each collection."""
    reasons = {kind: why for one in found for kind, why in one.failed}
    empty = (exhibit.name for exhibit in made if exhibit.frame.is_empty())
    lacking = {name: reasons.get(_NEEDS.get(name, ""), "it was not asked for") for name in empty}
    for one in found:
        for (kind, why), cutoffs in one.failed.items():
            at = f" at {', '.join(map(str, sorted(cutoffs)))}" if cutoffs else ""
            lacking[f"{kind}{at} on {one.name}"] = why
    return lacking


def _discounts(name: str, parts: Iterable[tuple[str, CollectionOptimum]], candidates: Mapping[str, str]) -> Exhibit:
    """Weights rank by rank, of candidates under the names that they have in the figure."""
    frame = stacked(
        {
            "collection": collection,
            "cutoff": part.cutoff,
            "discount": shown,
            "rank": range(1, len(part[candidate].discount) + 1),
            "weight": part[candidate].discount,
        }
        for collection, part in parts
        for shown, candidate in candidates.items()
    )

    def drawn() -> pl.DataFrame:
        return frame.with_columns(depth=pl.format("nDCG@{}", "cutoff"))

    x = Axis(field="rank", title="rank", whole=True, tight=True, own=True)
    y = Axis(field="weight", title="discount", zero=True, own=True)
    brief = nearest(frame, "rank", (1, 2, 5, 10, 20, 50, 100), ["cutoff", "discount"], "weight")
    return _PAPER.figure(name, frame, x=x, y=y, by="discount", column="depth", drawn=drawn, brief=brief)


def _by_topics(deep: Mapping[str, CollectionOptimum]) -> Exhibit:
    frame = stacked(
        {
            "collection": name,
            "cutoff": part.cutoff,
            "discount": discount,
            "topics": part.reliability.sizes,
            "Φ": part.reliability[discount].curve(part.reliability.sizes)[0],
        }
        for name, part in deep.items()
        for discount in reversed(ORDER)
    )
    x, y = Axis(field="topics", title="topics", whole=True, own=True), Axis(field="Φ", title="Φ", domain=(0, 1))
    brief = nearest(frame, "topics", (10, 25, 50, 100), ["discount"], "Φ")
    return _PAPER.figure("Figure 4", frame, x=x, y=y, by="discount", names=_AS_DRAWN, brief=brief)


def _needed(name: str, parts: Mapping[str, CollectionOptimum], columns: Mapping[str, str], phi: float) -> Exhibit:
    """Topics needed, by discount or gain."""
    rows = [
        {"collection": one, "cutoff": part.cutoff, **{c: part.topics_needed(of) for c, of in columns.items()}}
        for one, part in parts.items()
    ]
    return _PAPER.exhibit(name, rows, {"phi": phi})


def _ratios(found: Sequence[GainDiscount], cutoffs: Sequence[int]) -> Exhibit:
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

    def brief(frame: pl.DataFrame) -> pl.DataFrame:
        tops = pl.DataFrame(highest, schema=["collection", "labels"], orient="row")
        ours = frame.join(tops, on=["collection", "labels"], how="semi", maintain_order="left")
        return pl.concat([ours, frame.filter(pl.col("collection").str.ends_with(PUBLISHED))])

    return _PAPER.exhibit("Table 2", rows, brief=brief)


def _labels(found: Sequence[GainDiscount]) -> Exhibit:
    frame = stacked(one.shares for one in found)
    x = Axis(field="rank", title="rank", whole=True, tight=True)
    y = Axis(field="share", title="share of the rankings", format="%", zero=True)
    brief = nearest(frame, "rank", (1, 5, 10, 20, 50, 100), ["label"], "share")
    return _PAPER.figure("Figure 5", frame, x=x, y=y, by="label", brief=brief)


def _held_out(deep: Mapping[str, CollectionOptimum]) -> Exhibit:
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
    return _PAPER.exhibit("Held-out Φ", rows)


def _means(name: str, parts: Mapping[str, CollectionOptimum], what: str, candidates: Sequence[str]) -> Exhibit:
    """Run by run, the mean by the optimum, which is the first candidate, and by each of the others."""
    columns = []
    for collection, part in parts.items():
        means, names = part.scores.summary(), list(part.scores.measures)
        first, *others = map(names.index, candidates)
        columns += [
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
            for at in others
        ]
    frame = stacked(columns)
    title = pl.format("{}, {}: τ {}, RMS {}", "collection", what, pl.col("τ").round(3), pl.col("RMS").round(3))
    agreed = pl.len().alias("runs"), pl.first("τ"), pl.first("RMS")

    def drawn() -> pl.DataFrame:
        return frame.with_columns(panel=title)

    def brief(all: pl.DataFrame) -> pl.DataFrame:
        return all.group_by("collection", "cutoff", what, maintain_order=True).agg(agreed)

    x, y = Axis(field=OPTIMAL, title=f"mean nDCG, optimal {what}"), Axis(field="other", title="mean nDCG")
    look: dict[str, Any] = {"titled": True, "mark": "dots", "diagonal": True, "tooltip": ("run", "τ", "RMS")}
    return _PAPER.figure(name, frame, x=x, y=y, by=what, column="panel", drawn=drawn, brief=brief, **look)


def _orders(deep: Mapping[str, CollectionOptimum]) -> Exhibit:
    rows = []
    for name, part in deep.items():
        at = [part.scores.measures.index(discount) for discount in ORDER]
        for discount, row in zip(ORDER, part.tau()[np.ix_(at, at)], strict=True):
            values = dict(zip(ORDER, map(float, row), strict=True))
            rows.append({"collection": name, "cutoff": part.cutoff, "discount": discount, **values})
    return _PAPER.exhibit("Table 4", rows)


def _pairs(found: Sequence[GainDiscount], best: int) -> Exhibit:
    frame = stacked(
        {
            "collection": one.name,
            "cutoff": cutoff,
            "runs": len(test.systems),
            "measure": name,
            "pair": np.arange(1, len(test.curve()) + 1),
            "ASL": test.curve()[::-1],
        }
        for one in found
        for cutoff, tested in one.pairs.items()
        for name, test in zip(TESTED, tested.tests, strict=True)
    )
    keys = ["collection", "cutoff", "runs", "measure"]
    below = pl.len().alias("pairs"), (pl.col("ASL") < 0.05).mean().alias("pairs told apart at 0.05")

    def brief(all: pl.DataFrame) -> pl.DataFrame:
        return all.group_by(keys, maintain_order=True).agg(below)

    x = Axis(field="pair", title="pairs of runs, the least clear first", whole=True, own=True)
    y = Axis(field="ASL", title="achieved significance level", domain=(0, 1))
    return _PAPER.figure(
        "Figure 9", frame, values={"best": best}, x=x, y=y, by="measure", mark="steps", level=0.05, brief=brief
    )
