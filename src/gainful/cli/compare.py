"""`gainful compare`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import polars as pl
from cyclopts import Parameter

from gainful.cli.caveats import caveats
from gainful.cli.inputs import Files, OptionalWhole, Source, Whole, whole
from gainful.cli.output import Table, chosen_format, note, number
from gainful.cli.results import Shown
from gainful.cli.shell import shell_of
from gainful.data.policies import Gaps
from gainful.data.scores import Scores
from gainful.engine import Engine, open_engine
from gainful.errors import GainfulError
from gainful.stats.corrections import Method as Correction
from gainful.stats.intervals import Interval
from gainful.verbs.compare import Comparison, Contrasts
from gainful.verbs.compare import compare as comparison_of
from gainful.verbs.compare.result import Test
from gainful.verbs.evaluate import is_known

if TYPE_CHECKING:
    import altair

# The exit status that says: a run is worse.
WORSE = 3
# A table of more pairs is not read; csv has them all.
_MOST_PAIRS = 20
_MOVERS = 5
_MOST_NOTES = 5
# As papers mark runs against a baseline: significantly better, significantly worse.
_BETTER, _WORSE = "†", "‡"
_IN_LATEX = {_BETTER: r"\dagger", _WORSE: r"\ddagger"}
_TESTS: dict[Test, str] = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "randomisation": "randomisation test",
    "bootstrap": "studentised bootstrap",
    "tukey": "randomised Tukey HSD",
}
_CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini-Hochberg"}


@shell_of(comparison_of)
def compare(
    files: Files = (),
    /,
    *,
    baseline: str | None = None,
    test: Test = "t",
    correction: Correction = "holm",
    interval: Interval = "t",
    confidence: float = 0.95,
    resamples: Whole = 10_000,
    seed: Whole = 0,
    gaps: Gaps = "error",
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: OptionalWhole = None,
    alpha: float = 0.05,
    movers: Annotated[int | None, Parameter(converter=whole)] = None,
    fail_if_worse: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    margin: float | None = None,
    source: Source = Source(),
    shown: Shown = Shown(),
) -> int:
    """Find out whether the difference of runs is real.

    Parameters
    ----------
    files
        Judgments, then runs: files, folders or globs; not with --scores.
    alpha
        A difference is significant if its corrected p-value is below this.
    movers
        Show so many topics that moved most, for each pair; csv has these instead of the pairs. For two runs the table
        shows 5 by itself.
    fail_if_worse
        Exit with status 3 if a run is significantly worse than the baseline on some measure.
    margin
        With --fail-if-worse: exit with status 3 unless every run is shown to be no more than this (in units of the
        score) worse than the baseline, at confidence 1 - alpha.
    """
    _check(fail_if_worse, baseline, margin, movers)
    with shown.working(), open_engine(engine, scheduler=scheduler, workers=workers):
        scores = source.read(files, engine=engine, scheduler=scheduler, workers=workers)
        result = comparison_of(
            scores,
            baseline=_named(baseline, files, scores),
            test=test,
            correction=correction,
            interval=interval,
            confidence=confidence,
            resamples=resamples,
            seed=seed,
            gaps=gaps,
            engine=engine,
            scheduler=scheduler,
            workers=workers,
        )
        shape = chosen_format(shown.format, shown.output)
        tables = [_means(result, alpha, latex=shape == "latex")]
        failures = result.worse(margin, alpha)["reason"].to_list() if fail_if_worse else []
    remarks = [*caveats(scores), *(_remarks(result, alpha) if shape in ("table", "latex") else ())]
    if test == "tukey" and correction not in ("holm", "none"):
        remarks.append(f"note: Tukey's test corrects for all pairs by itself: --correction {correction} is not used")
    remarks += [*_contradictions(result, alpha), *(f"note: {text}" for text in result.notes)]
    number_of_pairs = len(result.contrasts) * len(result.contrasts[0].first)
    moved = _Moved(result, _MOVERS if movers is None else movers)
    if shape == "table":
        if number_of_pairs <= _MOST_PAIRS:
            tables.append(_pairs(result))
        else:
            remarks.append(f"note: --format csv has all {number_of_pairs} pairs, with differences, intervals and p")
    if shape in ("table", "latex") and (movers or (shape == "table" and movers is None and len(result.systems) == 2)):
        tables += moved.tables()
    shown.show(moved if movers else result, tables, remarks)
    if not fail_if_worse:
        return 0
    for measure in scores.measures:
        if not is_known(measure) and measure not in source.lower_is_better:
            note(
                f"note: {measure!r} is no measure that gainful knows: higher is taken as better "
                "(--lower-is-better says otherwise)"
            )
    for reason in failures:
        note(f"fail: {reason}")
    if not failures:
        note(f"pass: {_passed(result, margin, alpha)}")
    return WORSE if failures else 0


@dataclass(frozen=True, slots=True)
class _Moved:
    """A comparison whose rows are the topics that moved most."""

    comparison: Comparison
    most: int

    def __str__(self) -> str:
        return str(self.comparison)

    def to_frame(self) -> pl.DataFrame:
        names = self.comparison.systems
        return pl.concat(
            self.comparison.movers(names[i], names[j], one.measure, self.most).select(
                pl.lit(one.measure).alias("measure"),
                pl.lit(names[i]).alias("run"),
                pl.lit(names[j]).alias("other"),
                "*",
            )
            for one in self.comparison.contrasts
            for i, j in zip(one.first, one.second, strict=True)
        )

    def to_dict(self) -> dict[str, object]:
        return {"movers": self.to_frame().to_dicts(), **self.comparison.to_dict()}

    def chart(self) -> altair.TopLevelMixin:
        return self.comparison.chart()

    def tables(self) -> Iterator[Table]:
        """One for each pair, with its runs side by side."""
        for (measure, run, other), frame in self.to_frame().group_by("measure", "run", "other", maintain_order=True):
            rows = [[row[0], *map(number, row[1:])] for row in frame.drop("measure", "run", "other").iter_rows()]
            yield Table(header=[f"{measure} of topic", str(run), str(other), "difference"], rows=rows)


def _check(fail_if_worse: bool, baseline: str | None, margin: float | None, movers: int | None) -> None:
    if fail_if_worse and baseline is None:
        raise GainfulError(
            "--fail-if-worse: expected --baseline RUN, to say which run the others must not be worse than"
        )
    if margin is not None and not fail_if_worse:
        raise GainfulError(f"--margin {margin:g}: expected --fail-if-worse with it")
    if movers is not None and movers < 0:
        raise GainfulError(f"--movers: expected a number of topics of at least 0, got {movers}")


def _named(baseline: str | None, files: tuple[str, ...], scores: Scores) -> str | None:
    """The run's name, also if the baseline was given as the file it is in."""
    if baseline is None or baseline in scores.systems:
        return baseline
    if baseline in files[1:] and len(scores.systems) == len(files) - 1:
        return scores.systems[files.index(baseline, 1) - 1]
    path = Path(baseline)
    if not path.is_file() or not any(_holds(given, path) for given in files[1:]):
        return baseline
    # A run is called as its file, without the ending, after as many folders as tell it from others.
    *folders, name = path.absolute().parts
    ends = [name, *(name[:at] for at in range(len(name) - 1, 0, -1) if name[at] == ".")]
    called = ["/".join((*folders[at:], end)) for at in range(len(folders) + 1) for end in ends]
    return next((name for name in called if name in scores.systems), baseline)


def _holds(given: str, path: Path) -> bool:
    """Whether what was given for runs, a file, a folder or a pattern, has this file."""
    there = [path.parent] if Path(given).is_dir() else [path]
    named = [Path(given)] if Path(given).exists() else [Path(name) for name in glob(given, recursive=True)]
    return any(one.samefile(two) for one in there for two in named if two.exists())


def _means(result: Comparison, alpha: float, *, latex: bool) -> Table:
    """A row a run, best first by the first measure, the baseline on top; a mean, then what it is better than."""
    order = _order(result)
    labels = _labels(len(order)) if result.baseline is None else None
    header, names, best = (["", "run"] if labels else ["run"]), [0], set()
    names += [1] if labels else []
    columns: list[list[str]] = [labels] if labels else []
    columns.append([result.systems[at] for at in order])
    for one in result.contrasts:
        mean = one.mean[order]
        if one.higher != "neither":
            best |= {(int(row), len(columns)) for row in np.flatnonzero(mean == one.sign() * (one.sign() * mean).max())}
        marks = _marks(result, one, order, labels, alpha)
        cells = [number(value) for value in mean]
        if latex:
            cells = [f"{cell}{_superscript(mark)}" for cell, mark in zip(cells, marks, strict=True)]
        header.append(one.measure)
        columns.append(cells)
        if not latex:
            header.append("")
            names.append(len(columns))
            columns.append(marks)
    return Table(header=header, rows=list(zip(*columns, strict=True)), names=tuple(names), best=frozenset(best))


def _order(result: Comparison) -> list[int]:
    first = result.contrasts[0]
    order = [int(at) for at in np.argsort(-first.sign() * first.mean, kind="stable")]
    if result.baseline is None:
        return order
    at = result.systems.index(result.baseline)
    return [at, *(other for other in order if other != at)]


def _labels(number_of: int) -> list[str]:
    """Letters: a to z, then aa, ab and so on."""
    labels = []
    for at in range(number_of):
        label, at = "", at + 1
        while at:
            at, letter = divmod(at - 1, 26)
            label = chr(ord("a") + letter) + label
        labels.append(label)
    return labels


def _marks(result: Comparison, one: Contrasts, order: list[int], labels: list[str] | None, alpha: float) -> list[str]:
    won = one.better(alpha)[np.ix_(order, order)]
    if labels is None:  # the baseline comes first
        return [_BETTER if won[at, 0] else _WORSE if won[0, at] else "" for at in range(len(order))]
    between = "," if len(labels) > 26 else ""  # aa is not a and a
    return [between.join(label for label, beaten in zip(labels, row, strict=True) if beaten) for row in won]


def _superscript(mark: str) -> str:
    return f"$^{{{_IN_LATEX.get(mark, mark)}}}$" if mark else ""


def _pairs(result: Comparison) -> Table:
    """A row a measure and pair: the difference, its interval, and what the test says."""
    several = result.correction not in ("none", "tukey") and len(result.contrasts[0].first) > 1
    rows = [
        [
            *(row["measure"], row["run"], row["other"]),
            *(number(row[name]) for name in ("difference", "low", "high")),
            f"{row['effect']:z.2f}",
            f"{row['wins']}/{row['ties']}/{row['losses']}",
            _p(row["p"]),
            *([_p(row["p_corrected"])] if several else []),
        ]
        for row in result.to_frame().iter_rows(named=True)
    ]
    other = "other" if result.baseline is None else "baseline"
    header = ["measure", "run", other, "difference", "low", "high", "effect", "win/tie/loss", "p"]
    return Table(header=header + ([f"p ({result.correction})"] if several else []), rows=rows, names=(0, 1, 2))


def _p(value: float) -> str:
    """Never 0.0000, which no p-value of a resampling test is."""
    return "<0.0001" if value < 0.00005 else number(value)


def _remarks(result: Comparison, alpha: float) -> Iterator[str]:
    family = len(result.contrasts[0].first)
    how = f"{_TESTS[result.test]}, p < {alpha:g}"
    if result.correction in _CORRECTIONS and family > 1:
        how += f" after {_CORRECTIONS[result.correction]}'s correction for the {family} pairs of a measure"
    if result.baseline is None:
        yield f"note: the letters after a mean name the runs it is significantly better than ({how})"
    else:
        yield f"note: {_BETTER} significantly better, {_WORSE} significantly worse than {result.baseline!r} ({how})"
    neutral = [one.measure for one in result.contrasts if one.higher == "neither"]
    if neutral:
        yield f"note: neither higher nor lower is better for {', '.join(neutral)}: better means higher there"


def _contradictions(result: Comparison, alpha: float) -> list[str]:
    """Pairs in which the test and the mean speak for different runs: ranks heed small differences, means large ones."""
    found = []
    for one in result.contrasts:
        better = one.sign() * one.direction > 0
        found += [
            f"note: {one.measure}: {result.systems[one.first[at]]!r} is significantly "
            f"{'better' if better[at] else 'worse'} than {result.systems[one.second[at]]!r} by signed ranks, but not "
            "by its mean"
            for at in np.flatnonzero(one.against_the_mean(alpha))
        ]
    more = len(found) - _MOST_NOTES
    return found if more <= 0 else [*found[:_MOST_NOTES], f"note: and so for {more} more pair{'s' if more > 1 else ''}"]


def _passed(result: Comparison, margin: float | None, alpha: float) -> str:
    measures = ", ".join(one.measure for one in result.contrasts)
    if margin is None:
        return f"no run is significantly worse than {result.baseline!r} on {measures} (alpha={alpha:g})"
    return (
        f"every run is shown to be no more than {margin:g} worse than {result.baseline!r} on {measures} "
        f"(alpha={alpha:g})"
    )
