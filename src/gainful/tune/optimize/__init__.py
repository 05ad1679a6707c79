"""Choose the gain and discount of nDCG that make its scores most reliable (Kanoulas & Aslam, CIKM 2009)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from gainful.analyses.reliability import reliability
from gainful.analyses.sensitivity import sensitivity
from gainful.checks import check_count, check_share
from gainful.data.policies import Duplicates, Policies, Ties, Unjudged
from gainful.data.rankings import FloatArray, IntArray
from gainful.data.scores import Scores, Summary
from gainful.errors import DataError, GainfulError, check_choice
from gainful.measures import REGISTRY, Measure
from gainful.measures.grammar import parse_value
from gainful.progress import track
from gainful.stats.anova import absolute_ratios, reliability_of, two_way
from gainful.stats.resample import check_resamples, generator
from gainful.tune.optimize.fit import LEAST_GAIN, Method, Point, Problem, Space, Target, best_point
from gainful.tune.optimize.problem import Judged, Task, checked, labels_of, make_task, read_collection, told_apart
from gainful.tune.optimize.result import OPTIMAL, Candidate, Optimum, Part

# Decimals of the gains and discounts that are returned: they stand in the measure's label.
_DECIMALS = 6
# A Φ (of one topic) up to this is mere rounding.
_NO_DIFFERENCE = 1e-9
# A fitted gain of at most this share of the largest is where the search was stopped, give or take its rounding.
_BOUND = 10 * LEAST_GAIN
_LARGEST_CUTOFF = 1_000_000_000


def optimize(
    qrels: Any,
    runs: Any,
    *,
    target: Target = "discount",
    cutoff: int | Sequence[int] = (20,),
    also: Sequence[tuple[Any, Any]] = (),
    constrained: bool = True,
    gain: str | Mapping[float, float] = "linear",
    discount: str | Sequence[float] = "log2",
    phi: float = 0.95,
    method: Method | None = None,
    starts: int = 5,
    splits: int = 10,
    resamples: int = 1000,
    seed: int = 0,
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Literal["empty", "error"] = "empty",
    degenerate: Literal["zero", "skip"] = "zero",
    duplicates: Duplicates = "error",
) -> Optimum:
    """Choose the gain and discount of nDCG that make its scores most reliable.

    Labels of 0 and below have no gain; neither have unjudged documents. Gains never fall with the label and discounts
    never rise with the rank, unless not `constrained`. What is made as large as can be is Φ (see `reliability`); what
    is best for one topic is best for any number of them. The optimum is fitted to these topics, so its own Φ promises
    too much: read the held-out Φ.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame.
    runs
        Two or more runs: files, folders or globs, dicts or frames.
    target
        What to choose: discount, gain or both.
    cutoff
        The rank that nDCG looks down to; with several, one gain and discount for all of them.
    also
        Further collections, each judgments and runs: the smallest Φ of all collections and cutoffs is made largest.
    constrained
        Whether gains must not fall with the label, nor discounts rise with the rank.
    gain
        The gain while discounts are sought: linear (the label), exp (2^label - 1) or a map such as {1: 1, 2: 5}.
    discount
        The discount while gains are sought: log2, jk, zipf, linear, none or a list such as [1, 0.5, 0.2].
    phi
        The Φ that topics are counted for, between 0 and 1.
    method
        How to search: cone (L-BFGS-B, fast also for 1000 ranks) or slsqp (sequential quadratic programs, exact where
        several Φ meet); the one that suits if not given.
    starts
        From how many points to search: first those that people use, then random ones. Halves of the topics are searched
        from one, the best of those that people use.
    splits
        How often the topics are split into halves, each to fit once and to measure once; 0 for no held-out Φ. A topic
        that several collections share is in the same half of each.
    resamples
        How many bootstrap samples for the significance of all pairs of runs.
    seed
        Where the random numbers start.
    ties
        Documents with equal scores: trec (by document id, as trec_eval), order (as in the run), or expected (the
        mean over all their orders).
    unjudged
        Documents without a judgment: zero (label 0, holding their rank) or condensed (removed before ranking).
    missing
        Judged topics that a run has nothing for: empty (scored as an empty ranking) or error.
    degenerate
        Topics without a relevant document: zero (0 for every run) or skip (left out).
    duplicates
        A document twice in a topic: error or first.

    Returns
    -------
    Optimum
        The measure, beside those that people use: Φ, topics needed, held-out Φ, agreement, significance.

    References
    ----------
    Kanoulas and Aslam, Empirical justification of the gain and discount function for nDCG, CIKM 2009.

    Examples
    --------
    >>> from gainful import simulate
    >>> made = simulate(topics=12, systems=8, depth=20, seed=3)
    >>> best = optimize(made.qrels, made.runs, cutoff=5, splits=0)
    >>> best.phi >= best.parts[0].phi("log2")
    True
    >>> best.discount.round(2).tolist()
    [0.46, 0.46, 0.02, 0.02, 0.02]
    """
    _check(target=target, method=method, starts=starts, splits=splits, missing=missing, degenerate=degenerate)
    check_share("phi", phi)
    check_resamples(resamples)
    rng = generator(seed)
    cutoffs = _cutoffs(cutoff)
    if target == "discount" and cutoffs[-1] < 2:
        raise GainfulError("cutoff: expected at least 2 ranks to weigh against each other, got 1")
    fixed = _fixed(gain, discount, cutoffs[-1])
    policies = Policies(ties=ties, unjudged=unjudged, missing=missing, degenerate=degenerate, duplicates=duplicates)
    collections = [read_collection(judged, given, policies) for judged, given in ((qrels, runs), *_pairs(also))]
    labels = labels_of(collections, fixed, target)
    collections = checked(told_apart(collections), labels, cutoffs, target, splits, degenerate)
    task = make_task(collections, labels, cutoffs, fixed, target, constrained, method)
    found, reached = _search(task, starts, rng)
    if not found[OPTIMAL].worst(task.problems) > _NO_DIFFERENCE:
        raise DataError(
            f"no {'gain and discount' if target == 'both' else target} tells these runs apart better than chance: Φ is "
            "0 at its best. Are the runs copies of each other?"
        )
    held = _held_out(task, found, collections, splits, np.random.default_rng([seed, 1]))
    parts = [
        _part(task, at, collections[owner], fixed, found, held[at], policies) for at, owner in enumerate(task.owner)
    ]
    return Optimum(
        parts=tuple(
            Part(
                collection=collections[owner].name,
                cutoff=problem.cutoff,
                without_gain=int((problem.arrays.pool.sum(axis=1) == 0).sum()),
                candidates=candidates,
                scores=scores,
                reliability=reliability(scores, target=phi),
                tests=sensitivity(scores, resamples=resamples, seed=seed),
            )
            for problem, owner, (candidates, scores) in zip(task.problems, task.owner, parts, strict=True)
        ),
        reached=reached,
        unused=_unused(target, gain, discount),
        target=target,
        constrained=constrained,
        method=task.method,
        starts=starts,
        splits=splits,
        resamples=resamples,
        seed=seed,
        policies=policies,
    )


def _search(task: Task, starts: int, rng: np.random.Generator) -> tuple[dict[str, Point], tuple[float, ...]]:
    """The optimum, what it starts from (also to compare with), and the Φ that each start led to."""
    found: dict[str, Point] = {}
    if task.target == "both":
        for alone in get_args(Target)[:2]:
            found[f"optimal {alone}"] = _search(replace(task, target=alone), starts, rng)[0][OPTIMAL]
    if not task.constrained:
        found["constrained"] = _search(replace(task, constrained=True), starts, rng)[0][OPTIMAL]
    space = task.space
    largest = max(task.problems, key=lambda problem: problem.arrays.cutoff)
    rivals = [*found.values(), *(known.point(task.labels, task.cutoff) for known in task.known.values())]
    rivals = [_within(point, space, largest) for point in rivals]
    rivals.sort(key=lambda point: -point.worst(task.problems))
    point, reached = best_point(task.problems, space, task.method, rivals[:starts], max(0, starts - len(rivals)), rng)
    # Rounding must not make it worse than what people use, should that be the optimum.
    rivals.insert(0, _rounded(point, task.labels))
    return {OPTIMAL: max(rivals, key=lambda point: point.worst(task.problems)), **found}, reached


def _within(point: Point, space: Space, problem: Problem) -> Point:
    """The part of a point that is sought; where it leaves that open, what holds in the problem."""
    discount, gain = point.of(problem)
    return Point(discount=discount if space.ranks else None, gain=gain if space.labels else None)


def _rounded(point: Point, labels: FloatArray) -> Point:
    """The same with few decimals: the largest discount is 1, the largest gain that of the highest label."""
    discount, gain = point.discount, point.gain
    if discount is not None:
        discount = np.round(discount / discount.max(), _DECIMALS)
    if gain is not None:
        gain = np.maximum(np.round(gain * (labels[-1] / gain.max()), _DECIMALS), LEAST_GAIN)
    return Point(discount=discount, gain=gain)


def _held_out(
    task: Task, found: dict[str, Point], collections: list[Judged], splits: int, rng: np.random.Generator
) -> list[dict[str, tuple[FloatArray, FloatArray]]]:
    """Per problem and candidate, Φ on the half of the topics not used and on the half used, two numbers a split."""
    sizes = {owner: problem.arrays.topics for problem, owner in zip(task.problems, task.owner, strict=True)}
    people = [
        np.stack([known.point(task.labels, p.arrays.cutoff).scores(p) for known in task.known.values()])
        for p in task.problems
    ]
    names = [*found, *task.known]
    values = np.zeros((len(task.problems), 2, len(names), 2 * splits))
    halves: list[list[IntArray]] = []
    for fold in track(range(2 * splits), 2 * splits, "Splitting the topics"):
        # Every half is used once and held out once: what is not fitted then has the same mean on both.
        if fold % 2 == 0:
            halves = _halves(collections, rng)
        used, unused = halves[fold % 2], halves[1 - fold % 2]
        again = _search(task.of_topics(used), 1, rng)[0]
        for at, (problem, owner) in enumerate(zip(task.problems, task.owner, strict=True)):
            scores = np.concatenate([np.stack([again[name].scores(problem) for name in found]), people[at]])
            for half, chosen in enumerate((unused[owner], used[owner])):
                ratio = absolute_ratios(two_way(scores[:, :, chosen]), 0.95)[0]
                # Scores that do not differ at all on these topics tell no runs apart.
                ratio = np.where(np.isnan(ratio), 0.0, ratio)
                values[at, half, :, fold] = reliability_of(ratio, sizes[owner])
    return [{name: (v[0, i], v[1, i]) for i, name in enumerate(names)} for v in values]


def _halves(collections: list[Judged], rng: np.random.Generator) -> list[list[IntArray]]:
    """The topics of every collection in one half and in the other, a topic that several share in the same of all."""
    where: dict[str, list[tuple[int, int]]] = {}
    for number, collection in enumerate(collections):
        for at, name in enumerate(collection.names):
            where.setdefault(name, []).append((number, at))
    # Topics of the same collections are dealt out in turn, so that the halves of each are as equal as can be.
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, places in where.items():
        groups.setdefault(tuple(number for number, _ in places), []).append(name)
    halves: list[list[list[int]]] = [[[] for _ in collections] for _ in (0, 1)]
    for owners, names in groups.items():
        fewer = int(sum(len(halves[1][number]) - len(halves[0][number]) for number in owners) < 0)
        for turn, at in enumerate(rng.permutation(len(names)).tolist()):
            for number, topic in where[names[at]]:
                halves[(turn + fewer) % 2][number].append(topic)
    for number, collection in enumerate(collections):
        if min(len(half[number]) for half in halves) < 2:
            raise DataError(
                f"{collection.name}: its topics cannot be split so that both halves have two, because other "
                "collections share them: use splits=0"
            )
    return [[np.sort(np.array(topics)) for topics in half] for half in halves]


def _part(
    task: Task,
    at: int,
    collection: Judged,
    fixed: Measure,
    found: dict[str, Point],
    held: dict[str, tuple[FloatArray, FloatArray]],
    policies: Policies,
) -> tuple[tuple[Candidate, ...], Scores]:
    """The candidates of one problem, and their scores."""
    problem = task.problems[at]
    cutoff = problem.cutoff
    points = found | {name: known.point(task.labels, problem.arrays.cutoff) for name, known in task.known.items()}
    candidates = []
    for name, point in points.items():
        discount, gain = point.of(problem)
        known = task.known.get(name)
        given = {**fixed.parameters, "cutoff": cutoff}
        if point.discount is not None:
            given["discount"] = known.discount if known else tuple(discount.tolist())
        if point.gain is not None:
            given["gain"] = known.gain if known else tuple(zip(task.labels.tolist(), gain.tolist(), strict=True))
        candidates.append(
            Candidate(
                name=name,
                measure=fixed.definition.bind(given),
                discount=discount / discount.sum(),
                gain=dict(zip(task.labels.tolist(), gain.tolist(), strict=True)),
                bound=() if known or point.gain is None else _at_bound(task.labels, gain),
                held_out=held[name][0],
                fitted=held[name][1],
            )
        )
    rankings = collection.rankings
    values = np.stack([point.scores(problem) for point in points.values()])
    shape = (len(rankings.systems), len(rankings.topics))
    how: Summary = "mean"
    scores = Scores(
        values=values,
        counted=np.ones(values.shape, np.bool_),
        measures=tuple(points),
        systems=rankings.systems,
        topics=collection.names,
        summaries=(how,) * len(points),
        higher=("better",) * len(points),
        spellings={},
        policies=policies,
        missing=tuple((~rankings.present.reshape(shape)).sum(axis=1).tolist()),
        ignored=rankings.ignored,
    )
    return tuple(candidates), scores


def _at_bound(labels: FloatArray, gain: FloatArray) -> tuple[float, ...]:
    """The labels with as little gain as allowed."""
    return tuple(labels[gain <= _BOUND * gain.max()].tolist())


def _unused(target: Target, gain: Any, discount: Any) -> str | None:
    """The setting that was given, and is what is sought."""
    given = {"discount": (discount, "log2"), "gain": (gain, "linear")}
    if target == "both":
        return None
    value, default = given[target]
    return None if isinstance(value, str) and value == default else target


def _pairs(also: Any) -> list[tuple[Any, Any]]:
    """Further collections."""
    given = list(also) if isinstance(also, Sequence) and not isinstance(also, str) else [also]
    for pair in given:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise GainfulError(
                f"also: expected a list of pairs, each judgments and runs, got {type(pair).__name__} {pair!r:.60}"
            )
    return [(judged, runs) for judged, runs in given]


def _fixed(gain: Any, discount: Any, cutoff: int) -> Measure:
    """The measure whose gain or discount is sought, with the other as given: objects, or texts of the grammar."""
    given: dict[str, object] = {"cutoff": cutoff}
    for name, value in (("gain", gain), ("discount", discount)):
        if isinstance(value, str) and value[:1] in ("[", "{", "("):
            value = parse_value("nDCG", name, value)
        given[name] = list(value) if isinstance(value, np.ndarray) else value
    return REGISTRY["nDCG"].bind(given)


def _cutoffs(cutoff: Any) -> tuple[int, ...]:
    """The cutoffs, each once, ascending."""
    several = list(cutoff) if isinstance(cutoff, Sequence | np.ndarray) else [cutoff]
    wrong = [k for k in several if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1]
    if wrong or not several:
        got = repr(wrong[0]) if wrong else "none"
        raise GainfulError(f"cutoff: expected whole numbers of at least 1, got {got}")
    if max(several) > _LARGEST_CUTOFF:
        raise GainfulError(f"cutoff: expected at most {_LARGEST_CUTOFF:,}, got {max(several)}")
    return tuple(sorted({int(k) for k in several}))


def _check(**settings: Any) -> None:
    """Refuse settings that do not exist."""
    choices = {
        "target": get_args(Target),
        "method": get_args(Method),
        "missing": ("empty", "error"),
        "degenerate": ("zero", "skip"),
    }
    for name, allowed in choices.items():
        if name != "method" or settings[name] is not None:
            check_choice(name, settings[name], allowed)
    check_count("starts", settings["starts"])
    check_count("splits", settings["splits"], least=0)
