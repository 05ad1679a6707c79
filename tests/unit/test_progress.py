"""Progress is told to whoever asked, and to nobody else."""

from __future__ import annotations

import io

from gainful.cli.call import bars
from gainful.progress import track, tracked_by


def test_unseen_by_default():
    assert list(track([1, 2], 2, "Working")) == [1, 2]


def test_told_while_asked_for():
    told = []

    def tracker(steps, total, label):
        for step in steps:
            told.append((step, total, label))
            yield step

    with tracked_by(tracker):
        assert list(track(["a", "b"], 2, "Working")) == ["a", "b"]
    assert list(track(["c"], 1, "Later")) == ["c"]
    assert told == [("a", 2, "Working"), ("b", 2, "Working")]


def test_bars_show_the_outer_work_alone(monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    with bars():
        seen = [(i, j) for i in track(range(2), 2, "Outer") for j in track(range(2), 2, "Inner")]
    assert seen == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert "Outer" in terminal.getvalue()
    assert "Inner" not in terminal.getvalue()


def test_no_bar_without_a_terminal(capsys):
    with bars():
        assert list(track(range(3), 3, "Working")) == [0, 1, 2]
    assert capsys.readouterr().err == ""
