"""A study joins judgments and runs once per collection: everything else starts from the rankings."""

import sys

import pytest

import gainful as gf
import gainful.data.align

SMALL = {
    "negative_labels": {"cutoffs": (2, 5), "draws": 2, "resamples": 2},
    "forbidden_documents": {"cutoff": 5, "draws": 2, "resamples": 2},
    "incomplete_judgments": {"levels": (0.5,), "trials": 1, "least_returned": 0.1},
    "gain_discount": {
        "cutoff": 2,
        "discount_cutoffs": (2,),
        "gain_cutoffs": (2,),
        "starts": 1,
        "splits": 1,
        "resamples": 2,
    },
}


@pytest.fixture
def joins(monkeypatch):
    """The calls of the one function that joins, by whatever name it was imported."""
    join, calls = gainful.data.align.align, []

    def counted(*arguments, **keywords):
        calls.append(arguments)
        return join(*arguments, **keywords)

    for module in [module for name, module in sys.modules.items() if name.startswith("gainful.")]:
        for name in [name for name, value in vars(module).items() if value is join]:
            monkeypatch.setattr(module, name, counted)
    return calls


@pytest.mark.parametrize("study", SMALL)
def test_once_per_collection(study, studied, joins):
    made = gf.simulate(topics=6, systems=4, depth=20, pool_depth=5, spam=0.2, seed=1)
    collections = dict.fromkeys(("first", "second"), (made.qrels, made.runs))
    found = getattr(gf.studies, study)(collections, **SMALL[study])
    assert any(exhibit.draw is not None for exhibit in found.exhibits)  # what needs runs was made
    assert len(joins) == 2
