"""What analyses start from: judgments and runs, `Rankings`, `Scores`, a table; nothing heavy is imported early."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, get_args, get_origin, get_type_hints

from gainful.data.policies import Columns, Policies, PolicyOptions
from gainful.engine import Engine
from gainful.errors import DataError, GainfulError, PolicyError, did_you_mean, no_run_left, setting
from gainful.results import Settings, listed, plural

if TYPE_CHECKING:
    from gainful.data.rankings import Rankings
    from gainful.data.run import Run
    from gainful.data.scores import Scores
    from gainful.io.sources import Selection
    from gainful.measures import Measure

DEFAULT_MEASURES = ("nDCG@10", "AP")
Measures: TypeAlias = "str | Measure | Iterable[str | Measure] | None"

_POLICIES = tuple(PolicyOptions.__annotations__)
# What is decided when scores are summarised, so that it may differ from when the rankings were joined.
LATE_POLICIES = ("missing", "degenerate")
_NAMED = 3


class FileOptions(TypedDict, total=False):
    """Which files runs are read from, and how.

    Parameters
    ----------
    include
        Take only files that match one of these patterns, such as *.txt.gz. A pattern is matched with a file's name,
        and with its path inside the folder or archive.
    exclude
        Leave out files that match one of these patterns.
    recursive
        Search the folders in folders, too.
    columns
        What columns of tables are called, where gainful does not know it: doc_id=chunk, say, or doc_id=2 for the second
        column of a file without a header.
    ignore_identical_ids
        Leave out documents of a run that have the id of their topic, as BEIR and MTEB do.
    """

    include: Sequence[str]
    exclude: Sequence[str]
    recursive: bool
    columns: Columns
    ignore_identical_ids: bool


class RunOptions(FileOptions, total=False):
    """Which files runs are read from, and what is done about those that cannot be.

    Parameters
    ----------
    include, exclude, recursive, columns, ignore_identical_ids
        See `FileOptions`.
    keep_going
        Leave out runs that cannot be read, go on with the others, and name those left out at the end; a command exits
        with status 1 then.
    """

    keep_going: bool


class Options(PolicyOptions, RunOptions, total=False):
    """How judgments and runs are read and joined, and where: keywords of all functions that start from them.

    Parameters
    ----------
    ties, unjudged, missing, degenerate, duplicates
        See `Policies`.
    engine
        See `Dask`; ``local``, the default, is this process.
    keep_going, include, exclude, recursive, columns, ignore_identical_ids
        See `RunOptions`.
    lower_is_better
        Measures in a table of scores for which lower is better, such as latency; that of a wide table is called
        'score'. gainful knows the direction of its own measures; for any other it takes a higher score for better.
    """

    engine: Engine
    lower_is_better: Sequence[str]


_FILES = tuple(FileOptions.__annotations__)


def selected(runs: Any, options: Mapping[str, Any]) -> Any:
    """The runs that the options for files select; all of them, as they were given, if there are no such options."""
    if not any(options.get(name) for name in _FILES):
        return runs
    from gainful.io.read import entries_of

    return entries_of(runs, selection_of(options))


def one_run(run: Any, options: Mapping[str, Any]) -> Run:
    """The run given, or the only one that the options for files leave of a folder, a pattern or an archive."""
    from gainful.data.run import UnreadRun
    from gainful.io.archives import is_archive
    from gainful.io.read import iterate_runs, read_run, read_runs

    holds_several = isinstance(run, str | os.PathLike) and (os.path.isdir(run) or is_archive(Path(run)))
    if not holds_several and not any(options.get(name) for name in (*_FILES, "keep_going")):
        return read_run(run)
    found = iterate_runs(selected(run, options), keep_going=options.get("keep_going", False))
    runs = read_runs([one for one in found if not isinstance(one, UnreadRun)])
    if len(runs) > 1:
        names = listed([repr(one.name) for one in runs], _NAMED)
        raise DataError(f"{run}: expected one run, got {len(runs)}: {names}; {setting('include')} chooses one")
    return runs[0]


def selection_of(options: Mapping[str, Any]) -> Selection:
    """Which files to take."""
    from gainful.io.columns import named_columns
    from gainful.io.sources import Selection

    include, exclude = (_patterns(name, options.get(name, ())) for name in _FILES[:2])
    return Selection(
        *(include, exclude, bool(options.get("recursive"))),
        *(named_columns(options.get("columns")), bool(options.get("ignore_identical_ids"))),
    )


def _patterns(name: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(one, str) for one in given):
        raise GainfulError(f"{name}: expected a list of patterns such as ['*.txt.gz'], got {given!r}")
    return tuple(given)


def check_order(qrels: Any, runs: Any) -> None:
    """Warn about judgments and runs, both dicts, that look as if they were given in the wrong order."""
    from gainful.io.objects import seem_swapped
    from gainful.results import Note, warn

    if seem_swapped(qrels, runs):
        text = (
            "The labels of these judgments are fractions, and the scores of the runs whole numbers: if they are in the "
            "wrong order, give judgments first, then runs."
        )
        warn([Note("swapped", "qrels", text, warn=True)])


def check_columns(qrels: Any, runs: Any, columns: Columns) -> None:
    """Refuse names of columns where nothing has any; `runs` are what `selected` gives then."""
    if not columns:
        return
    from gainful.io.strays import may_have_columns

    given = [one for one in (qrels, *(entry.source for entry in runs)) if one is not None]
    if given and not any(map(may_have_columns, given)):
        raise GainfulError(
            f"{setting('columns')}: expected a table (CSV, TSV, JSONL, Parquet, Arrow, a frame) among judgments and "
            "runs, got TREC text or dicts only, which need no names of columns: leave it out"
        )


def policies_of(options: Mapping[str, Any], **usual: Any) -> Policies:
    """The policies among the options; `usual` ones where none is given."""
    return Policies(**{**usual, **{name: options[name] for name in _POLICIES if name in options}})


def scores_of(source: Any, runs: Any, measures: Measures, options: Options) -> Scores:
    """The scores of what a function was given: scores in any form, rankings and measures, or judgments and runs."""
    from gainful.data.rankings import Rankings
    from gainful.data.scores import ScoreMatrix, Scores
    from gainful.measures import Measure
    from gainful.verbs.evaluate import evaluate, read_scores

    check_options(options)
    if isinstance(source, Rankings | Scores | ScoreMatrix) and measures is None:
        runs, measures = None, runs
    if isinstance(source, Rankings) or runs is not None:
        return evaluate(source, runs, measures or DEFAULT_MEASURES, **options)
    for name in _POLICIES:
        if name in options:
            given = setting(name, options[name])  # type: ignore[literal-required]
            raise PolicyError(f"{given}: expected judgments and runs with it, got scores that are computed already")
    scores = read_scores(source, lower_is_better=options.get("lower_is_better", ()))
    if measures is None:
        return scores
    return scores.only([str(measures)] if isinstance(measures, str | Measure) else list(map(str, measures)))


def settings_of(function: Callable[..., Any], given: Mapping[str, Any], scores: Scores) -> Settings:
    """What repeats an analysis of scores: the parameters of its function among its locals, and notes on the scores."""
    from gainful.data.complete import gap_notes

    return Settings.of(
        function,
        given,
        data=f"{plural(len(scores.systems), 'run')}, {plural(len(scores.topics), 'topic')}",
        policies=scores.policies,
        notes=(*scores.notes(), *gap_notes(scores)),
    )


def align(
    qrels: Any,
    runs: Any,
    *,
    documents: float = 0,
    scores: bool = False,
    keep_going: bool = False,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    recursive: bool = False,
    columns: Columns = None,
    ignore_identical_ids: bool = False,
    **policies: Unpack[PolicyOptions],
) -> Rankings:
    """Join runs with judgments once, for all the functions that start from both.

    Parameters
    ----------
    qrels
        Judgments: a file (TREC text, CSV, TSV, JSONL, Parquet, Arrow; compressed or not), a dict or a frame.
    runs
        One or more runs: files, folders or globs, dicts or frames.
    documents
        How many documents of each ranking to list by name, judged or not, as some functions need it: `explain`, say;
        infinity for all.
    scores
        Keep the scores of all documents, judged or not, as thresholds need them; also kept if all documents are listed.
    keep_going
        Leave out runs that cannot be read, and name them in `Rankings.failed`.
    include, exclude, recursive, columns, ignore_identical_ids
        Which files to take, and how to read them: see `Options`.
    **policies
        See `Policies`.

    Returns
    -------
    Rankings
        What takes the place of judgments and runs in every function.

    Examples
    --------
    >>> rankings = align({"q1": {"a": 1, "b": 0}}, {"q1": {"a": 0.9, "c": 0.5}}, documents=10)
    >>> rankings.listed.doc_id.to_list()
    ['a', 'c']
    >>> import gainful as gf
    >>> gf.evaluate(rankings, "P@2").mean()["P@2"].to_list()
    [0.5]
    """
    from gainful.data.align import align as join
    from gainful.data.notes import notes_of
    from gainful.data.pool import Judged
    from gainful.io.read import iterate_runs, judgments
    from gainful.results import warn

    if not documents >= 0:
        raise GainfulError(f"documents: expected a number of at least 0, got {documents}")
    chosen = Policies(**policies)
    given = locals()
    check_order(qrels, runs)
    runs = selected(runs, {name: given[name] for name in _FILES})
    check_columns(qrels, runs, columns)
    # In the background, while the judgments are read and indexed.
    reading = iterate_runs(runs, keep_going=keep_going, raw=documents < math.inf)
    judged = qrels if isinstance(qrels, Judged) else judgments(qrels, columns=columns)
    rankings = join(judged, reading, chosen, documents=documents, scores=scores, keep_going=keep_going)
    if not rankings.systems:
        raise no_run_left(rankings.failed, rankings.run_notes[0].text if rankings.run_notes else "")
    warn(notes_of(rankings))
    return rankings


def rankings_of(source: Any, runs: Any, options: Options, *, documents: float = 0, scores: bool = False) -> Rankings:
    """The rankings given, or of judgments and runs; `documents` of each known by name, all `scores` if wanted."""
    from gainful.data.rankings import Rankings

    check_options(options)
    if not isinstance(source, Rankings):
        given: Any = {name: options[name] for name in (*_POLICIES, "keep_going", *_FILES) if name in options}  # type: ignore[literal-required]
        if runs is None:
            raise DataError("expected judgments and runs, or what `align` returns, got no runs")
        return align(source, runs, documents=documents, scores=scores, **given)
    if runs is not None:
        raise GainfulError("expected either rankings or judgments and runs, got rankings and runs")
    for name in _POLICIES:
        value = options.get(name, getattr(source.policies, name))
        if name not in LATE_POLICIES and value != getattr(source.policies, name):
            raise PolicyError(
                f"{name}={value!r}: these rankings are joined already, with {name}={getattr(source.policies, name)!r}"
            )
    if documents > source.documents:
        raise DataError(f"expected rankings that know their documents: align(…, documents={documents:g})")
    if scores and source.parts is None:
        raise DataError("expected rankings that know all scores: align(…, scores=True)")
    return source


def check_options(options: Mapping[str, Any], accepted: type = Options) -> None:
    """Refuse keywords that mean nothing to a function, and values that its own `TypedDict` does not list."""
    known = accepted.__annotations__
    for name in options:
        if name not in known:
            raise TypeError(
                f"unexpected keyword {name!r}; expected a parameter of this function, or {', '.join(known)}"
            )
    if accepted is not Options:
        for name, hint in get_type_hints(accepted).items():
            values = get_args(hint) if get_origin(hint) is Literal else ()
            if values and name in options and options[name] not in values:
                wrong = did_you_mean(str(options[name]), values)
                raise PolicyError(f"{name}: expected one of {', '.join(values)}, got {options[name]!r}.{wrong}")
