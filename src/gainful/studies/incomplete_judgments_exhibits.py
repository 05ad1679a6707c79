"""The tables and figures of Bompada et al. (SIGIR 2007), of any collections."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from gainful.analyses.robustness.result import Curve
from gainful.studies.collections import StudyCollection
from gainful.studies.incomplete_judgments_charts import decisions_chart, tau_chart
from gainful.studies.incomplete_judgments_found import KNEE, MEASURES, Depleted, Labels
from gainful.studies.result import Exhibit, with_published

# What the paper's prose says of the labels of TREC-14, the enterprise track of 2005.
_TREC_14 = {"collection": "TREC-14", "relevant": 1441, "highly relevant": 2004, "nonrelevant": 27813}
# The level of the paper's example, Table 4.
_EXAMPLE = 0.3


def properties_table(loaded: Sequence[StudyCollection], kept: Sequence[StudyCollection], rel: float) -> Exhibit:
    """Table 1."""
    rows = []
    for one, used in zip(loaded, kept, strict=True):
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
        frame=with_published(pl.DataFrame(rows), [_TREC_14]),
    )


def tau_figure(depleted: Sequence[Depleted]) -> Exhibit:
    """Figure 1."""
    frame = pl.DataFrame(
        [
            {
                "collection": one.name,
                "measure": measure,
                "level": level,
                "judged": one.found.judged[at],
                "tau": float(tau[0]),
                "low": float(tau[1]),
                "high": float(tau[2]),
            }
            for one in depleted
            for measure, curve in zip(MEASURES, one.found.tau()[:3], strict=True)
            for (at, level), tau in zip(enumerate(one.found.levels), curve, strict=True)
        ]
    )
    return Exhibit(
        name="Figure 1",
        title="Kendall's τ between the orders of runs under some and under all judgments",
        text="τ_b, which corrects for ties, as a mean over random draws of the judgments with its 95 % interval; the "
        "paper makes one draw. What is taken away stays in the pool without a judgment, which infAP makes use of; the "
        "paper does not say. nDCG is binary, over the first 1,000 documents, as in the paper. The paper's curves are "
        "drawn, not printed: the findings quote what its text says of them.",
        frame=frame,
        draw=lambda: tau_chart(
            frame, title="How far runs keep their order when judgments are taken away", names=list(MEASURES)
        ),
        brief=_wide(frame, "tau"),
    )


def accuracy_figure(depleted: Sequence[Depleted]) -> Exhibit:
    """Figure 2."""
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
    return Exhibit(
        name="Figure 2",
        title="Accuracy and g-mean of the decisions on pairs of runs",
        text="Whether Wilcoxon's signed-rank test finds two runs different under some judgments as under all, for "
        "pairs drawn at random, summed over the draws of judgments. The paper takes for 100 % the pool of the two runs "
        "alone, we take all judgments. Differences lost are its false positives, which it does not show. A screen "
        "shows the accuracy.",
        frame=frame,
        draw=lambda: decisions_chart(frame, names=list(MEASURES)),
        brief=_wide(frame, "accuracy"),
    )


def confusion_table(depleted: Sequence[Depleted]) -> Exhibit:
    """Table 4."""
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


def knee_table(depleted: Sequence[Depleted], *, by: Curve) -> Exhibit:
    """Tables 3 and 5."""
    what = f"{'τ' if by == 'tau' else by} above {KNEE:g}"
    rows = [
        {
            "collection": one.name,
            what: "for good" if sustained else "at first",
            **{measure: one.knee(measure, by, sustained=sustained) for measure in MEASURES},
        }
        for one in depleted
        for sustained in (False, True)
    ]
    return Exhibit(
        name="Table 3" if by == "tau" else "Table 5",
        title=f"Knee of the curves of {'τ' if by == 'tau' else by}",
        text=f"The lowest level at which a curve exceeds {KNEE:g}, as in the paper, and the lowest from which on it "
        "always does; nothing where it never does. The paper's own numbers were not at hand.",
        frame=pl.DataFrame(rows, schema_overrides=dict.fromkeys(MEASURES, pl.Float64)),
    )


def weights_figure(depleted: Sequence[Depleted]) -> Exhibit:
    """Figure 3."""
    tau = [(one, one.found.tau()[2:]) for one in depleted]
    frame = pl.DataFrame(
        [
            {
                "collection": one.name,
                "measure": _weighted(weight),
                "level": level,
                "judged": one.found.judged[at],
                "tau": float(curves[w, at, 0]),
                "low": float(curves[w, at, 1]),
                "high": float(curves[w, at, 2]),
                "accuracy": one.found.decisions[w + 2][at].accuracy,
            }
            for one, curves in tau
            for w, weight in enumerate(one.weights)
            for at, level in enumerate(one.found.levels)
        ]
    )
    names = list(dict.fromkeys(frame["measure"].to_list()))
    grades = "; ".join(f"{one.name}: {Labels.of(one.found)}" for one in depleted)
    return Exhibit(
        name="Figure 3",
        title="Kendall's τ of binary and of graded nDCG",
        text="nDCG over the first 1,000 documents, a relevant document counting 1 and a highly relevant one 1 (binary) "
        f"or the weight ({grades}). The paper's TREC-14 has one grade of highly relevant; what is more than relevant "
        "counts as such here.",
        frame=frame,
        draw=lambda: tau_chart(frame, title="How far runs keep their order under binary and graded nDCG", names=names),
        brief=_wide(frame, "tau"),
    )


def _wide(frame: pl.DataFrame, value: str) -> pl.DataFrame:
    return frame.pivot("measure", index=["collection", "level"], values=value)


def _weighted(weight: float) -> str:
    return "binary" if weight == 1 else f"weight {weight:g}"
