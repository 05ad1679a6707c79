"""Preferences and groups of assessors, as trec_eval documents and computes them."""

from __future__ import annotations

import pytest

from gainful.compat.trec_eval import trec_eval
from gainful.errors import DataError

# Examples from the description of the format, with their numbers of preferences; in PARTS it forgets that 4 > 1 > 3.
RANKED = "a s 1 3\na s 2 2\na s 3 0\na s 4 6\na s 5 0\na s 6 2"
PARTS = "a s 1 3\na s 2 2\na s 3 1\na t 1 2\na t 2 1\na t 4 3"
USERS = "a s 1 3\na s 2 2\nb s 1 0\nb s 3 6\nb s 4 2\nb t 1 0\nb t 2 8"
TRANSITIVE = "a s 1 3\na s 2 2\na s 3 1\na t 2 5\na t 4 4"


@pytest.fixture
def evaluated(tmp_path):
    def evaluate(lines: str, ranking: list[str], measures="all_prefs", format="prefs", **options) -> dict[str, float]:
        (tmp_path / "judgments").write_text("".join(f"q {line}\n" for line in lines.split("\n")))
        run = ranking if isinstance(ranking, dict) else {"q": ranking}
        return dict(trec_eval(tmp_path / "judgments", run, measures, format=format, **options).summary)

    return evaluate


@pytest.mark.parametrize(("lines", "number"), {RANKED: 13, PARTS: 6, USERS: 5, TRANSITIVE: 5}.items())
def test_number_of_preferences(lines, number, evaluated):
    assert evaluated(lines, ["1"])["prefs_num_prefs_poss"] == number


def test_what_is_returned_and_what_is_not(evaluated):
    """4 > 3 and 1 > 3 hold, 4 > 1 does not; six more hold since the other one is missing, {2, 6} > 3 do not."""
    found = evaluated(RANKED, ["x", "1", "4", "y", "3"])
    assert found["prefs_num_prefs_ful"] == 8
    assert found["prefs_num_prefs_ful_ret"] == 2
    assert found["prefs_simp"] == found["prefs_pair"] == found["prefs_avgjg"] == 8 / 13
    assert found["prefs_simp_ret"] == found["prefs_pair_ret"] == found["prefs_avgjg_ret"] == 2 / 3
    assert found["prefs_simp_imp"] == found["prefs_pair_imp"] == found["prefs_avgjg_imp"] == 8 / 11
    # As if there were 4 - 2 more that are not relevant, below the two returned ones of the four relevant ones.
    assert found["prefs_avgjg_Rnonrel"] == (8 + 2 * 2) / (13 + 4 * 2)
    assert found["prefs_avgjg_Rnonrel_ret"] == (2 + 2 * 1) / (3 + 4 * 1)


def test_users_who_differ(evaluated):
    """1 > 2 of the one and 3 > 4 of the other hold; about 1 and 2 they differ."""
    found = evaluated(USERS, ["1", "2", "3", "4"])
    assert found["prefs_simp"] == 2 / 5
    assert found["prefs_avgjg"] == (1 / 1 + 1 / 4) / 2
    assert found["prefs_pair"] == pytest.approx((1 / 2 + 0 + 0 + 1) / 4)


def test_equal_scores_and_depth(evaluated):
    """Of equal scores the lesser name comes first here; what is cut off is not returned."""
    tied = {"q": {"4": 1.0, "1": 1.0}}
    assert evaluated(RANKED, tied)["prefs_num_prefs_ful_ret"] == 0
    assert evaluated("a s 1 9\na s 4 6", tied)["prefs_num_prefs_ful_ret"] == 1
    assert evaluated("a s 1 9\na s 4 6", tied, depth=1)["prefs_num_prefs_ful_ret"] == 0


def test_qrels_as_preferences(evaluated):
    found = evaluated("0 1 2\n0 2 1\n0 3 0", ["2", "1", "3"], format="qrels_prefs")
    assert found["prefs_simp"] == 2 / 3


def test_means_over_groups(evaluated):
    """The relevant document is first for one assessor and second for the other, whose first one was not judged."""
    lines = "a 1 1\na 2 0\nb 2 1\nb 3 -1"
    asked = ["map_avgjg", "P_avgjg.1", "Rprec_mult_avgjg.1"]
    assert evaluated(lines, ["1", "2", "3"], asked, "qrels_jg") == {
        "map_avgjg": (1 + 1 / 2) / 2,
        "P_avgjg_1": (1 + 0) / 2,
        "Rprec_mult_avgjg_1.00": (1 + 0) / 2,
    }
    assert evaluated(lines, ["1", "2", "3"], asked, "qrels_jg", judged_only=True)["map_avgjg"] == 1.0


@pytest.mark.parametrize(
    ("lines", "format", "message"),
    [
        ("a s 1 3\na s 2 2\na t 2 3\na t 1 2", "prefs", "topic 'q', group 'a': a document is preferred to itself"),
        ("a s 1 3\na s 2 2\na t 1 0", "prefs", "topic 'q', group 'a': a document has level 0 and another level"),
        ("a s 1 3\na s 1 2", "prefs", "document '1' is judged twice for topic 'q' in group 'a'"),
        ("a 1 3\na 1 3", "qrels_jg", "document '1' is judged twice for topic 'q' in group 'a'"),
        ("a 1 -1", "qrels_prefs", "expected levels of at least 0 in preferences, got -1 for document '1' of topic 'q'"),
        ("a 1 1", "prefs", ":1: expected 5 fields (topic group part doc level), got 4: 'q a 1 1'"),
        ("# nothing", "prefs", "expected 5 fields"),
    ],
)
def test_what_is_refused(lines, format, message, evaluated):
    with pytest.raises(DataError) as caught:
        evaluated(lines, ["1"], "qrels_jg" if format == "qrels_jg" else "prefs", format)
    assert message in str(caught.value)
    assert "qrels come before runs" not in str(caught.value)


def test_only_files():
    with pytest.raises(DataError, match="prefs: expected a file, got dict"):
        trec_eval({"q": {"a": 1}}, {"q": ["a"]}, "prefs", format="prefs")
