"""The agreement of measures on all topics, and on resampled ones."""

from __future__ import annotations

import numpy as np

from gainful.analyses.agreement.coefficients import Coefficients
from gainful.analyses.agreement.result import Agreed, Agreement
from gainful.data.complete import complete_scores
from gainful.data.scores import Scores
from gainful.engine import Work
from gainful.errors import DataError
from gainful.results import Settings
from gainful.stats.correlation import mid_ranks
from gainful.stats.paired import pairs
from gainful.stats.resample import FloatArray, block_sizes, bootstrap_draws, generator


def computed(scores: Scores, settings: Settings, work: Work) -> Agreement:
    """The agreement of every pair of measures, by the settings of `gainful.agreement`."""
    if len(scores.measures) < 2:
        raise DataError(
            f"expected at least 2 measures to set against each other, got {len(scores.measures)}: "
            f"{', '.join(scores.measures)}; name more, such as nDCG@10 and AP, or give a table that has several"
        )
    complete = complete_scores(scores, gaps=settings["gaps"])
    turned = np.array([-1.0 if higher == "worse" else 1.0 for higher in scores.higher])
    first, second = pairs(len(complete.measures))
    chosen = settings["correlation"]
    every = Coefficients(complete=complete, turned=turned, first=first, second=second, chosen=chosen, p=settings["p"])
    means = every.means(np.ones((1, len(complete.topics))))
    value = every.of_means(means)[0]
    rng = generator(settings["seed"])
    sizes = block_sizes(settings["resamples"], len(first) * len(complete.systems) ** 2)
    draws = (bootstrap_draws(rng, size, len(complete.topics)) for size in sizes)
    drawn = work.map(Coefficients.of_draws, draws, shared=every, total=len(sizes), label="Resampling topics")
    found = np.stack([value, *_ends(np.concatenate(list(drawn)), settings["spread"])])
    return Agreement(
        measures=complete.measures,
        higher=scores.higher,
        systems=complete.systems,
        topics=len(complete.topics),
        scores=means[0],
        ranks=mid_ranks(means[0] * turned[:, None]),
        pairs=tuple(
            Agreed(complete.measures[a], complete.measures[b], name, *found[:, at, which].tolist())
            for at, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
            for which, name in enumerate(chosen)
        ),
        settings=settings,
    )


def _ends(drawn: FloatArray, spread: float) -> tuple[FloatArray, FloatArray]:
    """Percentiles over the resamples in which the coefficient is defined; NaN where that is none."""
    tail = (1.0 - spread) / 2.0
    undefined = np.isnan(drawn).all(axis=0)
    low, high = np.nanquantile(np.where(undefined, 0.0, drawn), [tail, 1.0 - tail], axis=0)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)
