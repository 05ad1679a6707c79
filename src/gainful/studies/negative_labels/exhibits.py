"""The tables and figures of Gienapp et al. (CIKM 2020), of any collections, with what the paper prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from gainful.studies.exhibits import Exhibit, read_published
from gainful.studies.negative_labels.compute import NORMS, PAIRS, Compared, Found, pair_of
from gainful.studies.panels import Axis, panels

_PUBLISHED = read_published("negative_labels")
# Levels of significance, of the curves and of what is printed of them.
_LEVELS = tuple(level / 100 for level in range(1, 100))
_BRIEF_LEVELS = (0.01, 0.05, 0.1)
# As in the legends of the paper.
_AS_DRAWN = ("nDCGmin", "nDCGorg", "nDCG0")


def exhibits_of(found: Sequence[Found]) -> Iterator[Exhibit]:
    """All that the collections allow, in the paper's order."""
    yield _labels(found)
    if any(one.bounds.negative for one in found):
        yield _bounds([one for one in found if one.bounds.negative])
    compared = [one.compared for one in found if one.compared is not None]
    if compared:
        yield _orders(compared)
        yield _ranks(compared)
        yield _phis(compared)
        yield _errors(compared)
        yield _powers(compared)


def _labels(found: Sequence[Found]) -> Exhibit:
    ratios = {one.name: one.one.label_ratios() for one in found}
    published = map(float, _PUBLISHED.tables["Table 1"].columns[2:])
    labels = sorted({label for some in ratios.values() for label in some}.union(published))
    rows = [
        {
            "collection": one.name,
            "runs": len(one.one.runs),
            "topics": len(one.one.qrels.topics),
            **{f"{label:g}": ratios[one.name].get(label, 0.0) for label in labels},
        }
        for one in found
    ]
    return Exhibit(
        name="Table 1",
        title="Number of runs and mean label ratio per topic",
        text="For each label its share among a topic's judgments, averaged over the topics that have the label: the "
        "paper does not say over which topics, but on the Web Tracks' judgments this gives its numbers, which is why "
        "they add up to more than 1.",
        frame=_PUBLISHED.below("Table 1", rows),
    )


def _bounds(found: Sequence[Found]) -> Exhibit:
    frame = pl.concat(
        one.bounds.shares().select(
            pl.lit(one.name).alias("collection"),
            "cutoff",
            "topics",
            pl.col("share_below_0").alias("below 0"),
            pl.col("share_at_most_minus_1").alias("at most -1"),
            pl.col("lowest") + 0.0,  # no -0
        )
        for one in found
    )
    return Exhibit(
        name="Table 2a",
        title="Share of topics whose lowest attainable nDCGorg is below 0, and at most -1",
        text="nDCGorg of the worst ordering of a topic's pool at the pool depth. As in the paper, save that its column "
        "for -1 agrees with the judgments at a cutoff of 10 rather than at those it names.",
        frame=_PUBLISHED.below("Table 2a", frame),
    )


def _orders(compared: Sequence[Compared]) -> Exhibit:
    rows = [
        {"collection": one.name, "cutoff": one.pool_depth, **{pair_of(pair): one.rho(*pair) for pair in PAIRS}}
        for one in compared
    ]
    return Exhibit(
        name="Table 2b",
        title="Spearman's ρ between the orders of runs",
        text="Runs ordered by their means over topics at the pool depth; as in the paper.",
        frame=_PUBLISHED.below("Table 2b", rows),
    )


def _ranks(compared: Sequence[Compared]) -> Exhibit:
    frames = [
        pl.DataFrame(
            {"collection": one.name, "run": list(one.agreed.systems), **dict(zip(NORMS, one.agreed.ranks, strict=True))}
        ).sort("nDCGorg", maintain_order=True)
        for one in compared
    ]
    frame = pl.concat(frames)
    places = pl.col("nDCGorg") - pl.col("nDCG0")
    moved = (
        some.with_columns(places=places).sort(places.abs(), descending=True, maintain_order=True) for some in frames
    )
    most = max(2.0, *frame["nDCGorg"], *frame["nDCG0"])
    axis = partial(Axis, domain=(1, most), whole=True, tight=True, reverse=True)
    return Exhibit(
        name="Figure 2c",
        title="Rank of each run by nDCGorg and by nDCG0",
        text="1 is the best, runs that are tied share the mean of their ranks. As in the paper, which shows no rank by "
        "nDCGmin; what is printed are the runs that move most.",
        frame=frame,
        draw=lambda: panels(
            frame,
            title="Ranks of the runs with negative gains and without, the best at the top right",
            x=axis(field="nDCG0", title="rank by nDCG0"),
            y=axis(field="nDCGorg", title="rank by nDCGorg"),
            by="collection",
            titled=True,
            mark="dots",
            diagonal=True,
            tooltip=("run", "nDCGmin"),
        ),
        brief=pl.concat(some.head(5) for some in moved),
    )


def _phis(compared: Sequence[Compared]) -> Exhibit:
    published = {int(name[1:]) for name in _PUBLISHED.tables["Table 2d"].columns if name.startswith("@")}
    cutoffs = sorted(published.union(*(one.cutoffs for one in compared)))
    rows = [
        {
            "collection": one.name,
            "coefficient": coefficient,
            "measure": norm,
            **{f"@{cutoff}": of(norm, cutoff) if cutoff in one.cutoffs else None for cutoff in cutoffs},
        }
        for one in compared
        for coefficient, of in (("Φ", one.phi), ("Eρ²", one.erho2))
        for norm in NORMS
    ]
    return Exhibit(
        name="Table 2d",
        title="Reliability: Φ at several cutoffs",
        text="Variance components of runs, topics and their interaction by the two-way analysis of variance that the "
        "paper states; the program it was published with fits the number of the topic as a quantity instead, so that "
        "its figures cannot come out the same. Eρ², which the paper does not give, leaves out the variance of topics: "
        "it is the reliability of differences between runs, Φ that of their scores.",
        frame=_PUBLISHED.below("Table 2d", rows),
    )


def _errors(compared: Sequence[Compared]) -> Exhibit:
    frame = pl.concat(
        pl.DataFrame(
            {
                "collection": one.name,
                "cutoff": cutoff,
                "topics": one.sizes,
                **{norm: one.error(norm, cutoff) for norm in NORMS},
                **{f"{norm} ties": one.ties(norm, cutoff) for norm in NORMS},
            }
        )
        for one in compared
        for cutoff in one.cutoffs
    )
    return Exhibit(
        name="Figure 2e",
        title="Stability: error rate by number of topics",
        text="Topics are drawn without replacement, and means of every pair of runs compared; up to half of the "
        "topics, beyond which draws share so many that the rate falls by construction. The paper's program repeats "
        "topics in its samples. Fuzziness is a share of the larger mean, as in the paper: nDCGmin's means being "
        "higher, it ties more pairs, which lowers its error rate; the columns of ties tell how many, and one of the "
        "findings leaves fuzziness out. What is printed is the largest number of topics.",
        frame=frame,
        draw=lambda: panels(
            _long(frame, "topics", "error"),
            title="Pairs of runs ordered the wrong way, by number of topics",
            x=Axis(field="topics", title="topics drawn", whole=True),
            y=Axis(field="error", title="error rate", format="%", zero=True),
            by="measure",
            column="at",
        ),
        brief=frame.filter(pl.col("topics") == pl.col("topics").max().over("collection")),
    )


def _powers(compared: Sequence[Compared]) -> Exhibit:
    frame = pl.DataFrame(
        [
            {
                "collection": one.name,
                "cutoff": cutoff,
                "level": level,
                **{norm: one.power(norm, cutoff, level) for norm in NORMS},
            }
            for one in compared
            for cutoff in one.cutoffs
            for level in _LEVELS
        ]
    )
    return Exhibit(
        name="Figure 2f",
        title="Sensitivity: share of the pairs of runs that differ at a level of significance",
        text="Paired bootstrap of Sakai (SIGIR 2006), studentised, the same samples for all pairs; runs with the same "
        "scores do not differ, which the paper's program counts as significant. What is printed are the usual levels.",
        frame=frame,
        draw=lambda: panels(
            _long(frame, "level", "share"),
            title="Pairs of runs that differ at a level of significance",
            x=Axis(field="level", title="significance level", domain=(0, 1)),
            y=Axis(field="share", title="share of the pairs", format="%", domain=(0, 1)),
            by="measure",
            column="at",
        ),
        brief=frame.filter(pl.col("level").is_in(list(_BRIEF_LEVELS))),
    )


def _long(frame: pl.DataFrame, x: str, value: str) -> pl.DataFrame:
    """One row per point of a line, and the panel that it is in."""
    long = frame.unpivot(_AS_DRAWN, index=["collection", "cutoff", x], variable_name="measure", value_name=value)
    return long.with_columns(at=pl.format("nDCG@{}", "cutoff"))
