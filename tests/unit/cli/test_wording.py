"""Messages of the library, said to those who type commands."""

from __future__ import annotations

import pytest

from gainful.cli.wording import in_options


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            "4 topics to be split into halves (splits=0 does without)",
            "4 topics to be split into halves (--splits 0 does without)",
        ),
        ("r.csv: expected one run, got 2 ('a', 'b'); use read_runs", "r.csv: expected one run, got 2 ('a', 'b')"),
        ("use ties='trec' or ties='order'.", "use --ties trec or --ties order."),
        # Parameters of a measure are written so on the command line, too; and a longer name is another name.
        ("such as (rel=2, gain='exp')", "such as (rel=2, gain='exp')"),
        ("noties='trec'", "noties='trec'"),
    ],
)
def test_settings_are_options(message, shown):
    assert in_options(message) == shown
