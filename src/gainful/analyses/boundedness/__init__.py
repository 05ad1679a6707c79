"""Which values nDCG can take at all: the attainable range per topic, and the runs that leave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from gainful.charts import HEIGHT, WIDTH, load_altair, styled
from gainful.data.align import align
from gainful.data.policies import Duplicates, Missing, Policies, Ties, Unjudged
from gainful.data.qrels import Qrels
from gainful.data.rankings import BoolArray, FloatArray, Rankings
from gainful.data.run import Run
from gainful.errors import DataError, MeasureError, check_choice
from gainful.io.read import iterate_runs, read_qrels
from gainful.measures import REGISTRY
from gainful.measures.gains import best_ordering, depth, discounts
from gainful.measures.gains import gains as gains_of
from gainful.measures.grammar import parse_value
from gainful.measures.parameters import Value, write

if TYPE_CHECKING:
    import altair

Norm = Literal["org", "min", "f"]
Lists = Literal["orderings", "sublists"]
NORMS: tuple[Norm, ...] = ("org", "min", "f")
LISTS: tuple[Lists, ...] = ("orderings", "sublists")

# Sums of the same gains in another order differ by this much, relative to the sum of their sizes: still equal.
_CLOSE = 1e-12
# A topic or two that fall far deeper would leave no room to see the others.
_DRAWN = -5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boundedness:
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
    gains, discount
        What labels gain and ranks weigh, as the text of a measure has it.
    label_gains
        The gain of every label there is.
    unused
        Labels named in `gains` that no document has.
    policies
        The policies that were in force.
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
    gains: str
    discount: str
    label_gains: Mapping[float, float]
    unused: tuple[float, ...]
    policies: Policies

    @property
    def negative(self) -> bool:
        """Whether any label has a negative gain."""
        return any(gain < 0 for gain in self.label_gains.values())

    def __str__(self) -> str:
        runs = f"{len(self.systems)} {'run' if len(self.systems) == 1 else 'runs'}, " if self.systems else ""
        topics = f"{len(self.topics)} {'topic' if len(self.topics) == 1 else 'topics'}"
        return (
            f"boundedness: {runs}{topics}; cutoff={','.join(map(str, self.cutoffs))} "
            f"gains={self.gains} discount={self.discount} "
            + " ".join(f"{name}={value}" for name, value in self._policies().items())
        )

    def attainable(self, norm: Norm = "org", lists: Lists = "orderings") -> FloatArray:
        """The lowest and the highest nDCG there can be: (lowest, highest) × cutoffs × topics; NaN where undefined.

        Parameters
        ----------
        norm
            Which nDCG: org, min or f.
        lists
            What may be returned: orderings of the whole pool, or any sublist of it in any order.
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
        """A row a cutoff: topics whose worst ordering has an nDCG_org below 0, and at or below -1, and their shares.

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
        """A row a cutoff and run: how many of its rankings leave the range of nDCG_min, over and under, and the share.

        Also how many have an nDCG_org below 0 or above 1.
        """
        over, under = self.outside()
        noise = _CLOSE * self.size[:, None]
        ideal, defined = self.ideal[:, None], np.abs(self.ideal[:, None]) > noise
        with np.errstate(divide="ignore", invalid="ignore"):
            org = np.where(defined & self.counted, self.achieved / ideal, np.nan)
            slack = np.where(defined, noise / np.abs(ideal), 0.0)
        topics = self.counted.sum(axis=1)
        rows = []
        for at, cutoff in enumerate(self.cutoffs):
            for s, run in enumerate(self.systems):
                unbounded = int(over[at, s].sum() + under[at, s].sum())
                rows.append(
                    {
                        "cutoff": cutoff,
                        "run": run,
                        "topics": int(topics[s]),
                        "over": int(over[at, s].sum()),
                        "under": int(under[at, s].sum()),
                        "share": unbounded / int(topics[s]) if topics[s] else float("nan"),
                        "org_below_0": int((org[at, s] < -slack[at, 0]).sum()),
                        "org_above_1": int((org[at, s] > 1.0 + slack[at, 0]).sum()),
                    }
                )
        types = {"cutoff": pl.Int64, "run": pl.String, "topics": pl.Int64, "over": pl.Int64, "under": pl.Int64}
        types |= {"share": pl.Float64, "org_below_0": pl.Int64, "org_above_1": pl.Int64}
        return pl.DataFrame(rows, schema=types)

    def to_frame(self) -> pl.DataFrame:
        """A row a cutoff and topic: best and worst DCG, and the lowest and highest of every norm over both lists."""
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

    def to_dict(self) -> dict[str, object]:
        """Shares of topics, unbounded rankings of every run, the range of every topic, and the settings."""
        return {
            "shares": self.shares().to_dicts(),
            "runs": self.runs().to_dicts(),
            "topics": self.to_frame().to_dicts(),
            "label_gains": {f"{label:g}": float(gain) for label, gain in self.label_gains.items()},
            "unused_labels": list(self.unused),
            "cutoff": list(self.cutoffs),
            "gains": self.gains,
            "discount": self.discount,
            "policies": self._policies(),
        }

    def _policies(self) -> dict[str, str]:
        """All but that of undefined values, which are counted here, and given none."""
        return {name: value for name, value in self.policies.to_dict().items() if name != "degenerate"}

    def chart(self) -> altair.TopLevelMixin:
        """Topics by how low nDCG_org can fall, a line a cutoff, with rules at 0 and -1."""
        alt = load_altair()
        frame = (
            self.to_frame()
            .select("cutoff", "query_id", lowest="org_orderings_low", highest="org_orderings_high")
            .filter(pl.col("lowest").is_not_nan())
            .sort("cutoff", "lowest")
            .with_columns(share=(pl.int_range(pl.len()) + 1).over("cutoff") / len(self.topics))
        )
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
                tooltip=[
                    alt.Tooltip("query_id:N", title="topic"),
                    "cutoff:N",
                    alt.Tooltip("lowest:Q", title="lowest nDCGorg", format=".3f"),
                    alt.Tooltip("highest:Q", title="highest", format=".3f"),
                ],
            )
        )
        rules = [
            alt.Chart().mark_rule(strokeDash=[4, 4], color="#555555").encode(y=alt.datum(value)) for value in (0, -1)
        ]
        return styled(
            alt.layer(*rules, lines).properties(width=WIDTH, height=HEIGHT), "How low nDCGorg can fall, topic by topic"
        )


def boundedness(
    qrels: Any,
    runs: Any = (),
    *,
    cutoff: int | Sequence[int] = (20,),
    gains: str | Mapping[float, float] = "linear",
    discount: str | Sequence[float] = "log2",
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    duplicates: Duplicates = "error",
) -> Boundedness:
    """Find out which values nDCG can take with negative labels: its range in every topic, and the runs outside of it.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame.
    runs
        Runs whose rankings to check: files, folders or globs, dicts or frames; none are needed for the ranges.
    cutoff
        Ranks that count; several, such as 5,20, give an answer each.
    gains
        What a label gains: linear (the label), exp (2^label - 1), or a map such as "{-2: -10}"; labels that the map
        does not name gain themselves.
    discount
        What a rank weighs: log2, jk, zipf, linear, none, or a list of numbers that never rise such as "[1, 0.5]".
    ties
        Documents with equal scores: trec (by document id, as trec_eval), order (as in the run), or expected (the
        mean over all their orders).
    unjudged
        Documents without a judgment: zero (label 0, holding their rank) or condensed (removed before ranking).
    missing
        Judged topics that a run has nothing for: empty (scored as an empty ranking), skip or error.
    duplicates
        A document twice in a topic: error or first.

    Returns
    -------
    Boundedness
        Attainable ranges, shares of topics, and unbounded rankings of every run.

    Notes
    -----
    With I and W the DCG@k of the best and worst ordering of a topic's judged documents, and I_f and W_f those of the
    best and worst sublist (only non-negative, only non-positive gains): over orderings of the whole pool nDCG_org lies
    between W/I and 1, nDCG_min in [0, 1], and nDCG_f between (W - W_f)/(I_f - W_f) and (I - W_f)/(I_f - W_f). Over
    sublists, nDCG_org lies between W_f/I and I_f/I, nDCG_min between (W_f - W)/(I - W) and (I_f - W)/(I - W), and
    nDCG_f in [0, 1]. If I < 0, the range of nDCG_org begins at 1. Without negative gains, nDCG_org lies in [0, 1] for
    every topic. Undefined (NaN) where I = 0, I = W or I_f = W_f.

    A ranking is *unbounded* if its nDCG_min is: over (DCG > I) or under (DCG < W), which happens where documents of the
    pool are left out, or others stand between them. Gienapp et al., CIKM 2020; Carmel et al., SIGIR 2022.

    Examples
    --------
    >>> found = boundedness({"q": {"good": 2, "spam": -1}}, {"q": {"good": 1.0}}, cutoff=2)
    >>> found.attainable("org").round(3).ravel().tolist(), found.attainable("min", "sublists").round(3).ravel().tolist()
    ([0.191, 1.0], [-1.14, 1.57])
    >>> found.runs().select("over", "under").row(0)
    (1, 0)
    """
    policies = Policies(ties=ties, unjudged=unjudged, missing=missing, duplicates=duplicates)
    cutoffs = sorted({*cutoff} if isinstance(cutoff, Iterable) else {cutoff})
    if not cutoffs:
        raise DataError("cutoff: expected at least one, got none")
    settings = [_checked(gains, discount, k) for k in cutoffs]
    judgments = read_qrels(qrels)
    some = runs is not None and not (isinstance(runs, (list, tuple)) and not runs)
    if some:
        rankings = align(judgments, iterate_runs(runs), policies)
    else:
        rankings = align(judgments, [_no_run(judgments)], Policies(duplicates=duplicates))
    gain, weight = settings[0]["gain"], settings[0]["discount"]
    value = gains_of(rankings.grades, gain)  # type: ignore[arg-type]
    bounds = [_bounds(rankings, value, _weights(rankings, setting)) for setting in settings]
    ideal, worst, ideal_sublist, worst_sublist, size, achieved = (np.stack(part) for part in zip(*bounds, strict=True))
    if not np.isfinite(size).all():
        raise MeasureError("these gains and discounts add up to more than a number can hold: use smaller ones")
    shape = (len(rankings.systems), len(rankings.topics))
    present = rankings.present.reshape(shape) if missing == "skip" else np.ones(shape, np.bool_)
    systems = len(rankings.systems) if some else 0
    named = [label for label, _ in gain] if isinstance(gain, tuple) else []  # type: ignore[misc]
    return Boundedness(
        cutoffs=tuple(cutoffs),
        topics=rankings.topics,
        systems=rankings.systems[:systems],
        ideal=ideal,
        worst=worst,
        ideal_sublist=ideal_sublist,
        worst_sublist=worst_sublist,
        size=size,
        achieved=achieved.reshape(len(cutoffs), *shape)[:, :systems],
        counted=present[:systems],
        gains=_plain(gain),
        discount=_plain(weight),
        label_gains=dict(zip(rankings.grades.tolist(), value.tolist(), strict=True)),
        unused=tuple(label for label in named if label not in rankings.grades),
        policies=policies,
    )


def _checked(gains: object, discount: object, cutoff: object) -> dict[str, Value]:
    """The parameters of nDCG, each in its one form; refused as the measure refuses them."""
    given = {"gain": gains, "discount": discount, "cutoff": cutoff, "norm": "min"}
    for name in ("gain", "discount"):
        text = given[name]
        if isinstance(text, str) and text.lstrip().startswith(("{", "[", "(")):
            given[name] = parse_value("nDCG", name, text.strip())
    measure = REGISTRY["nDCG"].bind(given)
    if measure.parameters["cutoff"] is None:
        raise DataError("cutoff: expected a whole number of at least 1, got None")
    return measure.parameters


def _weights(rankings: Rankings, setting: Mapping[str, Value]) -> FloatArray:
    cutoff = int(setting["cutoff"])  # type: ignore[arg-type]
    return discounts(setting["discount"], depth(rankings), cutoff)  # type: ignore[arg-type]


def _bounds(rankings: Rankings, value: FloatArray, weight: FloatArray) -> tuple[FloatArray, ...]:
    """I, W, I_f, W_f, the size of the gains, all per topic; and the DCG per row."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (
            best_ordering(rankings, value, weight),
            -best_ordering(rankings, -value, weight),
            best_ordering(rankings, np.maximum(value, 0.0), weight),
            -best_ordering(rankings, -np.minimum(value, 0.0), weight),
            best_ordering(rankings, np.abs(value), weight),
            rankings.sum(rankings.of_grade(value) * rankings.weights(weight)),
        )


def _no_run(qrels: Qrels) -> Run:
    """A run that returns nothing: ranges need judgments alone."""
    frame = qrels.frame.clear().select("query_id", "doc_id").with_columns(score=pl.lit(None, pl.Float64))
    return Run(frame, name="none")


def _plain(value: Value) -> str:
    return value if isinstance(value, str) else write(value)
