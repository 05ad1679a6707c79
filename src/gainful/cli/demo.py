"""`gainful demo`."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gainful.errors import MissingExtraError
from gainful.io.atomic import refuse_if_occupied

if TYPE_CHECKING:
    from gainful.data.scores import Scores

_MEASURES = ("nDCG@20", "nDCGf@20", "nDCGmin@20", "Forbidden@20", "AP", "Judged@20")
_REPORTED = ("nDCG@20", "nDCGf@20", "AP", "Forbidden@20")
_SETTINGS = {"topics": 50, "systems": 12, "contributors": 8, "depth": 100, "seed": 7}
_WIDTH = 90


def demo(folder: Path = Path("demo"), /) -> None:
    """Take the five-minute tour on a simulated collection.

    Parameters
    ----------
    folder
        Where the collection goes. One that an earlier tour left there is used again.
    """
    import numpy as np

    from gainful.verbs.evaluate import evaluate

    qrels, runs = folder / "qrels.txt", folder / "runs"
    _say(
        "A test collection: judgments and the runs of twelve systems, made up but built like a TREC Web Track. Labels "
        "go from -2 (spam: must not be shown) over 0 (not relevant) to 4."
    )
    if _is_ours(folder):
        _say(f"({folder} has it already, from an earlier tour.)")
    else:
        refuse_if_occupied(folder)
        settings = [word for name, value in _SETTINGS.items() for word in (f"--{name}", str(value))]
        _run("simulate", str(folder), *settings)

    _say(
        "Score all runs under six measures. nDCG is blind to spam (a negative label counts as 0), nDCGf is not, and "
        "Forbidden is the share of spam among the documents shown."
    )
    _run("evaluate", str(qrels), str(runs), *(word for name in _MEASURES for word in ("-m", name)))
    scores = evaluate(qrels, runs, (*_MEASURES, "nDCGf@10", "Forbidden@10"))
    winner, rival = _winner(scores, "nDCG@20"), _winner(scores, "nDCGf@20")
    _say(_verdict(scores, winner, rival))
    if np.allclose(scores["nDCGf@20"].values, scores["nDCGmin@20"].values):
        _say("(nDCGmin is nDCGf wherever the pool has documents of label 0 enough to fill the list, as it has here.)")

    topic = _telling_topic(scores, winner)
    _say(
        f"What spam costs: topic {topic}, where {winner} shows most of it. Every rank down to the tenth, and the "
        "documents on which it lost most:"
    )
    _run("explain", str(qrels), str(runs / f"{winner}.txt"), "--topic", topic, "-m", "nDCGf@10")

    page = folder / "report.html"
    _say(
        "Everything about these runs on one page: who wins, whether that is real, every topic explained, how far to "
        "trust it. It needs no network, and can be sent as it is."
    )
    try:
        _run("report", str(qrels), str(runs), *(word for name in _REPORTED for word in ("-m", name)), "-o", str(page))
        _say(f"Open {page} in a browser.")
    except MissingExtraError as error:
        _say(f"Not now: {error}")

    _say("What to try next:")
    print()
    collection = shlex.join([str(qrels), str(runs)])
    for command, why in (
        (f"gainful evaluate {collection} -m nDCG@20 --per-topic --format csv", "every topic, for a spreadsheet"),
        (f"gainful evaluate {collection} -m nDCG@20 --format latex", "the table for your paper"),
        (f"gainful explain {shlex.join([str(qrels), str(runs / f'{winner}.txt')])}", "which topics are worst"),
        ("gainful measures", "all measures; 'gainful measures nDCG' describes one"),
        ("gainful evaluate --help", "what happens to ties, unjudged documents and missing topics"),
    ):
        print(f"  {command}\n      {why}")


def _say(text: str) -> None:
    print("\n" + textwrap.fill(text, _WIDTH), flush=True)


def _run(*words: str) -> None:
    """Show a command as one would type it, and run it."""
    from gainful.cli.app import app, register  # not above: it imports the commands

    line = "$ gainful"
    for word in _groups(words):
        if len(line) - line.rfind("\n") + len(word) > _WIDTH:
            line += " \\\n   "
        line += " " + word
    print(f"\n{line}\n", flush=True)
    register(words[0])
    app(words)


def _groups(words: Sequence[str]) -> list[str]:
    """The words as one would type them, an option together with its value."""
    groups: list[list[str]] = []
    for word in words:
        if groups and groups[-1][0].startswith("-") and len(groups[-1]) == 1:
            groups[-1].append(word)
        else:
            groups.append([word])
    return [shlex.join(group) for group in groups]


def _is_ours(folder: Path) -> bool:
    """Whether the folder holds the collection that this tour would make."""
    try:
        made = json.loads((folder / "collection.json").read_text(encoding="utf-8"))["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return all(made.get(name) == value for name, value in _SETTINGS.items())


def _winner(scores: Scores, measure: str) -> str:
    at = scores.measures.index(measure)
    return scores.systems[int(scores.summary()[at].argmax())]


def _verdict(scores: Scores, winner: str, rival: str) -> str:
    mean = {row["run"]: row for row in scores.mean().iter_rows(named=True)}
    spam = f"Of the documents that {winner} shows, {mean[winner]['Forbidden@20']:.1%} are spam"
    if winner == rival:
        return f"{winner} wins under nDCG and under nDCGf. {spam}."
    return (
        f"The measure decides who wins: {winner} under nDCG, {rival} under nDCGf. {spam}; of those that {rival} "
        f"shows, {mean[rival]['Forbidden@20']:.1%}."
    )


def _telling_topic(scores: Scores, run: str) -> str:
    """The topic with the most spam among the first ten; of several, the one with the lowest score."""
    at = scores.systems.index(run)
    cells = zip(
        -scores["Forbidden@10"].values[at], scores["nDCGf@10"].values[at], range(len(scores.topics)), strict=True
    )
    return scores.topics[min(cells)[2]]
