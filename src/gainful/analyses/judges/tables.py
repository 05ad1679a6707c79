"""The tables of `judges`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gainful import _polars as pl
from gainful.analyses.judges.conclusions import Conclusion
from gainful.analyses.judges.labels import Agreement
from gainful.stats.paired import pairs
from gainful.stats.prediction import Predicted
from gainful.stats.resample import FloatArray
from gainful.tables import Table

if TYPE_CHECKING:
    from gainful.analyses.judges.result import Judges

_TITLES = {
    "agreed": "same label",
    "kappa": "κ",
    "linear": "κ linear",
    "quadratic": "κ quadratic",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
}
# Rows of a table that is printed: the rest is in the full one.
MOST = 10


def agreement(found: Judges) -> Table:
    """One row per pair of judges, the interval being that of κ."""
    rows = [
        {
            "judge": one.first,
            "other": one.second,
            "pairs": one.pairs,
            "topics": one.topics,
            **{name: one.value(name) for name in _TITLES},
            "kappa_low": one.estimates["kappa"].low,
            "kappa_high": one.estimates["kappa"].high,
        }
        for one in found.agreements
    ]
    headers = {"judge": "judge", "other": "other", "pairs": "judged by both", "topics": "topics"}
    headers |= {"agreed": "same label", "kappa": "κ", "kappa_low": "κ low", "kappa_high": "κ high"}
    return Table.of("agreement", pl.DataFrame(rows), {**headers, **_TITLES})


def coefficients(found: Judges) -> Table:
    """Long: every coefficient of every pair of judges, and α of all, with their intervals."""
    rows = [
        (one.first, one.second, name, estimate.value, estimate.low, estimate.high)
        for one in found.agreements
        for name, estimate in one.estimates.items()
    ]
    everyone = ("all", "all")
    rows += [(*everyone, f"alpha {level}", e.value, e.low, e.high) for level, e in found.alphas.items()]
    schema = {"judge": pl.String, "other": pl.String, "coefficient": pl.String}
    schema |= dict.fromkeys(("value", "low", "high"), pl.Float64)  # type: ignore[arg-type]
    return Table.of("coefficients", pl.DataFrame(rows, schema=schema, orient="row"))


def confusion(found: Judges) -> Table:
    """Long: how often two judges gave which labels."""
    rows = [
        (one.first, one.second, label, other, int(one.counts[i, j]))
        for one in found.agreements
        for i, label in enumerate(found.labels)
        for j, other in enumerate(found.labels)
    ]
    names = ["judge", "other", "label", "other_label", "documents"]
    headers: dict[str, Any] = {name: name for name in names}
    headers |= {"label": ("label", "level"), "other_label": ("other's label", "level")}
    return Table.of("confusion", pl.DataFrame(rows, schema=names, orient="row"), headers)


def wide_confusion(found: Judges, one: Agreement) -> Table:
    """The labels of the first judge in rows, those of the other in columns."""
    columns = {f"{label:g}": one.counts[:, at].astype(np.int64) for at, label in enumerate(found.labels)}
    frame = pl.DataFrame({"label": [f"{label:g}" for label in found.labels], **columns})
    title = f"Labels of {one.first} (rows) and {one.second} (columns):"
    headers: dict[str, Any] = {"label": ("", "ratio"), **{name: name for name in columns}}
    return Table.of("labels", frame, headers, title=title)


def orders(found: Judges) -> Table:
    """One row per judge and measure: how far the orders of runs agree, and the tests."""
    names = ("tau_b", "tau_ap", "rbo", "both", "only_first", "only_other", "reversed", "neither")
    rows = [
        {
            "judge": one.judge,
            "measure": one.measure,
            "runs": len(one.systems),
            "topics": one.topics,
            **{name: getattr(one, name) for name in names},
        }
        for one in found.conclusions
    ]
    headers = {"judge": "judge", "measure": "measure", "runs": "runs", "topics": "topics"}
    headers |= {"tau_b": "τ_b", "tau_ap": "τ_AP", "rbo": "RBO", "both": "pairs under both"}
    headers |= {"only_first": f"{found.judges[0]} alone", "only_other": "judge alone", "reversed": "reversed"}
    title = f"Orders of runs under {found.judges[0]} and each other judge, and pairs that differ significantly:"
    return Table.of("orders", pl.DataFrame(rows), {**headers, "neither": "neither"}, title=title)


def bias(found: Judges, *, brief: bool = False) -> Table:
    """One row per judge, measure and run, those with the largest bias first."""
    frames = []
    for one in found.conclusions:
        columns = {"run": one.systems, "mean": one.means[0], "other_mean": one.means[1], "bias": one.bias}
        columns |= {"low": one.bias_low, "high": one.bias_high, "rank": one.ranks[0], "other_rank": one.ranks[1]}
        order = np.argsort(-np.abs(one.bias), kind="stable")
        frame = pl.DataFrame({"judge": one.judge, "measure": one.measure, **columns})[order]
        frames.append(frame.head(MOST) if brief else frame)
    headers: dict[str, Any] = {"judge": "judge", "measure": "measure", "run": "run"}
    headers |= {"mean": f"mean by {found.judges[0]}", "other_mean": "by judge", "bias": ("bias", "signed")}
    headers |= {"low": ("low", "signed"), "high": ("high", "signed"), "rank": ("rank", "level")}
    headers |= {"other_rank": ("rank by judge", "level")}
    title = (
        "Bias, relative to all runs: by how much a judge changes the mean of a run, less what it changes the means of "
        "all runs by on average; the largest first:"
    )
    return Table.of("bias", pl.concat(frames), headers, title=title)


def savings(found: Judges) -> Table:
    """One row per judge and measure: how far its labels can stand in for the first judge's on further topics.

    Widths are relative to those of intervals from the first judge's topics alone, and medians over runs or pairs of
    them: with the topics there are, and in the limit of very many topics judged by the other alone.
    """
    rows = []
    for one in found.conclusions:
        row: dict[str, Any] = {"judge": one.judge, "measure": one.measure, "topics": one.topics, "more": one.more}
        for what, correlation, powered in (
            ("mean", one.correlation, one.predicted),
            ("difference", one.pair_correlation, one.differences),
        ):
            row[f"{what}_correlation"] = _median(correlation)
            row[f"{what}_width"] = np.nan if powered is None else _median(powered.narrower())
            row[f"{what}_limit"] = _median(np.sqrt(1.0 - np.clip(correlation, 0.0, 1.0) ** 2))
        rows.append(row)
    headers = {"judge": "judge", "measure": "measure", "topics": "topics of both", "more": "more topics"}
    headers |= {"mean_correlation": "correlation", "mean_width": "width of means", "mean_limit": "at best"}
    headers |= {"difference_correlation": "of differences", "difference_width": "width", "difference_limit": "at best"}
    title = (
        "How well a judge predicts the scores per topic, and widths of intervals with more topics judged by it alone, "
        f"relative to those of {found.judges[0]}'s topics (medians over runs, and over pairs of runs):"
    )
    return Table.of("savings", pl.DataFrame(rows), headers, title=title)


def predicted(found: Judges, *, brief: bool = False) -> Table:
    """One row per judge, measure and run or pair of runs: the estimate with all topics, and from good ones alone."""
    frames = []
    for one in found.conclusions:
        if one.predicted is None or one.differences is None:
            continue
        first, second = pairs(len(one.systems))
        parts = [_estimates(one, one.systems, [None] * len(one.systems), one.predicted)]
        if not brief:
            names = [one.systems[at] for at in first], [one.systems[at] for at in second]
            parts.append(_estimates(one, *names, one.differences))
        frame = pl.concat(parts)
        frames.append(frame.sort("mean", descending=True).head(MOST) if brief else frame)
    headers: dict[str, Any] = {"judge": "judge", "measure": "measure", "run": "run"}
    headers |= {} if brief else {"minus": "minus"}
    headers |= {"mean": "mean", "low": "low", "high": "high", "weight": "weight", "mean_alone": "good topics alone"}
    headers |= {"low_alone": "low", "high_alone": "high", "width": "relative width"}
    title = "Means estimated from the topics of both judges, and from the good topics alone:"
    return Table.of("predicted", pl.concat(frames), headers, title=title)


def _estimates(one: Conclusion, runs: Any, minus: Any, powered: Predicted) -> pl.DataFrame:
    names = ("mean", "low", "high", "weight", "mean_alone", "low_alone", "high_alone")
    columns = {name: getattr(powered, name) for name in names}
    schema = {"run": pl.Series(list(runs), dtype=pl.String), "minus": pl.Series(list(minus), dtype=pl.String)}
    return pl.DataFrame({**schema, **columns, "width": powered.narrower()}).select(
        pl.lit(one.judge).alias("judge"), pl.lit(one.measure).alias("measure"), pl.all()
    )


def _median(values: FloatArray) -> float:
    defined = values[~np.isnan(values)]
    return float(np.median(defined)) if len(defined) else np.nan
