"""Topics in groups: which topic is in which, and what each counts for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gainful.errors import DataError
from gainful.results import listed, plural
from gainful.stats.strata import IntArray, Strata

_NAMED = 4


def group_places(groups: Mapping[str, str], topics: Sequence[str]) -> tuple[tuple[str, ...], IntArray]:
    """The names of the groups, sorted, and of each topic the place of its group among them."""
    without = [repr(topic) for topic in topics if topic not in groups]
    if without:
        raise DataError(f"groups: expected a group for every topic, got none for {listed(without, _NAMED)}")
    names = sorted({groups[topic] for topic in topics})
    place = {name: at for at, name in enumerate(names)}
    return tuple(names), np.array([place[groups[topic]] for topic in topics], np.int64)


def strata_of(groups: Mapping[str, str], topics: Sequence[str], *, macro: bool = False, least: int = 2) -> Strata:
    """The groups of these topics, by name; each needs `least` topics."""
    names, place = group_places(groups, topics)
    found = Strata(names=names, place=place, macro=macro)
    small = [name for name, size in zip(names, found.sizes().tolist(), strict=True) if size < least]
    if small:
        raise DataError(
            f"groups: expected at least {plural(least, 'topic')} in each group, since variances are those within "
            f"groups, got fewer in {listed([repr(name) for name in small], _NAMED)}: join small groups"
        )
    return found
