"""What the tests of readers and writers share: a folder of their own, and errors matched from end to end."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from gainful.errors import DataError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, so that messages name files as users do."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def refused() -> Callable[[str], AbstractContextManager[object]]:
    """Expect a DataError with just this message."""
    return lambda message: pytest.raises(DataError, match=rf"\A{re.escape(message)}\Z")
