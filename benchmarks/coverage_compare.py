"""How often the intervals of `compare` and `topics` hold the truth, and how often tests find what is not there.

Scores are simulated, so that the truth is known. Every row of the tables has its own seed, told below the table; the
Monte Carlo error is that of a share of so many simulated experiments. ``python benchmarks/coverage_compare.py`` prints
the tables of docs/statistics.md as Markdown; ``--experiments 200`` is a quicker look.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

import numpy as np

import gainful as gf
from gainful.stats.maxt import max_t
from gainful.stats.strata import Strata

SEED = 20261115
RESAMPLES = 999
FloatArray = np.ndarray


def normal(rng: np.random.Generator, runs: int, topics: int) -> FloatArray:
    """Topics that are easy or hard for all, and noise."""
    return rng.normal(0, 0.2, topics) + rng.normal(0, 0.15, (runs, topics))


def skewed(rng: np.random.Generator, runs: int, topics: int) -> FloatArray:
    """As AP: many low scores, few high ones."""
    return rng.gamma(0.5, 0.2, topics) - 0.1 + rng.gamma(0.5, 0.3, (runs, topics)) - 0.15


def twins(rng: np.random.Generator, runs: int, topics: int) -> FloatArray:
    """Runs in pairs that differ on one topic of ten, as runs of one team do."""
    base = np.repeat(rng.normal(0, 0.15, (-(-runs // 2), topics)), 2, axis=0)[:runs]
    return base + (rng.random((runs, topics)) < 0.1) * rng.normal(0, 0.1, (runs, topics))


WORLDS = {world.__name__: world for world in (normal, skewed, twins)}


def row(cells: Iterable[object]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def share(value: float) -> str:
    """Without the zero before the point, as statisticians write it."""
    return f"{value:.3f}".removeprefix("0")


def truth(runs: int, spread: float) -> FloatArray:
    """True means, the best first, evenly apart."""
    return np.linspace(spread, 0.0, runs)


def best_of(world: Callable[..., FloatArray], runs: int, topics: int, spread: float, number: int) -> list[object]:
    """Pairs together, places, the best, and how much too good the leader is."""
    rng = np.random.default_rng([SEED, runs, topics])
    mean = truth(runs, spread)
    true = mean[:, None] - mean
    pairs, places, best, sizes, found, real = 0, 0.0, 0, [], [], []
    for seed in range(number):
        values = world(rng, runs, topics) + mean[:, None]
        at_once = max_t(values, confidence=0.95, resamples=RESAMPLES, seed=seed)
        difference = at_once.mean[:, None] - at_once.mean
        pairs += bool((np.abs(difference - true) <= at_once.all_pairs + 1e-12).all())
        low, high = at_once.places()
        first, last = 1 + (true < 0).sum(axis=1), runs - (true > 0).sum(axis=1)
        places += float(((low <= first) & (high >= last)).mean())
        best += bool(low[0] == 1)
        sizes.append(int((low == 1).sum()))
        leader = int(np.argmax(at_once.mean))
        found.append(at_once.optimism)
        real.append(at_once.mean[leader] - mean[leader])
    error = np.std(real) / np.sqrt(number)
    cells = [share(pairs / number), share(places / number), share(best / number), f"{np.mean(sizes):.1f} of {runs}"]
    return [*cells, f"{np.mean(found):.4f}", f"{np.mean(real):.4f} ± {error:.4f}"]


def best_table(number: int) -> None:
    """Who may be best."""
    headers = ["scores", "runs", "topics", "range", "all pairs", "places", "best in the set", "size of the set"]
    print(row([*headers, "too good, estimated", "too good, true"]))
    print(row(["---"] * 10))
    for name, world in WORLDS.items():
        for runs, topics, spread in (
            (5, 5, 0.0),
            (10, 10, 0.0),
            (10, 25, 0.1),
            (10, 50, 0.0),
            (10, 50, 0.1),
            (40, 25, 0.1),
        ):
            print(row([name, runs, topics, f"{spread:g}", *best_of(world, runs, topics, spread, number)]), flush=True)


def bounded(rng: np.random.Generator, runs: int, topics: int) -> tuple[FloatArray, float]:
    """Scores as nDCG of an easy task, near 1: intervals that know no range leave it."""
    return rng.beta(6.0, 0.5, (runs, topics)), 6.0 / 6.5


def means_table(number: int) -> None:
    """Intervals of means and differences, one by one."""
    print(row(["scores", "topics", "t: mean", "t: difference", "bca: mean", "bca: difference"]))
    print(row(["---"] * 6))
    makers = {name: (world, 0.0) for name, world in WORLDS.items() if name != "twins"}
    makers["near 1"] = (lambda rng, runs, topics: bounded(rng, runs, topics)[0], 6.0 / 6.5)
    for name, (world, mean) in makers.items():
        for topics in (10, 25, 50):
            cells: list[object] = []
            for how in ("t", "bca"):
                rng = np.random.default_rng([SEED, topics])
                # Pairs of runs that share nothing but the truth: each is an experiment of its own.
                values = np.concatenate([world(rng, 2, topics) for _ in range(number)])
                for rows, true in ((values[::2], mean), (values[::2] - values[1::2], 0.0)):
                    low, high = _ends(rows, how)
                    bounds = (0.0, 1.0) if name == "near 1" and true else (-np.inf, np.inf)
                    low, high = np.clip(low, *bounds), np.clip(high, *bounds)
                    cells.append(share(float(((low <= true) & (true <= high)).mean())))
            print(row([name, topics, *cells]), flush=True)


def _ends(rows: FloatArray, how: str) -> tuple[FloatArray, FloatArray]:
    from gainful.stats.intervals import mean_interval

    return mean_interval(rows, how, confidence=0.95, resamples=RESAMPLES, seed=0)


def errors_table(number: int) -> None:
    """Tests where there is no difference: alone, with groups of other levels, and equivalence at the margin."""
    from scipy import special

    from gainful.stats.stratified import stratified_bootstrap, stratified_t

    print(
        row(
            ["question", "topics", "t", "t in groups", "bootstrap in groups", "macro t in groups", "TOST at the margin"]
        )
    )
    print(row(["---"] * 7))
    for topics in (10, 25, 50):
        rng = np.random.default_rng([SEED, topics, 3])
        place = np.arange(topics) % 3
        # Runs differ by group, in a way that adds up to nothing: +, −, and nothing.
        level = np.array([0.3, -0.3, 0.0])[place]
        level = level - level.mean()
        z = rng.normal(0, 0.2, (number, topics)) + level
        # In each group as often as there are topics, so that the mean of means is 0, too.
        macro = rng.normal(0, 0.2, (number, topics)) + np.array([0.3, -0.3, 0.0])[place]
        groups = Strata(names=("a", "b", "c"), place=place)
        each = Strata(names=("a", "b", "c"), place=place, macro=True)
        plain = stratified_t(z, Strata.one(topics))
        rates = [(plain < 0.05).mean(), (stratified_t(z, groups) < 0.05).mean()]
        rates.append((stratified_bootstrap(z, groups, resamples=RESAMPLES, seed=0).p() < 0.05).mean())
        rates.append((stratified_t(macro, each) < 0.05).mean())
        at_margin = rng.normal(0.1, 0.2, (number, topics))
        error = at_margin.std(axis=1, ddof=1) / np.sqrt(topics)
        p = special.stdtr(topics - 1, -(0.1 - np.abs(at_margin.mean(axis=1))) / error)
        rates.append((p < 0.05).mean())
        print(row(["no difference", topics, *(share(float(rate)) for rate in rates)]), flush=True)


def topics_table(number: int) -> None:
    """The interval of the number of topics: whether it holds the number that the true variance needs."""
    print(row(["scores", "runs", "topics", "interval holds the number", "median ratio of its ends"]))
    print(row(["---"] * 5))
    variances = {"normal": 2 * 0.15**2, "skewed": 2 * 0.5 * 0.3**2}
    for name, variance in variances.items():
        for runs, topics in ((2, 10), (2, 25), (2, 50), (10, 10), (10, 25), (10, 50)):
            rng = np.random.default_rng([SEED, runs, topics, 4])
            held, ratios = 0, []
            for seed in range(number):
                result = gf.topics(WORLDS[name](rng, runs, topics), resamples=500, seed=seed)
                found = result["score"]
                (true,) = result.plan.needed(np.array([variance]))
                low, high = found.low or 0, found.high or 10**9
                held += bool(low <= (true or 0) <= high)
                ratios.append(high / low)
            print(row([name, runs, topics, share(held / number), f"{np.median(ratios):.2f}"]), flush=True)


TABLES = {"best": best_table, "means": means_table, "errors": errors_table, "topics": topics_table}


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=list(TABLES), help="one table instead of all")
    parser.add_argument("--experiments", type=int, default=1000, help="simulated experiments per row")
    asked = parser.parse_args()
    error = np.sqrt(0.95 * 0.05 / asked.experiments)
    for name in [asked.only] if asked.only else TABLES:
        print(
            f"\n<!-- {name}: {asked.experiments} experiments per row, Monte Carlo error {error:.3f}, seed {SEED} -->\n"
        )
        TABLES[name](asked.experiments)


if __name__ == "__main__":
    main()
