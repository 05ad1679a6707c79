"""What `boundedness` found: attainable ranges of nDCG per topic, and the rankings that leave them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from gainful import _polars as pl
from gainful.analyses.boundedness import Lists, Norm
from gainful.charts import level_at, load_altair, sized, tips
from gainful.data.rankings import BoolArray, FloatArray
from gainful.errors import check_choice
from gainful.results import Chart, Note, Result, Settings, plural
from gainful.tables import Table

NORMS: tuple[Norm, ...] = get_args(Norm)
LISTS: tuple[Lists, ...] = get_args(Lists)

# Sums of the same gains in another order differ by this much, relative to the sum of their sizes: still equal.
_CLOSE = 1e-12
# A topic or two that fall far deeper would leave no room to see the others.
_DRAWN = -5
# Topics per line: a screen shows no more, and a browser would take seconds for them.
_MOST_DRAWN = 500
# More sentences are not read.
_MOST_CUTOFFS = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Boundedness(Result):
    """What `boundedness` found.

    Parameters
    ----------
    cutoffs, topics, systems
        The names of the axes below; no systems if there were no runs.
    ideal, worst
        Cutoffs × topics: I and W, the DCG of the best and of the worst ordering of the pool.
    ideal_sublist, worst_sublist
        Cutoffs × topics: I_f and W_f, the same over all sublists of the pool.
    size
        Cutoffs × topics: the DCG of the best ordering of the sizes of the gains; what is small beside it is rounding.
    achieved
        Cutoffs × systems × topics: the DCG of each run.
    counted
        Systems × topics: the rankings that count.
    label_gains
        The gain of every label there is.
    unused
        Labels named in `gains` that no document has.
    settings
        What repeats it.
    """

    cutoffs: tuple[int, ...]
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    ideal: FloatArray
    worst: FloatArray
    ideal_sublist: FloatArray
    worst_sublist: FloatArray
    size: FloatArray
    achieved: FloatArray
    counted: BoolArray
    label_gains: Mapping[float, float]
    unused: tuple[float, ...]
    settings: Settings

    @property
    def negative(self) -> bool:
        """Whether any label has a negative gain."""
        return any(gain < 0 for gain in self.label_gains.values())

    def verdict(self) -> str:
        """How low nDCGorg can fall, and how many rankings leave the range of nDCGmin."""
        said = []
        if not self.negative:
            said.append("No label has a negative gain: nDCGorg lies between 0 and 1 in every topic.")
        else:
            said += [
                f"nDCGorg@{row['cutoff']} of the worst ordering is below 0 in {row['below_0']:,} of "
                f"{plural(row['topics'], 'topic')}, and at or below -1 in {row['at_most_minus_1']:,}."
                for row in self.shares().head(_MOST_CUTOFFS).iter_rows(named=True)
            ]
        over, under = self.outside()
        rankings = int(self.counted.sum())
        for cutoff, number in list(zip(self.cutoffs, (over | under).sum(axis=(1, 2)), strict=True))[:_MOST_CUTOFFS]:
            if rankings:
                said.append(
                    f"nDCGmin@{cutoff} leaves [0, 1] in {number:,} of {plural(rankings, 'ranking')} of the runs."
                )
        return " ".join([*said, *(["nDCGf never leaves [0, 1]."] if self.negative or (over | under).any() else [])])

    def tables(self) -> tuple[Table, ...]:
        """Per cutoff the topics that can fall below 0 and to -1; per run the rankings outside; per topic the ranges."""
        shares = Table.of(
            "shares",
            self.shares(),
            {
                "cutoff": "cutoff",
                "topics": "topics",
                "below_0": "nDCGorg can be < 0",
                "share_below_0": ("share", "share"),
                "at_most_minus_1": "can be ≤ -1",
                "share_at_most_minus_1": ("share", "share"),
                "lowest": "lowest nDCGorg",
                "undefined": "undefined",
            },
        )
        runs = Table.of(
            "runs",
            self.runs(),
            {
                **{name: name for name in ("run", "cutoff", "topics")},
                "over": "nDCGmin > 1",
                "under": "nDCGmin < 0",
                "share": ("outside [0, 1]", "share"),
                "org_below_0": "nDCGorg < 0",
                "org_above_1": "nDCGorg > 1",
            },
        )
        return (shares, *([runs] if self.systems else []), Table.of("topics", self.to_frame()))

    def compact(self) -> tuple[Table, ...]:
        """All tables but that of the topics."""
        return self.tables()[:-1]

    def _notes(self) -> tuple[Note, ...]:
        if not self.unused:
            return ()
        labels, there = (", ".join(f"{label:g}" for label in some) for some in (self.unused, self.label_gains))
        text = f"The gains name labels that no document has: {labels}. There are: {there}."
        return (Note("unused-labels", labels, text),)

    def attainable(self, norm: Norm = "org", lists: Lists = "orderings") -> FloatArray:
        """The lowest and the highest nDCG there can be: (lowest, highest) × cutoffs × topics; NaN where undefined.

        `lists` is what may be returned: orderings of the whole pool, or any sublist of it in any order.
        """
        check_choice("norm", norm, NORMS)
        check_choice("lists", lists, LISTS)
        match norm:
            case "org":
                base, span = np.zeros_like(self.ideal), self.ideal
            case "min":
                base, span = self.worst, self.ideal - self.worst
            case _:
                base, span = self.worst_sublist, self.ideal_sublist - self.worst_sublist
        full = lists == "orderings"
        ends = np.stack([self.worst, self.ideal] if full else [self.worst_sublist, self.ideal_sublist])
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.where(np.abs(span) > _CLOSE * self.size, (ends - base) / span, np.nan)
        # Where even the best ordering is below 0, dividing by it turns the range round.
        return np.sort(values, axis=0)

    def outside(self) -> tuple[BoolArray, BoolArray]:
        """Rankings for which nDCG_min is unbounded: over (DCG > I) and under (DCG < W); cutoffs × systems × topics."""
        noise = _CLOSE * self.size[:, None]
        over = (self.achieved > self.ideal[:, None] + noise) & self.counted
        under = (self.achieved < self.worst[:, None] - noise) & self.counted
        return over, under

    def shares(self) -> pl.DataFrame:
        """One row per cutoff: topics whose worst ordering has an nDCG_org below 0, and at or below -1, and shares.

        A topic for which nDCG_org is undefined counts as neither.
        """
        lowest = np.round(self.attainable()[0], 12)
        below, deep = (lowest < 0).sum(axis=1), (lowest <= -1).sum(axis=1)
        return pl.DataFrame(
            {
                "cutoff": self.cutoffs,
                "topics": [len(self.topics)] * len(self.cutoffs),
                "below_0": below,
                "at_most_minus_1": deep,
                "share_below_0": below / len(self.topics),
                "share_at_most_minus_1": deep / len(self.topics),
                "lowest": np.fmin.reduce(lowest, axis=1),
                "undefined": np.isnan(lowest).sum(axis=1),
            }
        )

    def runs(self) -> pl.DataFrame:
        """One row per cutoff and run: how many rankings leave the range of nDCG_min, over and under, and their share.

        Also how many have an nDCG_org below 0 or above 1.
        """
        over, under = self.outside()
        noise = _CLOSE * self.size[:, None]
        ideal, defined = self.ideal[:, None], np.abs(self.ideal[:, None]) > noise
        with np.errstate(divide="ignore", invalid="ignore"):
            org = np.where(defined & self.counted, self.achieved / ideal, np.nan)
            slack = np.where(defined, noise / np.abs(ideal), 0.0)
        topics = np.tile(self.counted.sum(axis=1), len(self.cutoffs))
        many, few = (outside.sum(axis=2).ravel() for outside in (over, under))
        share = np.where(topics > 0, (many + few) / np.maximum(topics, 1), np.nan)
        return pl.DataFrame(
            {
                "cutoff": np.repeat(np.array(self.cutoffs, np.int64), len(self.systems)),
                "run": pl.Series(self.systems * len(self.cutoffs), dtype=pl.String),
                "topics": topics,
                "over": many,
                "under": few,
                "share": share,
                "org_below_0": (org < -slack).sum(axis=2).ravel(),
                "org_above_1": (org > 1.0 + slack).sum(axis=2).ravel(),
            }
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per cutoff and topic: best and worst DCG, the lowest and highest of every norm over both lists."""
        k, t = self.ideal.shape
        columns: dict[str, object] = {
            "cutoff": np.repeat(self.cutoffs, t),
            "query_id": list(self.topics) * k,
            "ideal": self.ideal.ravel(),
            "worst": self.worst.ravel(),
            "ideal_sublist": self.ideal_sublist.ravel(),
            "worst_sublist": self.worst_sublist.ravel(),
        }
        for lists in LISTS:
            for norm in NORMS:
                low, high = self.attainable(norm, lists)
                columns[f"{norm}_{lists}_low"] = low.ravel()
                columns[f"{norm}_{lists}_high"] = high.ravel()
        return pl.DataFrame(columns)

    def _content(self) -> dict[str, Any]:
        gains = {f"{label:g}": float(gain) for label, gain in self.label_gains.items()}
        tables = {"shares": self.shares(), "runs": self.runs(), "topics": self.to_frame()}
        content = {name: frame.to_dicts() for name, frame in tables.items()}
        return {**content, "label_gains": gains, "unused_labels": list(self.unused)}

    def chart(self) -> Chart:
        """Topics by how low nDCG_org can fall, one line per cutoff, with rules at 0 and -1."""
        alt = load_altair()
        frame = (
            self.to_frame()
            .select("cutoff", "query_id", lowest="org_orderings_low", highest="org_orderings_high")
            .filter(pl.col("lowest").is_not_nan())
            .sort("cutoff", "lowest")
            .with_columns(share=(pl.int_range(pl.len()) + 1).over("cutoff") / len(self.topics))
        )
        # Of very many topics one in so many, and every one before the line crosses 0 or -1.
        side = (pl.col("lowest") < 0).cast(pl.Int8) + (pl.col("lowest") < -1)
        crosses = (side != side.shift(-1).over("cutoff")).fill_null(True)
        one_in = -(-len(self.topics) // _MOST_DRAWN)
        frame = frame.filter(crosses | (pl.int_range(pl.len()).over("cutoff") % one_in == 0))
        deepest = float(frame["lowest"].min() or 0.0)  # type: ignore[arg-type]
        title = f"lowest attainable nDCGorg (cut at {_DRAWN})" if deepest < _DRAWN else "lowest attainable nDCGorg"
        scale = alt.Scale(domain=[max(_DRAWN, min(-1.0, deepest)), 1.0], clamp=True)
        # The i-th topic holds the share from i - 1 to i: a line crosses 0 and -1 at the shares that the table shows.
        lines = (
            alt.Chart(frame)
            .mark_line(point=True, interpolate="step-before")
            .encode(
                x=alt.X(
                    "share:Q", title="share of the topics", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
                ),
                y=alt.Y("lowest:Q", title=title, scale=scale),
                color=alt.Color("cutoff:N", title="cutoff", sort=None),
                tooltip=tips(
                    ("query_id:N", "topic"),
                    "cutoff:N",
                    ("lowest:Q", "lowest nDCGorg", ".3f"),
                    ("highest:Q", "highest", ".3f"),
                ),
            )
        )
        return sized(alt.layer(level_at(0), level_at(-1), lines), "How low nDCGorg can fall, topic by topic")
