"""The tables and figures of Gienapp et al. (CIKM 2020), of any collections, with what the paper prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from gainful import _polars as pl
from gainful.studies.exhibits import Exhibit, read_paper, stacked
from gainful.studies.negative_labels.compute import NORMS, PAIRS, Compared, NegativeLabels, pair_of
from gainful.studies.panels import Axis

_PAPER = read_paper("negative_labels")
# Levels of significance, of the curves and of what is printed of them.
_LEVELS = tuple(level / 100 for level in range(1, 100))
_BRIEF_LEVELS = (0.01, 0.05, 0.1)
# As in the legends of the paper.
_AS_DRAWN = ("nDCGmin", "nDCGorg", "nDCG0")


def exhibits_of(found: Sequence[NegativeLabels]) -> Iterator[Exhibit]:
    """All that the collections allow, in the paper's order."""
    yield _labels(found)
    if negative := [one for one in found if one.bounds.negative]:
        yield _bounds(negative)
    if compared := [one.compared for one in found if one.compared is not None]:
        yield from (of(compared) for of in (_orders, _ranks, _phis, _errors, _powers))


def _labels(found: Sequence[NegativeLabels]) -> Exhibit:
    ratios = {one.name: one.one.label_ratios() for one in found}
    published = map(float, _PAPER.published["Table 1"].columns[2:])
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
    return _PAPER.exhibit("Table 1", rows)


def _bounds(found: Sequence[NegativeLabels]) -> Exhibit:
    columns = {"below 0": "share_below_0", "at most -1": "share_at_most_minus_1", "lowest": "lowest"}
    shares = {name: pl.col(of) + 0.0 for name, of in columns.items()}  # no -0
    some = (one.bounds.shares().with_columns(collection=pl.lit(one.name), **shares) for one in found)
    frames = (frame.select("collection", "cutoff", "topics", *shares) for frame in some)
    return _PAPER.exhibit("Table 2a", pl.concat(frames))


def _orders(compared: Sequence[Compared]) -> Exhibit:
    rows = [
        {"collection": one.name, "cutoff": one.pool_depth, **{pair_of(pair): one.rho(*pair) for pair in PAIRS}}
        for one in compared
    ]
    return _PAPER.exhibit("Table 2b", rows)


def _ranks(compared: Sequence[Compared]) -> Exhibit:
    ranks = [(one.name, one.agreed.systems, dict(zip(NORMS, one.agreed.ranks, strict=True))) for one in compared]
    unsorted = [pl.DataFrame({"collection": name, "run": list(runs), **by_norm}) for name, runs, by_norm in ranks]
    frames = [some.sort("nDCGorg", maintain_order=True) for some in unsorted]
    frame = pl.concat(frames)
    places = pl.col("nDCGorg") - pl.col("nDCG0")
    moved = (
        some.with_columns(places=places).sort(places.abs(), descending=True, maintain_order=True) for some in frames
    )
    last = max(2.0, *frame["nDCGorg"], *frame["nDCG0"])
    margin = min(0.9, 0.03 * last)  # or the best and the worst would lie on the axes
    axis = partial(Axis, domain=(1 - margin, last + margin), whole=True, tight=True, reverse=True)
    x, y = axis(field="nDCG0", title="rank by nDCG0"), axis(field="nDCGorg", title="rank by nDCGorg")
    brief = pl.concat(some.head(5) for some in moved)
    look: dict[str, Any] = {"titled": True, "mark": "dots", "diagonal": True, "tooltip": ("run", "nDCGmin")}
    return _PAPER.figure("Figure 2c", frame, x=x, y=y, by="collection", brief=brief, **look)


def _phis(compared: Sequence[Compared]) -> Exhibit:
    published = {int(name[1:]) for name in _PAPER.published["Table 2d"].columns if name.startswith("@")}
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
    return _PAPER.exhibit("Table 2d", rows)


def _errors(compared: Sequence[Compared]) -> Exhibit:
    frame = stacked(
        {
            "collection": one.name,
            "cutoff": cutoff,
            "topics": one.sizes,
            **{norm: one.error(norm, cutoff) for norm in NORMS},
            **{f"{norm} ties": one.ties(norm, cutoff) for norm in NORMS},
        }
        for one in compared
        for cutoff in one.cutoffs
    )
    x = Axis(field="topics", title="topics drawn", whole=True)
    y = Axis(field="error", title="error rate", format="%", zero=True)
    last = pl.col("topics") == pl.col("topics").max().over("collection")
    return _PAPER.lines("Figure 2e", frame, _AS_DRAWN, x=x, y=y, brief=last)


def _powers(compared: Sequence[Compared]) -> Exhibit:
    frame = stacked(
        {
            "collection": one.name,
            "cutoff": cutoff,
            "level": _LEVELS,
            **{norm: [one.power(norm, cutoff, level) for level in _LEVELS] for norm in NORMS},
        }
        for one in compared
        for cutoff in one.cutoffs
    )
    x = Axis(field="level", title="significance level", domain=(0, 1))
    y = Axis(field="share", title="share of the pairs", format="%", domain=(0, 1))
    return _PAPER.lines("Figure 2f", frame, _AS_DRAWN, x=x, y=y, brief=pl.col("level").is_in(_BRIEF_LEVELS))
