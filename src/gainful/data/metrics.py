"""Scores as flat names and numbers, as programs that keep track of experiments take them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gainful.errors import DataError

# MLflow takes letters, digits, and _ - . / and blanks in the name of a metric.
_NOT_TAKEN = re.compile(r"[^A-Za-z0-9_.\-/]+")


def metric_name(measure: str) -> str:
    """The name of a measure in characters that any tracker takes: nDCG_at_10.

    Examples
    --------
    >>> metric_name("nDCG@10"), metric_name("AP(rel=2)"), metric_name("nDCGf(gain={0: -1})@3")
    ('nDCG_at_10', 'AP_rel_2', 'nDCGf_gain_0_-1_at_3')
    """
    name, at, cutoff = measure.rpartition("@")
    name = name if at else cutoff
    return _NOT_TAKEN.sub("_", name).strip("_") + (f"_at_{cutoff}" if at else "")


def flat(values: Iterable[tuple[str, str, float]], *, one_run: bool) -> dict[str, float]:
    """Values of runs and measures by one name each: the measure's, below the run's if there are several runs."""
    found: dict[str, float] = {}
    for run, measure, value in values:
        place = "" if one_run else f"{_NOT_TAKEN.sub('_', run).replace('/', '_')}/"
        name = f"{place}{metric_name(measure)}"
        if name in found:
            raise DataError(f"two scores would be called {name!r}: rename a run, or take measures apart")
        found[name] = value
    return found
