"""The learning part of Carmel et al. (2022): Tables 2, 6, 7 and a line of Table 5, from examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.analyses.boundedness import boundedness
from gainful.errors import GainfulError
from gainful.ltrf.comparison import LossComparison
from gainful.ltrf.data import Examples
from gainful.ltrf.functions import compare
from gainful.ltrf.targets import Scale, read_scale
from gainful.studies.exhibits import read_paper
from gainful.studies.findings import Finding, decide, each
from gainful.verbs.evaluate import evaluate

CUTOFF = 3
SIZES = ("1 document", "2 documents", "3 and more")
NAIVE = ("filter-all", "filter-none")
MEASURES = (f"nDCGf@{CUTOFF}", f"nDCG0@{CUTOFF}", f"nDCGmin@{CUTOFF}", f"Forbidden@{CUTOFF}", "FilteredGood", "Empty")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learnt:
    """What examples say."""

    name: str
    examples: Examples
    # The queries with one document that is good or forbidden: how many, the share that is forbidden, and by naive
    # f-ranker the mean nDCGf and nDCGmin; None if there are none.
    single: pl.DataFrame | None
    compared: LossComparison  # all losses and baselines
    unbounded: dict[str, Any] | None  # the line of Table 5; None if there is no ordinal model
    lacking: dict[str, str]

    def settings(self) -> dict[str, object]:
        """What repeats the learning."""
        return {
            "examples": self.name,
            "gains": self.compared.scale.to_dict(),
            "losses": list(self.compared.rankers),
            "training": dict(self.compared.settings),
        }


def learn(examples: Examples, given: Mapping[str, Any]) -> Learnt:
    """Train and compare all losses, and look at what the examples are."""
    name = Path(examples.name).name
    labels = sorted(set(examples.labels.tolist()))
    usual = {label: given["forbidden"] if label < 0 else label for label in labels}
    gains = usual if given["gains"] is None else given["gains"]
    scale = read_scale(gains, examples.labels)
    if min(scale.gains) >= 0:
        raise GainfulError(
            f"{examples.name}: expected a label with a gain below 0, so that there is something to filter, got {scale}"
        )
    train, validation, test = examples.split(seed=given["seed"])
    how = {name: given[name] for name in ("losses", "seed", "settings")}
    found = compare(train, validation=validation, test=test, gains=gains, cutoff=CUTOFF, **how)
    alone = _alone(examples, scale)
    lacking = {} if len(alone) else {"Table 6": f"{name} has no topic with a single document that has a gain"}
    return Learnt(
        name=name,
        examples=examples,
        single=_single(alone, scale) if len(alone) else None,
        compared=found,
        unbounded=_unbounded(name, found, test, scale) if "ordinal" in found.rankers else None,
        lacking=lacking,
    )


def _alone(examples: Examples, scale: Scale) -> Examples:
    """The queries with one document, save those whose document gains nothing: shown or not is the same."""
    queries = [query for query, size in zip(examples.queries, examples.sizes, strict=True) if size == 1]
    found = examples.only(queries)
    return found.where(scale.gain(found.labels) != 0)


def _single(alone: Examples, scale: Scale) -> pl.DataFrame:
    """Naive f-rankers on queries with one document."""
    nothing = np.full(len(alone), np.nan)
    runs = [alone.run(nothing, NAIVE[0]), alone.run(np.zeros(len(alone)), NAIVE[1])]
    means = evaluate(alone.qrels(scale), runs, MEASURES[:3:2]).summary()
    return pl.DataFrame(
        {
            "queries": len(alone),
            "forbidden": float((scale.gain(alone.labels) < 0).mean()),
            "measure": ["nDCGf", "nDCGmin"],
            **{name: means[:, at] for at, name in enumerate(NAIVE)},
        }
    )


def _unbounded(name: str, found: LossComparison, test: Examples, scale: Scale) -> dict[str, Any]:
    """Queries of the ordinal f-ranker outside of the range of nDCGmin."""
    bounds = boundedness(test.qrels(scale), found.rankers["ordinal"].rank(test, name="ordinal"), cutoff=CUTOFF)
    row = bounds.runs().row(0, named=True)
    over, under = row["over"] / row["topics"], row["under"] / row["topics"]
    return {"collection": name, "cutoff": CUTOFF, "unbounded": over + under, "over": over, "under": under}


def findings_of_learning(learnt: Learnt) -> Iterator[Finding]:
    """What the paper found of learning, as far as the losses are there."""
    rows = {row["model"]: row for row in learnt.compared.to_frame().iter_rows(named=True)}
    losses = list(learnt.compared.rankers)
    if learnt.single is not None:
        yield _accuracy(learnt.name, learnt.single)
    if learnt.unbounded is not None:
        share = float(learnt.unbounded["unbounded"])
        claim = "nDCGmin is out of bounds for some topics of the ordinal f-ranker"
        paper = read_paper("forbidden_documents").prints("Table 5", ["unbounded"], ".1%", cutoff=CUTOFF)
        yield decide(learnt.name, claim, share > 0, f"{share:.1%} of the test topics at {CUTOFF}", share, paper=paper)
    yield from _of_models(learnt.name, rows, losses)


def _accuracy(name: str, single: pl.DataFrame) -> Finding:
    f, least = (dict(zip(NAIVE, single.select(NAIVE).row(at), strict=True)) for at in (0, 1))
    forbidden, nothing = float(single["forbidden"][0]), " and ".join(f"{value:.3f}" for value in least.values())
    right = np.isclose([f["filter-all"], f["filter-none"]], [forbidden, 1 - forbidden]).all()
    claim = "For topics with a single document, nDCGf is the accuracy of the filter, and nDCGmin says nothing"
    evidence = f"{each(f, '.3f')}; forbidden {forbidden:.3f}; nDCGmin {nothing}"
    holds = right and least["filter-all"] == least["filter-none"]
    return decide(name, claim, holds, evidence, f, least, paper="Table 6")


def _of_models(name: str, rows: Mapping[str, Mapping[str, Any]], losses: Sequence[str]) -> Iterator[Finding]:
    value, zero = ({model: float(row[measure]) for model, row in rows.items()} for measure in MEASURES[:2])
    baselines = [model for model in ("filter-all", "rank-only", "filter-only") if model in rows]
    trained = [loss for loss in losses if loss != "lambdarank"]
    if trained:
        best, worst = max(baselines, key=value.__getitem__), min(trained, key=value.__getitem__)
        claim = "Every loss but lambdarank beats all baselines in nDCGf"
        evidence = f"{worst}, the lowest, {value[worst]:.4f}; {best}, the best baseline, {value[best]:.4f}"
        yield decide(name, claim, value[worst] > value[best], evidence, value, paper="Table 7")
    if "ordinal" in losses and len(losses) > 1:
        order = {model: value[model] for model in sorted(losses, key=lambda model: -value[model])}
        highest = next(iter(order)) == "ordinal"
        yield decide(name, "The ordinal loss has the highest nDCGf", highest, each(order), order, paper="Table 7")
    if "rank-only" in rows:
        top = max(zero, key=zero.__getitem__)
        claim = "Ranking without filtering has the highest nDCG0, which does not see forbidden documents"
        evidence = f"rank-only {zero['rank-only']:.4f}, highest {top} {zero[top]:.4f}"
        yield decide(name, claim, zero["rank-only"] >= zero[top], evidence, zero, paper="Table 7")
