"""What a step of training on text takes: some documents of each query, and the loss of their scores."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.ltrf.data import Examples
from gainful.ltrf.losses import loss_of
from gainful.ltrf.targets import IntArray, Loss, Scale

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder


def lists(examples: Examples, scale: Scale) -> Any:
    """One row per query: its text, all its documents and their grades."""
    from datasets import Dataset

    from gainful import _polars as pl

    frame = examples.frame.with_columns(grade=pl.Series(scale.grade(examples.labels)))
    rows = frame.group_by("query_id", maintain_order=True).agg(pl.col("query").first(), "document", "grade")
    return Dataset.from_dict(
        {"query": rows["query"].to_list(), "docs": rows["document"].to_list(), "label": rows["grade"].to_list()}
    )


def drawn(query: str, number: int, *, max_docs: int, epoch: int, seed: int) -> IntArray:
    """Which of a query's documents an epoch takes: at most `max_docs`, others every time until all had their turn.

    It depends on nothing else, so that a training that was cut off goes on with the same documents.
    """
    if number <= max_docs:
        return np.arange(number)
    key = hashlib.blake2b(query.encode(errors="surrogatepass"), digest_size=8).digest()
    order = np.random.default_rng([seed, int.from_bytes(key)]).permutation(number)
    return np.sort(order[(epoch * max_docs + np.arange(max_docs)) % number])


def learnt_pairs(sizes: IntArray, *, max_docs: int, epochs: int) -> dict[str, int]:
    """How many pairs of query and document there are, an epoch takes, and that many epochs take at least once."""
    counts = {"all": sizes, "per_epoch": np.minimum(sizes, max_docs), "seen": np.minimum(sizes, max_docs * epochs)}
    return {name: int(count.sum()) for name, count in counts.items()}


def list_loss(
    encoder: CrossEncoder, loss: Loss, scale: Scale, *, cutoff: int, seed: int, settings: Mapping[str, Any]
) -> Any:
    """The loss as the module that the trainer wants: (queries, lists of documents), lists of grades → a number."""
    import torch
    from sentence_transformers.util import batch_to_device

    gamma, max_docs = settings["gamma"], settings["max_docs"]

    class ListLoss(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = encoder  # the trainer puts a wrapper here that spreads the work over several GPUs
            self.epoch = 0  # set when one begins

        def forward(self, inputs: list[Any], labels: list[torch.Tensor], **_: Any) -> torch.Tensor:
            queries, documents = inputs
            chosen = [
                drawn(query, len(texts), max_docs=max_docs, epoch=self.epoch, seed=seed)
                for query, texts in zip(queries, documents, strict=True)
            ]
            rows = list(zip(queries, documents, labels, chosen, strict=True))
            pairs = [(query, texts[place]) for query, texts, _, places in rows for place in places]
            device = next(self.model.parameters()).device
            outputs = self.model(batch_to_device(self.model.preprocess(pairs), device))["scores"].float()
            sizes = torch.tensor([len(places) for places in chosen])
            mask = (torch.arange(int(sizes.max()))[None, :] < sizes[:, None]).to(device)
            heads = (scale.heads(loss),) if "ordinal" in loss else ()
            scores = torch.zeros((*mask.shape, *heads), device=device)
            scores[mask] = outputs.reshape(-1, *heads)
            grades = torch.full(mask.shape, -1, device=device)
            grades[mask] = torch.cat([part.long()[places] for _, _, part, places in rows]).to(device)
            return loss_of(loss, scale, scores, grades, mask, cutoff=cutoff, gamma=gamma)

        def get_config_dict(self) -> dict[str, Any]:
            return {"loss": loss, "cutoff": cutoff, "gamma": gamma}

    return ListLoss()
