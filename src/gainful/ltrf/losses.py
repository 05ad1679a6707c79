"""The six losses as torch functions of padded lists: exact, pure, blind to padding and to the order of documents.

`scores` is queries × documents, or queries × documents × heads for the ordinal losses; `grades` are places in the scale
(see `Scale.grade`); `mask` is False for padding, whose scores and grades are never looked at. A loss is the mean over a
query's documents (pairwise: the sum over its pairs), then the mean over the queries that have any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gainful.ltrf.targets import Loss, Scale, pair_weight, running, tied

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
