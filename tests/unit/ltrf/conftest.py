"""What tests of text rankers start from."""

from __future__ import annotations

import pytest

import planted as world


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    """The folder of the tiny encoder."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("encoder") / "tiny"
    world.make_encoder(folder)
    return folder


@pytest.fixture(scope="session")
def unseen():
    return world.planted_text(100, 2)


@pytest.fixture(scope="session")
def ranker(encoder):
    """An f-ranker that has learnt the planted rule."""
    import gainful as gf

    return gf.ltrf.train(world.planted_text(150, 1), gains=world.GAINS, settings=world.text_settings(encoder))


@pytest.fixture(scope="session")
def saved(ranker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "ranker"
    ranker.save(folder)
    return folder
