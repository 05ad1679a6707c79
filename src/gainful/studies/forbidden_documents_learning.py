"""The learning part of Carmel et al. (2022): Tables 2, 6, 7 and a line of Table 5, from examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gainful.analyses.boundedness import boundedness
from gainful.errors import GainfulError
from gainful.ltrf.comparison import LossComparison, compare
from gainful.ltrf.data import Examples
from gainful.ltrf.settings import Settings
from gainful.ltrf.targets import Loss, Scale, read_scale
from gainful.studies.result import PUBLISHED, Exhibit, Finding, with_published
from gainful.verbs.evaluate import evaluate

CUTOFF = 3
# Table 2, per cent of the questions of the paper's CQA data with 1, 2 and more answers.
_TABLE_2 = (52.0, 24.1, 23.9)
_SIZES = ("1 document", "2 documents", "3 and more")
# Table 6: nDCGf of filter-all and filter-none, for queries with a single document.
_TABLE_6 = {"product reviews": (0.453, 0.547), "CQA": (0.262, 0.738)}
_NAIVE = ("filter-all", "filter-none")
_MEASURES = (f"nDCGf@{CUTOFF}", f"nDCG0@{CUTOFF}", f"nDCGmin@{CUTOFF}", f"Forbidden@{CUTOFF}", "FilteredGood", "Empty")
# Table 7: nDCGf, nDCG0, nDCGmin, and per cent forbidden, good filtered, queries with nothing left.
_TABLE_7 = {
    "product reviews": {
        "filter-all": (0.6112, 0.0, 0.4794, 0.0, 100.0, 100.0),
        "rank-only": (0.5889, 0.3862, 0.4852, 25.56, 0.0, 0.0),
        "filter-only": (0.763, 0.313, 0.6392, 5.46, 19.62, 21.63),
        "bce": (0.7678, 0.3021, 0.6438, 4.9, 19.62, 21.63),
        "mse": (0.7729, 0.3173, 0.6526, 4.66, 22.74, 23.36),
        "ordinal": (0.7793, 0.3295, 0.6601, 4.62, 21.7, 22.95),
        "weighted-ordinal": (0.7708, 0.3148, 0.6478, 5.19, 18.07, 20.66),
        "lambdarank": (0.7722, 0.34, 0.6536, 5.91, 21.42, 22.12),
        "lambdarank+bce": (0.7686, 0.3366, 0.6494, 6.09, 22.59, 22.61),
    },
    "CQA": {
        "filter-all": (0.3404, 0.0, -0.2723, 0.0, 100.0, 100.0),
        "rank-only": (0.7197, 0.7912, 0.2296, 24.49, 0.0, 0.0),
        "filter-only": (0.7433, 0.7127, 0.2251, 16.83, 8.34, 11.31),
        "bce": (0.7516, 0.719, 0.2293, 16.59, 8.34, 11.31),
        "mse": (0.7578, 0.7279, 0.2466, 16.46, 7.61, 10.89),
        "ordinal": (0.7609, 0.74, 0.2566, 17.10, 6.71, 9.68),
        "weighted-ordinal": (0.7552, 0.7311, 0.2414, 17.13, 7.14, 10.01),
        "lambdarank": (0.7045, 0.7795, 0.2077, 25.14, 0.03, 0.03),
        "lambdarank+bce": (0.7566, 0.7323, 0.2505, 16.97, 7.27, 10.31),
    },
}
# The columns of Table 7 that are published in per cent.
_PERCENT = _MEASURES[3:]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learnt:
    """What examples say.

    Parameters
    ----------
    name
        Where they come from.
    queries, documents
        How many there are.
    sizes
        The shares of the queries with 1, 2 and more documents.
    single
        The queries with one document that is good or forbidden: how many, the share that is forbidden, and by naive
        f-ranker the mean nDCGf and nDCGmin; None if there are none.
    compared
        All losses and baselines.
    unbounded
        The line of Table 5; None if there is no ordinal model.
    lacking
        Exhibits that cannot be made, and why.
    """

    name: str
    queries: int
    documents: int
    sizes: tuple[float, float, float]
    single: pl.DataFrame | None
    compared: LossComparison
    unbounded: dict[str, object] | None
    lacking: dict[str, str]

    def settings(self) -> dict[str, object]:
        """What repeats the learning."""
        return {
            "examples": self.name,
            "gains": self.compared.scale.to_dict(),
            "losses": list(self.compared.rankers),
            "training": dict(self.compared.settings),
        }


def learn(
    examples: Examples,
    *,
    forbidden: float,
    gains: Mapping[float, float] | str | None,
    losses: Sequence[Loss],
    seed: int,
    settings: Settings,
) -> Learnt:
    """Train and compare all losses, and look at what the examples are.

    Parameters
    ----------
    examples
        Judged pairs of query and document.
    forbidden, gains, losses, seed, settings
        See `forbidden_documents`.
    """
    name = Path(examples.name).name
    labels = sorted(set(examples.labels.tolist()))
    given = {label: forbidden if label < 0 else label for label in labels} if gains is None else gains
    scale = read_scale(given, examples.labels)
    if min(scale.gains) >= 0:
        raise GainfulError(
            f"{examples.name}: expected a label with a gain below 0, so that there is something to filter, got {scale}"
        )
    train, validation, test = examples.split(seed=seed)
    found = compare(
        train,
        validation=validation,
        test=test,
        losses=losses,
        gains=given,
        cutoff=CUTOFF,
        seed=seed,
        settings=settings,
    )
    sizes = examples.sizes
    alone = _alone(examples, scale)
    lacking = {} if len(alone) else {"Table 6": f"{name} has no query with a single document that has a gain"}
    return Learnt(
        name=name,
        queries=len(sizes),
        documents=len(examples),
        sizes=(float((sizes == 1).mean()), float((sizes == 2).mean()), float((sizes > 2).mean())),
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
    runs = [alone.run(nothing, _NAIVE[0]), alone.run(np.zeros(len(alone)), _NAIVE[1])]
    means = evaluate(alone.qrels(scale), runs, _MEASURES[:3:2]).summary()
    return pl.DataFrame(
        {
            "queries": len(alone),
            "forbidden": float((scale.gain(alone.labels) < 0).mean()),
            "measure": ["nDCGf", "nDCGmin"],
            **{name: means[:, at] for at, name in enumerate(_NAIVE)},
        }
    )


def _unbounded(name: str, found: LossComparison, test: Examples, scale: Scale) -> dict[str, object]:
    """Queries of the ordinal f-ranker outside of the range of nDCGmin."""
    bounds = boundedness(test.qrels(scale), found.rankers["ordinal"].rank(test, name="ordinal"), cutoff=CUTOFF)
    row = bounds.runs().row(0, named=True)
    over, under = row["over"] / row["topics"], row["under"] / row["topics"]
    return {"collection": name, "cutoff": CUTOFF, "unbounded": over + under, "over": over, "under": under}


def size_table(learnt: Learnt) -> Exhibit:
    """Table 2: documents a query."""
    ours = {"collection": learnt.name, "queries": learnt.queries, "documents": learnt.documents}
    published = {"collection": "CQA", "queries": 29_700, "documents": 61_000}
    shares = dict(zip(_SIZES, (share / 100 for share in _TABLE_2), strict=True))
    return Exhibit(
        name="Table 2",
        title="Share of the queries by their number of documents",
        text="Of all examples. The paper's questions and answers of a shop (CQA) can be downloaded, but are not part "
        "of gainful; it rounds their number.",
        frame=with_published(
            pl.DataFrame([{**ours, **dict(zip(_SIZES, learnt.sizes, strict=True))}]), [{**published, **shares}]
        ),
    )


def single_table(learnt: Learnt, single: pl.DataFrame) -> Exhibit:
    """Table 6: naive f-rankers where there is nothing to rank."""
    ours = single.select(pl.lit(learnt.name).alias("collection"), pl.all())
    published = [
        {"collection": name, "measure": "nDCGf", "forbidden": values[0], **dict(zip(_NAIVE, values, strict=True))}
        for name, values in _TABLE_6.items()
    ]
    return Exhibit(
        name="Table 6",
        title="Naive f-rankers on queries with a single document",
        text="nDCGf is the share of the right decisions: filter-all has the share of queries whose document is "
        "forbidden, filter-none the others. nDCGmin is 0 whatever is done. As in the paper, which has no gains of 0: a "
        "document with one is neither good nor forbidden, and its query left out.",
        frame=with_published(ours, published),
    )


def loss_table(learnt: Learnt) -> Exhibit:
    """Table 7: losses and baselines."""
    ours = learnt.compared.to_frame().select(
        pl.lit(learnt.name).alias("collection"), "model", *(name for name in _MEASURES)
    )
    published = [
        {
            "collection": name,
            "model": model,
            **{
                measure: value / 100 if measure in _PERCENT else value
                for measure, value in zip(_MEASURES, values, strict=True)
            },
        }
        for name, rows in _TABLE_7.items()
        for model, values in rows.items()
    ]
    frame = with_published(ours, published)
    learnt_from, validated, unseen = learnt.compared.queries
    return Exhibit(
        name="Table 7",
        title="Losses and baselines that rank and filter",
        text=f"Means on {unseen} test queries; {learnt_from} to learn from, {validated} to choose the threshold on. "
        f"Gains {learnt.compared.scale}. The paper gives 1 to every label that is not forbidden, learns from text with "
        "DistilBERT and tunes learning rate and batch size; shares are per cent there. FilteredGood is a mean over "
        "queries, 0 for those without a good document. A screen leaves the paper's product reviews out.",
        frame=frame,
        brief=frame.filter(pl.col("collection") != f"product reviews{PUBLISHED}"),
    )


def findings_of_learning(learnt: Learnt) -> Iterator[Finding]:
    """What the paper found of learning, as far as the losses are there."""
    rows = {row["model"]: row for row in learnt.compared.to_frame().iter_rows(named=True)}
    losses = list(learnt.compared.rankers)
    if learnt.single is not None:
        yield _accuracy(learnt.name, learnt.single)
    if learnt.unbounded is not None:
        share = learnt.unbounded["unbounded"]
        yield Finding(
            claim="nDCGmin is unbounded for some queries of the ordinal f-ranker",
            collection=learnt.name,
            holds=float(str(share)) > 0,
            evidence=f"{float(str(share)):.1%} of the test queries at {CUTOFF}",
        )
    yield from _of_models(learnt.name, rows, losses)


def _accuracy(name: str, single: pl.DataFrame) -> Finding:
    f, least = (dict(zip(_NAIVE, single.select(_NAIVE).row(at), strict=True)) for at in (0, 1))
    forbidden = float(single["forbidden"][0])
    right = np.isclose([f["filter-all"], f["filter-none"]], [forbidden, 1 - forbidden]).all()
    return Finding(
        claim="For queries with a single document, nDCGf is the accuracy of the filter, and nDCGmin says nothing",
        collection=name,
        holds=bool(right and least["filter-all"] == least["filter-none"]),
        evidence=f"filter-all {f['filter-all']:.3f}, filter-none {f['filter-none']:.3f}; forbidden {forbidden:.3f}; "
        f"nDCGmin {least['filter-all']:.3f} and {least['filter-none']:.3f}",
    )


def _of_models(name: str, rows: Mapping[str, Mapping[str, Any]], losses: Sequence[str]) -> Iterator[Finding]:
    f, zero = _MEASURES[:2]
    value = {model: float(row[f]) for model, row in rows.items()}
    baselines = [model for model in ("filter-all", "rank-only", "filter-only") if model in rows]
    trained = [loss for loss in losses if loss != "lambdarank"]
    if trained:
        best = max(baselines, key=lambda model: value[model])
        worst = min(trained, key=lambda model: value[model])
        yield Finding(
            claim="Every loss but lambdarank beats all baselines in nDCGf",
            collection=name,
            holds=value[worst] > value[best],
            evidence=f"{worst}, the lowest, {value[worst]:.4f}; {best}, the best baseline, {value[best]:.4f}",
        )
    if "ordinal" in losses and len(losses) > 1:
        order = sorted(losses, key=lambda model: -value[model])
        yield Finding(
            claim="The ordinal loss has the highest nDCGf",
            collection=name,
            holds=order[0] == "ordinal",
            evidence=", ".join(f"{model} {value[model]:.4f}" for model in order),
        )
    if "rank-only" in rows:
        top = max(rows, key=lambda model: float(rows[model][zero]))
        yield Finding(
            claim="Ranking without filtering has the highest nDCG0, which does not see forbidden documents",
            collection=name,
            holds=float(rows["rank-only"][zero]) >= float(rows[top][zero]),
            evidence=f"rank-only {float(rows['rank-only'][zero]):.4f}, highest {top} {float(rows[top][zero]):.4f}",
        )
