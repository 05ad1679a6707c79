"""f-rankers on features: LightGBM trees under the six losses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gainful.errors import DataError, GainfulError, MissingExtraError, check_choice, did_you_mean, setting
from gainful.ltrf.data import Examples
from gainful.ltrf.losses import Objective
from gainful.ltrf.settings import OWN_LOSSES
from gainful.ltrf.targets import FloatArray, Loss, NotFiniteError, Scale, TrainingError
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

    def save(self, folder: Path, weights: FloatArray | None = None) -> None:
        """As LightGBM's text, which has no place for the weights of heads."""
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
    names, weights = _weighted(train, settings["weight"])
    features = train.matrix(names)
    if (features == features[:1]).all() or np.isnan(features).all():
        raise DataError(f"{train.name}: expected features that differ between documents, got constant ones only")
    judged = Validation(scale, validation.labels, validation.sizes, cutoff=cutoff, doc_ids=validation.doc_ids)
    start = scale.start(loss, train.labels, train.sizes)
    parameters = {
        **{"feature_pre_filter": False},  # it would end training, not complain, where documents are few
        **{"deterministic": True, "force_row_wise": True, "verbosity": -1, "metric": "None"},
        **_parameters(lightgbm, settings["parameters"] or {}),
        **{"learning_rate": rate, "num_leaves": settings["leaves"], "seed": seed},
        **{"num_threads": settings["threads"], "num_class": len(start)},
        **_objective(train, loss, scale, weights, cutoff=cutoff, settings=settings),
    }

    def measured(scores: FloatArray, _: Any) -> tuple[str, float, bool]:
        try:
            return "nDCGf", judged.best(scale.document_score(loss, scores)).value, True
        except NotFiniteError as error:
            raise TrainingError(
                f"training diverged: loss {loss}, round {done() + 1} of {rounds}: {error}; lower the learning rate "
                f"({rate:g})"
            ) from None

    def done() -> int:
        return len(history.get("validation", {}).get("nDCGf", []))

    def dataset(examples: Examples, matrix: NDArray[np.float32], **given: Any) -> Any:
        if start.any():
            given["init_score"] = np.tile(start, (len(examples), 1)).squeeze(1 if len(start) == 1 else ())
        if loss in OWN_LOSSES:
            given["group"] = examples.sizes
        return lightgbm.Dataset(matrix, label=_targets(loss, scale, examples.labels), **given)

    history: dict[str, dict[str, list[float]]] = {}
    data = dataset(
        train,
        features,
        weight=weights,
        feature_name=_plain_names(names),
        categorical_feature=_places(names, settings["categorical"] or ()),
    )
    held_out = dataset(validation, validation.matrix(names), reference=data)
    steps = iter(track(range(rounds), rounds, f"Training {loss}"))
    try:
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
    except lightgbm.basic.LightGBMError as error:
        raise TrainingError(f"LightGBM refuses its parameters or data: {str(error).strip()}") from None
    getattr(steps, "close", lambda: None)()
    best = lightgbm.Booster(model_str=booster.model_to_string(num_iteration=booster.best_iteration))
    for head, constant in enumerate(start.tolist()):  # part of the model from here on
        for leaf in range(best.dump_model(num_iteration=1)["tree_info"][head]["num_leaves"] if constant else 0):
            best.set_leaf_output(head, leaf, best.get_leaf_output(head, leaf) + constant)
    return Trees(best, names), history["validation"]["nDCGf"]


def _weighted(train: Examples, column: str | None) -> tuple[tuple[str, ...], FloatArray | None]:
    """The features, and how much each document counts, 1 on average; None: all alike."""
    if column is None:
        return train.names, None
    check_choice("weight", column, train.names)
    weights = train.matrix([column])[:, 0].astype(np.float64)
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise DataError(f"{train.name}: expected weights of at least 0 in column {column!r}, some of them above")
    return tuple(name for name in train.names if name != column), weights / weights.mean()


def _objective(
    train: Examples,
    loss: Loss,
    scale: Scale,
    weights: FloatArray | None,
    *,
    cutoff: int,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """What is minimised, as parameters of LightGBM, which weighs its own objectives itself."""
    if loss in OWN_LOSSES:
        # Its rankers know no forbidden documents: the worst label is worth 0.
        gains = (np.asarray(scale.gains) - scale.gains[0]).tolist()
        return {"objective": OWN_LOSSES[loss], "label_gain": gains, "lambdarank_truncation_level": max(cutoff, 30)}
    how: dict[str, Any] = {"cutoff": cutoff, "gamma": settings["gamma"], "threads": settings["threads"]}
    objective = Objective(loss, scale, train.labels, train.sizes, **how)

    def slopes(scores: FloatArray, _: Any) -> tuple[FloatArray, FloatArray]:
        with np.errstate(over="ignore", invalid="ignore"):  # a training that diverges is told of elsewhere
            gradient, hessian = objective(scores)
        if weights is None:
            return gradient, hessian
        each = weights.reshape(-1, *[1] * (scores.ndim - 1))
        return gradient * each, hessian * each

    return {"objective": slopes}


def _targets(loss: Loss, scale: Scale, labels: FloatArray) -> FloatArray:
    """The labels that LightGBM's own objectives take; it needs some for the others, too."""
    match loss:
        case "lightgbm-binary":
            return scale.targets("bce", labels)
        case "lightgbm-regression":
            return scale.gain(labels)
        case "lightgbm-lambdarank" | "lightgbm-xendcg":
            return scale.grade(labels).astype(np.float64)
        case _:
            return np.zeros(len(labels))


# What losses and settings decide, by LightGBM's name: `parameters` may not.
_DECIDED: dict[str, str | None] = {
    **{"objective": "loss", "num_class": "loss", "label_gain": "gains", "metric": "loss", "linear_tree": None},
    **{"learning_rate": "learning_rate", "num_leaves": "leaves", "num_iterations": "rounds"},
    **{"num_threads": "threads", "seed": "seed", "early_stopping_round": "patience"},
    **{"categorical_feature": "categorical", "boost_from_average": None, "verbosity": None},
}


def _parameters(lightgbm: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters by LightGBM's first names for them; it would take what it does not know without a word."""
    known = lightgbm.basic._ConfigAliases._get_all_param_aliases()
    names = {alias: name for name, aliases in known.items() for alias in (name, *aliases)}
    found = {}
    for alias, value in given.items():
        if alias not in names:
            raise GainfulError(f"parameters: LightGBM knows none called {alias!r}.{did_you_mean(alias, names)}")
        name = names[alias]
        if name in _DECIDED:
            other = _DECIDED[name]
            raise GainfulError(f"parameters: {alias} cannot be set here{f': say {setting(other)}' if other else ''}")
        found[name] = value
    if found.get("force_col_wise"):
        found["force_row_wise"] = False
    return found


def _plain_names(names: Sequence[str]) -> list[str]:
    """Names as LightGBM's text can hold them."""
    plain = [re.sub(r'[\s",:\[\]{}]', "_", name) or "_" for name in names]
    return plain if len(set(plain)) == len(plain) else [f"{name}_{at}" for at, name in enumerate(plain)]


def _places(names: Sequence[str], chosen: Sequence[str]) -> list[int]:
    for name in chosen:
        check_choice("categorical", name, names)
    return [names.index(name) for name in chosen]
