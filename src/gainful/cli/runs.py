"""Commands that write a run: `gainful threshold apply`, `gainful ltrf score`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gainful.cli.call import Call
from gainful.cli.output import note
from gainful.errors import DataError

if TYPE_CHECKING:
    from gainful.data.run import Run

# Names that a note holds.
_NAMES = 5


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

    whole, other = read_run(call.word["run"]), call.own["filter_run"]
    scored = whole if other is None else read_run(other)
    kept = call.function(whole, **{**call.own, "filter_run": None if other is None else scored})
    try:
        write_run(kept, _place(output))
    except DataError as error:
        if len(kept) or not len(whole):
            raise
        raise DataError(f"{error}. Nothing is left of it: {_out_of_reach(whole, scored)}") from None
    note(f"{output}: {len(kept)} of {len(whole)} documents{_emptied(whole, kept)}")


def score(call: Call, *, output: Path) -> None:
    """Rank documents with an f-ranker.

    Parameters
    ----------
    output
        Write the run to this file: .csv, .tsv, .jsonl, .parquet and .arrow are tables, all else is TREC text; one of
        .gz, .zst, .bz2 and .xz may follow.
    """
    from gainful.cli.progress import bars
    from gainful.io.write import write_run
    from gainful.ltrf.data import read_examples

    examples = read_examples(Path(call.word["data"]), labelled=False)
    with bars():
        run = call.function(Path(call.word["ranker"]), examples, **call.own)
    write_run(run, _place(output))
    topics = len(examples.queries)
    empty = topics - len(run.topics)
    note(f"{output}: {len(run)} of {len(examples)} documents; nothing for {empty} of {topics} topics")


def _place(output: Path) -> Path:
    """Where a run is written to: - is the screen."""
    return Path("/dev/stdout") if str(output) == "-" else output


def _emptied(whole: Run, kept: Run) -> str:
    """The topics that have nothing left."""
    some = set(kept.topics)
    empty = [topic for topic in whole.topics if topic not in some]
    if not empty:
        return ""
    names = ", ".join(empty[:_NAMES]) + (", …" if len(empty) > _NAMES else "")
    return f"; nothing left for {len(empty)} of {len(whole.topics)} topics ({names})"


def _out_of_reach(run: Run, scored: Run) -> str:
    """Why a cut leaves nothing; `scored` has the scores that the threshold is on."""
    highest = scored.frame.join(run.frame, on=["query_id", "doc_id"], how="semi")["score"].to_numpy().max()
    return f"no score of run {scored.name!r} reaches the threshold; the highest is {highest}"
