"""A threshold in a file, and a run cut there."""

from __future__ import annotations

import math

import polars as pl
import pytest

import gainful as gf
from gainful.errors import DataError, GainfulError

QRELS = {"1": {"a": 1, "b": -2}, "2": {"c": -2, "d": 2}, "3": {"e": 1, "f": 0}}
RUN = {"1": {"a": 0.9, "b": 0.3}, "2": {"d": 0.8, "c": 0.4}, "3": {"e": 0.5, "f": 0.1}}


class TestSaved:
    def test_there_and_back(self, tmp_path):
        for qrels, run in ((QRELS, RUN), (QRELS, {"1": {"a": 1.0}}), ({"1": {"a": -1}}, {"1": {"a": 1.0}})):
            cut = gf.threshold.fit(qrels, run, resamples=5)
            cut.save(tmp_path / "cut.json")
            assert gf.threshold.apply(run, tmp_path / "cut.json").frame.equals(gf.threshold.apply(run, cut).frame)

    def test_the_filter_run_goes_with_the_cut(self, tmp_path):
        gf.threshold.fit(QRELS, RUN, filter_run=RUN, resamples=5).save(tmp_path / "two.json")
        assert len(gf.threshold.apply(RUN, tmp_path / "two.json", filter_run=RUN)) == 3
        message = "the threshold is for the scores of filter run 'run': give a filter run here, too"
        with pytest.raises(GainfulError, match=f"^{message}$"):
            gf.threshold.apply(RUN, tmp_path / "two.json")
        with pytest.raises(
            GainfulError, match=r"^the threshold is for the scores of the run itself: give no filter run$"
        ):
            gf.threshold.apply(RUN, gf.threshold.fit(QRELS, RUN, resamples=5), filter_run=RUN)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{", "expected JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
            (" " * 1_000_001, "expected a threshold of at most 1000000 bytes"),
            (
                '{"kind": "gainful threshold", "threshold": 1' + "0" * 400 + "}",
                f"expected a number, 'inf' or '-inf' as threshold, got 1{'0' * 58}…",
            ),
            ("[]", "expected a threshold as 'gainful threshold fit --save' writes it, got other JSON"),
            ('{"threshold": 1}', "expected a threshold as 'gainful threshold fit --save' writes it, got other JSON"),
            ('{"kind": "gainful threshold"}', "expected a number, 'inf' or '-inf' as threshold, got null"),
            (
                '{"kind": "gainful threshold", "threshold": true}',
                "expected a number, 'inf' or '-inf' as threshold, got true",
            ),
            (
                '{"kind": "gainful threshold", "threshold": NaN}',
                "expected a number, 'inf' or '-inf' as threshold, got NaN",
            ),
            (
                '{"kind": "gainful threshold", "threshold": 1, "filter_run": 2}',
                "expected a name or null as filter_run, got 2",
            ),
            (
                '{"kind": "gainful threshold", "threshold": 1, "settings": {"policies": {"duplicates": "all"}}}',
                'expected error or first as duplicates of its policies, got "all"',
            ),
        ],
    )
    def test_other_files(self, content, message, tmp_path):
        path = tmp_path / "cut.json"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataError) as refused:
            gf.threshold.apply(RUN, path)
        assert str(refused.value) == f"{path}: {message}"

    def test_no_file(self, tmp_path):
        with pytest.raises(DataError, match=r"none.json: no such file$"):
            gf.threshold.apply(RUN, str(tmp_path / "none.json"))
        with pytest.raises(DataError, match=r": expected a file$"):
            gf.threshold.apply(RUN, tmp_path)


class TestApply:
    def test_at_least(self):
        assert gf.threshold.apply(RUN, threshold=0.4).frame["doc_id"].to_list() == ["a", "d", "c", "e"]
        assert len(gf.threshold.apply(RUN, threshold=math.inf)) == 0
        assert len(gf.threshold.apply(RUN, threshold=-math.inf)) == 6

    def test_duplicates_as_when_the_cut_was_found(self, tmp_path):
        # a comes again with a lower score: fitted without it, so it must not come back when the cut is applied.
        rows = [("1", "a", 0.9), ("1", "b", 0.3), ("1", "a", 0.8), ("2", "c", 0.5)]
        run = gf.Run(pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row"))
        qrels = {"1": {"a": 1, "b": -2}, "2": {"c": 1}}
        cut = gf.threshold.fit(qrels, run, duplicates="first", resamples=5)
        cut.save(tmp_path / "cut.json")
        for given in (cut, tmp_path / "cut.json"):
            kept = gf.threshold.apply(run, given)
            assert kept.frame.rows() == [("1", "a", 0.9), ("2", "c", 0.5)]
            assert len(kept) == cut.curve.kept[cut.number]
        message = (
            r"run 'run': document 'a' appears twice in topic '1': remove one, or use duplicates='first' to keep "
            r"the first\."
        )
        with pytest.raises(DataError, match=f"^{message}$"):
            gf.threshold.apply(run, threshold=0.4)
        with pytest.raises(DataError, match=f"^{message}$"):
            gf.threshold.apply(run, cut, duplicates="error")
        assert len(gf.threshold.apply(run, threshold=0.4, duplicates="first")) == 2

    @pytest.mark.parametrize(
        ("given", "settings", "message"),
        [
            ((), {}, "expected either cut or threshold, got neither"),
            (("x.json",), {"threshold": 1.0}, "expected either cut or threshold, got both"),
            ((), {"threshold": math.nan}, "threshold: expected a number, got nan"),
            ((), {"threshold": 1.0, "duplicates": "all"}, "duplicates: expected one of error, first, got 'all'."),
            ((0.5,), {}, "cut: expected what threshold.fit returned, or its file, got float"),
        ],
    )
    def test_refused(self, given, settings, message):
        with pytest.raises(GainfulError, match=f"^{message}$"):
            gf.threshold.apply(RUN, *given, **settings)
