"""f-rankers on features: LightGBM trees under the six losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.errors import DataError, GainfulError, MissingExtraError
from gainful.ltrf.data import Examples
from gainful.ltrf.losses import Objective
from gainful.ltrf.targets import FloatArray, Loss, NotFiniteError, Scale
from gainful.ltrf.validation import Validation
from gainful.progress import track

if TYPE_CHECKING:
    from lightgbm import Booster

MODEL = "model.txt"


def load_lightgbm() -> Any:
    """The lightgbm package, or an error that names the extra."""
    try:
        import lightgbm
    except ImportError:
        raise MissingExtraError("ltrf", "learning from features") from None
    return lightgbm


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """A LightGBM model: one tree a head and round."""

    booster: Booster
    names: tuple[str, ...]

    @property
    def heads(self) -> int:
        """How many numbers it gives for a document."""
        return int(self.booster.num_model_per_iteration())

    def outputs(self, examples: Examples) -> FloatArray:
        """Documents, or documents × heads."""
        return np.asarray(self.booster.predict(examples.matrix(self.names), raw_score=True, num_threads=1), np.float64)

    def save(self, folder: Path) -> None:
        """As LightGBM's text."""
        self.booster.save_model(str(folder / MODEL))

    @classmethod
    def load(cls, folder: Path, names: tuple[str, ...]) -> Trees:
        """From LightGBM's text."""
        lightgbm = load_lightgbm()
        path = folder / MODEL
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: cannot be read: {error}") from None
        # LightGBM itself would crash, not complain, where a part is missing.
        if not text.startswith("tree\n") or "\nend of trees\n" not in text:
            raise DataError(f"{path}: expected LightGBM's text, whole, got something else")
        try:
            booster = lightgbm.Booster(model_str=text)
        except lightgbm.basic.LightGBMError as error:
            raise DataError(f"{path}: cannot be read: {error}") from None
        if booster.num_feature() != len(names):
            raise DataError(f"{path}: expected {len(names)} features, got a model of {booster.num_feature()}")
        return cls(booster, names)


def train_features(
    train: Examples,
    validation: Examples,
    loss: Loss,
    scale: Scale,
    *,
    cutoff: int,
    seed: int,
    settings: Mapping[str, Any],
) -> tuple[Trees, list[float]]:
    """Boost trees, stop when nDCGf of the validation queries no longer rises, and keep the best round."""
    rounds, rate = settings["rounds"], settings["learning_rate"]
    lightgbm = load_lightgbm()
    features = train.matrix(train.names)
    if (features == features[:1]).all() or np.isnan(features).all():
        raise DataError(f"{train.name}: expected features that differ between documents, got constant ones only")
    objective = Objective(loss, scale, train.labels, train.sizes, cutoff=cutoff, gamma=settings["gamma"])
    judged = Validation(scale, validation.labels, validation.sizes, cutoff=cutoff, doc_ids=validation.doc_ids)

    def slopes(scores: FloatArray, _: Any) -> tuple[FloatArray, FloatArray]:
        with np.errstate(over="ignore", invalid="ignore"):  # a training that diverges is told of below
            return objective(scores)

    parameters = {
        "num_class": scale.heads(loss),
        "learning_rate": rate,
        "num_leaves": settings["leaves"],
        "seed": seed,
        "deterministic": True,
        "feature_pre_filter": False,  # it would end training, not complain, where documents are few
        "force_row_wise": True,
        "num_threads": 1,  # sums in one order: the same trees on every machine
        "verbosity": -1,
        "metric": "None",
        "objective": slopes,
    }

    def measured(scores: FloatArray, _: Any) -> tuple[str, float, bool]:
        try:
            return "nDCGf", judged.best(scale.document_score(loss, scores)).value, True
        except NotFiniteError as error:
            raise GainfulError(
                f"training diverged: loss {loss}, round {done() + 1} of {rounds}: {error}; lower the learning rate "
                f"({rate:g})"
            ) from None

    def done() -> int:
        return len(history.get("validation", {}).get("nDCGf", []))

    history: dict[str, dict[str, list[float]]] = {}
    data = lightgbm.Dataset(features, label=np.zeros(len(train)))
    held_out = lightgbm.Dataset(validation.matrix(train.names), label=np.zeros(len(validation)), reference=data)
    steps = iter(track(range(rounds), rounds, f"Training {loss}"))
    booster = lightgbm.train(
        parameters,
        data,
        num_boost_round=rounds,
        valid_sets=[held_out],
        valid_names=["validation"],
        feval=measured,
        callbacks=[
            lambda _: next(steps, None),
            lightgbm.record_evaluation(history),
            lightgbm.early_stopping(settings["patience"], verbose=False),
        ],
    )
    getattr(steps, "close", lambda: None)()
    best = lightgbm.Booster(model_str=booster.model_to_string(num_iteration=booster.best_iteration))
    return Trees(best, train.names), history["validation"]["nDCGf"]
