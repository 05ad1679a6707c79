"""`gainful report`."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gainful.cli.escape import shown
from gainful.cli.inputs import Measures, Whole, refuse_measures
from gainful.cli.output import READABLE, emit, note
from gainful.cli.progress import bars
from gainful.cli.shell import shell_of
from gainful.data.policies import Degenerate, Duplicates, Gaps, Missing, Ties, Unjudged
from gainful.pages import report as report_of
from gainful.pages.result import check_page_path
from gainful.stats.corrections import Method as Correction
from gainful.verbs.compare.result import Test
from gainful.verbs.evaluate import DEFAULT_MEASURES


@shell_of(report_of)
def report(
    qrels: str,
    runs: Annotated[list[str], Parameter(name="RUN...")],
    /,
    *,
    measures: Measures = DEFAULT_MEASURES,
    output: Annotated[Path, Parameter(name=("--output", "-o"))] = Path("report.html"),
    baseline: str | None = None,
    test: Test = "t",
    correction: Correction = "holm",
    confidence: float = 0.95,
    alpha: float = 0.05,
    cutoff: Whole = 20,
    resamples: Whole = 1000,
    trials: Whole = 5,
    seed: Whole = 0,
    gaps: Gaps = "error",
    ties: Ties = "trec",
    unjudged: Unjudged = "zero",
    missing: Missing = "empty",
    degenerate: Degenerate = "zero",
    duplicates: Duplicates = "error",
) -> None:
    """Put everything on one page.

    Parameters
    ----------
    output
        The page: a name that ends in .html. It opens without a network, and can be sent as it is.
    """
    refuse_measures(runs)
    check_page_path(output)
    with bars():
        found = report_of(
            qrels,
            runs,
            measures,
            baseline=baseline,
            test=test,
            correction=correction,
            confidence=confidence,
            alpha=alpha,
            cutoff=cutoff,
            resamples=resamples,
            trials=trials,
            seed=seed,
            gaps=gaps,
            ties=ties,
            unjudged=unjudged,
            missing=missing,
            degenerate=degenerate,
            duplicates=duplicates,
        )
    replaced = output.exists()
    found.save(output)
    lines = (textwrap.fill(shown(finding), READABLE, subsequent_indent="  ") for finding in found.contents["findings"])
    emit("".join(f"{line}\n" for line in lines))
    note(str(found))
    for text in found.contents["notes"]:
        note(f"note: {text}")
    note(f"{'replaced' if replaced else 'written to'} {output}: open it in a browser")
