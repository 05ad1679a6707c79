"""Judged documents with a planted rule, and a tiny encoder without pretrained weights: nothing needs a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

GAINS = {-2: -10.0, 0: 0.0, 1: 1.0, 2: 2.0}
# The word that decides each label.
KEYS = {-2: "spam", 0: "word", 1: "fine", 2: "good"}
FILLERS = [f"w{number}" for number in range(20)]
SETTINGS = {"epochs": 10, "learning_rate": 3e-3, "batch_size": 8, "patience": 10, "max_length": 24, "device": "cpu"}


def planted_text(queries: int, seed: int) -> pl.DataFrame:
    """Documents of five words; one of them says what the document is worth."""
    rng = np.random.default_rng(seed)
    rows = []
    for query in range(queries):
        for document in range(int(rng.integers(1, 5))):
            label = int(rng.choice(list(KEYS), p=[0.35, 0.15, 0.25, 0.25]))
            words = rng.choice(FILLERS, 5).tolist()
            words[int(rng.integers(5))] = KEYS[label]
            rows.append(
                {
                    "query_id": f"q{seed}-{query}",
                    "query": " ".join(rng.choice(FILLERS, 2)),
                    "doc_id": f"d{document}",
                    "document": " ".join(words),
                    "label": label,
                }
            )
    return pl.DataFrame(rows)


def planted_features(queries: int, seed: int, *, noise: float = 0.7) -> pl.DataFrame:
    """One feature tells the label through noise, two tell nothing; queries have 1 to 8 documents."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, queries)
    label = rng.choice([-2, 0, 1, 2], sizes.sum(), p=[0.3, 0.2, 0.25, 0.25])
    return pl.DataFrame(
        {
            "query_id": np.repeat([f"q{seed}-{n}" for n in range(queries)], sizes),
            "doc_id": [f"d{n}" for n in range(sizes.sum())],
            "label": label,
            "signal": label + noise * rng.normal(size=sizes.sum()),
            "other": rng.normal(size=sizes.sum()),
            "another": rng.normal(size=sizes.sum()),
        }
    )


def make_encoder(folder: Path) -> None:
    """A BERT of one layer with random weights, and its vocabulary."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *KEYS.values(), *FILLERS]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    configuration = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        num_labels=1,
    )
    BertForSequenceClassification(configuration).save_pretrained(folder)


def text_settings(encoder: str | Path, **other: Any) -> Any:
    """Settings for the tiny encoder."""
    import gainful as gf

    return gf.ltrf.Settings(**{**SETTINGS, "model": str(encoder), **other})


def train_in_epochs(encoder: str | Path, folder: str | Path) -> tuple[list[float], list[float], float]:
    """A training of four epochs that keeps its state after each: scores of other documents, rounds, threshold."""
    import gainful as gf

    settings = text_settings(encoder, epochs=4, learning_rate=1e-3)
    found = gf.ltrf.train(planted_text(40, 5), gains=GAINS, settings=settings, checkpoints=folder)
    return found.score(planted_text(20, 6)).tolist(), found.validation["rounds"], found.threshold


def compare_in_folder(encoder: str | Path, folder: str | Path) -> dict[str, Any]:
    """Three trainings on text, each kept as soon as it is done: all of the comparison."""
    import gainful as gf

    settings = text_settings(encoder, epochs=2, learning_rate=1e-3)
    how: dict[str, Any] = {"gains": GAINS, "losses": ["bce"], "seeds": 1, "folds": 3, "folder": folder}
    return gf.ltrf.compare(planted_text(24, 5), **how, settings=settings).to_dict()
