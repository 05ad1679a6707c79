"""Look at files before anyone scores them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from gainful.errors import check_count
from gainful.verbs.source import FileOptions, check_options, selection_of

if TYPE_CHECKING:
    from gainful.verbs.check.result import Check


def check(
    files: Any,
    runs: Any = None,
    *,
    topics: Any = None,
    max_docs: int | None = None,
    labels: Sequence[float] | None = None,
    tag_is_name: bool = False,
    **options: Unpack[FileOptions],
) -> Check:
    """Check files of runs, and of judgments, before anyone scores them.

    Parameters
    ----------
    files, runs
        Judgments and runs, or runs alone. Of runs alone, the first is taken for judgments if it is a file of them (four
        fields per line, or a table with labels). Runs are files, folders, globs and archives (tar, zip).
    topics
        The topics that a run must have: a file with one id per line, a table or JSONL of topics, or TREC's topics in
        XML; in Python also a list of ids. By default those of the judgments.
    max_docs
        How many documents a run may have per topic; more are an error.
    labels
        The labels that judgments may have; others are an error.
    tag_is_name
        Whether the tag in a run must be the name of its file, as most campaigns ask for.
    **options
        See `FileOptions`.

    Returns
    -------
    Check
        One row per file: ok, or what is wrong with it, where, and what to do about it.

    Notes
    -----
    An error is what `evaluate` refuses, or what goes beyond a limit that you gave. A warning is what it reads, though
    scores may then not say what was meant. What is no run at all and was only found beside some (an image, settings, a
    README, the output of trec_eval) is named and is no error.

    Examples
    --------
    >>> found = check({"301": {"a": 1}}, {"good": {"301": {"a": 2.0, "b": 1.0}}, "other": {"1": {"a": 1.0}}})
    >>> found.to_frame().select("file", "status").rows()
    [('qrels', 'ok'), ('good', 'ok'), ('other', '1 warning')]
    """
    from gainful.results import Settings, plural
    from gainful.verbs.check.compute import Limits, check_files, split, topics_in
    from gainful.verbs.check.result import Check

    check_options(options, FileOptions)
    if max_docs is not None:
        check_count("max_docs", max_docs)
    given = locals()
    qrels, runs = split(files, runs)
    limits = Limits(
        max_docs=max_docs,
        labels=None if labels is None else tuple(map(float, labels)),
        tag_is_name=tag_is_name,
        topics=None if topics is None else topics_in(topics),
    )
    found = check_files(qrels, runs, limits, selection_of(options))
    settings = Settings.of(check, given | {"topics": None}, data=plural(len(found), "file"))
    return Check(files=found, settings=settings)
