"""Find the gains and discounts of the largest Φ: where to look, from where, and by which method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import optimize as scipy_optimize

from gainful.data.rankings import FloatArray, IntArray
from gainful.tune.optimize import Method
from gainful.tune.optimize.bilinear import Bilinear

# From this many unknowns on, the quadratic programs of SLSQP take longer than all else.
MANY = 60
# A relevant label without any gain would take its topics out of the scores at once: gains stop just short of it.
LEAST_GAIN = 1e-6
# Φ does not change with the scale of its arguments. A weak pull to the sum 1 keeps L-BFGS-B from running off along it.
_PULL = 0.01
# The smoothed minimum of several Φ is within log(number)/sharpness of the minimum itself.
_SHARPNESS = (1e2, 1e3, 1e4, 1e5)
_ITERATIONS = 3000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """One collection at one cutoff, with the discounts and gains that hold where they are not sought.

    The arrays go down to the cutoff, or as far as there is anything to see: the deepest list, the largest pool.
    """

    owner: int  # the number of its collection
    arrays: Bilinear
    cutoff: int
    discount: FloatArray
    gain: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Point:
    """Discounts and gains; None where those of the problem hold."""

    discount: FloatArray | None = None
    gain: FloatArray | None = None

    def of(self, problem: Problem) -> tuple[FloatArray, FloatArray]:
        """Discounts down to the cutoff, and gains, for one problem."""
        discount = problem.discount if self.discount is None else self.discount[: problem.arrays.cutoff]
        return discount, problem.gain if self.gain is None else self.gain

    def scores(self, problem: Problem) -> FloatArray:
        """NDCG of one problem: systems × topics."""
        return problem.arrays.scores(*self.of(problem))

    def worst(self, problems: Sequence[Problem]) -> float:
        """The smallest Φ of all the problems."""
        return min(problem.arrays.phi(*self.of(problem)) for problem in problems)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Space:
    """Coordinates x ≥ 0 of what is sought, those of the discounts and those of the gains adding up to 1 each.

    Constrained, they are weights of uniform distributions over the first 1, 2, … ranks (the highest 1, 2, … labels):
    every non-increasing discount (non-decreasing gain) is such a mixture, and only those are. Otherwise they are the
    discounts and gains themselves.
    """

    ranks: int
    labels: int
    constrained: bool

    @property
    def blocks(self) -> list[slice]:
        """Which coordinates add up to 1."""
        return [part for part in (slice(0, self.ranks), slice(self.ranks, self.size)) if part.stop > part.start]

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return self.ranks + self.labels

    @property
    def least(self) -> FloatArray:
        """The lower bounds."""
        bounds = np.zeros(self.size)
        if self.labels:
            bounds[-1 if self.constrained else slice(self.ranks, None)] = LEAST_GAIN
        return bounds

    def point(self, x: FloatArray) -> Point:
        """What the coordinates stand for."""
        discount, gain = x[: self.ranks], x[self.ranks :]
        if self.constrained:
            discount, gain = _mixture(discount), _mixture(gain)[::-1]
        return Point(discount=discount if self.ranks else None, gain=gain if self.labels else None)

    def coordinates(self, point: Point) -> FloatArray:
        """The coordinates of discounts and gains; of those that rise (fall) all the same, the nearest that count."""
        parts = []
        for values in (point.discount, None if point.gain is None else point.gain[::-1]):
            if values is not None:
                part = values / values.sum()
                if self.constrained:
                    part = np.maximum(-np.diff(part, append=0.0), 0.0) * np.arange(1, len(part) + 1)
                parts.append(part if values is point.discount or self.constrained else part[::-1])
        return np.asarray(np.maximum(self.scaled(np.concatenate(parts)), self.least), np.float64)

    def scaled(self, x: FloatArray) -> FloatArray:
        """Coordinates within the bounds, made to add up to 1."""
        x = np.maximum(x, self.least)
        for block in self.blocks:
            x[block] /= x[block].sum()
        return x

    def phi(self, x: FloatArray, problem: Problem) -> tuple[float, FloatArray]:
        """Φ of one topic and its gradient."""
        phi, by_discount, by_gain = problem.arrays.gradient(*self.point(x).of(problem))
        slope = np.zeros(self.size)
        if self.ranks:
            slope[: len(by_discount)] = by_discount
        if self.labels:
            slope[self.ranks :] = by_gain[::-1] if self.constrained else by_gain
        if self.constrained:
            for block in self.blocks:
                slope[block] = np.cumsum(slope[block]) / np.arange(1, block.stop - block.start + 1)
        return phi, slope


def _mixture(weights: FloatArray) -> FloatArray:
    """The mixture of the uniform distributions over the first 1, 2, …: never rises."""
    return np.cumsum((weights / np.arange(1, len(weights) + 1))[::-1])[::-1]


def best_point(
    problems: Sequence[Problem],
    space: Space,
    method: Method,
    starts: Sequence[Point],
    random: int,
    rng: np.random.Generator,
) -> tuple[Point, tuple[float, ...]]:
    """The best worst-case Φ over all starts, those given and so many at random, as a point, and what each led to."""
    first = [space.coordinates(point) for point in starts]
    for _ in range(random):
        x = np.concatenate([rng.dirichlet(np.ones(block.stop - block.start)) for block in space.blocks])
        first.append(np.maximum(x, space.least))
    ends = [climb(problems, space, method, x) for x in first]
    reached = tuple(float(space.point(x).worst(problems)) for x in ends)
    best = int(np.argmax(reached))
    x = ends[best]
    if len(problems) > 1:
        # The smallest may leave much undecided (the ranks below its cutoff, say): that is decided by all together.
        further = _slsqp(problems, space, x, moved=_largest(x), floor=reached[best] - 1e-9)
        x = further if space.point(further).worst(problems) >= reached[best] - 1e-8 else x
    return space.point(x), reached


def climb(problems: Sequence[Problem], space: Space, method: Method, x: FloatArray) -> FloatArray:
    """The best coordinates that a start leads to."""
    if method == "slsqp":
        return _slsqp(problems, space, x)
    if len(problems) == 1:
        return _cone(problems, space, x, _SHARPNESS[:1])
    x = _cone(problems, space, x, _SHARPNESS)
    # What is left to do is at the kink where several are smallest.
    return _slsqp(problems, space, x, moved=_largest(x))


def _largest(x: FloatArray) -> IntArray:
    """The coordinates that are worth moving: at an optimum, few of many are not 0."""
    return np.argsort(-x, kind="stable")[:MANY]


def _cone(problems: Sequence[Problem], space: Space, x: FloatArray, sharpness: Sequence[float]) -> FloatArray:
    """L-BFGS-B under x ≥ 0 alone; of several Φ, a smoothed minimum that becomes sharper in steps."""

    def loss(x: FloatArray, sharp: float) -> tuple[float, FloatArray]:
        found = [space.phi(x, problem) for problem in problems]
        phi = np.array([value for value, _ in found])
        lowest = phi.min()
        weight = np.exp(-sharp * (phi - lowest))
        value = lowest - np.log(weight.sum()) / sharp
        slope = weight / weight.sum() @ np.stack([slope for _, slope in found])
        pull, pulled = 0.0, -slope
        for block in space.blocks:
            off = x[block].sum() - 1.0
            pull += _PULL * off * off / 2.0
            pulled[block] += _PULL * off
        return pull - value, pulled

    bounds = [(low, None) for low in space.least.tolist()]
    settings = {"maxiter": _ITERATIONS, "maxfun": 2 * _ITERATIONS, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 20}
    for sharp in sharpness:
        found = scipy_optimize.minimize(
            loss, x, args=(sharp,), jac=True, method="L-BFGS-B", bounds=bounds, options=settings
        )
        x = space.scaled(found.x)
    return x


def _slsqp(
    problems: Sequence[Problem],
    space: Space,
    x: FloatArray,
    *,
    moved: IntArray | None = None,
    floor: float | None = None,
) -> FloatArray:
    """SLSQP over the simplex, for the smallest Φ or, if there is a `floor` to all of them, their mean.

    The smallest of several has kinks; so there is one unknown more, a number that none is below, which is made larger.
    `moved`: only these coordinates change.
    """
    moved = np.arange(space.size) if moved is None else moved
    n, several, bounding = len(moved), len(problems) > 1, len(problems) > 1 and floor is None
    whole = x.copy()

    def filled(part: FloatArray) -> FloatArray:
        whole[moved] = np.maximum(part[:n], 0.0)
        return whole

    @lru_cache(maxsize=1)  # SLSQP asks for value and slope of the same place one after the other
    def phis_at(place: bytes) -> tuple[FloatArray, FloatArray]:
        found = [space.phi(filled(np.frombuffer(place)), problem) for problem in problems]
        slopes = np.stack([slope[moved] for _, slope in found])
        return np.array([value for value, _ in found]), np.pad(slopes, ((0, 0), (0, int(bounding))))

    def phis(part: FloatArray) -> tuple[FloatArray, FloatArray]:
        return phis_at(part.tobytes())

    sums = np.array([(moved >= block.start) & (moved < block.stop) for block in space.blocks], np.float64)
    rest = np.array([1.0 - x[block].sum() for block in space.blocks]) + sums @ x[moved]
    sums = np.pad(sums, ((0, 0), (0, int(bounding))))
    constraints = [{"type": "eq", "fun": lambda p: sums @ p - rest, "jac": lambda p: sums}]
    # None can exceed 1, since they add up to it: saying so doubles the inequalities of every quadratic program.
    highest = None if n > MANY else 1.0
    bounds = [(low, highest) for low in space.least[moved].tolist()]
    first, raised = x[moved], np.append(np.zeros(n), np.ones(int(bounding)))
    if bounding:
        bounds.append((-1.0, 1.0))
        first = np.append(first, phis(first)[0].min())
    if several:
        constraints.append(
            {
                "type": "ineq",
                "fun": lambda p: phis(p)[0] - (p[n] if floor is None else floor),
                "jac": lambda p: phis(p)[1] - (raised if floor is None else 0.0),
            }
        )

    def loss(p: FloatArray) -> tuple[float, FloatArray]:
        if bounding:
            return -float(p[n]), -raised
        phi, slopes = phis(p)
        return -float(phi.mean()), -slopes.mean(axis=0)

    settings = {"maxiter": _ITERATIONS, "ftol": 1e-13} if floor is None else {"maxiter": 200, "ftol": 1e-9}
    found = scipy_optimize.minimize(
        loss, first, jac=True, method="SLSQP", bounds=bounds, constraints=constraints, options=settings
    )
    return space.scaled(filled(found.x))
