"""How a training is set up: what is the same for all losses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from gainful.errors import GainfulError, check_choice

Kind = Literal["features", "text"]
Cut = Literal["threshold", "none", "bayes"]
Precision = Literal["mixed", "float32", "bfloat16"]
Loss = Literal[
    "bce",
    "mse",
    "ordinal",
    "weighted-ordinal",
    "lambdarank",
    "lambdarank+bce",
    "softmax",
    "ranknet",
    "lightgbm-binary",
    "lightgbm-regression",
    "lightgbm-lambdarank",
    "lightgbm-xendcg",
]
# Those that text and features share, and those that text can be learnt by.
SHARED_LOSSES: tuple[Loss, ...] = ("bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce")
LOSSES: tuple[Loss, ...] = (*SHARED_LOSSES, "softmax", "ranknet")
# LightGBM's own objectives, to compare with: what it calls them.
OWN_LOSSES: dict[Loss, str] = {
    "lightgbm-binary": "binary",
    "lightgbm-regression": "regression",
    "lightgbm-lambdarank": "lambdarank",
    "lightgbm-xendcg": "rank_xendcg",
}

# What holds where nothing is said, and with that what each kind knows.
_DEFAULTS: dict[Kind, dict[str, Any]] = {
    "text": {
        **{"learning_rate": 2e-5, "patience": 2, "gamma": 1.0, "model": "distilbert-base-uncased", "epochs": 3},
        **{"batch_size": 16, "max_docs": 3, "max_length": 256, "device": None, "accumulate": 1},
        **{"lora": None, "precision": "mixed", "recompute": False},
    },
    "features": {
        **{"learning_rate": 0.05, "patience": 50, "gamma": 1.0, "rounds": 500, "leaves": 31},
        **{"threads": 1, "categorical": None, "weight": None, "parameters": None},
    },
}
_AT_LEAST = dict.fromkeys(
    ("patience", "epochs", "batch_size", "max_docs", "rounds", "accumulate", "lora", "threads"), 1
)
_AT_LEAST |= {"max_length": 8, "leaves": 2, "gamma": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to train; what is not given depends on whether the examples are text or features.

    Parameters
    ----------
    learning_rate
        How far a step goes: 2e-5 for text (AdamW, with a warm-up and linear decay), 2e-4 for adapters (lora), 0.05 for
        features (trees).
    patience
        Stop after so many epochs or rounds without a better validation nDCGf: 2 for text, 50 for features.
    gamma
        What BCE counts beside LambdaRank, in the loss lambdarank+bce: 1.
    model
        Text: the encoder to start from, a folder or a name that can be fetched: distilbert-base-uncased.
    epochs
        Text: at most so many times through the training queries: 3.
    batch_size
        Text: queries a step, on each GPU: 16.
    max_docs
        Text: documents of a query in an epoch of training, others in every epoch until all had their turn; validation
        uses them all: 3.
    max_length
        Text: tokens of query and document together; the rest is cut off: 256.
    device
        Text: cpu, cuda (training takes all GPUs that it sees) or mps; by default the best there is.
    accumulate
        Text: batches whose gradients are added up before a step, for large batches in little memory: 1.
    lora
        Text: train low-rank adapters of this rank (Hu et al. 2022), such as 16, and the head, not all weights; what is
        saved are whole weights. By default all weights are trained.
    precision
        Text: mixed (on a GPU, weights in float32 and half precision around them), float32, or bfloat16 (frozen weights
        in half the memory, needs adapters: lora): mixed.
    recompute
        Text: compute activations again in the backward pass instead of keeping them: less memory, more time.
    rounds
        Features: at most so many rounds of boosting: 500.
    leaves
        Features: of a tree: 31.
    threads
        Features: how many work on one training: 1.
    categorical
        Features: those whose numbers are names (whole numbers from 0).
    weight
        Features: the column that says how much each document counts in training, such as the certainty of its judge. It
        is no feature, and not needed for ranking.
    parameters
        Features: other parameters of LightGBM, such as "min_data_in_leaf=50,lambda_l2=1".
    """

    learning_rate: float | None = None
    patience: int | None = None
    gamma: float | None = None
    model: str | None = None
    epochs: int | None = None
    batch_size: int | None = None
    max_docs: int | None = None
    max_length: int | None = None
    device: str | None = None
    accumulate: int | None = None
    lora: int | None = None
    precision: Precision | None = None
    recompute: bool | None = None
    rounds: int | None = None
    leaves: int | None = None
    threads: int | None = None
    categorical: Sequence[str] | None = None
    weight: str | None = None
    parameters: Mapping[str, Any] | str | None = None

    def of(self, kind: Kind) -> dict[str, Any]:
        """What holds for one kind of examples; what only the other kind knows is refused."""
        given = {name: value for name, value in asdict(self).items() if value not in (None, (), [])}
        for name in given:
            if name not in _DEFAULTS[kind]:
                other = "features" if kind == "text" else "text"
                raise GainfulError(f"{name}: is for {other}, and the examples are {kind}")
        usual = _DEFAULTS[kind] if self.lora is None else {**_DEFAULTS[kind], "learning_rate": 2e-4}
        known: dict[str, Any] = {**usual, **given}
        for name, value in known.items():
            if name in _AT_LEAST and value is not None and not _AT_LEAST[name] <= value < math.inf:
                raise GainfulError(f"{name}: expected at least {_AT_LEAST[name]:g}, got {value}")
        if not 0.0 < known["learning_rate"] < math.inf:
            raise GainfulError(f"learning_rate: expected a number above 0, got {known['learning_rate']}")
        if kind == "text":
            check_choice("precision", known["precision"], get_args(Precision))
            if known["precision"] == "bfloat16" and known["lora"] is None:
                raise GainfulError(
                    "precision bfloat16: needs lora; all weights cannot be trained in it, as small steps would be lost"
                )
        if known.get("categorical") is not None:
            known["categorical"] = list(known["categorical"])
        if known.get("parameters") is not None:
            known["parameters"] = _parsed(known["parameters"])
        return known


def _parsed(parameters: Mapping[str, Any] | str) -> dict[str, Any]:
    """By name; as text, name=value with commas between."""
    if not isinstance(parameters, str):
        return dict(parameters)
    found = {}
    for pair in parameters.split(","):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (name and equals and value):
            raise GainfulError(f"parameters: expected name=value pairs such as lambda_l2=1, got {pair!r}")
        found[name] = value
    return found


def check_loss(loss: str, kind: Kind | None = None) -> None:
    """Refuse what is no loss, or none for this kind of examples."""
    check_choice("loss", loss, get_args(Loss))
    known = {"text": LOSSES, "features": (*SHARED_LOSSES, *OWN_LOSSES)}
    if kind is not None and loss not in known[kind]:
        other = "features" if kind == "text" else "text"
        raise GainfulError(f"loss {loss}: is for {other}, and the examples are {kind}")


def differing(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """What two trainings do not have in common, by name."""
    values = {
        name: [repr(each[name]) if name in each else "-" for each in (known, wanted)] for name in {**wanted, **known}
    }
    return "; ".join(f"{name} {there} there, {here} here" for name, (there, here) in values.items() if there != here)
