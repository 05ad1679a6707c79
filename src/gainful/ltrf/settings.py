"""How a training is set up: what is the same for all losses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from gainful.errors import GainfulError

Kind = Literal["features", "text"]
Cut = Literal["threshold", "none", "bayes"]
Loss = Literal["bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce"]
LOSSES: tuple[Loss, ...] = ("bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce")

# What holds where nothing is said, and with that what each kind knows.
_DEFAULTS: dict[Kind, dict[str, Any]] = {
    "text": {
        **{"learning_rate": 2e-5, "patience": 2, "gamma": 1.0, "model": "distilbert-base-uncased", "epochs": 3},
        **{"batch_size": 16, "max_docs": 3, "max_length": 256, "device": None},
    },
    "features": {"learning_rate": 0.05, "patience": 50, "gamma": 1.0, "rounds": 500, "leaves": 31},
}
_AT_LEAST = dict.fromkeys(("patience", "epochs", "batch_size", "max_docs", "rounds"), 1)
_AT_LEAST |= {"max_length": 8, "leaves": 2, "gamma": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to train; what is not given depends on whether the examples are text or features.

    Parameters
    ----------
    learning_rate
        How far a step goes: 2e-5 for text (AdamW, with a warm-up and linear decay), 0.05 for features (trees).
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
        Text: documents of a query in training, drawn at random once; validation uses them all: 3.
    max_length
        Text: tokens of query and document together; the rest is cut off: 256.
    device
        Text: cpu, cuda (training takes all GPUs that it sees) or mps; by default the best there is.
    rounds
        Features: at most so many rounds of boosting: 500.
    leaves
        Features: of a tree: 31.
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
    rounds: int | None = None
    leaves: int | None = None

    def of(self, kind: Kind) -> dict[str, Any]:
        """What holds for one kind of examples; what only the other kind knows is refused."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        for name in given:
            if name not in _DEFAULTS[kind]:
                other = "features" if kind == "text" else "text"
                raise GainfulError(f"{name}: is for {other}, and the examples are {kind}")
        known: dict[str, Any] = {**_DEFAULTS[kind], **given}
        for name, value in known.items():
            if name in _AT_LEAST and not _AT_LEAST[name] <= value < math.inf:
                raise GainfulError(f"{name}: expected at least {_AT_LEAST[name]:g}, got {value}")
        if not 0.0 < known["learning_rate"] < math.inf:
            raise GainfulError(f"learning_rate: expected a number above 0, got {known['learning_rate']}")
        return known


def differing(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """What two trainings do not have in common, by name."""
    values = {
        name: [repr(each[name]) if name in each else "-" for each in (known, wanted)] for name in {**wanted, **known}
    }
    return "; ".join(f"{name} {there} there, {here} here" for name, (there, here) in values.items() if there != here)
