"""Every command's help ends with an example, and the examples run."""

from __future__ import annotations

import shlex
import shutil

import pytest

import planted
from gainful.cli.commands import COMMANDS

# What makes an example cheap without changing what it shows.
CHEAPER = {
    "optimize": "--splits 1 --starts 1",
    "ltrf compare": "--rounds 5",
    "ltrf train": "--rounds 5",
    "ltrf tune": "--rounds 5",
    "report": "--resamples 100 --trials 1",
    "study gain-discount": "--splits 1 --starts 1",
}
CHEAPER |= {"study gain-discount": "--splits 0 --starts 1 --gain-cutoffs 10"}
# Those of their own tests: the one follows the whole tour, the other needs packages besides.
ELSEWHERE = {"demo", "ltrf export"}


def test_every_command_has_one():
    assert [name for name, one in COMMANDS.items() if not one.example.startswith(f"gainful {name}")] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_it(name, gainful):
    """On one line of a terminal of 80 columns, so that it can be copied."""
    _, out, _ = gainful(*name.split(), "--help")
    assert out.splitlines()[-2:] == ["", f"Example: {COMMANDS[name].example}"]


def test_they_run(gainful, tmp_path, monkeypatch):
    """In the order of the table, in one folder: one may use what another has written."""
    monkeypatch.chdir(tmp_path)
    made = gainful(*shlex.split("simulate collection --topics 12 --systems 6 --contributors 4 --depth 60 --seed 3"))
    assert made.status == 0
    monkeypatch.chdir(tmp_path / "collection")
    (tmp_path / "collection/runs/team01-1.txt").rename("runs/bm25.txt")
    shutil.copy("qrels.txt", "llm.txt")
    planted.planted_features(60, 1).write_csv("answers.csv")
    planted.planted_features(20, 2).drop("label").write_csv("new.csv")
    for name, line in ((name, one.example) for name, one in COMMANDS.items()):
        if name not in ELSEWHERE:
            status, out, err = gainful(*shlex.split(f"{line} {CHEAPER.get(name, '')}")[1:])
            assert status == 0, f"{line}\n{err}"
            assert out or "-o" in line or name == "simulate", line
