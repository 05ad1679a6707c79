"""A fixture for pytest: a run must not be worse than the one before.

``pytest_plugins = ["gainful.compat.pytest_plugin"]`` in conftest.py brings it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gainful.verbs.compare import compare


def check_not_worse(
    qrels: Any, runs: Any, measures: Any = None, *, baseline: str, margin: float | None = None, **options: Any
) -> Any:
    """Fail the test if a run is worse than the baseline; else what `compare` found.

    Without a margin, a run is worse if it is so significantly; with one, if it could be worse by more than that.
    """
    __tracebackhide__ = True
    found = compare(qrels, runs, measures, baseline=baseline, **options)
    reasons = found.worse(margin)["reason"].to_list()
    if reasons:
        pytest.fail("\n".join([*reasons, "", str(found)]), pytrace=False)
    return found


@pytest.fixture
def not_worse() -> Callable[..., Any]:
    """`check_not_worse`."""
    return check_not_worse
