"""The tables and figures of Carmel et al. (2022), of any collections and examples, with what the paper prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.charts import COLOURS, load_altair, styled
from gainful.results import Chart
from gainful.studies.exhibits import PUBLISHED, Exhibit, absences, read_paper, stacked
from gainful.studies.forbidden_documents.compute import LEVELS, NORMS, Compared, ForbiddenDocuments
from gainful.studies.forbidden_documents.learning import MEASURES, SIZES, Learnt
from gainful.studies.panels import Axis, listed

_PAPER = read_paper("forbidden_documents")
_NEVER = "the paper's product reviews were not published, and no other data have votes and spam labels"
_EXAMPLES = "needs training examples (judged pairs of topic and document)"
# Levels of significance that are printed.
_BRIEF = (0.01, 0.05, 0.1)


def exhibits_of(
    found: Sequence[ForbiddenDocuments], settings: Mapping[str, Any], learnt: Learnt | None
) -> Iterator[Exhibit]:
    """All that collections and examples allow, in the paper's order."""
    if learnt is not None:
        yield _sizes(learnt)
    yield _labels(found)
    if any(one.lengths is not None for one in found):
        yield _lengths(found)
    line = None if learnt is None else learnt.unbounded
    if line is not None or any(one.bounds is not None for one in found):
        yield _bounds(found, settings["forbidden"], line)
    compared = {one.name: one.compared for one in found if one.compared is not None}
    if compared:
        yield _stability(compared, settings)
        yield _sensitivity(compared, settings)
        yield _reliability(compared, settings["cutoff"])
    if learnt is not None:
        if learnt.single is not None:
            yield _PAPER.exhibit("Table 6", learnt.single.select(pl.lit(learnt.name).alias("collection"), pl.all()))
        yield _losses(learnt)


def absent(found: Sequence[ForbiddenDocuments], exhibits: Sequence[Exhibit], learnt: Learnt | None) -> dict[str, str]:
    """Exhibits that could not be made, and why."""
    lacking = dict.fromkeys(("Table 2", "Table 6", "Table 7"), _EXAMPLES) if learnt is None else learnt.lacking
    return {"Table 1": _NEVER, **absences({one.name: one.lacking for one in found}, exhibits), **lacking}


def _sizes(learnt: Learnt) -> Exhibit:
    sizes = learnt.examples.sizes
    counts = {"collection": learnt.name, "queries": len(sizes), "documents": len(learnt.examples)}
    shares = {name: float((np.minimum(sizes, 3) == size).mean()) for size, name in enumerate(SIZES, 1)}
    return _PAPER.exhibit("Table 2", [{**counts, **shares}])


def _labels(found: Sequence[ForbiddenDocuments]) -> Exhibit:
    judged = {one.name: one.one.qrels.frame["relevance"].drop_nulls() for one in found}
    shares = {
        name: {f"label {label:g}": count / len(labels) for label, count in labels.value_counts().iter_rows()}
        for name, labels in judged.items()
    }
    columns = {name for some in shares.values() for name in some}.union(_PAPER.published["Table 3"].columns[4:])
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
    return _PAPER.exhibit("Table 3", rows)


def _lengths(found: Sequence[ForbiddenDocuments]) -> Exhibit:
    rows = [
        {"collection": one.name, **one.lengths.drop("run").mean().row(0, named=True)}
        for one in found
        if one.lengths is not None
    ]
    return _PAPER.exhibit("Table 4", rows)


def _bounds(found: Sequence[ForbiddenDocuments], forbidden: float, learnt: Mapping[str, Any] | None) -> Exhibit:
    rows = [
        {"collection": one.name, **row}
        for one in found
        if one.bounds is not None
        for row in one.outside().iter_rows(named=True)
    ]
    values = {"forbidden": forbidden, "examples": ", as are our examples" if learnt else ""}
    return _PAPER.exhibit("Table 5", [*rows, *([learnt] if learnt else [])], values)


def _stability(compared: Mapping[str, Compared], settings: Mapping[str, Any]) -> Exhibit:
    frame = stacked(
        {"collection": name, "topics": one.stable.curves[0].sizes, **{norm: one.error(norm) for norm in NORMS}}
        for name, one in compared.items()
    )
    x = Axis(field="topics", title="topics drawn", whole=True, own=True)
    y = Axis(field="value", title="error rate", format="%", zero=True)
    topics = pl.col("topics")
    some = (topics % 5 == 0) | (topics == topics.min().over("collection"))
    return _PAPER.lines("Figure 1", frame, NORMS, x=x, y=y, brief=some, **settings)


def _sensitivity(compared: Mapping[str, Compared], settings: Mapping[str, Any]) -> Exhibit:
    frame = stacked(
        {"collection": name, "level": LEVELS, **{norm: [one.power(norm, level) for level in LEVELS] for norm in NORMS}}
        for name, one in compared.items()
    )
    x = Axis(field="level", title="level", tight=True)
    y = Axis(field="value", title="share of the pairs", format="%", domain=(0, 1))
    brief = pl.col("level").is_in(_BRIEF)
    return _PAPER.lines("Figure 2", frame, NORMS, x=x, y=y, brief=brief, **settings)


def _reliability(compared: Mapping[str, Compared], cutoff: int) -> Exhibit:
    analysed = [(name, norm, one.reliable[one.at(norm)]) for name, one in compared.items() for norm in NORMS]
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
    return _PAPER.exhibit("Figure 3", frame, {"cutoff": cutoff}, draw=lambda: _intervals(frame))


def _intervals(frame: pl.DataFrame) -> Chart:
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


def _losses(learnt: Learnt) -> Exhibit:
    found = learnt.compared
    ours = found.to_frame().select(pl.lit(learnt.name).alias("collection"), "model", *MEASURES)
    values = {**dict(zip(("learnt_from", "validated", "unseen"), found.queries, strict=True)), "scale": found.scale}
    not_printed = f"product reviews{PUBLISHED}"
    return _PAPER.exhibit("Table 7", ours, values, brief=lambda all: all.filter(pl.col("collection") != not_printed))
