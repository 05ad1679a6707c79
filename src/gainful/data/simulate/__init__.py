"""A test collection with known truth, made up but built like a TREC Web Track."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gainful.data.simulate.collection import Collection

# Labels and their shares among the judgments: mean of the Web Tracks 2010-2014 (Carmel et al., SIGIR 2022, Table 3).
LABEL_SHARES = {-2: 0.0434, 0: 0.7031, 1: 0.1749, 2: 0.0560, 3: 0.0116, 4: 0.0112}


def simulate(
    *,
    topics: int = 50,
    systems: int = 60,
    depth: int = 1000,
    pool_depth: int = 20,
    contributors: int | None = None,
    team_size: int = 4,
    spam: float = LABEL_SHARES[-2],
    missing: float = 0.0,
    seed: int = 0,
) -> Collection:
    """Make a test collection with known truth: graded and negative labels, pooled judgments, runs of teams.

    Parameters
    ----------
    topics
        Number of topics; the first topics are the same whatever their number.
    systems
        Number of runs.
    depth
        Documents a run returns for a topic; about a fifth of the systems return fewer.
    pool_depth
        The documents down to this rank of every contributing run are judged.
    contributors
        Number of runs, drawn at random, that contribute to the pool; all of them if not given.
    team_size
        Runs a team; runs of a team are alike. 1 makes all systems independent.
    spam
        Expected share of spam (label -2) among the judgments.
    missing
        Probability that a system returns nothing for a topic; one of the contributors always returns something.
    seed
        Seed of everything random: the same arguments make the same collection.

    Returns
    -------
    Collection
        Qrels, runs, truth and settings.

    Examples
    --------
    >>> collection = simulate(topics=5, systems=8, depth=100, seed=1)
    >>> len(collection.runs), collection.qrels.topics
    (8, ['101', '102', '103', '104', '105'])
    """
    given = locals()
    from gainful.data.simulate.collection import draw

    return draw(given)
