"""Pools of runs: which documents enter at which depth, which are judged, and what the others could change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful.analyses.pool import PoolOptions
from gainful.analyses.pool.result import PoolPlan
from gainful.analyses.pool.sample import JUDGED, sampled
from gainful.data.align import SETTINGS, stray_notes
from gainful.data.columns import each_once
from gainful.data.notes import failure_notes
from gainful.data.qrels import Qrels
from gainful.data.run import Run, UnreadRun, check_name
from gainful.errors import DataError, no_run_left, setting
from gainful.io.corpus import texts_of
from gainful.io.metadata import teams_of, word_of
from gainful.io.read import iterate_runs, read_qrels
from gainful.measures import parse_measures
from gainful.results import Note, Settings, plural, some
from gainful.stats.resample import generator
from gainful.verbs.evaluate import evaluate
from gainful.verbs.source import selected

PAIR = ["query_id", "doc_id"]
# Judged documents of a run are counted so far down.
_FIRST = 10
_NONE = pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64})


def planned(
    qrels: Any, runs: Any, function: Callable[..., Any], given: Mapping[str, Any], options: PoolOptions
) -> PoolPlan:
    """What `gainful.pool` finds."""
    generator(given["seed"])
    measures = tuple(map(str, parse_measures(given["measures"] or "nDCG@10")))
    before = _labels(qrels, options)
    after = _labels(given["judged"], options)
    labels = _merged(before, after)
    runs = selected(runs, options)
    read, noticed = _read(runs, before, options)
    # By what was judged before: judgments that come back for some topics must not change the sample.
    chosen = _topics(read, before, given["topics"])
    pooled = set(chosen)
    ignored = tuple(dict.fromkeys(topic for run in read for topic in run.topics if topic not in pooled))
    deepest = max(given["depth"], *given["depths"], *given["strata"])
    ranked = pl.concat([_first(run, deepest, chosen, options) for run in read])
    members = _contributors([run.name for run in read], given["teams"], runs)
    returned = _returned(read, ranked, members)
    places = _places(ranked, members, returned)
    entries = _judged(_entries(places, returned), labels, before)
    sample = None
    if given["strata"]:
        sample = sampled(entries, given["strata"], given["rates"], given["seed"])
        listed = sample.filter(pl.col("drawn") & pl.col("relevance").is_null())
    elif given["more"] is not None:
        left = entries.filter(pl.col("relevance").is_null())
        listed = left.filter(pl.int_range(pl.len()).over("query_id") < given["more"])
    else:
        listed = entries.filter((pl.col("depth") <= given["depth"]) & pl.col("relevance").is_null())
    listed = listed.select(PAIR).sort(PAIR)
    noticed += [*_strangers(after, entries, sample, deepest), *_new_labels(before, after)]
    settings = Settings.of(
        function,
        {**given, "measures": measures, "teams": word_of(given["teams"]), "judged": word_of(given["judged"])},
        data=f"{plural(len(read), 'run')}, {plural(len(chosen), 'topic')}",
        notes=tuple(noticed),
    )
    return PoolPlan(
        topics=len(chosen),
        ignored=ignored,
        costs=_costs(entries, given["depths"], len(chosen), given["rel"]),
        contributors=_contributions(places, entries, given["depth"]),
        to_judge=listed if given["docs"] is None else texts_of(listed, Path(given["docs"])),
        effects=_effects(labels, listed, read, measures, given["rel"], options),
        qrels=_qrels(labels, before, sample),
        sample=sample,
        by="run" if given["teams"] is None else "team",
        settings=settings,
    )


def _read(runs: Any, labels: pl.DataFrame, options: PoolOptions) -> tuple[list[Run], list[Note]]:
    """The runs, and what could not be read or is none; settings may look like a run that has no judged topic."""
    found: dict[str, Run] = {}
    failed: list[tuple[str, str]] = []
    strays: list[tuple[str, str]] = []
    judged, keep_going = set(labels["query_id"]), options.get("keep_going", False)
    for run in iterate_runs(runs, keep_going=keep_going):
        if isinstance(run, UnreadRun):
            (failed if run.is_run else strays).append((run.source, run.reason))
            continue
        whole = run if isinstance(run, Run) else run.read()
        if whole.doubtful and judged and judged.isdisjoint(whole.topics):
            strays.append((whole.source or whole.name, SETTINGS))
            continue
        try:
            check_name(run.name, found)
            each_once(whole.frame, options.get("duplicates", "error"), f"run {run.name!r}", "appears")
        except DataError as error:
            if not keep_going:
                raise
            failed.append((whole.source or run.name, str(error)))
            continue
        found[run.name] = whole
    if not found:
        raise no_run_left(failed, "expected at least one run, got none")
    return list(found.values()), [*failure_notes(failed), *stray_notes(strays)]


def _labels(source: Any, options: PoolOptions) -> pl.DataFrame:
    if source is None or (isinstance(source, str | Path) and str(source) == "none"):
        return _NONE
    qrels = read_qrels(source, columns=options.get("columns"))
    return each_once(qrels.frame, options.get("duplicates", "error"), f"qrels {qrels.name!r}")


def _merged(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Both judgments; of a pair with two labels the later one holds."""
    label = after.select(*PAIR, "relevance").drop_nulls()
    if label.is_empty():
        return before
    kept = before.join(label.select(PAIR), on=PAIR, how="anti", maintain_order="left")
    return pl.concat([kept, label], how="diagonal")


def _topics(runs: Sequence[Run], labels: pl.DataFrame, which: str) -> list[str]:
    """The topics to pool, in the order of the judgments, then of the runs."""
    judged = dict.fromkeys(labels["query_id"].unique(maintain_order=True))
    seen = dict.fromkeys(topic for run in runs for topic in run.topics)
    chosen = [topic for topic in judged if topic in seen]
    if which == "judged" and judged:
        if not chosen:
            raise DataError(
                f"expected runs with topics that have judgments, got none: {setting('topics', 'all')} pools others"
            )
        return chosen
    return [*chosen, *(topic for topic in seen if topic not in judged)]


def _first(run: Run, deepest: int, topics: Sequence[str], options: PoolOptions) -> pl.DataFrame:
    """The first documents of a run: run, query_id, doc_id, rank."""
    frame = run.frame.filter(pl.col("query_id").is_in(topics)).select(*PAIR, "score")
    frame = each_once(frame, options.get("duplicates", "error"), f"run {run.name!r}", "appears")
    if options.get("ties", "trec") == "trec":
        frame = frame.with_columns(pl.col("score").cast(pl.Float32)).sort(
            "query_id", "score", "doc_id", descending=[False, True, True]
        )
    else:
        frame = frame.sort("query_id", "score", descending=[False, True], maintain_order=True)
    rank = pl.int_range(1, pl.len() + 1).over("query_id")
    return (
        frame.with_columns(rank=rank)
        .filter(pl.col("rank") <= deepest)
        .select(pl.lit(run.name).alias("run"), *PAIR, "rank")
    )


def _contributors(names: Sequence[str], teams: Any, runs: Any) -> pl.DataFrame:
    """run, contributor: itself, or its team."""
    if teams is None:
        return pl.DataFrame({"run": names, "contributor": names})
    return pl.DataFrame({"run": names, "contributor": teams_of(names, teams, runs)})


def _returned(runs: Sequence[Run], ranked: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """contributor, query_id, doc_id, runs: how many of its runs return what any run has among the first, at any rank.

    At any rank, so that neither the order nor a sample depends on the depths whose costs are asked for.
    """
    pooled = ranked.select(PAIR).unique()
    found = [
        run.frame.select(PAIR).join(pooled, on=PAIR, how="semi").unique().with_columns(pl.lit(run.name).alias("run"))
        for run in runs
    ]
    return pl.concat(found).join(members, on="run").group_by("contributor", *PAIR).len("runs")


def _places(ranked: pl.DataFrame, members: pl.DataFrame, returned: pl.DataFrame) -> pl.DataFrame:
    """contributor, query_id, doc_id, place: the depth from which on a contributor's pool has the document."""
    grouped = (
        ranked.join(members, on="run")
        .group_by("contributor", *PAIR)
        .agg(pl.col("rank").min())
        .join(returned, on=["contributor", *PAIR])
        .sort("contributor", "query_id", "rank", "runs", "doc_id", descending=[False, False, False, True, False])
    )
    return grouped.with_columns(place=pl.int_range(1, pl.len() + 1).over("contributor", "query_id"))


def _entries(places: pl.DataFrame, returned: pl.DataFrame) -> pl.DataFrame:
    """query_id, doc_id, depth, standing: the depth at which a document enters, and what decides among equals."""
    found = places.group_by(PAIR).agg(pl.col("place").min().alias("depth"))
    found = found.join(returned.group_by(PAIR).len("contributors"), on=PAIR)
    found = found.sort("query_id", "depth", "contributors", "doc_id", descending=[False, False, True, False])
    return found.with_columns(standing=pl.int_range(pl.len()).over("query_id", "depth"))


def _judged(entries: pl.DataFrame, labels: pl.DataFrame, before: pl.DataFrame) -> pl.DataFrame:
    """The entries with relevance, and known: whether they were judged before a sample was drawn."""
    known = before.drop_nulls("relevance").select(*PAIR, pl.lit(value=True).alias("known"))
    found = entries.join(labels.select(*PAIR, "relevance"), on=PAIR, how="left").join(known, on=PAIR, how="left")
    return found.with_columns(pl.col("known").fill_null(value=False)).sort("query_id", "depth", "standing")


def _costs(entries: pl.DataFrame, depths: Sequence[int], topics: int, rel: float) -> pl.DataFrame:
    """One row per depth: documents in the pool, judged and not, per topic; and how many new ones are relevant."""
    rows = []
    last = 0
    for depth in depths:
        inside = entries.filter(pl.col("depth") <= depth)
        left = inside.filter(pl.col("relevance").is_null())
        most = left.group_by("query_id").len()["len"].max() if left.height else 0
        labels = inside.filter(pl.col("depth") > last)["relevance"].drop_nulls()
        rows.append(
            {
                "depth": depth,
                "documents": inside.height,
                "judged": inside.height - left.height,
                "to_judge": left.height,
                "per_topic": left.height / topics,
                "most": most,
                # Of the judged documents that enter since the depth before.
                "relevant": float((labels >= rel).mean()) if len(labels) else np.nan,  # type: ignore[arg-type]
            }
        )
        last = depth
    return pl.DataFrame(rows)


def _contributions(places: pl.DataFrame, entries: pl.DataFrame, depth: int) -> pl.DataFrame:
    """One row per run or team: its documents in the pool of this depth, those that it alone has, and those unjudged."""
    mine = places.filter(pl.col("place") <= depth).join(entries.select(*PAIR, "relevance"), on=PAIR)
    owners = mine.group_by(PAIR).len("owners")
    found = mine.join(owners, on=PAIR).group_by("contributor")
    return found.agg(
        pl.len().alias("documents"),
        (pl.col("owners") == 1).sum().cast(pl.Int64).alias("alone"),
        pl.col("relevance").is_null().sum().cast(pl.Int64).alias("to_judge"),
    ).sort("to_judge", "contributor", descending=[True, False])


def _effects(
    labels: pl.DataFrame,
    listed: pl.DataFrame,
    runs: Sequence[Run],
    measures: tuple[str, ...],
    rel: float,
    options: PoolOptions,
) -> pl.DataFrame | None:
    """One row per run and measure: what is judged now and then; its score if none of the list is relevant, or all."""
    if not labels["relevance"].drop_nulls().len() or not listed.height:
        return None
    best = max(float(labels["relevance"].max()), rel)  # type: ignore[arg-type]
    plain = labels.select(*PAIR, "relevance").drop_nulls()
    asked = [f"Judged@{_FIRST}", *measures]
    scored = {}
    for what, label in (("now", None), ("none", 0.0), ("all", best)):
        added = listed.select(PAIR).with_columns(relevance=pl.lit(label, pl.Float64))
        merged = plain if label is None else pl.concat([plain, added.join(plain, on=PAIR, how="anti")])
        merged = merged.filter(pl.col("query_id").is_in(plain["query_id"].unique().implode()))
        policies: Any = {name: options[name] for name in ("ties", "duplicates") if name in options}
        scored[what] = evaluate(Qrels(merged, "pool"), list(runs), asked, **policies)
    systems = list(scored["now"].systems)
    means = {what: scores.summary() for what, scores in scored.items()}
    parts = [
        pl.DataFrame(
            {
                "measure": measure,
                "run": systems,
                "judged": means["now"][0],
                "judged_then": means["none"][0],
                "score": means["now"][at],
                "if_none": means["none"][at],
                "if_all": means["all"][at],
            }
        )
        for at, measure in enumerate(scored["now"].measures[1:], 1)
    ]
    rise = pl.col("if_all") - pl.col("score")
    return pl.concat(part.sort(rise, descending=True, maintain_order=True) for part in parts)


def _strangers(after: pl.DataFrame, entries: pl.DataFrame, sample: pl.DataFrame | None, deepest: int) -> list[Note]:
    """Judgments that came back and were not asked for: their ids may be wrong, or the sample is not the one drawn."""
    known = entries if sample is None else sample.filter("drawn")
    found = after.drop_nulls("relevance").join(known.select(PAIR), on=PAIR, how="anti", maintain_order="left")
    if found.is_empty():
        return []
    topic, document = found.select(PAIR).row(0)
    came = f"{plural(found.height, 'judgment')} that came back {'is' if found.height == 1 else 'are'}"
    example = f"such as document {document!r} of topic {topic!r}"
    if sample is None:
        text = f"{came} of no document of the pool to depth {deepest}, {example}: check the ids."
    else:
        text = (
            f"{came} of no document that was drawn, {example}, and left out: check the ids, and that seed, strata, "
            "judgments and runs are those of the sample."
        )
    return [Note("judged-elsewhere", document, text, warn=True)]


def _new_labels(before: pl.DataFrame, after: pl.DataFrame) -> list[Note]:
    """Labels that came back and that no judgment had before: on another scale, or mistyped."""
    known = set(before["relevance"].drop_nulls())
    new = sorted(set(after["relevance"].drop_nulls()) - known)
    if not new or not known:
        return []
    shown = some([f"{label:g}" for label in new])
    text = f"Labels that came back and that no judgment had before: {shown}. Check that the scale is the same."
    return [Note("new-labels", "", text, warn=True)]


def _qrels(labels: pl.DataFrame, before: pl.DataFrame, sample: pl.DataFrame | None) -> Qrels | None:
    """The judgments for `evaluate`: those there are, or the sampled pool with all that was judged before."""
    if sample is None:
        return Qrels(labels.select(*PAIR, "relevance"), "pool") if labels.height else None
    columns = [*PAIR, "relevance", "stratum", "inclusion"]
    outside = (
        labels.join(before.drop_nulls("relevance").select(PAIR), on=PAIR, how="semi", maintain_order="left")
        .join(sample.select(PAIR), on=PAIR, how="anti", maintain_order="left")
        .with_columns(stratum=pl.lit(JUDGED), inclusion=pl.lit(1.0))
    )
    return Qrels(pl.concat([sample.select(columns), outside.select(columns)]), "pool")
