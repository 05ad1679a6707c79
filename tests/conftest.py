"""What all tests share: golden files and a command line that runs in this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings

# A busy machine is no reason to fail: speed is shown by the benchmarks. Nor is a new draw, which `make fuzz` takes.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("anew", deadline=None)
settings.load_profile("anew" if os.environ.get("GAINFUL_FUZZ") else "suite")

if "PYTEST_XDIST_WORKER" in os.environ:
    # A worker has one core; more threads than that take turns. Set before polars and torch are imported.
    for threads in ("OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ.setdefault(threads, "1")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden with what the code gives now")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file of tests/golden, or rewrite the file under --update-golden."""

    def compare(text: str, name: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing: run pytest --update-golden, then check the numbers in it"
        assert text == path.read_text(encoding="utf-8")

    return compare


class Outcome(NamedTuple):
    """How a command line ended."""

    status: int
    out: str
    err: str


@pytest.fixture
def gainful(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Run `gainful …` in this process."""
    from gainful.cli.main import main

    for name in [name for name in os.environ if name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE")]:
        monkeypatch.delenv(name)

    def run(*words: str | Path) -> Outcome:
        capfd.readouterr()
        status = main([str(word) for word in words])
        return Outcome(status, *capfd.readouterr())

    return run
