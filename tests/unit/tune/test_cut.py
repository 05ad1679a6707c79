"""A threshold in a file, and a run cut there."""

from __future__ import annotations

import math

import pytest

from gainful.errors import DataError, GainfulError
from gainful.tune.cut import apply_threshold
from gainful.tune.threshold import fit_threshold

QRELS = {"1": {"a": 1, "b": -2}, "2": {"c": -2, "d": 2}, "3": {"e": 1, "f": 0}}
RUN = {"1": {"a": 0.9, "b": 0.3}, "2": {"d": 0.8, "c": 0.4}, "3": {"e": 0.5, "f": 0.1}}


class TestSaved:
    def test_there_and_back(self, tmp_path):
        for qrels, run in ((QRELS, RUN), (QRELS, {"1": {"a": 1.0}}), ({"1": {"a": -1}}, {"1": {"a": 1.0}})):
            cut = fit_threshold(qrels, run, resamples=5)
            cut.save(tmp_path / "cut.json")
            assert apply_threshold(run, tmp_path / "cut.json").frame.equals(apply_threshold(run, cut).frame)

    def test_the_filter_run_goes_with_the_cut(self, tmp_path):
        fit_threshold(QRELS, RUN, filter_run=RUN, resamples=5).save(tmp_path / "two.json")
        assert len(apply_threshold(RUN, tmp_path / "two.json", filter_run=RUN)) == 3
        message = "the cut is on the scores of filter run 'run': give a filter run here, too"
        with pytest.raises(GainfulError, match=f"^{message}$"):
            apply_threshold(RUN, tmp_path / "two.json")
        with pytest.raises(GainfulError, match=r"^the cut is on the scores of the run itself: give no filter run$"):
            apply_threshold(RUN, fit_threshold(QRELS, RUN, resamples=5), filter_run=RUN)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{", "expected a cut as 'gainful threshold fit --save' writes it, got no JSON"),
            ("[]", "expected a cut as 'gainful threshold fit --save' writes it, got other JSON"),
            ('{"threshold": 1}', "expected a cut as 'gainful threshold fit --save' writes it, got other JSON"),
            ('{"kind": "gainful threshold"}', "expected a number, 'inf' or '-inf' as threshold, got None"),
            (
                '{"kind": "gainful threshold", "threshold": true}',
                "expected a number, 'inf' or '-inf' as threshold, got True",
            ),
            (
                '{"kind": "gainful threshold", "threshold": NaN}',
                "expected a number, 'inf' or '-inf' as threshold, got nan",
            ),
            (
                '{"kind": "gainful threshold", "threshold": 1, "filter_run": 2}',
                "expected a name or null as filter_run, got 2",
            ),
        ],
    )
    def test_other_files(self, content, message, tmp_path):
        path = tmp_path / "cut.json"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataError) as refused:
            apply_threshold(RUN, path)
        assert str(refused.value) == f"{path}: {message}"

    def test_no_file(self, tmp_path):
        with pytest.raises(DataError, match=r"none.json: cannot be read: No such file or directory"):
            apply_threshold(RUN, str(tmp_path / "none.json"))


class TestApply:
    def test_at_least(self):
        assert apply_threshold(RUN, threshold=0.4).frame["doc_id"].to_list() == ["a", "d", "c", "e"]
        assert len(apply_threshold(RUN, threshold=math.inf)) == 0
        assert len(apply_threshold(RUN, threshold=-math.inf)) == 6

    @pytest.mark.parametrize(
        ("given", "settings", "message"),
        [
            ((), {}, "expected either a cut or a threshold, got neither"),
            (("x.json",), {"threshold": 1.0}, "expected either a cut or a threshold, got both"),
            ((), {"threshold": math.nan}, "threshold: expected a number, got nan"),
            ((0.5,), {}, "cut: expected what fit_threshold found, or its file, got float"),
        ],
    )
    def test_refused(self, given, settings, message):
        with pytest.raises(GainfulError, match=f"^{message}$"):
            apply_threshold(RUN, *given, **settings)
