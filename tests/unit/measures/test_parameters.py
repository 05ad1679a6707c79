from typing import Annotated, Literal

import numpy as np
import pytest

from gainful.measures.parameters import (
    Choice,
    DiscountKind,
    Flag,
    GainKind,
    Number,
    Whole,
    kind_of,
    write,
)


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (Whole(), 5, 5),
        (Whole(optional=True), None, None),
        (Whole(), 2**53 - 1, 2**53 - 1),
        (Number(), 2, 2.0),
        (Number(0, 1), 1, 1.0),
        (Number(optional=True), None, None),
        (Choice(("a", "b")), "b", "b"),
        (Flag(), True, True),
        (GainKind(), "exp", "exp"),
        (GainKind(), {2: 1, -1: 0.5}, ((-1.0, 0.5), (2.0, 1.0))),
        (GainKind(), ((2.0, 1.0), (-1.0, 0.5)), ((-1.0, 0.5), (2.0, 1.0))),
        (DiscountKind(), "zipf", "zipf"),
        (DiscountKind(), [1, 0.5], (1.0, 0.5)),
        (DiscountKind(), (0, 1), (0.0, 1.0)),
    ],
)
def test_read(kind, value, read):
    assert kind.read(value) == read
    assert kind.read(kind.read(value)) == read


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Whole(), 0),
        (Whole(), 5.0),
        (Whole(), True),
        (Whole(), None),
        (Whole(), 2**53),
        (Number(), np.nan),
        (Number(), np.inf),
        (Number(), True),
        (Number(), "1"),
        (Number(), None),
        (Number(0, 1), 1.5),
        (Number(0, 1, open=True), 0),
        (Number(0, 1, open=True), 1),
        (Choice(("a", "b")), "c"),
        (Choice(("a", "b")), 1),
        (Flag(), 1),
        (GainKind(), {}),
        (GainKind(), {1: np.nan}),
        (GainKind(), ()),
        (GainKind(), ((1.0, 2.0, 3.0),)),
        (GainKind(), [1.0]),
        (DiscountKind(), []),
        (DiscountKind(), [0, 0]),
        (DiscountKind(), [1, -0.1]),
        (DiscountKind(), [1, np.inf]),
        (DiscountKind(), b"1"),
        (DiscountKind(), None),
    ],
)
def test_refuse(kind, value):
    with pytest.raises((ValueError, TypeError)):
        kind.read(value)


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (bool, Flag()),
        (int, Whole()),
        (float, Number()),
        (Literal["a", "b"], Choice(("a", "b"))),
        (Annotated[float, "a note", Number(0, 1)], Number(0, 1)),
    ],
)
def test_kinds(annotation, kind):
    assert kind_of(annotation) == kind


@pytest.mark.parametrize("annotation", [str, list[int], Literal[1, 2], int | None, None, Annotated[str, "a note"]])
def test_unknown_annotation(annotation):
    with pytest.raises(TypeError, match=r"^expected bool, int, float, a Literal of strings or a kind of gainful\."):
        kind_of(annotation)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        ("exp", "'exp'"),
        (5, "5"),
        (10**15 + 1, "1000000000000001"),
        (2.0, "2"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e15, "1000000000000000.0"),
        (1e300, "1e+300"),
        ((1.0, 0.25), "[1, 0.25]"),
        (((-2.0, -10.0), (0.5, 1.0)), "{-2: -10, 0.5: 1}"),
    ],
)
def test_write(value, text):
    assert write(value) == text
