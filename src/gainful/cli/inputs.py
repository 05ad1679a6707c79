"""What the analyses start from: judgments and runs, or a table of scores."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token

from gainful.cli.progress import bars, reading
from gainful.cli.shell import one_line_each
from gainful.data.policies import Degenerate, Duplicates, Missing, Policies, Ties, Unjudged
from gainful.data.run import LargeRun, Run
from gainful.data.scores import Scores
from gainful.engine import Engine
from gainful.errors import DataError, MeasureError
from gainful.measures import parse_measures
from gainful.verbs.evaluate import DEFAULT_MEASURES, evaluate, read_scores

Files = Annotated[tuple[str, ...], Parameter(name="QRELS RUN...", show_default=False)]
Measures = Annotated[
    tuple[str, ...], Parameter(name=("--measures", "--measure", "-m"), negative="", show_default=" ".join)
]


def whole(_: type, tokens: Sequence[Token]) -> int:
    """Cyclopts would round 1.5 to 2."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"expected a whole number, got {tokens[0].value!r}.") from None


Whole = Annotated[int, Parameter(converter=whole)]
OptionalWhole = Annotated[int | None, Parameter(converter=whole)]


@contextmanager
def counted(
    runs: list[str], engine: Engine, *, keep_going: bool = False
) -> Iterator[Iterable[str] | Iterable[Run | LargeRun]]:
    """The runs to hand on, with a bar: of those read, or of those done where the work is shared out by file."""
    if engine == "local" and not keep_going:
        with reading(runs) as given:
            yield given
        return
    with bars():
        yield runs


@Parameter(name="*")
@one_line_each
@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where scores come from.

    Parameters
    ----------
    scores
        A table of scores instead of judgments and runs: long (run, measure, query_id, score) as 'gainful evaluate
        --per-topic --format csv' writes it, or wide (a row a topic, a column a run).
    measures
        What to compute, such as nDCG@10 (nDCG@10 and AP if not given); of a table, the measures to take from it (all if
        not given).
    lower_is_better
        With --scores: a measure of the table of which a lower score is better, such as latency; may be repeated.
        gainful knows the direction of its own measures, and takes a higher score of any other for better.
    ties
        Documents with equal scores: trec (by document id, as trec_eval), order (as in the run), or expected (the
        mean over all their orders).
    unjudged
        Documents without a judgment: zero (label 0, holding their rank) or condensed (removed before ranking).
    missing
        Judged topics that a run has nothing for: empty (scored as an empty ranking), skip or error.
    degenerate
        Where a measure is undefined: zero, nan, skip or one.
    duplicates
        A document twice in a topic: error or first.
    """

    scores: Path | None = None
    measures: Annotated[Measures, Parameter(show_default=False)] = ()
    lower_is_better: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    ties: Ties = "trec"
    unjudged: Unjudged = "zero"
    missing: Missing = "empty"
    degenerate: Degenerate = "zero"
    duplicates: Duplicates = "error"

    def read(
        self,
        files: tuple[str, ...],
        *,
        engine: Engine = "local",
        scheduler: str | None = None,
        workers: int | None = None,
    ) -> Scores:
        """The scores, from `files` (judgments, then runs) or from the table."""
        if self.scores is not None:
            return self._table(files)
        if self.lower_is_better:
            raise DataError(
                f"--lower-is-better {self.lower_is_better[0]}: expected --scores FILE with it; gainful knows the "
                "direction of the measures that it computes"
            )
        if len(files) < 2:
            got = f"only {files[0]!r}" if files else "none"
            raise DataError(f"expected judgments and runs, or --scores FILE, got {got}")
        qrels, *runs = files
        refuse_measures(runs)
        with counted(runs, engine) as given:
            return evaluate(
                qrels,
                given,
                self.measures or DEFAULT_MEASURES,
                ties=self.ties,
                unjudged=self.unjudged,
                missing=self.missing,
                degenerate=self.degenerate,
                duplicates=self.duplicates,
                engine=engine,
                scheduler=scheduler,
                workers=workers,
            )

    def _table(self, files: tuple[str, ...]) -> Scores:
        if files:
            raise DataError(f"expected either judgments and runs or --scores FILE, got both: {' '.join(files)}")
        for name, usual in Policies().to_dict().items():
            if getattr(self, name) != usual:
                raise DataError(
                    f"--{name} {getattr(self, name)}: expected judgments and runs with it, got --scores, a table of "
                    "scores that are computed already"
                )
        scores = read_scores(self.scores, lower=self.lower_is_better)
        return scores.only(self.measures) if self.measures else scores


def refuse_measures(runs: list[str]) -> None:
    """``-m nDCG@10 AP`` asks for a run called AP: say what was meant."""
    for name in runs:
        if not Path(name).exists():
            with suppress(MeasureError):
                parse_measures(name)
                raise DataError(f"{name}: no such file; if you mean the measure, write -m {shlex.quote(name)}")
