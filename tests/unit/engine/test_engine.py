"""Where it runs, as far as it takes no cluster."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import gainful as gf
from gainful.data.policies import Policies
from gainful.data.pool import Judged
from gainful.engine import open_engine
from gainful.engine.scoring import Job, batches, score_entries
from gainful.errors import DataError, GainfulError, MissingExtraError
from gainful.io.read import Entry, entries_of
from gainful.measures import parse_measures
from gainful.progress import tracked_by
from gainful.stats import resample

SCORES = np.random.default_rng(4).random((6, 20)).round(3)


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"workers": 0}, "workers: expected a whole number of at least 1, got 0"),
            ({"workers": True}, "workers: expected a whole number of at least 1, got True"),
            ({"workers": 1.5}, "workers: expected a whole number of at least 1, got 1.5"),
            (
                {"address": "tcp://1", "workers": 2},
                "workers: expected no number with a scheduler, which has workers already, got 2",
            ),
        ],
    )
    def test_refused(self, settings, message):
        with pytest.raises(GainfulError) as caught:
            gf.Dask(**settings)
        assert str(caught.value) == message

    @pytest.mark.parametrize("function", [gf.stability, gf.sensitivity, gf.compare])
    def test_no_engine(self, function):
        with pytest.raises(GainfulError) as caught:
            function(SCORES, engine="spark")
        assert str(caught.value) == "engine: expected 'local' or Dask(…), got 'spark'"

    def test_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "distributed", None)
        with pytest.raises(MissingExtraError) as caught:
            gf.stability(SCORES, engine=gf.Dask())
        message = "engine='dask' needs packages that are not installed: pip install '.[dask]' in a clone"
        assert str(caught.value) == message


class TestLocal:
    def test_in_order_with_progress(self):
        seen = []

        def tracker(steps, total, label):
            seen.append((total, label))
            return steps

        with open_engine("local") as work, tracked_by(tracker):
            assert list(work.map(pow, [3, 1, 2], shared=2, total=3, label="Powers")) == [8, 2, 4]
        assert seen == [(3, "Powers")]

    def test_one_after_another(self):
        """Nothing is drawn before it is needed, or random numbers would depend on who works."""
        drawn = []

        def items():
            for n in range(5):
                drawn.append(n)
                yield n

        with open_engine("local") as work:
            results = work.map(pow, items(), shared=2, total=5, label="Powers")
            assert (next(results), drawn) == (1, [0])


class TestRuns:
    def test_runs_of_one_name_that_are_read_together(self):
        job = Job(
            judged=Judged(gf.read_qrels({"1": {"a": 1}}), "error"),
            measures=tuple(parse_measures("AP")),
            policies=Policies(),
        )
        run = gf.read_run({"1": ["a"]}, name="same")
        with pytest.raises(DataError) as caught:
            score_entries(job, entries_of([run, run]))
        assert str(caught.value) == "two runs are called 'same'; rename one"

    @pytest.mark.parametrize("number", [1, 2, 3, 7])
    def test_batches_are_all_there_is_in_order(self, number):
        entries = [Entry({}, None, f"{n}", "run") for n in range(7)]
        found = batches(entries, number)
        assert len(found) == number
        assert [entry for batch in found for entry in batch] == entries

    def test_batches_are_even_on_disk(self, tmp_path):
        for name, size in {"a": 90, "b": 10, "c": 40, "d": 60}.items():
            (tmp_path / name).write_bytes(b"1 Q0 a 1".ljust(size))
        found = batches(entries_of(tmp_path), 2)
        assert [[str(entry)[-1] for entry in batch] for batch in found] == [["a", "b"], ["c", "d"]]


ANALYSES = {
    "bootstrap": lambda: gf.compare(SCORES, test="bootstrap", resamples=500).contrasts[0].p,
    "randomisation": lambda: gf.compare(SCORES, test="randomisation", resamples=500).contrasts[0].p,
    "tukey": lambda: gf.compare(SCORES, test="tukey", resamples=500).contrasts[0].p,
    "bca": lambda: gf.compare(SCORES, interval="bca", resamples=500).contrasts[0].difference_low,
    "studentized": lambda: gf.sensitivity(SCORES, resamples=500).tests[0].asl,
    "stability": lambda: np.array(gf.stability(SCORES).curves[0].error),
}


@pytest.mark.parametrize("name", ANALYSES)
@pytest.mark.parametrize("block", [64, 1000, 1 << 14])
def test_size_of_blocks_changes_nothing(name, block, monkeypatch):
    usual = ANALYSES[name]()
    for module in ("gainful.stats.resample", "gainful.stats.intervals", "gainful.analyses.stability.compute"):
        monkeypatch.setattr(sys.modules[module], "BLOCK", block)
    assert ANALYSES[name]().tobytes() == usual.tobytes()


THREADS = """
import hashlib, numpy as np, gainful as gf
made = gf.simulate(topics=45, systems=60, depth=30, seed=1)
scores = gf.evaluate(made.qrels, made.runs, ["nDCG@10", "AP"])
found = gf.agreement(scores, resamples=300).to_frame().write_csv()
found += gf.stability(scores, draws=50).to_frame().write_csv()
found += gf.compare(scores, interval="bca", test="bootstrap", resamples=400).to_frame().write_csv()
found += gf.sensitivity(scores, resamples=400).to_frame().write_csv()
print(hashlib.sha256(scores.values.tobytes() + found.encode()).hexdigest())
"""


@pytest.mark.slow
def test_number_of_threads_changes_nothing():
    """That of BLAS did: the same product differs in its last bits."""
    found = set()
    for number in ("1", "2", "3"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, number)}
        done = subprocess.run(
            [sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1


def test_draws_are_the_same_in_any_blocks():
    rng, other = resample.generator(7), resample.generator(7)
    whole = resample.bootstrap_draws(rng, 90, 300)
    parts = [resample.bootstrap_draws(other, size, 300) for size in (1, 50, 39)]
    assert whole.dtype == np.uint16
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    counts = resample.counts_of(whole)
    assert counts.tolist() == [np.bincount(row, minlength=300).tolist() for row in whole]
