"""Commands out of functions: what each type becomes, and that nothing is written twice."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypedDict, Unpack

import pytest
from cyclopts import App, CycloptsError

from gainful.cli.call import Call
from gainful.cli.commands import Command
from gainful.cli.make import headline, made, parameter_texts
from gainful.engine import Dask, Engine


def function(a, b, *, c=1):
    """Do it.

    Longer.

    Parameters
    ----------
    a, b
        Two
        lines.
    c
        See: `this`.

    Returns
    -------
    int
        Nothing.
    """


def test_texts_of_parameters():
    assert parameter_texts(function) == {"a": "Two lines.", "b": "Two lines.", "c": "See: this."}
    assert headline(function) == "Do it."


def test_function_without_parameters():
    assert parameter_texts(lambda: None) == {}
    assert headline(lambda: None) == ""


class Few(TypedDict, total=False):
    ties: Literal["trec", "order"]
    engine: Engine
    lower_is_better: Sequence[str]


@dataclass(frozen=True)
class Inner:
    rounds: int | None = None
    rate: float = 0.5


def analysis(
    source: Any,
    runs: Any = None,
    measures: Any = None,
    *,
    sizes: Sequence[int] | None = None,
    shares: Sequence[float] = (0.5, 1.0),
    kinds: Sequence[Literal["x", "y"]] = ("x",),
    also: Sequence[tuple[Any, Any]] = (),
    count: int = 3,
    gain: str | Mapping[float, float] = "linear",
    cutoff: int | Sequence[int] = (20,),
    how: Literal["one", "two"] = "one",
    where: Path | None = None,
    strict: bool = True,
    loud: bool = False,
    other: Undefined = None,  # noqa: F821 (a type that is imported by type checkers alone)
    **options: Unpack[Few],
) -> int:
    """Analyse."""


def plain(qrels: Any, run: Any, /, *, measure: str = "AP") -> int:
    """Take two files."""


def extended(call: Call, *, extra: int = 0) -> dict[str, Any]:
    """Do more.

    Parameters
    ----------
    extra
        Of its own.
    """
    return {"call": call, "extra": extra}


@pytest.fixture
def parse(monkeypatch):
    """What `extended` is handed for a command line."""
    module = ModuleType("made_for_tests")
    module.analysis, module.plain = analysis, plain
    monkeypatch.setitem(sys.modules, "made_for_tests", module)
    monkeypatch.setattr("gainful.cli.special.extended", extended, raising=False)

    def run(*words: str, of: str = "analysis"):
        command = made(Command("made", f"made_for_tests:{of}", "", special="extended"))
        app = App(print_error=False, exit_on_error=False, result_action="return_value")
        app.default(command)
        return app(list(words))

    return run


class TestTypes:
    def test_defaults_are_those_of_the_function(self, parse):
        own = parse("q", "r")["call"].own
        expected = {
            parameter.name: parameter.default
            for parameter in inspect.signature(analysis).parameters.values()
            if parameter.kind is parameter.KEYWORD_ONLY
        }
        assert own == {**expected, "measures": ()}

    @pytest.mark.parametrize(
        ("words", "name", "value"),
        [
            ("--sizes 5,10", "sizes", (5, 10)),
            ("--sizes 5 10", "sizes", (5, 10)),
            ("--shares 0.1", "shares", (0.1,)),
            ("--kinds y,x", "kinds", ("y", "x")),
            ("--also q2 r2 --also q3 r3", "also", (("q2", "r2"), ("q3", "r3"))),
            ("--count 7", "count", 7),
            ("--gain {1:2}", "gain", "{1:2}"),
            ("--cutoff 5,10", "cutoff", (5, 10)),
            ("--how two", "how", "two"),
            ("--where x/y", "where", Path("x/y")),
            ("--no-strict", "strict", False),
            ("--loud", "loud", True),
            ("--other z", "other", "z"),
            ("-m AP -m RR", "measures", ("AP", "RR")),
        ],
    )
    def test_values(self, parse, words, name, value):
        assert parse("q", "r", *words.split())["call"].own[name] == value

    @pytest.mark.parametrize(
        "words", ["--count 1.5", "--sizes a", "--kinds z", "--how three", "--ties expected", "--also q2"]
    )
    def test_refused(self, parse, words):
        with pytest.raises(CycloptsError):
            parse("q", "r", *words.split())


class TestOwners:
    def test_only_what_is_given_is_shared(self, parse):
        assert parse("q", "r")["call"].shared == {}
        given = parse("q", "r", "--ties", "order", "--engine", "dask", "--scheduler", "tcp://x:1")["call"]
        assert given.shared == {"ties": "order", "engine": "dask", "address": "tcp://x:1"}
        assert given._options() == {"ties": "order", "engine": Dask(address="tcp://x:1")}

    def test_words_and_extras(self, parse):
        found = parse("q", "r1", "r2", "--extra", "4", "--format", "json")
        assert found["extra"] == 4
        assert found["call"].files == ("q", "r1", "r2")
        assert found["call"].shown == {"format": "json", "output": None, "chart": None, "raw": False, "memory": None}

    def test_two_files(self, parse):
        assert parse("q", "r", "-m", "RR", of="plain")["call"].own == {"measure": "RR"}
        with pytest.raises(CycloptsError):
            parse("q", of="plain")
