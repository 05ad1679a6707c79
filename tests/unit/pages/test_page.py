from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
import struct
import sys
from importlib.resources import files

import pytest

import gainful as gf
from gainful.pages import page
from gainful.pages.page import SCRIPTS, as_text, shell

EVIL = "</script><script>alert(1)</script><!--"


@pytest.fixture(scope="module")
def found():
    return gf.report({"1": {EVIL: 1, "b": -1}}, {EVIL: {"1": [EVIL]}}, "nDCG@3")


def part(page: str, key: str) -> str:
    return re.search(rf'<script type="[^"]+" id="{key}">(.*?)</script>', page, re.DOTALL)[1]


def test_contents_are_in_the_page(found):
    page = found.html()
    assert json.loads(part(page, "contents"))["systems"] == [EVIL]
    shared, *topics = gzip.decompress(base64.b64decode(part(page, "packed-why"))).decode().split("\n")
    why = json.loads(json.dumps(found.contents["why"]))
    assert json.loads(shared)["retrieved"] == why["retrieved"]
    own = [json.loads(topic) for topic in topics]
    assert [[of["prefix"] + name for name in of["documents"]] for of in own] == why["documents"] == [[EVIL]]


def test_nothing_in_the_data_is_markup(found):
    page = found.html()
    assert "alert(1)</" not in page
    assert len(re.findall("<script", page)) == len(re.findall("</script>", page)) == 5


@pytest.mark.parametrize("value", [EVIL, "<!--", "&lt;", "{{style}}", "a\u2028b", "\udc80"])
def test_texts_come_back_as_they_were(value):
    text = as_text({value: [value]})
    assert text.isascii()
    assert not set(text) & set("<>&")
    assert json.loads(text) == {value: [value]}


def test_names_like_places_in_the_page_are_left_alone():
    page = shell("report", {"name": "{{style}}"}, ("shell.js",))
    assert json.loads(part(page, "contents")) == {"name": "{{style}}"}


def test_numbers_that_json_lacks():
    assert as_text({"a": [float("nan"), float("inf"), 0.5, True]}) == '{"a":[null,null,0.5,true]}'


def test_only_these_scripts_may_run(found):
    page = found.html()
    scripts = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert len(hashes) == 2
    assert policy.endswith("script-src " + " ".join(f"'sha256-{each}'" for each in hashes))
    assert "\r" not in page  # a browser would change it, and with it the hash


def test_no_address_outside(found):
    page = found.html()
    assert re.findall(r'<[^>]+(?:src|href)="(?!#|data:)[^"]*"', page[: page.index('type="module"')]) == []
    assert "@import" not in page
    assert "url(" not in page[: page.index("</style>")]


def test_save(found, tmp_path):
    path = tmp_path / "page.html"
    found.save(path)
    assert path.read_text(encoding="utf-8") == found.html(path)
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("page.txt", "{}/page.txt: expected a name that ends in .html"),
        ("no/page.html", "{}/no/page.html: expected a folder that exists, got '{}/no'"),
        ("folder.html", "{}/folder.html: expected the name of a file, got a folder"),
    ],
)
def test_bad_targets(found, tmp_path, name, message):
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(gf.DataError) as error:
        found.save(tmp_path / name)
    assert str(error.value) == message.replace("{}", str(tmp_path))


def test_the_command_names_the_file(tmp_path):
    gf.write_qrels({"1": {"a": 1}}, tmp_path / "q.txt")
    gf.write_run({"1": ["a"]}, tmp_path / "r.txt")
    found = gf.report(str(tmp_path / "q.txt"), str(tmp_path / "r.txt"), "AP")
    assert found.contents["command"] == f"gainful report {tmp_path}/q.txt {tmp_path}/r.txt -m AP --seed 0"
    told = json.loads(part(found.html("my page.html"), "contents"))
    assert told["command"] == (f"gainful report -o 'my page.html' {tmp_path}/q.txt {tmp_path}/r.txt -m AP --seed 0")


def test_settings(found):
    assert str(found.settings) == (
        "report: 1 run, 1 topic, 2 judgments; nDCG@3; test=t correction=holm confidence=0.95 alpha=0.05 cutoff=20 "
        "resamples=1000 trials=5 seed=0 gaps=error ties=trec unjudged=zero missing=empty degenerate=zero "
        "duplicates=error"
    )


def test_vega_is_bundled_once(monkeypatch, tmp_path):
    """It is kept; a cache that cannot be written is no failure."""
    bundled = bundles(monkeypatch)
    (tmp_path / "file").write_text("")
    for folder, times in ((tmp_path / "cache", 1), (tmp_path / "cache", 1), (tmp_path / "file", 2)):
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
        page.vega.cache_clear()
        assert page.vega() == "a<\\/script>\r\nb"
        assert len(bundled) == times
    page.vega.cache_clear()


@pytest.mark.parametrize("damaged", [b"", b"a<", b"\xff", b"alert(1)\nalert(1)", None])
def test_a_damaged_copy_of_vega_is_replaced(monkeypatch, tmp_path, damaged):
    """None: cut short."""
    bundled = bundles(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for times in (1, 2):
        page.vega.cache_clear()
        assert page.vega() == "a<\\/script>\r\nb"
        assert len(bundled) == times
        (kept,) = (tmp_path / "gainful").iterdir()
        kept.write_bytes(kept.read_bytes()[:-1] if damaged is None else damaged)
    page.vega.cache_clear()


def test_without_a_home_nothing_is_kept(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    bundled = bundles(monkeypatch)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(page.Path, "home", homeless)
    page.vega.cache_clear()
    assert page.vega() == "a<\\/script>\r\nb"
    assert bundled == [1]
    page.vega.cache_clear()


def bundles(monkeypatch) -> list[int]:
    """One entry per time that Vega is bundled."""
    import vl_convert

    bundled: list[int] = []
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda _: bundled.append(1) or "a</script>\r\nb")
    return bundled


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_missing_packages_are_named_before_any_work(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(gf.GainfulError) as error:
        gf.report("no such file", "none either")
    assert str(error.value) == "a report needs packages that are not installed: pip install '.[plots]' in a clone"


@pytest.mark.slow
def test_sixty_runs_on_fifty_topics_fit():
    """A page that is mailed around: less than 6 MB, of which Vega is one."""
    made = gf.simulate(topics=50, systems=60, depth=100)
    found = gf.report(made.qrels, made.runs, ["nDCG@20", "nDCGf@20", "AP", "P@10"], resamples=20, trials=2)
    assert len(found.contents["why"]["rankings"]) == 3000
    assert len(found.html()) < 6_000_000


def test_every_script_is_used():
    there = {path.name for path in files("gainful.pages").iterdir() if path.name.endswith(".js")}
    assert there == {*SCRIPTS, "study.js"}


def test_scores_are_packed_where_they_fit():
    """1/2 as 50,000,000 of 1e-8, the least number of 32 bits for no score; the means of topics come last."""
    qrels = {"1": {"a": 1, "b": 1}, "2": {"c": 1}}
    runs = {"x": {"1": ["a"], "2": ["c"]}, "y": {"1": ["u"]}}
    found = gf.report(qrels, runs, ["R@1", "NumRet"], missing="skip", gaps="drop")
    found.contents["scores"]["NumRet"]["values"][0][0] = 30.0
    of = json.loads(part(found.html(), "contents"))["scores"]
    packed = base64.b64decode(of["R@1"]["packed"])
    assert struct.unpack("<6i", packed) == (50_000_000, 100_000_000, 0, -(2**31), 25_000_000, 100_000_000)
    assert of["R@1"]["per_unit"] == 1e8
    assert of["NumRet"]["values"][0][0] == 30.0


def test_pairs_of_many_runs_are_packed():
    """Two pairs by hand: p to four digits, in the corrected one the side of alpha and who is better."""
    of = {name: [0, 0] for name in ("first", "second", "difference", "effect", "wins", "ties", "losses")}
    of |= {"mean": [0.5, 0.25, 0.1], "difference_low": [-0.5, None], "difference_high": [0.25, None]}
    of |= {"p": [0.01234, 1e-9], "p_corrected": [0.04999999, 0.05], "direction": [-1, 1]}
    rest, data = page.packed_pairs({"correction": "holm", "measures": {"AP": of, "RR": of}}, 0.05)
    assert rest == {"correction": "holm", "measures": {name: {"mean": of["mean"], "pairs": 2} for name in ("AP", "RR")}}
    floats, whole = struct.unpack("<4f", data[:16]), struct.unpack("<4H", data[16:24])
    assert floats[0::2] == (-0.5, 0.25)
    assert all(math.isnan(value) for value in floats[1::2])
    assert whole == (123, 0, 500 + 2**15 + 2**14, 500)
    assert data[24:] == data[:24]


def test_pairs_are_packed_as_far_as_there_is_room(monkeypatch):
    monkeypatch.setattr(page, "MOST_PAIRS", 3)
    names = ("difference_low", "difference_high", "p", "p_corrected", "direction")
    of = {name: [0.0, 0.0] for name in names}
    rest, data = page.packed_pairs({"measures": {"AP": of, "RR": of}}, 0.05)
    assert [one["pairs"] for one in rest["measures"].values()] == [2, 0]
    assert len(data) == 24
