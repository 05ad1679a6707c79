"""Random search over what a training depends on; the validation queries decide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from gainful.charts import HEIGHT, WIDTH, load_altair, styled
from gainful.errors import GainfulError
from gainful.ltrf.data import Kind
from gainful.ltrf.ranker import FRanker
from gainful.ltrf.settings import Settings
from gainful.ltrf.targets import Loss, check_loss
from gainful.ltrf.training import prepare, tested, train_parts

if TYPE_CHECKING:
    import altair

# Where learning rates are looked for, if nobody says.
_LEARNING_RATES: dict[Kind, tuple[float, float]] = {"text": (5e-6, 1e-4), "features": (0.01, 0.3)}
# What else a kind is searched over, by the name of the setting.
_SIZE: dict[Kind, str] = {"text": "batch_size", "features": "leaves"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Search:
    """What a random search tried, and the best f-ranker that it found.

    Parameters
    ----------
    trials
        What was tried, and the validation nDCGf that it gave; the first trial is the settings as given.
    best
        Which trial is the best, from 0.
    ranker
        Its f-ranker.
    loss, cutoff, seed
        What repeats it, together with the settings of the f-ranker.
    """

    trials: tuple[Mapping[str, float], ...]
    best: int
    ranker: FRanker
    loss: Loss
    cutoff: int
    seed: int

    def __str__(self) -> str:
        found = " ".join(f"{name}={value:.4g}" for name, value in self.trials[self.best].items() if name != "nDCGf")
        value = self.trials[self.best]["nDCGf"]
        seen = "" if self.ranker.test is None else f", test {self.ranker.test[f'nDCGf@{self.cutoff}']:.4f}"
        return (
            f"best of {len(self.trials)} trials, loss {self.loss}: {found}; validation nDCGf@{self.cutoff} "
            f"{value:.4f}{seen}; seed={self.seed}"
        )

    def to_frame(self) -> pl.DataFrame:
        """A row a trial, in the order of trying: trial, what was tried, nDCGf."""
        frame = pl.DataFrame([dict(trial) for trial in self.trials])
        return frame.select(pl.int_range(1, pl.len() + 1).alias("trial"), "*")

    def to_dict(self) -> dict[str, object]:
        """Trials, the best of them, and the settings."""
        return {
            "trials": [dict(trial) for trial in self.trials],
            "best": self.best + 1,
            "ranker": self.ranker.to_dict(),
            "loss": self.loss,
            "cutoff": self.cutoff,
            "seed": self.seed,
        }

    def chart(self) -> altair.TopLevelMixin:
        """Validation nDCGf of every trial against its learning rate."""
        alt = load_altair()
        size = _SIZE[self.ranker.kind]
        hints = [alt.Tooltip(f"{name}:Q", format=".4~g") for name in self.to_frame().columns]
        points = (
            alt.Chart(self.to_frame().with_columns(best=pl.col("trial") == self.best + 1))
            .mark_point(filled=True, size=90, opacity=0.9)
            .encode(
                x=alt.X("learning_rate:Q", title="learning rate", scale=alt.Scale(type="log", nice=False, padding=20)),
                y=alt.Y("nDCGf:Q", title=f"validation nDCGf@{self.cutoff}", scale=alt.Scale(zero=False)),
                color=alt.Color(f"{size}:O", title=size.replace("_", " ")),
                shape=alt.Shape(
                    "best:N", title="best", scale=alt.Scale(domain=[False, True], range=["circle", "diamond"])
                ),
                tooltip=hints,
            )
            .properties(width=WIDTH, height=HEIGHT)
        )
        return styled(points, f"{len(self.trials)} trials of {self.loss}")


def tune(
    data: Any,
    *,
    validation: Any = None,
    test: Any = None,
    loss: Loss = "ordinal",
    gains: Mapping[float, float] | str | None = None,
    cutoff: int = 3,
    trials: int = 10,
    learning_rates: tuple[float, float] | None = None,
    batch_sizes: Sequence[int] = (8, 16, 32, 64),
    leaf_counts: Sequence[int] = (7, 15, 31, 63, 127),
    gammas: tuple[float, float] = (0.1, 10.0),
    seed: int = 0,
    settings: Settings = Settings(),
) -> Search:
    """Search at random for settings that make an f-ranker better; the validation nDCGf decides.

    Parameters
    ----------
    data
        What to learn from. Text: JSONL, CSV, TSV or Parquet (compressed or not) or a frame with the columns query_id,
        query, doc_id, document and label. Features: a table with query_id, doc_id, label and a column a feature, or
        LETOR/SVMlight lines.
    validation
        The same, of other queries, to choose settings, epoch and threshold on. Without it, the queries of the data are
        split at random: 64 % to learn from, 16 % to validate, 20 % to test.
    test
        The same, of still other queries: what the best f-ranker is worth there.
    loss
        bce, mse, ordinal, weighted-ordinal, lambdarank or lambdarank+bce.
    gains
        What each label is worth, such as {-2:-10,0:0,1:1,2:2}; below 0 for what must not be shown. Without it, every
        label is its own gain.
    cutoff
        Of nDCGf.
    trials
        How many trainings; the first one takes the settings as they are.
    learning_rates
        From where to where; drawn evenly on a logarithmic scale. By default 5e-6 to 1e-4 for text, 0.01 to 0.3 for
        features.
    batch_sizes
        Text: which ones to draw from.
    leaf_counts
        Features: leaves of a tree, to draw from.
    gammas
        From where to where, for the loss lambdarank+bce.
    seed
        Where the random numbers start, those of the search and of every training.
    settings
        How to train: what is not searched, and where to begin.

    Returns
    -------
    Search
        All trials, and the best f-ranker.

    Examples
    --------
    >>> import polars as pl
    >>> labels = [2, -1, 1] * 40
    >>> rows = {"query_id": [n // 3 for n in range(120)], "doc_id": range(120), "label": labels, "f": labels}
    >>> found = tune(pl.DataFrame(rows), trials=2, settings=Settings(rounds=5))
    >>> found.best, found.ranker.test["nDCGf@3"]
    (0, 1.0)
    """
    check_loss(loss)
    if trials < 1:
        raise GainfulError(f"trials: expected at least 1, got {trials}")
    for name, ends in {"learning_rates": learning_rates, "gammas": gammas}.items():
        if ends is not None and not 0.0 < ends[0] <= ends[1] < math.inf:
            raise GainfulError(f"{name}: expected two numbers above 0, the lower one first, got {tuple(ends)}")
    for name, sizes in {"batch_sizes": batch_sizes, "leaf_counts": leaf_counts}.items():
        if not sizes:
            raise GainfulError(f"{name}: expected at least one, got none")
    parts = prepare(data, validation, test, gains=gains, cutoff=cutoff, seed=seed)
    kind = parts.train.kind
    size, sizes = _SIZE[kind], batch_sizes if kind == "text" else leaf_counts
    rng = np.random.default_rng(seed)
    tried: list[dict[str, float]] = []
    best: FRanker | None = None
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
        ranker = train_parts(parts._replace(test=None), loss, cutoff=cutoff, seed=seed, settings=chosen)
        known = chosen.of(kind)
        searched = ["learning_rate", size, *(["gamma"] if loss == "lambdarank+bce" else [])]
        tried.append({**{name: known[name] for name in searched}, "nDCGf": ranker.validation["nDCGf"]})
        if best is None or ranker.validation["nDCGf"] > best.validation["nDCGf"]:
            best, at = ranker, trial
    if best is None:  # there is at least one trial
        raise GainfulError("trials: expected at least 1")
    return Search(
        trials=tuple(tried),
        best=at,
        ranker=best if parts.test is None else tested(best, parts.test),
        loss=loss,
        cutoff=cutoff,
        seed=seed,
    )


def _log_uniform(rng: np.random.Generator, ends: tuple[float, float]) -> float:
    low, high = math.log(ends[0]), math.log(ends[1])
    return float(math.exp(rng.uniform(low, high)))
