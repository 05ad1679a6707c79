"""An analysis of scores is the same whatever it starts from, and its module costs next to nothing to import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gainful as gf

ANALYSES = {
    "reliability": {},
    "stability": {"draws": 20},
    "topics": {"difference": 0.1},
    "agreement": {"resamples": 20},
}
MEASURES = ["AP", "nDCG@10"]


@pytest.fixture(scope="module")
def made():
    return gf.simulate(topics=8, systems=4, depth=20, seed=1)


@pytest.mark.parametrize("name", ANALYSES)
def test_judgments_and_runs_or_what_was_made_of_them(made, name):
    analysis, settings = getattr(gf, name), ANALYSES[name]
    policies = {"unjudged": "condensed"}
    expected = analysis(gf.evaluate(made.qrels, made.runs, MEASURES, **policies), **settings).to_dict()
    assert expected["settings"]["policies"]["unjudged"] == "condensed"
    assert analysis(made.qrels, made.runs, MEASURES, **settings, **policies).to_dict() == expected
    assert analysis(gf.align(made.qrels, made.runs, **policies), MEASURES, **settings).to_dict() == expected


@pytest.mark.parametrize("name", sorted(ANALYSES.keys() - {"agreement"}))
def test_one_measure(made, name):
    """Also as a table and as an array, which tell neither policies nor names of measures."""
    analysis, settings = getattr(gf, name), ANALYSES[name]
    scores = gf.evaluate(made.qrels, made.runs, MEASURES)
    expected = analysis(made.qrels, made.runs, "AP", **settings).to_frame()
    assert analysis(scores, "AP", **settings).to_frame().equals(expected)
    assert analysis(scores["AP"], **settings).to_frame().equals(expected)
    assert analysis(scores.to_frame(), None, "AP", **settings).to_frame().equals(expected)
    unnamed = analysis(scores["AP"].values, **settings).to_frame()
    assert unnamed.drop("measure").equals(expected.drop("measure"))


@pytest.mark.parametrize("name", ANALYSES)
def test_importing_the_function_is_cheap(name):
    """The command line reads the signature: people wait for its help."""
    heavy = "import sys; print(*({'numpy', 'polars', 'scipy', 'altair'} & {*sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", f"from gainful.analyses.{name} import {name}; {heavy}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("\n", "")
