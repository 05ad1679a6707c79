"""Random search over what a training depends on; the validation queries decide."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gainful import _polars as pl
from gainful import results
from gainful.charts import HEIGHT, WIDTH, load_altair, styled
from gainful.errors import GainfulError, check_count
from gainful.ltrf.experiments import RANKER, Kept, Outcome, outcomes
from gainful.ltrf.functions import tune
from gainful.ltrf.ranker import FRanker
from gainful.ltrf.settings import Kind, Loss, Settings, check_loss
from gainful.ltrf.targets import NotFiniteError, TrainingError
from gainful.ltrf.training import Splits, prepare, repeated_by, settings_of, tested, train_on
from gainful.results import Chart, Note, Result, listed
from gainful.tables import Table

# Where learning rates are looked for, if nobody says.
_LEARNING_RATES: dict[Kind, tuple[float, float]] = {"text": (5e-6, 1e-4), "features": (0.01, 0.3)}
# How long a training may be, by the name of the setting.
LENGTHS: dict[Kind, str] = {"text": "epochs", "features": "rounds"}
# What else a kind is searched over, by the name of the setting.
_SIZE: dict[Kind, str] = {"text": "batch_size", "features": "leaves"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Search(Result):
    """What a random search tried, and the best f-ranker that it found.

    Parameters
    ----------
    trials
        What was tried, the validation nDCGf that it gave, and why it failed, if it did (nDCGf is None then); the first
        trial is the settings as given. With halving also for how long it was trained.
    best
        Which trial is the best, from 0.
    ranker
        Its f-ranker.
    settings
        What repeats it.
    """

    trials: tuple[Mapping[str, Any], ...]
    best: int
    ranker: FRanker
    settings: results.Settings

    def verdict(self) -> str:
        """The best trial, and what it is worth."""
        trial = {name: value for name, value in self.trials[self.best].items() if name not in ("nDCGf", "failed")}
        found = listed([f"{name} {value:.4g}" for name, value in trial.items()])
        measure, test = f"nDCGf@{self.ranker.cutoff}", self.ranker.test
        seen = "" if test is None else f", {test[measure]:.4f} on the test queries"
        return (
            f"Trial {self.best + 1} of {len(self.trials)} is the best: {found} reach {measure} "
            f"{self.trials[self.best]['nDCGf']:.4f} on the validation queries{seen}."
        )

    def tables(self) -> tuple[Table, ...]:
        """One row per trial, in the order of trying."""
        columns = [name for name in self.trials[0] if name != "failed" or any(row[name] for row in self.trials)]
        frame = pl.DataFrame([dict(trial) for trial in self.trials], infer_schema_length=None).select(columns)
        frame = frame.select(pl.int_range(1, pl.len() + 1).alias("trial"), "*")
        headers: dict[str, Any] = {name: (name, "level") for name in frame.columns}
        headers |= {"nDCGf": f"validation nDCGf@{self.ranker.cutoff}"}
        headers |= {"failed": "failed"} if "failed" in columns else {}
        return (Table.of("trials", frame, headers, best=frozenset({(self.best, frame.columns.index("nDCGf"))})),)

    def _notes(self) -> tuple[Note, ...]:
        failed = [f"{at} ({row['failed']})" for at, row in enumerate(self.trials, 1) if row["failed"]]
        text = f"{len(failed)} of {len(self.trials)} trials failed: {'; '.join(failed)}."
        return (*([Note("failed-trials", "", text)] if failed else []), *self.ranker.notes())

    def _content(self) -> dict[str, Any]:
        trials = [dict(trial) for trial in self.trials]
        return {"trials": trials, "best": self.best + 1, "ranker": self.ranker.to_dict()}

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the best f-ranker into a new folder."""
        self.ranker.save(folder)

    def chart(self) -> Chart:
        """Validation nDCGf of every trial against its learning rate."""
        alt = load_altair()
        size = _SIZE[self.ranker.kind]
        hints = [alt.Tooltip(f"{name}:Q", format=".4~g") for name in self.to_frame().columns if name != "failed"]
        points = (
            alt.Chart(self.to_frame().with_columns(best=pl.col("trial") == self.best + 1))
            .mark_point(filled=True, size=90, opacity=0.9)
            .encode(
                x=alt.X("learning_rate:Q", title="learning rate", scale=alt.Scale(type="log", nice=False, padding=20)),
                y=alt.Y("nDCGf:Q", title=f"validation nDCGf@{self.ranker.cutoff}", scale=alt.Scale(zero=False)),
                color=alt.Color(f"{size}:O", title=size.replace("_", " ")),
                shape=alt.Shape(
                    "best:N", title="best", scale=alt.Scale(domain=[False, True], range=["circle", "diamond"])
                ),
                tooltip=hints,
            )
            .properties(width=WIDTH, height=HEIGHT)
        )
        return styled(points, f"{len(self.trials)} trials of {self.ranker.loss}")


class _Task(NamedTuple):
    """What all trials share."""

    splits: Splits
    loss: Loss
    cutoff: int
    seed: int


class _Trial(NamedTuple):
    """One training: its settings, and whether its f-ranker may be the best."""

    settings: Settings
    last: bool


def _tried(task: _Task, trial: _Trial) -> Outcome:
    """Train; what fails says why."""
    try:
        ranker = train_on(task.splits, task.loss, cutoff=task.cutoff, seed=task.seed, settings=trial.settings)
    except (TrainingError, NotFiniteError) as error:
        return {"nDCGf": None, "failed": str(error)}
    return {"nDCGf": ranker.validation["nDCGf"], "failed": None, **({RANKER: ranker} if trial.last else {})}


def search(data: Any, validation: Any, test: Any, given: Mapping[str, Any]) -> Search:
    """What `tune` returns."""
    loss, settings, halving = given["loss"], given["settings"], given["halving"]
    check_loss(loss)
    if given["trials"] < 1:
        raise GainfulError(f"trials: expected at least 1, got {given['trials']}")
    if halving is not None:
        check_count("halving", halving, least=2)
    for name in ("learning_rates", "gammas"):
        ends = given[name]
        if ends is not None and not 0.0 < ends[0] <= ends[1] < math.inf:
            raise GainfulError(f"{name}: expected two numbers above 0, the lower one first, got {tuple(ends)}")
    for name in ("batch_sizes", "leaf_counts"):
        if not given[name]:
            raise GainfulError(f"{name}: expected at least one, got none")
    splits = prepare(data, validation, test, given)
    kind = splits.train.kind
    drawn = _drawn(kind, given)
    task = _Task(splits._replace(test=None), loss, given["cutoff"], given["seed"])
    kept = Kept(given["folder"], _identity(task, given))
    length = LENGTHS[kind]
    shown = ["learning_rate", _SIZE[kind], *(["gamma"] if loss == "lambdarank+bce" else [])]
    shown += [*([] if halving is None else [length]), "nDCGf", "failed"]
    rows: dict[int, dict[str, Any]] = {}
    best: tuple[float, int, str, FRanker | None] | None = None
    for budget, number in (rungs := _rungs(len(drawn), settings.of(kind)[length], halving)):
        order = sorted(range(len(drawn)), key=lambda trial: -_value(rows.get(trial)))
        going = [trial for trial in sorted(order[:number]) if rows.get(trial, {}).get("failed") is None]
        last = budget == rungs[-1][0]
        names = {f"trial-{trial + 1}-{length}-{budget}": trial for trial in going}
        whole: dict[str, Any] = {length: budget}
        jobs = {name: _Trial(replace(drawn[at], **whole), last) for name, at in names.items()}
        engine = given["options"].get("engine", "local")
        for name, outcome in outcomes(_tried, jobs, kept, shared=task, engine=engine, label="Trials"):
            at = names[name]
            known = {**jobs[name].settings.of(kind), **outcome}
            rows[at] = {column: known[column] for column in shown}
            one = (_value(rows[at]), -at, name, outcome.get(RANKER))
            if last and known["failed"] is None and (best is None or one[:2] > best[:2]):
                worse, best = best, one
            else:
                worse = one
            if worse is not None:
                kept.drop(worse[2])
    if best is None:
        raise GainfulError(f"all {len(drawn)} trials failed, the first by: {rows[0]['failed']}")
    _, at, name, ranker = best
    ranker = ranker or kept.ranker(name) or _tried(task, jobs[name])[RANKER]
    return Search(
        trials=tuple(rows[trial] for trial in range(len(drawn))),
        best=-at,
        ranker=ranker if splits.test is None else tested(ranker, splits.test),
        settings=settings_of(tune, given, splits),
    )


def _value(row: Mapping[str, Any] | None) -> float:
    """The nDCGf of a trial; that of one that failed is below all."""
    value = None if row is None else row["nDCGf"]
    return -math.inf if value is None else float(value)


def _rungs(trials: int, length: int, halving: int | None) -> list[tuple[int, int]]:
    """How long trials are trained and how many of them, from short and many to the whole length and few."""
    steps = 0 if halving is None else int(min(math.log(trials, halving), math.log(length, halving)) + 1e-9)
    return [
        (max(1, length // (halving or 1) ** (steps - at)), math.ceil(trials / (halving or 1) ** at))
        for at in range(steps + 1)
    ]


def _identity(task: _Task, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the trials in a folder have in common; without halving, more trials may be added later."""
    names = ["loss", "cutoff", "learning_rates", "batch_sizes", "leaf_counts", "gammas", "halving"]
    known = {name: given[name] for name in (*names, *(["trials"] if given["halving"] else []))}
    return {**known, "gains": str(task.splits.scale), **repeated_by(task.splits, task.seed, given["settings"])}


def _drawn(kind: Kind, given: Mapping[str, Any]) -> list[Settings]:
    """The settings of all trials: those given, then others at random."""
    rng = np.random.default_rng(given["seed"])
    found = [given["settings"]]
    for _ in range(given["trials"] - 1):
        drawn: dict[str, Any] = {
            "learning_rate": _log_uniform(rng, given["learning_rates"] or _LEARNING_RATES[kind]),
            _SIZE[kind]: int(rng.choice(np.asarray(given["batch_sizes" if kind == "text" else "leaf_counts"]))),
        }
        if given["loss"] == "lambdarank+bce":
            drawn["gamma"] = _log_uniform(rng, given["gammas"])
        found.append(replace(given["settings"], **drawn))
    return found


def _log_uniform(rng: np.random.Generator, ends: tuple[float, float]) -> float:
    low, high = math.log(ends[0]), math.log(ends[1])
    return float(math.exp(rng.uniform(low, high)))
