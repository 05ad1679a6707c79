"""Tables 3 to 5 and Figures 1 to 3 of Carmel et al. (2022), of what was found and as published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import polars as pl

from gainful.charts import COLOURS, load_altair, styled
from gainful.studies.forbidden_documents_found import NORMS, Found, Plan
from gainful.studies.panels import Axis, panels
from gainful.studies.result import Exhibit, with_published

if TYPE_CHECKING:
    import altair

# Table 3: year, topics, judgments, runs, per cent of the labels -2, 0, 1, 2, 3, 4.
_TABLE_3 = {
    2010: (48, 25329, 56, (5.65, 73.70, 15.90, 4.25, 0.54, 0.0)),
    2011: (50, 19381, 62, (5.25, 78.45, 10.50, 3.67, 2.11, 0.0)),
    2012: (50, 16055, 48, (5.34, 72.71, 13.75, 2.52, 0.32, 5.34)),
    2013: (50, 14474, 61, (1.62, 69.80, 21.03, 6.36, 1.24, 0.05)),
    2014: (50, 14432, 44, (3.86, 56.90, 26.25, 11.18, 1.59, 0.23)),
}
_LABELS = (-2, 0, 1, 2, 3, 4)
# Table 4: documents for a topic: mean, standard deviation, smallest.
_TABLE_4 = {
    2010: (220.5, 57.4, 26.1),
    2011: (171.6, 47.8, 39.5),
    2012: (125.9, 42.9, 41.6),
    2013: (121.3, 59.8, 23.0),
    2014: (141.0, 62.5, 44.5),
}
# Table 5: per cent of the queries that are unbounded, over and under; the last two are of f-rankers, at a cutoff of 3.
_TABLE_5 = {
    "Web Track 2011": (300, 9.2, 7.2, 2.0),
    "Web Track 2012": (300, 11.0, 10.2, 0.8),
    "Web Track 2013": (300, 18.8, 3.7, 15.1),
    "Web Track 2014": (300, 25.3, 8.3, 17.0),
    "product reviews": (3, 15.3, 14.3, 1.0),
    "CQA": (3, 6.7, 4.8, 1.9),
}
# Levels of significance of the curves, and those that a screen shows.
LEVELS = tuple(level / 100 for level in range(1, 51))
_BRIEF = (0.01, 0.05, 0.1)


def label_table(found: Sequence[Found]) -> Exhibit:
    """Table 3: what is judged how."""
    shares = {
        one.name: {
            label: count / len(labels)
            for labels in [one.one.qrels.frame["relevance"].drop_nulls()]
            for label, count in labels.value_counts().iter_rows()
        }
        for one in found
    }
    labels = sorted({label for seen in shares.values() for label in seen} | {float(label) for label in _LABELS})
    ours = [
        {
            "collection": one.name,
            "topics": len(one.one.qrels.topics),
            "judgments": len(one.one.qrels),
            "runs": len(one.one.runs),
            **{f"label {label:g}": shares[one.name].get(label, 0.0) for label in labels},
        }
        for one in found
    ]
    published = [
        {
            "collection": f"Web Track {year}",
            "topics": topics,
            "judgments": judgments,
            "runs": runs,
            **{f"label {label}": share / 100 for label, share in zip(_LABELS, percent, strict=True)},
        }
        for year, (topics, judgments, runs, percent) in _TABLE_3.items()
    ]
    return Exhibit(
        name="Table 3",
        title="Topics, judgments, runs, and the share of each label",
        text="Of all judgments of a collection together, as in the paper, which gives per cent; documents with labels "
        "below 0 are forbidden.",
        frame=with_published(pl.DataFrame(ours), published),
    )


def length_table(found: Iterable[Found]) -> Exhibit:
    """Table 4: what runs return of what is judged."""
    columns = ("mean", "standard deviation", "smallest")
    ours = [
        {"collection": one.name, **one.lengths.select(pl.col(columns).mean()).row(0, named=True)}
        for one in found
        if one.lengths is not None
    ]
    published = [
        {"collection": f"Web Track {year}", **dict(zip(columns, numbers, strict=True))}
        for year, numbers in _TABLE_4.items()
    ]
    return Exhibit(
        name="Table 4",
        title="Documents a topic after unjudged ones are left out",
        text="Per run over the topics, then averaged over the runs; as in the paper. A topic that a run has nothing "
        "for counts as 0 documents.",
        frame=with_published(pl.DataFrame(ours), published),
    )


def bound_table(found: Iterable[Found], plan: Plan, learnt: Sequence[dict[str, object]]) -> Exhibit:
    """Table 5: unbounded queries."""
    ours: list[dict[str, object]] = [
        {"collection": one.name, **row}
        for one in found
        if one.bounds is not None
        for row in one.outside().iter_rows(named=True)
    ]
    published = [
        {"collection": name, "cutoff": cutoff, "unbounded": both / 100, "over": over / 100, "under": under / 100}
        for name, (cutoff, both, over, under) in _TABLE_5.items()
    ]
    return Exhibit(
        name="Table 5",
        title="Share of the queries for which nDCGmin is unbounded",
        text=f"Over: DCG above that of the best ordering of all judged documents; under: below that of the worst. Runs "
        f"without their unjudged documents, averaged over runs; labels below 0 gain {plan.forbidden:g}, all others "
        "themselves. As in the paper, which found none at cutoffs up to 50; its product reviews and its questions and "
        "answers (CQA) are ranked and filtered by an f-ranker of the ordinal loss"
        + (", as are our examples." if learnt else "."),
        frame=with_published(pl.DataFrame([*ours, *learnt]), published),
    )


def stability_figure(found: Sequence[Found], plan: Plan) -> Exhibit:
    """Figure 1."""
    frame = pl.concat(
        pl.DataFrame(
            {
                "collection": one.name,
                "topics": one.compared.stable.curves[0].sizes,
                **{norm: one.compared.error(norm) for norm in NORMS},
            }
        )
        for one in found
        if one.compared is not None
    )
    long = frame.unpivot(NORMS, index=["collection", "topics"], variable_name="measure", value_name="error")
    return Exhibit(
        name="Figure 1",
        title="Stability: pairs of runs ordered the wrong way, by number of topics",
        text=f"Error rate at a cutoff of {plan.cutoff}; runs are equal if their means differ by at most "
        f"{plan.fuzziness:g}. As in the paper, but only up to half of the topics: larger draws share so many that "
        "their error falls to 0 by construction.",
        frame=frame,
        draw=lambda: panels(
            long,
            title="Pairs of runs ordered the wrong way, by number of topics",
            x=Axis(field="topics", title="topics drawn", whole=True, own=True),
            y=Axis(field="error", title="error rate", format="%", zero=True),
            by="measure",
        ),
        brief=frame.filter(
            (pl.col("topics") % 5 == 0) | (pl.col("topics") == pl.col("topics").min().over("collection"))
        ),
    )


def sensitivity_figure(found: Sequence[Found], plan: Plan) -> Exhibit:
    """Figure 2."""
    frame = pl.concat(
        pl.DataFrame(
            {
                "collection": one.name,
                "level": LEVELS,
                **{norm: [one.compared.pairs(norm).discriminative_power(level) for level in LEVELS] for norm in NORMS},
            }
        )
        for one in found
        if one.compared is not None
    )
    long = frame.unpivot(NORMS, index=["collection", "level"], variable_name="measure", value_name="share")
    return Exhibit(
        name="Figure 2",
        title="Sensitivity: share of the pairs of runs that are told apart, by level",
        text=f"The level of a pair is the share of {plan.resamples} bootstrap samples of the topics that put the worse "
        f"run first or find no difference, at a cutoff of {plan.cutoff}. As in the paper.",
        frame=frame,
        draw=lambda: panels(
            long,
            title="Pairs of runs that are told apart",
            x=Axis(field="level", title="level", tight=True),
            y=Axis(field="share", title="share of the pairs", format="%", domain=(0, 1)),
            by="measure",
        ),
        brief=frame.filter(pl.col("level").is_in(_BRIEF)),
    )


def reliability_figure(found: Sequence[Found], plan: Plan) -> Exhibit:
    """Figure 3."""
    rows = []
    for one in found:
        if one.compared is not None:
            for norm in NORMS:
                found_here = one.compared.reliable[one.compared.at(norm)]
                rows.append(
                    {
                        "collection": one.name,
                        "measure": norm,
                        "Φ": found_here.phi.value,
                        "low": found_here.phi.low,
                        "high": found_here.phi.high,
                        "Eρ²": found_here.erho2.value,
                    }
                )
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return Exhibit(
        name="Figure 3",
        title="Reliability",
        text=f"Φ from the variance components of runs, topics and their interaction at a cutoff of {plan.cutoff}, with "
        "its 95 % interval; the paper draws a distribution that it does not explain. Eρ², which it does not give, "
        "leaves out the variance of topics: it is the reliability of differences between runs.",
        frame=frame,
        draw=lambda: _reliability_chart(frame),
    )


def _reliability_chart(frame: pl.DataFrame) -> altair.TopLevelMixin:
    alt = load_altair()
    # Without runs that differ there is no interval: NaN is no place on an axis.
    base = alt.Chart(frame.fill_nan(None)).encode(
        y=alt.Y("measure:N", title=None, sort=list(NORMS)),
        color=alt.Color(
            "measure:N", legend=None, sort=list(NORMS), scale=alt.Scale(domain=list(NORMS), range=COLOURS[:3])
        ),
        tooltip=[
            "collection:N",
            "measure:N",
            *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("Φ", "low", "high")),
        ],
    )
    scale = alt.Scale(domain=[0, 1])
    whole = alt.layer(
        base.mark_rule(strokeWidth=2).encode(
            x=alt.X("low:Q", title="Φ and its 95 % interval", scale=scale), x2="high:Q"
        ),
        base.mark_point(filled=True, size=80, opacity=1).encode(x=alt.X("Φ:Q", scale=scale)),
    ).properties(width=440, height=90)
    order = list(dict.fromkeys(frame["collection"]))
    return styled(whole.facet(alt.Facet("collection:N", title=None, sort=order), columns=1), "Reliability")
