"""What tests of text rankers start from."""

from __future__ import annotations

import pytest

from planted import make_encoder


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    """The folder of the tiny encoder."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("encoder") / "tiny"
    make_encoder(folder)
    return folder
