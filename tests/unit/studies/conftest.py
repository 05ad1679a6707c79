"""The studies of four small collections, each computed once; and judgments and rankings as plain lists."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import gainful as gf
import reference

DATA = Path(os.environ.get("GAINFUL_DATA", "/nonexistent"))
SIMULATED = {
    "negative_labels": {"topics": 12, "systems": 6, "depth": 40, "pool_depth": 10, "spam": 0.15, "seed": 5},
    "forbidden_documents": {"topics": 12, "systems": 6, "depth": 40, "pool_depth": 10, "spam": 0.15, "seed": 5},
    "gain_discount": {"topics": 14, "systems": 8, "depth": 40, "pool_depth": 10, "seed": 8},
    "incomplete_judgments": {"topics": 15, "systems": 8, "depth": 60, "pool_depth": 10, "seed": 6},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "negative_labels": {"cutoffs": (3, 8), "pool_depth": 10, "draws": 20, "resamples": 50, "seed": 4},
    "forbidden_documents": {"cutoff": 40, "bound_cutoffs": (5, 30), "draws": 20, "resamples": 60, "seed": 4},
    "gain_discount": {
        "cutoff": 6,
        "discount_cutoffs": (4, 10),
        "gain_cutoffs": (3, 10),
        "best": 5,
        "starts": 1,
        "splits": 2,
        "resamples": 40,
        "seed": 3,
    },
    "incomplete_judgments": {"levels": (0.05, 0.2, 0.5, 1.0), "trials": 3, "pairs": 5, "seed": 2},
}


@cache
def _made(name: str) -> Any:
    return gf.simulate(**SIMULATED[name])


@cache
def _studied(name: str) -> Any:
    made = _made(name)
    return getattr(gf.studies, name)({"sim": (made.qrels, made.runs)}, **SETTINGS[name])


@pytest.fixture(scope="session")
def simulated():
    """By study, its collection."""
    return _made


@pytest.fixture(scope="session")
def studied():
    """By study, what it gives of its collection; computed when first asked for."""
    return _studied


@cache
def _drawn(name: str) -> dict[str, Any]:
    whole = _studied(name).chart().to_dict()
    # A long title is a list of lines.
    return {"whole": whole, **{"".join(part["title"]).partition(":")[0]: part for part in whole["vconcat"]}}


@pytest.fixture(scope="session")
def drawn():
    """By study, its figures as they are drawn, by name, and all of them; drawn when first asked for."""
    return _drawn


@pytest.fixture(scope="session")
def settings():
    """By study, how it was computed."""
    return SETTINGS


@pytest.fixture(scope="session")
def plain():
    """Of a simulated collection, judgments by topic, and per run and topic the labels of its list, best first."""

    def lists(made: Any, unjudged: str = "zero") -> SimpleNamespace:
        judged: dict[str, dict[str, float]] = {}
        for topic, doc, label in made.qrels.frame.iter_rows():
            judged.setdefault(topic, {})[doc] = label

        def order(run: Any, topic: str) -> list[Any]:
            rows = run.frame.filter(pl.col("query_id") == topic)
            ids = [doc for _, doc in sorted(zip(rows["score"], rows["doc_id"], strict=True), reverse=True)]
            return reference.labels(ids, judged[topic], unjudged)

        return SimpleNamespace(judged=judged, lists=[[order(run, topic) for topic in judged] for run in made.runs])

    return lists


@pytest.fixture(scope="session")
def ours():
    """The rows of an exhibit that are not the paper's."""
    return lambda study, name: study[name].frame.filter(~pl.col("collection").str.ends_with("(published)"))


@pytest.fixture(scope="session")
def published():
    """The rows of an exhibit that the paper has for a collection."""
    return lambda study, name, of: study[name].frame.filter(pl.col("collection") == f"{of} (published)").rows()


@pytest.fixture(scope="session")
def web_data():
    """The folder of the real collections."""
    if not DATA.is_dir():
        pytest.skip("set GAINFUL_DATA to the folder of the collections")
    return DATA


@pytest.fixture
def command(gainful, tmp_path):
    """Run a study as a command on its collection, settings as options."""

    def run(name: str, settings: dict[str, Any], *more: str) -> Any:
        made = _made(name)
        gf.write_qrels(made.qrels, tmp_path / "sim.txt")
        (tmp_path / "runs").mkdir()
        for each in made.runs:
            gf.write_run(each, tmp_path / "runs" / f"{each.name}.txt")
        words = [f"--collection=sim={tmp_path}/sim.txt:{tmp_path}/runs"]
        for option, value in settings.items():
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words += [f"--{option.replace('_', '-')}", text]
        return gainful("study", name.replace("_", "-"), *words, *more)

    return run
