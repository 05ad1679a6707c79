"""A test collection with known truth, made up but built like a TREC Web Track."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gainful.data.simulate.tracks import Like

if TYPE_CHECKING:
    from gainful.data.simulate.collection import Collection


def simulate(
    *,
    topics: int | None = None,
    systems: int | None = None,
    depth: int = 1000,
    pool_depth: int | None = None,
    contributors: int | None = None,
    team_size: int | None = None,
    spam: float | None = None,
    missing: float = 0.0,
    like: Like | None = None,
    seed: int = 0,
) -> Collection:
    """Make a test collection with known truth: graded and negative labels, pooled judgments, runs of teams.

    Parameters
    ----------
    topics
        Number of topics; the first topics are the same whatever their number. 50 if not given, or as in the track.
    systems
        Number of runs; 60 if not given, or as in the track.
    depth
        Documents a run returns for a topic; about a fifth of the systems return fewer.
    pool_depth
        The documents down to this rank of every contributing run are judged; 20 if not given, or as in the track.
    contributors
        Number of runs, drawn at random, that contribute to the pool; all of them if not given.
    team_size
        Runs per team; runs of a team are alike. 1 makes all systems independent; 4 if not given, or as in the track.
    spam
        Expected share of spam (label -2) among the judgments; 0.0434 if not given, or as in the track.
    missing
        Probability that a system returns nothing for a topic; one of the contributors always returns something.
    like
        A stand-in for a TREC Web Track, web2010 to web2014, whose runs are not public: its sizes and label shares, and
        runs that were fitted to published figures of it; `Collection.likeness` says which.
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
