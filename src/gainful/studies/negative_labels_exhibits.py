"""The tables and figures of Gienapp et al. (CIKM 2020), of any collections, with what the paper prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from gainful.analyses.boundedness.result import Boundedness
from gainful.studies.collections import StudyCollection
from gainful.studies.negative_labels_charts import error_chart, power_chart, ranks_chart
from gainful.studies.negative_labels_found import NORMS, PAIRS, Compared, pair_of
from gainful.studies.result import Exhibit, with_published

# Tables 1, 2a and 2b: year, runs, ratio of the labels -2, 0, 1, 2, 3, 4, topics below 0 and at most -1, three ρ.
_PUBLISHED = {
    2010: (56, (0.05, 0.73, 0.17, 0.05, 0.01, 0.00), (1.00, 0.44), (0.87, 1.00, 0.88)),
    2011: (37, (0.06, 0.77, 0.12, 0.05, 0.10, 0.00), (0.94, 0.68), (0.79, 0.99, 0.82)),
    2012: (32, (0.05, 0.73, 0.14, 0.04, 0.02, 0.06), (0.96, 0.08), (0.91, 0.99, 0.93)),
    2013: (34, (0.02, 0.70, 0.21, 0.08, 0.02, 0.01), (0.74, 0.18), (0.93, 0.96, 0.97)),
    2014: (30, (0.06, 0.57, 0.26, 0.11, 0.03, 0.02), (0.70, 0.12), (0.95, 0.97, 0.99)),
}
_PUBLISHED_LABELS = (-2, 0, 1, 2, 3, 4)
# Table 2d: Φ at the cutoffs 5, 10, 15 and 20.
_PUBLISHED_PHI = {
    (2011, "nDCGorg"): (0.903, 0.937, 0.950, 0.924),
    (2011, "nDCG0"): (0.977, 0.973, 0.978, 0.975),
    (2011, "nDCGmin"): (0.996, 0.993, 0.988, 0.984),
    (2012, "nDCGorg"): (0.969, 0.930, 0.942, 0.967),
    (2012, "nDCG0"): (0.958, 0.975, 0.959, 0.940),
    (2012, "nDCGmin"): (0.994, 0.995, 0.996, 0.996),
}
_PUBLISHED_CUTOFFS = (5, 10, 15, 20)

# Exhibits that need runs to set against each other.
OF_RUNS = ("Table 2b", "Figure 2c", "Table 2d", "Figure 2e", "Figure 2f")
# Levels of significance, of the curves and of what a screen shows of them.
_LEVELS = tuple(level / 100 for level in range(1, 100))
_BRIEF_LEVELS = (0.01, 0.05, 0.1)


def label_table(loaded: Iterable[StudyCollection]) -> Exhibit:
    """Table 1."""
    ratios = {one.name: one.label_ratios() for one in loaded}
    labels = sorted({grade for found in ratios.values() for grade in found} | set(map(float, _PUBLISHED_LABELS)))
    rows = [
        {
            "collection": one.name,
            "runs": len(one.runs),
            "topics": len(one.qrels.topics),
            **{f"{grade:g}": ratios[one.name].get(grade, 0.0) for grade in labels},
        }
        for one in loaded
    ]
    published = [
        {
            "collection": f"TREC {year}",
            "runs": runs,
            **{f"{grade:g}": value for grade, value in zip(_PUBLISHED_LABELS, shares, strict=True)},
        }
        for year, (runs, shares, _, _) in _PUBLISHED.items()
    ]
    return Exhibit(
        name="Table 1",
        title="Number of runs and mean label ratio per topic",
        text="For each label its share among a topic's judgments, averaged over the topics that have the label: the "
        "paper does not say over which topics, but on the Web Tracks' judgments this gives its numbers, which is why "
        "they add up to more than 1.",
        frame=with_published(pl.DataFrame(rows), published),
    )


def bounds_table(bounds: Mapping[str, Boundedness]) -> Exhibit:
    """Table 2a."""
    rows = []
    for name, found in bounds.items():
        row = found.shares().row(0, named=True)
        rows.append(
            {
                "collection": name,
                "cutoff": row["cutoff"],
                "topics": row["topics"],
                "below 0": row["share_below_0"],
                "at most -1": row["share_at_most_minus_1"],
                "lowest": row["lowest"] + 0.0,  # no -0
            }
        )
    published = [
        {
            "collection": f"TREC {year}",
            "cutoff": 20 if year < 2013 else 15,
            "below 0": shares[0],
            "at most -1": shares[1],
        }
        for year, (_, _, shares, _) in _PUBLISHED.items()
    ]
    return Exhibit(
        name="Table 2a",
        title="Share of topics whose lowest attainable nDCGorg is below 0, and at most -1",
        text="nDCGorg of the worst ordering of a topic's pool at the pool depth. As in the paper, save that its column "
        "for -1 agrees with the judgments at a cutoff of 10 rather than at those it names.",
        frame=with_published(pl.DataFrame(rows), published),
    )


def exhibits_of_runs(compared: list[Compared]) -> Iterator[Exhibit]:
    """All that need runs, in the paper's order."""
    yield _orders(compared)
    yield _ranks(compared)
    yield _phis(compared)
    yield _errors(compared)
    yield _powers(compared)


def _orders(compared: list[Compared]) -> Exhibit:
    """Table 2b."""
    ours = [
        {"collection": one.name, "cutoff": one.pool_depth, **{pair_of(pair): one.rho(*pair) for pair in PAIRS}}
        for one in compared
    ]
    published = [
        {
            "collection": f"TREC {year}",
            "cutoff": 20 if year < 2013 else 15,
            **{pair_of(pair): value for pair, value in zip(PAIRS, rhos, strict=True)},
        }
        for year, (_, _, _, rhos) in _PUBLISHED.items()
    ]
    return Exhibit(
        name="Table 2b",
        title="Spearman's ρ between the orders of runs",
        text="Runs ordered by their means over topics at the pool depth; as in the paper.",
        frame=with_published(pl.DataFrame(ours), published),
    )


def _ranks(compared: list[Compared]) -> Exhibit:
    """Figure 2c."""
    frames = []
    for one in compared:
        ranks = dict(zip(NORMS, one.agreed.ranks, strict=True))
        runs = list(one.agreed.systems)
        frames.append(pl.DataFrame({"collection": [one.name] * len(runs), "run": runs, **ranks}))
    frame = pl.concat(some.sort("nDCGorg", maintain_order=True) for some in frames)
    moved = frame.with_columns(places=pl.col("nDCGorg") - pl.col("nDCG0"))
    by_places = moved.sort(pl.col("places").abs(), descending=True, maintain_order=True)
    most = [by_places.filter(pl.col("collection") == one.name).head(5) for one in compared]
    return Exhibit(
        name="Figure 2c",
        title="Rank of each run by nDCGorg and by nDCG0",
        text="1 is the best, runs that are tied share the mean of their ranks. As in the paper, which shows no rank by "
        "nDCGmin; a screen shows the runs that move most.",
        frame=frame,
        draw=lambda: ranks_chart(frame),
        brief=pl.concat(most),
    )


def _phis(compared: list[Compared]) -> Exhibit:
    """Table 2d."""
    cutoffs = sorted({*_PUBLISHED_CUTOFFS, *(cutoff for one in compared for cutoff in one.cutoffs)})
    ours = [
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
    published = [
        {
            "collection": f"TREC {year}",
            "coefficient": "Φ",
            "measure": norm,
            **{f"@{cutoff}": value for cutoff, value in zip(_PUBLISHED_CUTOFFS, values, strict=True)},
        }
        for (year, norm), values in _PUBLISHED_PHI.items()
    ]
    return Exhibit(
        name="Table 2d",
        title="Reliability: Φ at several cutoffs",
        text="Variance components of runs, topics and their interaction by the two-way analysis of variance that the "
        "paper states; the program it was published with fits the number of the topic as a quantity instead, so that "
        "its figures cannot come out the same. Eρ², which the paper does not give, leaves out the variance of topics: "
        "it is the reliability of differences between runs, Φ that of their scores.",
        frame=with_published(
            pl.DataFrame(ours, schema_overrides={f"@{cutoff}": pl.Float64 for cutoff in cutoffs}), published
        ),
    )


def _errors(compared: list[Compared]) -> Exhibit:
    """Figure 2e."""
    frame = pl.concat(
        [
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
        ]
    )
    last = frame.filter(pl.col("topics") == pl.col("topics").max().over("collection"))
    return Exhibit(
        name="Figure 2e",
        title="Stability: error rate by number of topics",
        text="Topics are drawn without replacement, and means of every pair of runs compared; up to half of the "
        "topics, beyond which draws share so many that the rate falls by construction. The paper's program repeats "
        "topics in its samples. Fuzziness is a share of the larger mean, as in the paper: nDCGmin's means being "
        "higher, it ties more pairs, which lowers its error rate; the columns of ties tell how many, and one of the "
        "findings leaves fuzziness out. A screen shows the last size.",
        frame=frame,
        draw=lambda: error_chart(frame),
        brief=last,
    )


def _powers(compared: list[Compared]) -> Exhibit:
    """Figure 2f."""
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
        "scores do not differ, which the paper's program counts as significant. A screen shows the usual levels.",
        frame=frame,
        draw=lambda: power_chart(frame),
        brief=frame.filter(pl.col("level").is_in(list(_BRIEF_LEVELS))),
    )
