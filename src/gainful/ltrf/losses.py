"""The losses: exact, pure, blind to padding and to the order of documents.

For torch, they are functions of padded lists: `scores` is queries × documents, or queries × documents × heads for the
ordinal losses; `grades` are places in the scale (see `Scale.grade`); `mask` is False for padding, whose scores and
grades are never looked at. A loss is the mean over a query's documents (pairwise: the sum over its pairs), then the
mean over the queries that have any. For LightGBM, an `Objective` gives gradient and Hessian of all queries at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from gainful.ltrf.pairs import Pairs
from gainful.ltrf.targets import FloatArray, Loss, Scale, pair_weight, running, sigmoid, tied

if TYPE_CHECKING:
    from torch import Tensor


def loss_of(
    loss: Loss,
    scale: Scale,
    scores: Tensor,
    grades: Tensor,
    mask: Tensor,
    *,
    cutoff: int | None = None,
    gamma: float = 1.0,
) -> Tensor:
    """The value of a loss; `cutoff` is of the nDCGf that weights pairs, `gamma` what BCE counts beside LambdaRank."""
    match loss:
        case "bce":
            return binary(scale, scores, grades, mask)
        case "mse":
            return squared(scale, scores, grades, mask)
        case "ordinal" | "weighted-ordinal":
            return ordinal(scale, scores, grades, mask, weighted=loss == "weighted-ordinal")
        case "lambdarank":
            return lambdarank(scale, scores, grades, mask, cutoff=cutoff)
        case "softmax":
            return softmax(scale, scores, grades, mask)
        case "ranknet":
            return ranknet(scale, scores, grades, mask)
        case _:
            pairwise = lambdarank(scale, scores, grades, mask, cutoff=cutoff)
            return pairwise + gamma * binary(scale, scores, grades, mask)


def binary(scale: Scale, scores: Tensor, grades: Tensor, mask: Tensor) -> Tensor:
    """Cross-entropy of 'is its gain above 0?'; scores are logits."""
    from torch.nn.functional import binary_cross_entropy_with_logits

    target = (_gains(scale, scores, grades) > 0).to(scores.dtype)
    return _mean(binary_cross_entropy_with_logits(_clean(scores, mask), target, reduction="none"), mask)


def squared(scale: Scale, scores: Tensor, grades: Tensor, mask: Tensor) -> Tensor:
    """Squared distance of the score from the gain."""
    return _mean((_clean(scores, mask) - _gains(scale, scores, grades)) ** 2, mask)


def ordinal(scale: Scale, scores: Tensor, grades: Tensor, mask: Tensor, *, weighted: bool) -> Tensor:
    """Cross-entropies of 'is it better than label i?', one logit a step; weighted by what the step is worth."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    steps = torch.arange(len(scale.labels) - 1, device=scores.device)
    target = (grades[..., None] > steps).to(scores.dtype)
    each = binary_cross_entropy_with_logits(_clean(scores, mask[..., None]), target, reduction="none")
    weights = scale.head_weights("weighted-ordinal" if weighted else "ordinal")
    return _mean((each * torch.as_tensor(weights, dtype=scores.dtype, device=scores.device)).sum(-1), mask)


def lambdarank(scale: Scale, scores: Tensor, grades: Tensor, mask: Tensor, *, cutoff: int | None = None) -> Tensor:
    """Logistic loss of every pair of different gains, weighted by how much nDCGf changes if the two change places.

    The weights follow from the present order and are constants to the gradient (Burges 2010; Wang et al. 2018); for
    equal scores they are the mean over all orders of these documents. A query without such a pair, as one of a single
    document, adds 0.
    """
    import torch
    from torch.nn.functional import softplus

    scores = _clean(scores, mask)
    gains = torch.where(mask, _gains(scale, scores, grades), torch.zeros_like(scores))
    with torch.no_grad():
        both = mask[..., :, None] & mask[..., None, :]
        same = both & (scores[..., :, None] == scores[..., None, :])
        first = (both & (scores[..., :, None] < scores[..., None, :])).sum(-1)
        tables = running(scores.shape[-1], cutoff)
        sums, moments = (torch.as_tensor(table, dtype=scores.dtype, device=scores.device) for table in tables)
        at, within = tied(first, same.sum(-1).clamp(min=1), sums, moments)
        apart = torch.where(same, within[..., :, None], (at[..., :, None] - at[..., None, :]).abs())
        discount = sums.diff()
        best = (gains.clamp(min=0).sort(-1, descending=True).values * discount).sum(-1)
        worst = (gains.clamp(max=0).sort(-1).values * discount).sum(-1)
        spread = (best - worst)[..., None, None]
        weight = pair_weight(gains[..., :, None], gains[..., None, :], apart, spread)
        real = both & (gains[..., :, None] > gains[..., None, :]) & (spread > 0)
    each = softplus(scores[..., None, :] - scores[..., :, None])
    total = torch.where(real, each * torch.where(real, weight, torch.zeros_like(weight)), torch.zeros_like(each))
    queries = mask.any(-1).sum().clamp(min=1)
    return total.sum() / queries


def softmax(scale: Scale, scores: Tensor, grades: Tensor, mask: Tensor) -> Tensor:
    """Cross-entropy of two distributions over a query's documents, softmax of gains and of scores (Cao et al. 2007)."""
    import torch

    padding = torch.full_like(scores, -torch.inf)
    found = torch.where(mask, _clean(scores, mask), padding).log_softmax(-1)
    wanted = torch.where(mask, _gains(scale, scores, grades), padding).softmax(-1)
    each = torch.where(mask, -wanted * found, torch.zeros_like(scores))
    return each.sum() / mask.any(-1).sum().clamp(min=1)


def ranknet(scale: Scale, scores: Tensor, grades: Tensor, mask: Tensor) -> Tensor:
    """Logistic loss of every pair of different gains (Burges et al. 2005), the mean over a query's pairs."""
    import torch
    from torch.nn.functional import softplus

    scores, gains = _clean(scores, mask), _gains(scale, scores, grades)
    real = mask[..., :, None] & mask[..., None, :] & (gains[..., :, None] > gains[..., None, :])
    each = softplus(scores[..., None, :] - scores[..., :, None])
    total = torch.where(real, each, torch.zeros_like(each)).sum((-1, -2)) / real.sum((-1, -2)).clamp(min=1)
    return total.sum() / mask.any(-1).sum().clamp(min=1)


def _gains(scale: Scale, scores: Tensor, grades: Tensor) -> Tensor:
    import torch

    return torch.as_tensor(np.asarray(scale.gains), dtype=scores.dtype, device=scores.device)[grades.clamp(min=0)]


def _clean(scores: Tensor, mask: Tensor) -> Tensor:
    """Zero where there is padding, so that whatever stands there (NaN, too) reaches no gradient."""
    import torch

    return torch.where(mask, scores, torch.zeros_like(scores))


def _mean(each: Tensor, mask: Tensor) -> Tensor:
    """Over documents, then over queries."""
    import torch

    number = mask.sum(-1)
    per_query = torch.where(mask, each, torch.zeros_like(each)).sum(-1) / number.clamp(min=1)
    return per_query.sum() / (number > 0).sum().clamp(min=1)


class Objective:
    """One loss on fixed documents, those of a query side by side, as a function of their scores.

    The gradients are those of `loss_of` times the number of documents, so that a document counts 1 on average.
    """

    def __init__(
        self,
        loss: Loss,
        scale: Scale,
        labels: ArrayLike,
        sizes: ArrayLike,
        *,
        cutoff: int | None = None,
        gamma: float = 1.0,
        threads: int = 1,
    ) -> None:
        self.loss, self.scale, self.gamma = loss, scale, gamma
        self._sizes = np.asarray(sizes, np.int64)
        self._per_query = int(self._sizes.sum()) / max(1, int((self._sizes > 0).sum()))
        self._weight = np.repeat(self._per_query / np.maximum(self._sizes, 1), self._sizes)
        self._target = scale.targets("bce" if loss == "lambdarank+bce" else loss, labels)
        if "lambdarank" in loss:
            self._pairs = Pairs(scale.gain(labels), self._sizes, cutoff=cutoff, threads=threads)

    def __call__(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient and diagonal of the Hessian, in the shape of the scores."""
        match self.loss:
            case "bce":
                return self._binary(scores)
            case "mse":
                return self._weight * 2.0 * (scores - self._target), self._weight * 2.0
            case "ordinal" | "weighted-ordinal":
                chance = sigmoid(scores.reshape(self._target.shape))  # one head comes flat
                weight = self._weight[:, None] * self.scale.head_weights(self.loss)
                gradient, hessian = weight * (chance - self._target), weight * chance * (1.0 - chance)
                return gradient.reshape(scores.shape), hessian.reshape(scores.shape)
            case "lambdarank":
                return self._pairwise(scores)
            case _:
                pairwise, binary = self._pairwise(scores), self._binary(scores)
                return pairwise[0] + self.gamma * binary[0], pairwise[1] + self.gamma * binary[1]

    def _binary(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        chance = sigmoid(scores)
        return self._weight * (chance - self._target), self._weight * chance * (1.0 - chance)

    def _pairwise(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        gradient, hessian = self._pairs(scores)
        return gradient * self._per_query, hessian * self._per_query
