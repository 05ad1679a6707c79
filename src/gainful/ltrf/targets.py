"""What the losses aim at: one definition, for torch and for LightGBM alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gainful.errors import DataError, GainfulError
from gainful.ltrf.settings import LOSSES as LOSSES
from gainful.ltrf.settings import Loss as Loss

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class TrainingError(GainfulError):
    """A training fails by its loss and settings: one with others, beside it, may not."""


class NotFiniteError(DataError):
    """A model gives numbers that are none: its training diverged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The labels, from worst to best, and what each is worth."""

    labels: tuple[float, ...]  # ordered by gain, equal gains by label
    gains: tuple[float, ...]  # the gain of each; below 0 for what must not be shown

    def __str__(self) -> str:
        pairs = zip(self.labels, self.gains, strict=True)
        return "{" + ",".join(f"{plain(label)}:{plain(gain)}" for label, gain in pairs) + "}"

    @classmethod
    def of(cls, gains: Mapping[float, float]) -> Scale:
        """The scale of a mapping from label to gain."""
        pairs = sorted(((float(gain), float(label)) for label, gain in gains.items()))
        if len(pairs) < 2:
            raise GainfulError(f"gains: expected the gains of at least 2 labels, got {dict(gains)}")
        if not all(np.isfinite(number) for pair in pairs for number in pair):
            raise GainfulError(f"gains: expected finite labels and gains, got {dict(gains)}")
        if pairs[0][0] == pairs[-1][0]:
            raise GainfulError(f"gains: expected labels of different gains, got {dict(gains)}")
        return cls(labels=tuple(label for _, label in pairs), gains=tuple(gain for gain, _ in pairs))

    @property
    def steps(self) -> FloatArray:
        """What each label is worth more than the one before: w_i = g(l_{i+1}) − g(l_i)."""
        return np.diff(np.asarray(self.gains))

    def grade(self, labels: ArrayLike) -> IntArray:
        """The place of each label in the scale."""
        given = np.asarray(labels, np.float64)
        known = np.asarray(self.labels)
        order = np.argsort(known)
        at = np.minimum(np.searchsorted(known[order], given), len(known) - 1)
        found = known[order][at] == given
        if not found.all():
            wrong = np.unique(given[~found])[:5].tolist()
            raise DataError(
                f"expected labels {', '.join(map(plain, sorted(self.labels)))}, got {', '.join(map(plain, wrong))}: "
                "give every label a gain"
            )
        return np.asarray(order[at], np.int64)

    def gain(self, labels: ArrayLike) -> FloatArray:
        """The gain of each label."""
        return np.asarray(self.gains)[self.grade(labels)]

    def heads(self, loss: Loss) -> int:
        """How many numbers a model gives for a document: m − 1 for the ordinal losses, else one."""
        return len(self.labels) - 1 if "ordinal" in loss else 1

    def targets(self, loss: Loss, labels: ArrayLike) -> FloatArray:
        """What each number should be: … for one head, … × heads for the ordinal losses."""
        if "ordinal" in loss:
            return (self.grade(labels)[..., None] > np.arange(len(self.labels) - 1)).astype(np.float64)
        gain = self.gain(labels)
        return (gain > 0).astype(np.float64) if "bce" in loss else gain

    def start(self, loss: Loss, labels: ArrayLike, sizes: ArrayLike) -> FloatArray:
        """Where each number starts: the constant with the lowest loss; the documents of a query are side by side.

        Log-odds of the targets, the mean gain for MSE; 0 where only differences between documents count. Half a
        document is added on either side, so that log-odds are finite.
        """
        if loss not in ("bce", "mse", "ordinal", "weighted-ordinal", "lambdarank+bce"):
            return np.zeros(self.heads(loss))
        number = np.asarray(sizes, np.int64)
        target = self.targets(loss, labels).reshape(int(number.sum()), -1)
        # As in the losses, every query counts alike.
        mean = np.repeat(1.0 / np.maximum(number, 1), number) @ target / max(1, int((number > 0).sum()))
        if loss == "mse":
            return np.asarray(mean)
        share = (mean * len(target) + 0.5) / (len(target) + 1.0)
        return np.asarray(np.log(share / (1.0 - share)))

    def head_weights(self, loss: Loss) -> FloatArray:
        """How much each head counts, in the loss and in the score: the gain steps, or 1."""
        return self.steps if loss == "weighted-ordinal" else np.ones(self.heads(loss))

    def document_score(self, loss: Loss, outputs: ArrayLike) -> FloatArray:
        """What documents are ranked and cut by: the model's number, or the (weighted) sum of ordinal probabilities."""
        given = np.asarray(outputs, np.float64)
        heads, width = self.heads(loss), given.shape[1] if given.ndim > 1 else 1  # one head may come flat
        if width != heads:
            raise DataError(f"heads: expected {heads} for the loss {loss}, got a model with {width}")
        given = given.reshape(-1, heads)
        lost = int((~(np.abs(given) <= np.finfo(np.float32).max)).any(axis=1).sum())
        if lost:
            raise NotFiniteError(f"the model gives no finite number for {lost} of {len(given)} documents")
        given = sigmoid(given) @ self.head_weights(loss) if "ordinal" in loss else given[:, 0]
        # As trec_eval compares scores: what is equal here is equal wherever the run is read.
        return given.astype(np.float32).astype(np.float64)

    def to_dict(self) -> dict[str, float]:
        """Label → gain, from worst to best."""
        return {plain(label): gain for label, gain in zip(self.labels, self.gains, strict=True)}


def read_scale(gains: Mapping[float, float] | str | None, labels: ArrayLike) -> Scale:
    """The scale asked for, also as text such as {-2:-10,0:0,1:1,2:2}; if there is none, every label is its own gain."""
    if isinstance(gains, str):
        gains = _parsed(gains)
    if gains is None:
        known = np.unique(np.asarray(labels, np.float64)).tolist()
        if len(known) < 2:
            raise DataError(f"expected documents of at least 2 labels to learn from, got only label {plain(known[0])}")
        gains = {label: label for label in known}
    return Scale.of(gains)


def _parsed(text: str) -> dict[float, float]:
    found: dict[float, float] = {}
    for pair in text.strip().removeprefix("{").removesuffix("}").split(","):
        try:
            label, gain = (float(part.strip().strip("'\"")) for part in pair.split(":"))
        except ValueError:
            raise GainfulError(f"gains: expected label:gain pairs such as {{-2:-10,0:0,1:1}}, got {text!r}") from None
        if label in found:
            raise GainfulError(f"gains: expected every label once, got {plain(label)} twice in {text!r}")
        found[label] = gain
    return found


def plain(number: float) -> str:
    """A number, whole and no longer than it need be: 2 and not 2.0, but all of 0.1234567."""
    return repr(float(number)).removesuffix(".0")


def sigmoid(values: FloatArray) -> FloatArray:
    """1/(1 + e^-x), for numbers of any size."""
    return 0.5 * (1.0 + np.tanh(0.5 * values))


def discounts(number: int, cutoff: int | None) -> FloatArray:
    """1/log2(1 + rank) of the first `number` ranks, 0 beyond the cutoff."""
    ranks = np.arange(1, number + 1)
    return np.where(ranks <= (cutoff or number), 1.0 / np.log2(1.0 + ranks), 0.0)


def tied(first: Any, size: Any, sums: Any, moments: Any) -> tuple[Any, Any]:
    """The discount of a document, and how far those of two that share their ranks differ: means over all their orders.

    It shares ranks from `first`, counted from 0, with documents of the same score, `size` with itself; `sums` and
    `moments` are those of `running`. Of numpy arrays or torch tensors alike.
    """
    total = sums[first + size] - sums[first]
    weighted = moments[first + size] - moments[first] - first * total
    apart = abs((size - 1) * total - 2 * weighted) * 2 / (size * (size - 1) + (size == 1))
    return total / size, apart


def running(number: int, cutoff: int | None) -> tuple[FloatArray, FloatArray]:
    """Sums of discounts over the ranks before each, and of discounts times rank, from 0."""
    discount = discounts(number, cutoff)
    parts = (discount, discount * np.arange(number))
    sums, moments = (np.concatenate([[0.0], np.cumsum(part)]) for part in parts)
    return sums, moments


def pair_weight(gain: Any, other_gain: Any, apart: Any, spread: Any) -> Any:
    """By how much nDCGf changes if two documents change places; of numpy arrays or torch tensors alike."""
    return abs(gain - other_gain) * apart / spread
