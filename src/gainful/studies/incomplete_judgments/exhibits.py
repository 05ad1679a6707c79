"""The tables and figures of Bompada et al. (SIGIR 2007), of any collections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gainful import _polars as pl
from gainful.analyses.robustness.result import Curve
from gainful.studies.exhibits import Exhibit, read_paper
from gainful.studies.incomplete_judgments.compute import KNEE, MEASURES, Depleted, IncompleteJudgments, relevant_labels
from gainful.studies.panels import Axis

_PAPER = read_paper("incomplete_judgments")
# The level of the paper's example, Table 4.
_EXAMPLE = 0.3
_LEVEL = Axis(field="level", title="judgments kept", format="%", domain=(0, 1))


def exhibits_of(found: Sequence[IncompleteJudgments], rel: float) -> Iterator[Exhibit]:
    """All that the collections allow, in the paper's order."""
    orders, decisions, weights = (
        [depleted for one in found for depleted in one.allowing(name)] for name in ("Figure 1", "Figure 2", "Figure 3")
    )
    yield _properties(found, rel)
    if orders:
        yield _curves("Figure 1", pl.concat(one.curve(name, at) for one in orders for at, name in enumerate(MEASURES)))
        yield _knees("Table 3", orders, by="tau")
    if decisions:
        yield _decisions(decisions)
        yield _confusion(decisions)
        yield _knees("Table 5", decisions, by="accuracy")
    if weights:
        yield _weights(weights)


def _properties(found: Sequence[IncompleteJudgments], rel: float) -> Exhibit:
    rows = []
    for one, used in ((each.one, each.used) for each in found):
        labels = one.qrels.frame["relevance"].drop_nulls()
        relevant = labels.filter(labels >= rel)
        topics, lowest = len(one.qrels.topics), int((relevant == relevant.min()).sum())
        rows.append(
            {
                "collection": one.name,
                "topics": topics,
                "relevant per topic": len(relevant) / topics,
                "relevant": lowest,
                "highly relevant": len(relevant) - lowest,
                "nonrelevant": len(labels) - len(relevant),
                "runs": len(one.runs),
                "runs used": len(used.runs),
            }
        )
    return _PAPER.exhibit("Table 1", rows)


def _curves(name: str, frame: pl.DataFrame, **values: str) -> Exhibit:
    """τ by level, with its interval."""
    y, band, brief = Axis(field="tau", title="Kendall's τ"), ("low", "high"), _wide(frame, "tau")
    behind = {"level": KNEE, "band": band, "tooltip": ("judged", *band)}
    return _PAPER.figure(name, frame, values=values, x=_LEVEL, y=y, by="measure", brief=brief, **behind)


def _decisions(depleted: Sequence[Depleted]) -> Exhibit:
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

    def drawn() -> pl.DataFrame:
        index = ["collection", "measure", "level"]
        return frame.unpivot(["accuracy", "g-mean"], index=index, variable_name="what", value_name="share")

    y = Axis(field="share", title="share of the decisions")
    brief = _wide(frame, "accuracy")
    return _PAPER.figure(
        "Figure 2", frame, x=_LEVEL, y=y, by="measure", column="what", level=KNEE, drawn=drawn, brief=brief
    )


def _confusion(depleted: Sequence[Depleted]) -> Exhibit:
    rows = []
    for one in depleted:
        at = min(range(len(one.levels)), key=lambda place: abs(one.levels[place] - _EXAMPLE))
        rows += [
            {
                "collection": one.name,
                "measure": measure,
                "level": one.levels[at],
                "equal, found equal": cells[at].both_equal,
                "equal, found different": cells[at].lost_equal,
                "different, found equal": cells[at].lost_difference,
                "different, found different": cells[at].both_different,
            }
            for measure, cells in zip(MEASURES, one.found.decisions[:3], strict=True)
        ]
    return _PAPER.exhibit("Table 4", rows)


def _knees(name: str, depleted: Sequence[Depleted], *, by: Curve) -> Exhibit:
    column = f"{'τ' if by == 'tau' else by} above {KNEE:g}"
    rows = [
        (one.name, "for good" if sustained else "at first", *(one.knee(m, by, sustained=sustained) for m in MEASURES))
        for one in depleted
        for sustained in (False, True)
    ]
    types = {"collection": pl.String, column: pl.String, **dict.fromkeys(MEASURES, pl.Float64)}
    return _PAPER.exhibit(name, pl.DataFrame(rows, schema=types, orient="row"))


def _weights(depleted: Sequence[Depleted]) -> Exhibit:
    frame = pl.concat(
        one.curve("binary" if weight == 1 else f"weight {weight:g}", at).with_columns(
            accuracy=pl.Series([cell.accuracy for cell in one.found.decisions[at]])
        )
        for one in depleted
        for at, weight in enumerate(one.weights, 2)
    )
    labels = {one.name: [f"{label:g}" for label in relevant_labels(one.found)] for one in depleted}
    grades = (f"{name}: {low} relevant, {', '.join(high)} highly relevant" for name, (low, *high) in labels.items())
    return _curves("Figure 3", frame, grades="; ".join(grades))


def _wide(frame: pl.DataFrame, value: str) -> pl.DataFrame:
    return frame.pivot("measure", index=["collection", "level"], values=value)
