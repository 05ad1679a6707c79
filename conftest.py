"""What all tests share, pages and docstrings included."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    """A measure that a test or a page registers is gone after it: tests may run in any order."""
    from gainful.measures import REGISTRY, unregister  # not above: tests/conftest.py first says how many threads

    before = set(REGISTRY)
    yield
    for name in REGISTRY.keys() - before:
        unregister(name)
