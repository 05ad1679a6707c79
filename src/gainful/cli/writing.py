"""Commands whose result is a file: what they do beside calling their function."""

from __future__ import annotations

import warnings
from pathlib import Path

from gainful.cli.call import Call, bars, left_out
from gainful.cli.output import emit, note, paragraph
from gainful.errors import DataError, GainfulWarning
from gainful.results import plural


def report(call: Call, *, output: Path = Path("report.html"), save_files: Path | None = None) -> int:
    """Put everything on one page.

    Parameters
    ----------
    output
        The page: a name that ends in .html. It opens without a network, and can be sent as it is.
    save_files
        Also write the tables of the page for a paper (LaTeX, CSV), and of each run its scores beside the worst, median
        and best of all runs (CSV) and what trec_eval -q prints, into this folder, which must be new or empty.
    """
    from gainful.io.atomic import refuse_if_occupied
    from gainful.pages.result import check_page_path

    check_page_path(output)
    if save_files is not None:
        refuse_if_occupied(save_files)
    found = call.result()
    replaced = output.exists()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", GainfulWarning)
        found.save(output)
    emit("".join(f"{line}\n" for sentence in found.findings() for line in paragraph(sentence)[:1]))
    for remark in found.notes():
        note(f"{'failed' if remark.code == 'failed' else 'note'}: {remark.text}")
    for one in told:
        note(f"note: {one.message}")
    note(str(found.settings))
    note(f"{'replaced' if replaced else 'written to'} {output}: open it in a browser")
    if save_files is not None:
        note(f"written to {save_files}: {plural(len(found.save_files(save_files)), 'file')}")
    return left_out(found)


def apply(call: Call, *, output: Path) -> None:
    """Cut a run.

    Parameters
    ----------
    output
        Write the run to this file: .csv, .tsv, .jsonl, .parquet and .arrow are tables, all else is TREC text; one of
        .gz, .zst, .bz2 and .xz may follow.
    """
    from gainful.io.read import read_run
    from gainful.io.write import write_run
    from gainful.tune.threshold.saved import emptied, out_of_reach
    from gainful.verbs.source import one_run

    whole, other = one_run(call.word["run"], call.shared), call.own["filter_run"]
    scored = whole if other is None else read_run(other)
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always", GainfulWarning)
        kept = call.function(whole, **{**call.own, "filter_run": None if other is None else scored})
    for one in noticed:
        note(f"note: {one.message}")
    try:
        write_run(kept, _place(output))
    except DataError as error:
        if len(kept) or not len(whole):
            raise
        raise DataError(f"{error}. Nothing is left of it: {out_of_reach(whole, scored)}") from None
    note(f"{output}: {len(kept):,} of {len(whole):,} documents{emptied(whole, kept)}")


def score(call: Call, *, output: Path) -> None:
    """Rank documents with an f-ranker.

    Parameters
    ----------
    output
        See `apply`.
    """
    from gainful.io.write import write_run
    from gainful.ltrf.data import read_examples

    examples = read_examples(Path(call.word["data"]), labelled=False)
    with bars():
        run = call.function(Path(call.word["ranker"]), examples, **call.own)
    write_run(run, _place(output))
    topics = len(examples.queries)
    empty = topics - len(run.topics)
    note(f"{output}: {len(run)} of {len(examples)} documents; nothing for {empty} of {topics} topics")


def qrels(call: Call, *, output: Path) -> None:
    """Write the judgments in examples.

    Parameters
    ----------
    output
        Write the judgments to this file: .csv, .tsv, .jsonl, .parquet and .arrow are tables, all else is TREC text; one
        of .gz, .zst, .bz2 and .xz may follow.
    """
    from gainful.io.write import write_qrels

    found = call.function(Path(call.word["data"]), **call.own)
    write_qrels(found, _place(output))
    note(f"{output}: {len(found)} judgments")


def export(call: Call) -> None:
    """Write an f-ranker as another program's file."""
    folder = Path(call.word["ranker"])
    if not folder.exists():
        raise DataError(f"{folder}: no such file or folder")
    with bars():
        call.function(folder, **call.own)
    note(f"written to {call.own['onnx']}")


def _place(output: Path) -> Path:
    """Where a run is written to: - is the screen."""
    return Path("/dev/stdout") if str(output) == "-" else output


def simulate(call: Call, *, folder: Path) -> None:
    """Make a test collection.

    Parameters
    ----------
    folder
        A new or empty folder: gets qrels.txt, runs/*.txt and collection.json, which has settings and systems.
    """
    from gainful.io.atomic import refuse_if_occupied
    from gainful.io.write import write_collection

    refuse_if_occupied(folder)
    collection = call.function(**call.own)
    write_collection(collection, folder)
    note(str(collection))
    for line in collection.likeness():
        note(f"note: {line}")
    note(f"written to {folder}: qrels.txt, {plural(len(collection.runs), 'file')} in runs, collection.json")
