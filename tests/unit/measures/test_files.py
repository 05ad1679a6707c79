"""Measures in JSON files: round trip, and what is refused."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gainful.errors import DataError, MeasureError
from gainful.measures import parse_measure, parse_measures
from worlds import measures


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("measures")


@settings(max_examples=150, deadline=None)
@given(measure=measures())
def test_round_trip(measure, folder):
    measure.save(folder / "any measure.json")
    assert parse_measure(f"@{folder}/any measure.json") == measure


def test_content(tmp_path):
    path = tmp_path / "m.json"
    parse_measure("nDCGf(gain={-2: -10, 1: 1.5}, discount=[1, 0.5])@2").save(path)
    assert json.loads(path.read_text()) == {
        "measure": "nDCG",
        "cutoff": 2,
        "gain": {"-2": -10.0, "1": 1.5},
        "discount": [1.0, 0.5],
        "norm": "f",
    }
    assert os.listdir(tmp_path) == ["m.json"]


def test_beside_others(tmp_path):
    path = tmp_path / "m.JSON"
    path.write_bytes(b'\xef\xbb\xbf{"measure": "nDCGf", "cutoff": 3}')  # a preset, and a byte order mark
    assert [str(measure) for measure in parse_measures(["AP P@5", f" @{path} "])] == ["AP", "P@5", "nDCGf@3"]


ERRORS = [
    ("", "expected JSON: Expecting value: line 1 column 1 (char 0)"),
    ("{", "expected JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ("[" * 100_000, "expected JSON: nested too deeply"),
    ('{"measure": "AP", "measure": "P"}', "expected JSON: 'measure' is there twice"),
    ("[1]", 'expected an object such as {"measure": "nDCG", "cutoff": 10, "discount": [1, 0.8]}, got [1]'),
    (
        '{"cutoff": 5}',
        'expected an object such as {"measure": "nDCG", "cutoff": 10, "discount": [1, 0.8]}, got {"cutoff": 5}',
    ),
    (
        '{"kind": "gainful threshold", "threshold": 0.7, "measure": "nDCGf@3"}',
        "expected a measure, got a threshold: 'gainful threshold apply --cut' takes it",
    ),
    ('{"measure": "nDGC"}', "Unknown measure 'nDGC'. Did you mean 'nDCG'?"),
    ('{"measure": "__import__(\'os\')"}', "Unknown measure \"__import__('os')\"."),
    ('{"measure": "nDCGf", "norm": "min"}', "nDCGf sets norm itself: leave it out, or write nDCG"),
    ('{"measure": "AP", "rell": 2}', "AP has no parameter 'rell' (it has: cutoff, rel). Did you mean 'rel'?"),
    ('{"measure": "AP", "rel": NaN}', "The 'rel' parameter of AP must be a finite number, got nan instead."),
    (
        '{"measure": "nDCG", "discount": [1, -1]}',
        "The 'discount' parameter of nDCG must be one of log2, jk, zipf, linear, none, or a list of non-negative "
        "numbers such as [1, 0.5, 0.2], got [1, -1] instead.",
    ),
    (
        '{"measure": "nDCG", "gain": {"a": 1}}',
        "The 'gain' parameter of nDCG must be linear, exp or a map from label to gain such as {-2: -10, 1: 1}, "
        "got {'a': 1} instead.",
    ),
    (
        '{"measure": "nDCG", "gain": {"1_0": 1}}',
        "The 'gain' parameter of nDCG must be linear, exp or a map from label to gain such as {-2: -10, 1: 1}, "
        "got {'1_0': 1} instead.",
    ),
    (  # many names, the last one twice: looked for in one pass
        "{" + "".join(f'"{name}": 0, ' for name in range(80_000)) + '"79999": 0}',
        "expected JSON: '79999' is there twice",
    ),
    ('{"measure": "nDCG", "gain": {"1": 1, "1.0": 2}}', "the label 1.0 is there twice"),
    (" " * 1_000_001, "expected a measure of at most 1000000 bytes"),
]


@pytest.mark.parametrize(("content", "message"), ERRORS, ids=[message[:40] for _, message in ERRORS])
def test_errors(tmp_path, content, message):
    path = tmp_path / "m.json"
    path.write_text(content)
    with pytest.raises(MeasureError) as caught:
        parse_measure(f"@{path}")
    assert str(caught.value) == f"{path}: {message}"


def test_not_a_file(tmp_path):
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(MeasureError, match=r"expected a file$"):
        parse_measure(f"@{tmp_path}/folder.json")
    with pytest.raises(MeasureError, match=r"no such file$"):
        parse_measure(f"@{tmp_path}/none.json")
    with pytest.raises(MeasureError, match="cannot be read: "):
        parse_measure("@" + "x" * 5000 + ".json")
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(MeasureError, match=r"expected a file$"):
        parse_measure(f"@{tmp_path}/pipe.json")


@settings(max_examples=200, deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["measure", "gain", "cutoff", "discount", "1", "x"]), inner, max_size=4)
        ),
        max_leaves=8,
    ),
    name=st.sampled_from(["nDCG", "AP", "P", "nDCGf", "x"]),
)
def test_nothing_but_measure_errors(value, name, folder):
    content = {**value, "measure": name} if isinstance(value, dict) else value
    (folder / "odd.json").write_text(json.dumps(content))
    try:
        found = parse_measure(f"@{folder}/odd.json")
    except MeasureError:
        return
    assert parse_measure(str(found)) == found


def test_where_it_cannot_be_saved(tmp_path):
    measure = parse_measure("AP")
    with pytest.raises(MeasureError, match=r"m\.txt: expected a name that ends in \.json$"):
        measure.save(tmp_path / "m.txt")
    with pytest.raises(DataError, match=r"cannot be written: No such file or directory$"):
        measure.save(tmp_path / "no" / "m.json")
