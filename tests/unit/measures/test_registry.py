import inspect
import re
from typing import Literal

import numpy as np
import pytest

from gainful.data.rankings import FloatArray, Rankings
from gainful.errors import MeasureError
from gainful.measures import PRESETS, REGISTRY, Measure, measure, parse_measure, unregister
from gainful.measures.parameters import Cutoff, Depth
from worlds import one_topic


@pytest.fixture
def hits():
    """A third party's measure."""

    @measure("Hits", bounds=None, presets={"TopHits": {"weight": 2.0, "mode": "top"}})
    def hits(
        rankings: Rankings,
        *,
        cutoff: Cutoff = None,
        weight: float = 1.0,
        half: bool = False,
        mode: Literal["all", "top"] = "all",
    ) -> FloatArray:
        """How many hits there are.

        More of this.
        """
        shown = np.ones(len(rankings.rank), bool) if cutoff is None else rankings.rank <= cutoff
        return rankings.sum(shown) * weight * (0.5 if half else 1.0)

    yield hits
    unregister("Hits")


def test_registration(hits):
    assert parse_measure("Hits@2").compute(one_topic([1, 0, 1], [0, None, 1])).tolist() == [1.0]
    assert parse_measure("hits(weight=3, half=True)").compute(one_topic([1, 0, 1], [0, None, 1])).tolist() == [3.0]
    assert hits(one_topic([1], [0])).tolist() == [1.0]


def test_definition(hits):
    definition = REGISTRY["Hits"]
    assert definition.headline == "How many hits there are."
    assert definition.doc == "How many hits there are.\n\nMore of this."
    assert definition.signature == "Hits(weight=1, half=False, mode='all')[@k]"
    assert REGISTRY["P"].signature == "P(rel=1)@k"
    assert REGISTRY["NumQ"].signature == "NumQ"


def test_labels(hits):
    assert str(parse_measure("Hits(half=True, weight=2)@5")) == "Hits(weight=2, half=True)@5"
    assert str(parse_measure("Hits(mode=top, weight=2, half=True)")) == "TopHits(half=True)"
    with pytest.raises(MeasureError, match=r"^TopHits sets weight itself: leave it out, or write Hits$"):
        parse_measure("TopHits(weight=3)")
    assert parse_measure("tophits@5") == parse_measure("Hits(mode=top, weight=2)@5")
    assert parse_measure("TopHits").parameters == {"cutoff": None, "weight": 2.0, "half": False, "mode": "top"}


def test_measures_can_be_compared_and_hashed():
    assert parse_measure("AP") == parse_measure("map") != parse_measure("AP(rel=2)")
    assert len({parse_measure("AP"), parse_measure("map"), parse_measure("AP@5")}) == 2
    assert isinstance(parse_measure("AP"), Measure)


def test_unregister_forgets_presets_too():
    @measure("Once", presets={"OnceMore": {}})
    def once(rankings: Rankings) -> FloatArray:
        """Once."""
        return np.ones(rankings.n_rows)

    assert "OnceMore" in PRESETS
    unregister("Once")
    assert "Once" not in REGISTRY
    assert "OnceMore" not in PRESETS
    with pytest.raises(MeasureError, match=r"^no measure named 'Once' is registered$"):
        unregister("Once")
    with pytest.raises(MeasureError, match=r"^Unknown measure 'OnceMore'"):
        parse_measure("OnceMore")


def ones(rankings: Rankings) -> FloatArray:
    """Ones."""
    return np.ones(rankings.n_rows)


@pytest.mark.parametrize("name", ["two words", "1st", "a-b", "", "x@5", "né", "P_5"])
def test_bad_names(name):
    message = f"^expected a measure name of letters and digits, got {re.escape(repr(name))}$"
    with pytest.raises(MeasureError, match=message):
        measure(name)(ones)
    with pytest.raises(MeasureError, match=message):
        measure("Good", presets={name: {}})(ones)
    assert "Good" not in REGISTRY


@pytest.mark.parametrize("name", ["AP", "ap", "ndcg", "nDCGf", "NDCGF"])
def test_taken_names(name):
    with pytest.raises(MeasureError, match=f"^a measure named '{name}' is registered already$"):
        measure(name)(ones)


def test_docstring_is_needed():
    def silent(rankings: Rankings) -> FloatArray:
        return np.ones(rankings.n_rows)

    with pytest.raises(MeasureError, match=r"^measure 'Silent' needs a docstring: it is the measure's help$"):
        measure("Silent")(silent)


def test_unsupported_annotations():
    def listed(rankings: Rankings, *, weights: list[float]) -> FloatArray:
        """Takes a list."""
        return np.ones(rankings.n_rows)

    def bare(rankings: Rankings, *, weights=1.0) -> FloatArray:
        """Says nothing."""
        return np.ones(rankings.n_rows)

    expected = (
        "measure 'Listed', parameter 'weights': expected bool, int, float, a Literal of strings or a kind of "
        "gainful.measures.parameters, got {}"
    )
    for function, got in ((listed, "list[float]"), (bare, "None")):
        with pytest.raises(MeasureError, match=f"^{re.escape(expected.format(got))}$"):
            measure("Listed")(function)
    assert "Listed" not in REGISTRY


def test_default_that_is_no_value():
    def shallow(rankings: Rankings, *, cutoff: Depth = 0) -> FloatArray:
        """Shows nothing."""
        return np.ones(rankings.n_rows)

    message = "measure 'Shallow', parameter 'cutoff': expected a whole number of at least 1, got 0"
    with pytest.raises(MeasureError, match=f"^{message}$"):
        measure("Shallow")(shallow)


def test_check_sees_all_parameters():
    def check(**values):
        raise MeasureError(f"no: {values}")

    def picky(rankings: Rankings, *, cutoff: Depth, low: float = 1.0) -> FloatArray:
        """Refuses."""
        return np.ones(rankings.n_rows)

    measure("Picky", check=check)(picky)
    try:
        with pytest.raises(MeasureError, match=r"^no: \{'cutoff': 3, 'low': 1.0\}$"):
            parse_measure("Picky@3")
    finally:
        unregister("Picky")


def test_required_parameters_without_a_cutoff():
    def needy(rankings: Rankings, *, share: float) -> FloatArray:
        """Needs a share."""
        return np.ones(rankings.n_rows)

    measure("Needy")(needy)
    try:
        assert REGISTRY["Needy"].signature == "Needy(share)"
        assert str(parse_measure("Needy(share=0.5)")) == "Needy(share=0.5)"
        with pytest.raises(MeasureError, match=r"^Needy needs share=…, a finite number$"):
            parse_measure("Needy")
    finally:
        unregister("Needy")


def test_every_measure_is_a_keyword_only_function_with_a_reference():
    for definition in REGISTRY.values():
        first, *others = inspect.signature(definition.function).parameters.values()
        assert first.name == "rankings"
        assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in others)
        assert definition.cite
        assert definition.headline.endswith((".", ":"))
