"""Search for the gains and discounts of the largest Φ, and measure what they are worth on topics held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from gainful.analyses.reliability import reliability
from gainful.analyses.sensitivity import sensitivity
from gainful.data.notes import notes_of
from gainful.data.policies import Policies
from gainful.data.rankings import FloatArray, IntArray, Rankings
from gainful.data.scores import Scores, Summary
from gainful.errors import DataError, GainfulError, check_choice, check_count, check_cutoffs, check_share
from gainful.measures import REGISTRY, Measure
from gainful.measures.grammar import parse_value
from gainful.progress import track
from gainful.results import Settings, plural
from gainful.stats.anova import absolute_ratios, reliability_of, two_way
from gainful.stats.resample import check_resamples, generator
from gainful.tune.optimize import Method, OptimizeOptions, Target, optimize
from gainful.tune.optimize.fit import LEAST_GAIN, Point, Problem, Space, best_point
from gainful.tune.optimize.problem import (
    JudgedRuns,
    Problems,
    labels_of,
    make_problems,
    named_apart,
    read_collection,
    usable,
)
from gainful.tune.optimize.result import OPTIMAL, Candidate, CollectionOptimum, Optimum
from gainful.verbs.source import check_options, policies_of

# Decimals of the gains and discounts that are returned: they stand in the measure's label.
_DECIMALS = 6
# A Φ (of one topic) up to this is mere rounding.
_NO_DIFFERENCE = 1e-9
# A fitted gain of at most this share of the largest is where the search was stopped, give or take its rounding.
_BOUND = 10 * LEAST_GAIN
_LARGEST_CUTOFF = 1_000_000_000


def find_optimum(qrels: Any, runs: Any, given: Mapping[str, Any], options: Mapping[str, Any]) -> Optimum:
    """What `optimize` returns."""
    target, splits, seed = given["target"], given["splits"], given["seed"]
    for name, allowed in {"target": Target, "method": Method}.items():
        if name == "target" or given[name] is not None:
            check_choice(name, given[name], get_args(allowed))
    check_options(options, OptimizeOptions)
    check_count("starts", given["starts"])
    check_count("splits", splits, least=0)
    check_share("phi", given["phi"])
    check_resamples(given["resamples"])
    rng = generator(seed)
    cutoffs = _cutoffs(given["cutoff"])
    if target == "discount" and cutoffs[-1] < 2:
        raise GainfulError("cutoff: expected at least 2 ranks to weigh against each other, got 1")
    fixed = _fixed(given["gain"], given["discount"], cutoffs[-1])
    pairs = ((qrels, runs), *_pairs(given["also"]))
    collections = [read_collection(judged, returned, options) for judged, returned in pairs]
    policies = policies_of(options, **collections[0].rankings.policies.to_dict())
    check_options(policies.to_dict(), OptimizeOptions)
    labels = labels_of(collections, fixed, target)
    collections = usable(named_apart(collections), labels, cutoffs, target, splits, policies.degenerate)
    problems = make_problems(collections, labels, cutoffs, fixed, given)
    found, reached = _search(problems, given["starts"], rng)
    if not found[OPTIMAL].worst(problems.each) > _NO_DIFFERENCE:
        raise DataError(
            f"no {'gain and discount' if target == 'both' else target} tells these runs apart better than chance: Φ is "
            "0 at its best. Are the runs copies of each other?"
        )
    held = _held_out(problems, found, collections, splits, np.random.default_rng([seed, 1]))
    known = {**given, "cutoff": cutoffs, "method": problems.method, "also": tuple(c.name for c in collections[1:])}
    first = collections[0].rankings
    data = f"{collections[0].name}: {plural(len(first.systems), 'run')}, {plural(len(first.topics), 'topic')}"
    notes = tuple(note for collection in collections for note in notes_of(collection.rankings))
    return Optimum(
        collections=tuple(
            _collection(problems, problem, collections[problem.owner], fixed, found, there, policies, given)
            for problem, there in zip(problems.each, held, strict=True)
        ),
        reached=reached,
        unused=_unused(target, given["gain"], given["discount"]),
        settings=Settings.of(optimize, known, data=data, policies=policies, notes=notes),
    )


def _search(problems: Problems, starts: int, rng: np.random.Generator) -> tuple[dict[str, Point], tuple[float, ...]]:
    """The optimum, what it starts from (also to compare with), and the Φ that each start led to."""
    found: dict[str, Point] = {}
    if problems.target == "both":
        for alone in get_args(Target)[:2]:
            found[f"optimal {alone}"] = _search(replace(problems, target=alone), starts, rng)[0][OPTIMAL]
    if not problems.constrained:
        found["constrained"] = _search(replace(problems, constrained=True), starts, rng)[0][OPTIMAL]
    space, largest = problems.space, problems.largest
    known = problems.points(largest.arrays.cutoff)
    rivals = [_within(point, space, largest) for point in (*found.values(), *known.values())]
    rivals.sort(key=lambda point: -point.worst(problems.each))
    point, reached = best_point(
        problems.each, space, problems.method, rivals[:starts], max(0, starts - len(rivals)), rng
    )
    # Rounding must not make it worse than what people use, should that be the optimum.
    rivals.insert(0, _rounded(point, problems.labels))
    return {OPTIMAL: max(rivals, key=lambda point: point.worst(problems.each)), **found}, reached


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
    problems: Problems, found: dict[str, Point], collections: list[JudgedRuns], splits: int, rng: np.random.Generator
) -> list[dict[str, tuple[FloatArray, FloatArray]]]:
    """Per problem and candidate, Φ on the half of the topics not used and on the half used, two numbers per split."""
    sizes = {problem.owner: problem.arrays.topics for problem in problems.each}
    people = [np.stack([of.scores(p) for of in problems.points(p.arrays.cutoff).values()]) for p in problems.each]
    names = [*found, *problems.known]
    values = np.zeros((len(problems.each), 2, len(names), 2 * splits))
    halves: list[list[IntArray]] = []
    for fold in track(range(2 * splits), 2 * splits, "Splitting the topics"):
        # Every half is used once and held out once: what is not fitted then has the same mean on both.
        if fold % 2 == 0:
            halves = _halves(collections, rng)
        used, unused = halves[fold % 2], halves[1 - fold % 2]
        again = _search(problems.of_topics(used), 1, rng)[0]
        for at, problem in enumerate(problems.each):
            owner = problem.owner
            scores = np.concatenate([np.stack([again[name].scores(problem) for name in found]), people[at]])
            for half, chosen in enumerate((unused[owner], used[owner])):
                ratio = absolute_ratios(two_way(scores[:, :, chosen]), 0.95)[0]
                # Scores that do not differ at all on these topics tell no runs apart.
                ratio = np.where(np.isnan(ratio), 0.0, ratio)
                values[at, half, :, fold] = reliability_of(ratio, sizes[owner])
    return [{name: (v[0, i], v[1, i]) for i, name in enumerate(names)} for v in values]


def _halves(collections: list[JudgedRuns], rng: np.random.Generator) -> list[list[IntArray]]:
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


def _collection(
    problems: Problems,
    problem: Problem,
    collection: JudgedRuns,
    fixed: Measure,
    found: dict[str, Point],
    held: dict[str, tuple[FloatArray, FloatArray]],
    policies: Policies,
    given: Mapping[str, Any],
) -> CollectionOptimum:
    """The candidates of one problem, and what they are worth."""
    cutoff = problem.cutoff
    points = found | problems.points(problem.arrays.cutoff)
    candidates = []
    for name, point in points.items():
        discount, gain = point.of(problem)
        known_discount, known_gain = problems.known.get(name, (None, None))
        by_label = dict(zip(problems.labels.tolist(), gain.tolist(), strict=True))
        bound = {**fixed.parameters, "cutoff": cutoff}
        if point.discount is not None:
            bound["discount"] = known_discount or tuple(discount.tolist())
        if point.gain is not None:
            bound["gain"] = known_gain or tuple(by_label.items())
        fitted = point.gain is not None and known_gain is None
        candidates.append(
            Candidate(
                name=name,
                measure=fixed.definition.bind(bound),
                discount=discount / discount.sum(),
                gain=by_label,
                bound=tuple(problems.labels[gain <= _BOUND * gain.max()].tolist()) if fitted else (),
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
    return CollectionOptimum(
        collection=collection.name,
        cutoff=cutoff,
        without_gain=int((problem.arrays.pool.sum(axis=1) == 0).sum()),
        candidates=tuple(candidates),
        scores=scores,
        reliability=reliability(scores, target=given["phi"]),
        tests=sensitivity(scores, resamples=given["resamples"], seed=given["seed"]),
    )


def _unused(target: Target, gain: Any, discount: Any) -> str | None:
    """The setting that was given, and is what is sought."""
    given, usual = (gain, "linear") if target == "gain" else (discount, "log2")
    return None if target == "both" or (isinstance(given, str) and given == usual) else target


def _pairs(also: Any) -> list[tuple[Any, Any]]:
    """Further collections."""
    given = list(also) if isinstance(also, Sequence) and not isinstance(also, str) else [also]
    pairs = [(item, None) if isinstance(item, Rankings) else item for item in given]
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise GainfulError(
                f"also: expected a list of pairs, each judgments and runs, got {type(pair).__name__} {pair!r:.60}"
            )
    return [(judged, runs) for judged, runs in pairs]


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
    several = check_cutoffs("cutoff", cutoff if isinstance(cutoff, Sequence | np.ndarray) else [cutoff])
    if several[-1] > _LARGEST_CUTOFF:
        raise GainfulError(f"cutoff: expected at most {_LARGEST_CUTOFF:,}, got {several[-1]}")
    return several
