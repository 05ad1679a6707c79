"""The tables and figures of Bompada et al. (SIGIR 2007), of any collections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from gainful.analyses.robustness.result import Curve
from gainful.studies.exhibits import Exhibit, read_published
from gainful.studies.incomplete_judgments.compute import (
    KNEE,
    MEASURES,
    OF_DECISIONS,
    OF_ORDERS,
    OF_WEIGHTS,
    Depleted,
    Found,
    Labels,
)
from gainful.studies.panels import Axis, panels

if TYPE_CHECKING:
    import altair

# The level of the paper's example, Table 4.
_EXAMPLE = 0.3
_LEVEL = Axis(field="level", title="share of the judgments that is kept", format="%", domain=(0, 1))


def exhibits_of(found: Sequence[Found], rel: float) -> Iterator[Exhibit]:
    """All that the collections allow, in the paper's order."""
    orders, decisions, weights = (
        [one.depleted for one in found if one.depleted is not None and exhibits[0] not in one.lacking]
        for exhibits in (OF_ORDERS, OF_DECISIONS, OF_WEIGHTS)
    )
    yield _properties(found, rel)
    if orders:
        yield _tau(orders)
        yield _knees(orders, by="tau")
    if decisions:
        yield _accuracy(decisions)
        yield _confusion(decisions)
        yield _knees(decisions, by="accuracy")
    if weights:
        yield _weights(weights)


def _properties(found: Sequence[Found], rel: float) -> Exhibit:
    rows = []
    for one, used in ((each.one, each.used) for each in found):
        labels = one.qrels.frame["relevance"].drop_nulls()
        relevant = labels.filter(labels >= rel)
        lowest = relevant.min()
        topics = len(one.qrels.topics)
        rows.append(
            {
                "collection": one.name,
                "topics": topics,
                "relevant per topic": len(relevant) / topics,
                "relevant": int((relevant == lowest).sum()) if len(relevant) else 0,
                "highly relevant": int((relevant > lowest).sum()) if len(relevant) else 0,
                "nonrelevant": len(labels) - len(relevant),
                "runs": len(one.runs),
                "runs used": len(used.runs),
            }
        )
    return Exhibit(
        name="Table 1",
        title="Collections",
        text="Judgments by label, the lowest relevant one being 'relevant' and all higher ones 'highly relevant', and "
        "the runs that returned enough documents to be used, as in the paper. What is not in judgments and runs, the "
        "number of documents and of groups, is left out. Of the paper's table only what its prose repeats was at hand.",
        frame=read_published("incomplete_judgments").below("Table 1", rows),
    )


def _tau(depleted: Sequence[Depleted]) -> Exhibit:
    frame = pl.concat(_curve(one, measure, at) for one in depleted for at, measure in enumerate(MEASURES))
    return Exhibit(
        name="Figure 1",
        title="Kendall's τ between the orders of runs under some and under all judgments",
        text="τ_b, which corrects for ties, as a mean over random draws of the judgments with its 95 % interval; the "
        "paper makes one draw. What is taken away stays in the pool without a judgment, which infAP makes use of; the "
        "paper does not say. nDCG is binary, over the first 1,000 documents, as in the paper. The paper's curves are "
        "drawn, not printed: the findings quote what its text says of them.",
        frame=frame,
        draw=lambda: _chart(frame, "How far runs keep their order when judgments are taken away"),
        brief=_wide(frame, "tau"),
    )


def _accuracy(depleted: Sequence[Depleted]) -> Exhibit:
    frame = pl.DataFrame(
        [
            {
                "collection": one.name,
                "measure": measure,
                "level": level,
                "accuracy": cell.accuracy,
                "g-mean": cell.g_mean,
                "differences lost": cell.false_positive,
            }
            for one in depleted
            for measure, cells in zip(MEASURES, one.found.decisions[:3], strict=True)
            for level, cell in zip(one.found.levels, cells, strict=True)
        ]
    )
    keys = ["collection", "measure", "level"]
    long = frame.unpivot(["accuracy", "g-mean"], index=keys, variable_name="what", value_name="share")
    return Exhibit(
        name="Figure 2",
        title="Accuracy and g-mean of the decisions on pairs of runs",
        text="Whether Wilcoxon's signed-rank test finds two runs different under some judgments as under all, for "
        "pairs drawn at random, summed over the draws of judgments. The paper takes for 100 % the pool of the two runs "
        "alone, we take all judgments. Differences lost are its false positives, which it does not show. What is "
        "printed is the accuracy.",
        frame=frame,
        draw=lambda: panels(
            long,
            title="How far pairs of runs are decided as under all judgments",
            x=_LEVEL,
            y=Axis(field="share", title="share of the decisions"),
            by="measure",
            column="what",
            level=KNEE,
        ),
        brief=_wide(frame, "accuracy"),
    )


def _confusion(depleted: Sequence[Depleted]) -> Exhibit:
    rows = []
    for one in depleted:
        at = min(range(len(one.levels)), key=lambda place: abs(one.levels[place] - _EXAMPLE))
        for measure, cells in zip(MEASURES, one.found.decisions[:3], strict=True):
            rows.append(
                {
                    "collection": one.name,
                    "measure": measure,
                    "level": one.levels[at],
                    "equal, found equal": cells[at].both_equal,
                    "equal, found different": cells[at].lost_equal,
                    "different, found equal": cells[at].lost_difference,
                    "different, found different": cells[at].both_different,
                }
            )
    return Exhibit(
        name="Table 4",
        title="Confusion matrix of the decisions at one level",
        text="C11, C12, C21 and C22 of the paper: equal or different under all judgments, and found to be so at the "
        f"level nearest to {_EXAMPLE:g}, the paper's; summed over the draws of judgments. The paper's own numbers "
        "were not at hand.",
        frame=pl.DataFrame(rows),
    )


def _knees(depleted: Sequence[Depleted], *, by: Curve) -> Exhibit:
    curve = "τ" if by == "tau" else by
    rows = [
        {
            "collection": one.name,
            f"{curve} above {KNEE:g}": "for good" if sustained else "at first",
            **{measure: one.knee(measure, by, sustained=sustained) for measure in MEASURES},
        }
        for one in depleted
        for sustained in (False, True)
    ]
    return Exhibit(
        name="Table 3" if by == "tau" else "Table 5",
        title=f"Knee of the curves of {curve}",
        text=f"The lowest level at which a curve exceeds {KNEE:g}, as in the paper, and the lowest from which on it "
        "always does; nothing where it never does. The paper's own numbers were not at hand.",
        frame=pl.DataFrame(rows, schema_overrides=dict.fromkeys(MEASURES, pl.Float64)),
    )


def _weights(depleted: Sequence[Depleted]) -> Exhibit:
    frame = pl.concat(
        _curve(one, "binary" if weight == 1 else f"weight {weight:g}", at).with_columns(
            accuracy=pl.Series([cell.accuracy for cell in one.found.decisions[at]])
        )
        for one in depleted
        for at, weight in enumerate(one.weights, 2)
    )
    grades = "; ".join(f"{one.name}: {Labels.of(one.found)}" for one in depleted)
    return Exhibit(
        name="Figure 3",
        title="Kendall's τ of binary and of graded nDCG",
        text="nDCG over the first 1,000 documents, a relevant document counting 1 and a highly relevant one 1 (binary) "
        f"or the weight ({grades}). The paper's TREC-14 has one grade of highly relevant; what is more than relevant "
        "counts as such here.",
        frame=frame,
        draw=lambda: _chart(frame, "How far runs keep their order under binary and graded nDCG"),
        brief=_wide(frame, "tau"),
    )


def _curve(one: Depleted, measure: str, at: int) -> pl.DataFrame:
    """τ by level of the measure at a place, with its interval."""
    tau, low, high = one.found.tau()[at].T
    columns = {"level": one.found.levels, "judged": one.found.judged, "tau": tau, "low": low, "high": high}
    return pl.DataFrame({"collection": one.name, "measure": measure, **columns})


def _chart(frame: pl.DataFrame, title: str) -> altair.TopLevelMixin:
    y = Axis(field="tau", title="Kendall's τ")
    more = ("judged", "low", "high")
    return panels(frame, title=title, x=_LEVEL, y=y, by="measure", level=KNEE, band=("low", "high"), tooltip=more)


def _wide(frame: pl.DataFrame, value: str) -> pl.DataFrame:
    return frame.pivot("measure", index=["collection", "level"], values=value)
