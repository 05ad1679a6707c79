"""Random search over what a training depends on; the validation queries decide."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gainful import _polars as pl
from gainful import results
from gainful.charts import HEIGHT, WIDTH, load_altair, styled
from gainful.errors import GainfulError, check_choice
from gainful.ltrf.functions import tune
from gainful.ltrf.ranker import FRanker
from gainful.ltrf.settings import LOSSES, Kind
from gainful.ltrf.training import prepare, settings_of, tested, train_on
from gainful.results import Chart, Note, Result, listed
from gainful.tables import Table

# Where learning rates are looked for, if nobody says.
_LEARNING_RATES: dict[Kind, tuple[float, float]] = {"text": (5e-6, 1e-4), "features": (0.01, 0.3)}
# What else a kind is searched over, by the name of the setting.
_SIZE: dict[Kind, str] = {"text": "batch_size", "features": "leaves"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Search(Result):
    """What a random search tried, and the best f-ranker that it found.

    Parameters
    ----------
    trials
        What was tried, and the validation nDCGf that it gave; the first trial is the settings as given.
    best
        Which trial is the best, from 0.
    ranker
        Its f-ranker.
    settings
        What repeats it.
    """

    trials: tuple[Mapping[str, float], ...]
    best: int
    ranker: FRanker
    settings: results.Settings

    def verdict(self) -> str:
        """The best trial, and what it is worth."""
        found = listed([f"{name} {value:.4g}" for name, value in self.trials[self.best].items() if name != "nDCGf"])
        measure, test = f"nDCGf@{self.ranker.cutoff}", self.ranker.test
        seen = "" if test is None else f", {test[measure]:.4f} on the test queries"
        return (
            f"Trial {self.best + 1} of {len(self.trials)} is the best: {found} reach {measure} "
            f"{self.trials[self.best]['nDCGf']:.4f} on the validation queries{seen}."
        )

    def tables(self) -> tuple[Table, ...]:
        """One row per trial, in the order of trying."""
        frame = pl.DataFrame([dict(trial) for trial in self.trials])
        frame = frame.select(pl.int_range(1, pl.len() + 1).alias("trial"), "*")
        headers: dict[str, Any] = {name: (name, "level") for name in frame.columns[:-1]}
        headers["nDCGf"] = f"validation nDCGf@{self.ranker.cutoff}"
        return (Table.of("trials", frame, headers, best=frozenset({(self.best, len(headers) - 1)})),)

    def _notes(self) -> tuple[Note, ...]:
        return self.ranker.notes()

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
        hints = [alt.Tooltip(f"{name}:Q", format=".4~g") for name in self.to_frame().columns]
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


def search(data: Any, validation: Any, test: Any, given: Mapping[str, Any]) -> Search:
    """What `tune` returns."""
    loss, trials, settings = given["loss"], given["trials"], given["settings"]
    cutoff, seed, learning_rates, gammas = (given[name] for name in ("cutoff", "seed", "learning_rates", "gammas"))
    check_choice("loss", loss, LOSSES)
    if trials < 1:
        raise GainfulError(f"trials: expected at least 1, got {trials}")
    for name, ends in {"learning_rates": learning_rates, "gammas": gammas}.items():
        if ends is not None and not 0.0 < ends[0] <= ends[1] < math.inf:
            raise GainfulError(f"{name}: expected two numbers above 0, the lower one first, got {tuple(ends)}")
    for name in ("batch_sizes", "leaf_counts"):
        if not given[name]:
            raise GainfulError(f"{name}: expected at least one, got none")
    splits = prepare(data, validation, test, given)
    kind = splits.train.kind
    size, sizes = _SIZE[kind], given["batch_sizes" if kind == "text" else "leaf_counts"]
    rng = np.random.default_rng(seed)
    tried: list[dict[str, float]] = []
    at = 0
    for trial in range(trials):
        chosen = settings
        if trial:
            drawn: dict[str, Any] = {
                "learning_rate": _log_uniform(rng, learning_rates or _LEARNING_RATES[kind]),
                size: int(rng.choice(np.asarray(sizes))),
            }
            if loss == "lambdarank+bce":
                drawn["gamma"] = _log_uniform(rng, gammas)
            chosen = replace(settings, **drawn)
        ranker = train_on(splits._replace(test=None), loss, cutoff=cutoff, seed=seed, settings=chosen)
        known = chosen.of(kind)
        searched = ["learning_rate", size, *(["gamma"] if loss == "lambdarank+bce" else [])]
        tried.append({**{name: known[name] for name in searched}, "nDCGf": ranker.validation["nDCGf"]})
        if not trial or tried[-1]["nDCGf"] > tried[at]["nDCGf"]:
            best, at = ranker, trial
    return Search(
        trials=tuple(tried),
        best=at,
        ranker=best if splits.test is None else tested(best, splits.test),
        settings=settings_of(tune, given, splits),
    )


def _log_uniform(rng: np.random.Generator, ends: tuple[float, float]) -> float:
    low, high = math.log(ends[0]), math.log(ends[1])
    return float(math.exp(rng.uniform(low, high)))
