"""What some commands do beside calling their function and printing its result, command by command."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from gainful.cli.call import Call, left_out
from gainful.cli.collections import named_collections
from gainful.cli.output import (
    as_csv,
    as_json,
    check_targets,
    chosen_format,
    emit,
    note,
    on_terminal,
    printed,
    table_text,
)
from gainful.cli.texts import with_groups, with_movers, with_table
from gainful.errors import DataError, GainfulError
from gainful.results import plural

if TYPE_CHECKING:
    from gainful.tables import Table

# The exit status that says: a run is worse.
WORSE = 3
# Topics that `explain` lists.
_MOST_TOPICS = 20


def evaluate(
    call: Call, *, per_topic: bool = False, wide: bool = False, groups: Path | None = None, by: str | None = None
) -> int:
    """Score runs.

    Parameters
    ----------
    per_topic
        Show the score of every topic, not only the mean.
    wide
        In CSV, one row per run and one column per measure; with --per-topic, one row per topic, and of one measure one
        column per run.
    groups
        Show the means of groups of topics, too, and their mean ('macro'): a file with the columns topic and group. CSV
        has them instead of the means.
    by
        Show groups of runs, too: a field of --metadata, such as team. CSV has them instead of the means.
    """
    if groups is not None and by is not None:
        raise GainfulError("expected --groups (of topics) or --by (groups of runs), got both")
    output = call.shown["output"]
    if wide and chosen_format(call.shown["format"], output) != "csv":
        raise GainfulError("--wide: expected --format csv with it")
    scores = call.result()
    text: str | None = None
    match chosen_format(call.shown["format"], output):
        case _ if groups is not None:
            text = with_groups(call, scores, groups)
        case _ if by is not None:
            text = with_table(call, scores, _by(scores, by))
        case "csv" if wide:
            frame = (scores.topic_table() if per_topic else scores.mean_table()).frame
            text = as_csv(frame.columns, frame.iter_rows())
        case "csv":
            text = as_csv(("run", "measure", "query_id", "score"), scores.long_rows(per_topic=per_topic))
        case "json":
            content = scores.to_dict()
            text = as_json(content if per_topic else {key: content[key] for key in content if key != "scores"})
        case shape if per_topic:
            table = scores.topic_table()
            text = table_text(table, shape, output)
    call.show(scores, text)
    return 1 if scores.failed else 0


def pool(call: Call, *, merged: Path | None = None) -> int:
    """Find out what to judge.

    Parameters
    ----------
    qrels
        Judgments there are: a file; - is standard input. The word none where nothing is judged yet.
    merged
        Write all judgments, those that came back included, to this file: of a sample a table with the whole pool, for
        statAP, xinfAP and infNDCG.
    """
    from gainful.io.write import write_qrels

    found = call.result()
    if merged is not None:
        if found.qrels is None:
            raise DataError(f"{merged}: expected judgments to write, got none")
        write_qrels(found.qrels, merged)
    call.show(found)
    if merged is not None:
        note(f"judgments: {merged}")
    return 1 if any(remark.code == "failed" for remark in found.notes()) else 0


def _by(found: Any, field: str) -> Table:
    """The groups of runs that a field tells apart."""
    if not found.metadata:
        raise GainfulError(f"--by {field}: expected --metadata with it, a table of runs or the word headers")
    table: Table = found.by(field)
    return table


def compare(
    call: Call,
    *,
    movers: int | None = None,
    by: str | None = None,
    fail_if_worse: bool = False,
    margin: float | None = None,
    junit: Path | None = None,
) -> int:
    """Test whether runs really differ.

    Parameters
    ----------
    movers
        How many topics to show per pair, those that moved most first; CSV has them instead of the pairs. For two runs
        the default is 5, for more it is none.
    by
        Show groups of runs, too: a field of --metadata, such as team. CSV has them instead of the pairs.
    fail_if_worse
        Exit with status 3 if a run is significantly worse than the baseline on some measure.
    margin
        With --fail-if-worse: exit with status 3 if a run could be worse than the baseline by more than this (in units
        of the score), at confidence 1 - alpha.
    junit
        With --fail-if-worse: write the outcome, one test per run and measure, to this file as JUnit XML.
    """
    baseline = call.own["baseline"]
    if fail_if_worse and baseline is None:
        raise GainfulError("--fail-if-worse: expected --baseline RUN, the run that the others must not be worse than")
    if margin is not None and not fail_if_worse:
        raise GainfulError(f"--margin {margin:g}: expected --fail-if-worse with it")
    if junit is not None and not fail_if_worse:
        raise GainfulError(f"--junit {junit}: expected --fail-if-worse with it")
    if movers is not None and movers < 0:
        raise GainfulError(f"--movers: expected a number of topics of at least 0, got {movers}")
    if movers is not None and by is not None:
        raise GainfulError("expected --movers or --by, got both")
    if baseline is not None and os.path.isfile(baseline):
        call = call.changed(baseline=_run_in(baseline, call.files[1:]))
    if margin is not None:
        from gainful.verbs.compare.contrasts import check_margin

        check_margin(margin, call.own["alpha"])
    found = call.result()
    failures = found.worse(margin)["reason"].to_list() if fail_if_worse else []
    if junit is not None:
        from gainful.io.atomic import write_atomically

        write_atomically(junit, found.to_junit(margin))
    text = None if movers is None else with_movers(call, found, movers)
    call.show(found, text if by is None else with_table(call, found, _by(found, by)))
    if not fail_if_worse:
        return left_out(found)
    for remark in found.assumed():
        note(f"note: {remark}")
    for reason in failures:
        note(f"fail: {reason}")
    if not failures:
        note(f"pass: {found.passed(margin)}")
    return WORSE if failures else left_out(found)


def _run_in(path: str, runs: tuple[str, ...]) -> str:
    """The name of the run in a file; as given, if that is not among the runs."""
    from gainful.io.read import entries_of

    for entry in entries_of(list(runs)) if runs else ():
        if entry.path is not None and os.path.samefile(entry.path, path):
            return entry.default
    return path


def explain(call: Call, *, topic: str | None = None) -> None:
    """Show how the score of one topic comes about.

    Parameters
    ----------
    topic
        The topic. Without it, all topics and their scores are listed, the worst first.
    """
    if topic is not None:
        call.show(call.changed(topic=topic).result())
        return
    if call.shown["chart"] is not None:
        raise GainfulError(f"--chart {call.shown['chart']}: expected --topic with it, the topic to draw")
    from gainful.verbs.evaluate import evaluate
    from gainful.verbs.source import RunOptions, one_run

    qrels, run = call.files
    left_out_here = RunOptions.__annotations__.keys() - {"columns"}  # which judgments have, too
    joined = {name: value for name, value in call.shared.items() if name not in left_out_here}
    scores = evaluate(qrels, one_run(run, call.shared), call.own["measure"], **joined)
    table = scores.worst_topics()
    output = call.shown["output"]
    match chosen_format(call.shown["format"], output):
        case "json":
            rows = dict(table.frame.rows())
            text = as_json({"measure": scores.measures[0], "run": scores.systems[0], "topics": rows})
        case "csv":
            text = as_csv(("query_id", "score"), table.frame.rows())
        case "latex" | "markdown" | "html" as shape:
            text = table_text(table, shape, output)
        case _:
            text = table.head(_MOST_TOPICS).text(terminal=on_terminal(output))
            if table.frame.height > _MOST_TOPICS:
                note(f"note: the {_MOST_TOPICS} worst of {table.frame.height} topics; --format csv has them all")
    emit(text, output)
    worst = shlex.quote(str(table.frame.row(0)[0]))
    note(f"To explain one of these topics, add --topic, such as: --topic {worst}")


def check(call: Call, *, details: bool = False) -> int:
    """Check files.

    Parameters
    ----------
    files
        Runs: files, folders, globs or archives. Judgments may come first: the first file is taken for them if it looks
        like that (four fields per line, or a table with labels).
    details
        Show all that was found, where, and what to do about it, not only its kind.
    """
    if not call.files:
        raise DataError("expected runs, and judgments before them if there are some, got none")
    found = call.with_words(files=list(call.files)).result()
    shape = chosen_format(call.shown["format"], call.shown["output"])
    wanted = found.tables() if details else found.compact()
    text = None if shape in ("csv", "json") else printed(found, shape, call.shown["output"], wanted)
    call.show(found, text)
    return 1 if found.errors else 0


def study(
    call: Call,
    *,
    collection: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    page: Path | None = None,
) -> int:
    """Reproduce a paper's experiments.

    Parameters
    ----------
    collection
        A collection by name, as NAME=QRELS:RUNS, where RUNS is a file, a folder or a glob, or as NAME=QRELS for what
        needs no runs; may be repeated. Without any, and without files, the study runs on a simulated collection.
    page
        Write all tables, figures and findings into this file, a page (.html) that opens without a network.
    """
    if page is not None:
        from gainful.pages.result import check_page_path

        check_page_path(page, "a page")
    given = named_collections(call.files, collection)
    targets = [path for path in (call.shown["output"], call.shown["chart"], page) if path is not None]
    check_targets(targets, [path for pair in given.values() for path in pair if isinstance(path, str)])
    found = call.with_words(collections=given or None).result()
    call.show(found)
    if page is not None:
        from gainful.io.atomic import write_atomically
        from gainful.pages.study_page import study_page

        write_atomically(page, study_page(found).encode())
        note(f"page: {page}")
    return left_out(found)


def tasks(
    call: Call,
    *,
    collection: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
) -> int:
    """Find the best run over several tasks.

    Parameters
    ----------
    collection
        A task by name, as NAME=QRELS:RUNS, where RUNS is a file, a folder or a glob; may be repeated.
    """
    given = named_collections(call.files, collection)
    scores, groups = call.shared.get("scores"), call.own["groups"]
    if scores is not None and given:
        raise DataError("expected either judgments and runs or --scores FILE, got both")
    if scores is not None and groups is None:
        raise DataError("--scores: expected --groups with it, which says of each topic its task, got none")
    if scores is None and groups is not None and len(given) != 1:
        raise DataError(
            "--groups: expected QRELS RUN... or --scores FILE with it, one collection, got "
            f"{plural(len(given), 'collection')}"
        )
    one: Any = str(scores) if scores is not None else next(iter(given.values()), None)
    found = call.with_words(collections=given if groups is None else one).result()
    call.show(found)
    return left_out(found)
