"""The tables and figures of Carmel et al. (2022), of any collections and examples, with what the paper prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from gainful.charts import COLOURS, load_altair, styled
from gainful.studies.exhibits import PUBLISHED, Exhibit, absences, read_published
from gainful.studies.forbidden_documents.compute import LEVELS, NORMS, Found
from gainful.studies.forbidden_documents.learning import MEASURES, SIZES, Learnt
from gainful.studies.panels import Axis, listed, panels

if TYPE_CHECKING:
    import altair

_PUBLISHED = read_published("forbidden_documents")
_NEVER = "the paper's product reviews were not published, and no other data have votes and marks of spam"
_EXAMPLES = "needs examples to learn from: judged pairs of query and document"
# Levels of significance that are printed.
_BRIEF = (0.01, 0.05, 0.1)


def exhibits_of(found: Sequence[Found], settings: Mapping[str, Any], learnt: Learnt | None) -> Iterator[Exhibit]:
    """All that collections and examples allow, in the paper's order."""
    if learnt is not None:
        yield _sizes(learnt)
    yield _labels(found)
    if any(one.lengths is not None for one in found):
        yield _lengths(found)
    line = None if learnt is None else learnt.unbounded
    if line is not None or any(one.bounds is not None for one in found):
        yield _bounds(found, settings["forbidden"], line)
    if any(one.compared is not None for one in found):
        yield _stability(found, settings)
        yield _sensitivity(found, settings)
        yield _reliability(found, settings["cutoff"])
    if learnt is not None:
        if learnt.single is not None:
            yield _single(learnt.name, learnt.single)
        yield _losses(learnt)


def absent(found: Sequence[Found], exhibits: Sequence[Exhibit], learnt: Learnt | None) -> dict[str, str]:
    """Exhibits that could not be made, and why."""
    lacking = dict.fromkeys(("Table 2", "Table 6", "Table 7"), _EXAMPLES) if learnt is None else learnt.lacking
    return {"Table 1": _NEVER, **absences({one.name: one.lacking for one in found}, exhibits), **lacking}


def _sizes(learnt: Learnt) -> Exhibit:
    counts = {"collection": learnt.name, "queries": learnt.queries, "documents": learnt.documents}
    return Exhibit(
        name="Table 2",
        title="Share of the queries by their number of documents",
        text="Of all examples. The paper's questions and answers of a shop (CQA) can be downloaded, but are not part "
        "of gainful; it rounds their number.",
        frame=_PUBLISHED.below("Table 2", [{**counts, **dict(zip(SIZES, learnt.sizes, strict=True))}]),
    )


def _labels(found: Sequence[Found]) -> Exhibit:
    judged = {one.name: one.one.qrels.frame["relevance"].drop_nulls() for one in found}
    shares = {
        name: {f"label {label:g}": count / len(labels) for label, count in labels.value_counts().iter_rows()}
        for name, labels in judged.items()
    }
    columns = {name for some in shares.values() for name in some}.union(_PUBLISHED.tables["Table 3"].columns[4:])
    in_order = sorted(columns, key=lambda name: float(name.removeprefix("label ")))
    rows = [
        {
            "collection": one.name,
            "topics": len(one.one.qrels.topics),
            "judgments": len(one.one.qrels),
            "runs": len(one.one.runs),
            **{name: shares[one.name].get(name, 0.0) for name in in_order},
        }
        for one in found
    ]
    return Exhibit(
        name="Table 3",
        title="Topics, judgments, runs, and the share of each label",
        text="Of all judgments of a collection together, as in the paper, which gives per cent; documents with labels "
        "below 0 are forbidden.",
        frame=_PUBLISHED.below("Table 3", rows),
    )


def _lengths(found: Sequence[Found]) -> Exhibit:
    rows = [
        {"collection": one.name, **one.lengths.drop("run").mean().row(0, named=True)}
        for one in found
        if one.lengths is not None
    ]
    return Exhibit(
        name="Table 4",
        title="Documents per topic after unjudged ones are left out",
        text="Per run over the topics, then averaged over the runs; as in the paper. A topic that a run has nothing "
        "for counts as 0 documents.",
        frame=_PUBLISHED.below("Table 4", rows),
    )


def _bounds(found: Sequence[Found], forbidden: float, learnt: Mapping[str, Any] | None) -> Exhibit:
    rows = [
        {"collection": one.name, **row}
        for one in found
        if one.bounds is not None
        for row in one.outside().iter_rows(named=True)
    ]
    return Exhibit(
        name="Table 5",
        title="Share of the queries for which nDCGmin is unbounded",
        text=f"Over: DCG above that of the best ordering of all judged documents; under: below that of the worst. Runs "
        f"without their unjudged documents, averaged over runs; labels below 0 gain {forbidden:g}, all others "
        "themselves. As in the paper, which found none at cutoffs up to 50; its product reviews and its questions and "
        "answers (CQA) are ranked and filtered by an f-ranker of the ordinal loss"
        + (", as are our examples." if learnt else "."),
        frame=_PUBLISHED.below("Table 5", [*rows, *([learnt] if learnt else [])]),
    )


def _stability(found: Sequence[Found], settings: Mapping[str, Any]) -> Exhibit:
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
    return Exhibit(
        name="Figure 1",
        title="Stability: pairs of runs ordered the wrong way, by number of topics",
        text=f"Error rate at a cutoff of {settings['cutoff']}; runs are equal if their means differ by at most "
        f"{settings['fuzziness']:g}. As in the paper, but only up to half of the topics: larger draws share so many "
        "that their error falls to 0 by construction.",
        frame=frame,
        draw=lambda: _curves(
            frame,
            "Pairs of runs ordered the wrong way, by number of topics",
            Axis(field="topics", title="topics drawn", whole=True, own=True),
            Axis(field="value", title="error rate", format="%", zero=True),
        ),
        brief=frame.filter(
            (pl.col("topics") % 5 == 0) | (pl.col("topics") == pl.col("topics").min().over("collection"))
        ),
    )


def _sensitivity(found: Sequence[Found], settings: Mapping[str, Any]) -> Exhibit:
    frame = pl.concat(
        pl.DataFrame(
            {
                "collection": one.name,
                "level": LEVELS,
                **{norm: [one.compared.power(norm, level) for level in LEVELS] for norm in NORMS},
            }
        )
        for one in found
        if one.compared is not None
    )
    return Exhibit(
        name="Figure 2",
        title="Sensitivity: share of the pairs of runs that are told apart, by level",
        text=f"The level of a pair is the share of {settings['resamples']} bootstrap samples of the topics that put "
        f"the worse run first or find no difference, at a cutoff of {settings['cutoff']}. As in the paper.",
        frame=frame,
        draw=lambda: _curves(
            frame,
            "Pairs of runs that are told apart",
            Axis(field="level", title="level", tight=True),
            Axis(field="value", title="share of the pairs", format="%", domain=(0, 1)),
        ),
        brief=frame.filter(pl.col("level").is_in(_BRIEF)),
    )


def _curves(frame: pl.DataFrame, title: str, x: Axis, y: Axis) -> altair.TopLevelMixin:
    """One line per measure."""
    long = frame.unpivot(NORMS, index=["collection", x.field], variable_name="measure", value_name=y.field)
    return panels(long, title=title, x=x, y=y, by="measure")


def _reliability(found: Sequence[Found], cutoff: int) -> Exhibit:
    analysed = [
        (one.name, norm, one.compared.reliable[one.compared.at(norm)])
        for one in found
        if one.compared is not None
        for norm in NORMS
    ]
    frame = pl.DataFrame(
        [
            {
                "collection": name,
                "measure": norm,
                "Φ": curve.phi.value,
                "low": curve.phi.low,
                "high": curve.phi.high,
                "Eρ²": curve.erho2.value,
            }
            for name, norm, curve in analysed
        ],
        infer_schema_length=None,
    )
    return Exhibit(
        name="Figure 3",
        title="Reliability",
        text=f"Φ from the variance components of runs, topics and their interaction at a cutoff of {cutoff}, with "
        "its 95 % interval; the paper draws a distribution that it does not explain. Eρ², which it does not give, "
        "leaves out the variance of topics: it is the reliability of differences between runs.",
        frame=frame,
        draw=lambda: _intervals(frame),
    )


def _intervals(frame: pl.DataFrame) -> altair.TopLevelMixin:
    alt = load_altair()
    norms = list(NORMS)
    key = alt.Scale(domain=norms, range=COLOURS[:3])
    # Without runs that differ there is no interval: NaN is no place on an axis.
    base = alt.Chart(frame.fill_nan(None)).encode(
        y=alt.Y("measure:N", title=None, sort=norms),
        color=alt.Color("measure:N", legend=None, sort=norms, scale=key),
        tooltip=["collection:N", "measure:N", *(alt.Tooltip(f"{c}:Q", format=".4f") for c in ("Φ", "low", "high"))],
    )
    scale = alt.Scale(domain=[0, 1])
    interval = {"x": alt.X("low:Q", title="Φ and its 95 % interval", scale=scale), "x2": "high:Q"}
    whole = alt.layer(
        base.mark_rule(strokeWidth=2).encode(**interval),
        base.mark_point(filled=True, size=80, opacity=1).encode(x=alt.X("Φ:Q", scale=scale)),
    ).properties(width=440, height=90)
    facet = alt.Facet("collection:N", title=None, sort=listed(frame, "collection"))
    return styled(whole.facet(facet, columns=1), "Reliability")


def _single(name: str, single: pl.DataFrame) -> Exhibit:
    return Exhibit(
        name="Table 6",
        title="Naive f-rankers on queries with a single document",
        text="nDCGf is the share of the right decisions: filter-all has the share of queries whose document is "
        "forbidden, filter-none the others. nDCGmin is 0 whatever is done. As in the paper, which has no gains of 0: a "
        "document with one is neither good nor forbidden, and its query left out.",
        frame=_PUBLISHED.below("Table 6", single.select(pl.lit(name).alias("collection"), pl.all())),
    )


def _losses(learnt: Learnt) -> Exhibit:
    ours = learnt.compared.to_frame().select(pl.lit(learnt.name).alias("collection"), "model", *MEASURES)
    frame = _PUBLISHED.below("Table 7", ours)
    learnt_from, validated, unseen = learnt.compared.queries
    return Exhibit(
        name="Table 7",
        title="Losses and baselines that rank and filter",
        text=f"Means on {unseen} test queries; {learnt_from} to learn from, {validated} to choose the threshold on. "
        f"Gains {learnt.compared.scale}. The paper gives 1 to every label that is not forbidden, learns from text with "
        "DistilBERT and tunes learning rate and batch size; shares are per cent there. FilteredGood is a mean over "
        "queries, 0 for those without a good document. The paper's product reviews are not printed.",
        frame=frame,
        brief=frame.filter(pl.col("collection") != f"product reviews{PUBLISHED}"),
    )
