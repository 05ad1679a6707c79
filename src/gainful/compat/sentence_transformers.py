"""An evaluator for sentence-transformers: any measure, graded and negative labels, ties averaged, intervals."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gainful.data.metrics import metric_name
from gainful.data.policies import Ties
from gainful.errors import DataError
from gainful.measures import Measure, parse_measures
from gainful.stats.intervals import t_interval
from gainful.verbs.evaluate import score


class RankingEvaluator:
    """Scores how a model ranks the documents of each query; a bi-encoder or a cross-encoder.

    It has all that trainers and model cards ask of an evaluator, and does not need the package to be imported.

    Parameters
    ----------
    samples
        One dict per query: ``query``, ``documents`` (texts), ``labels`` (numbers, negative for what must not be shown).
    measures
        What to compute; the first is the primary metric, by which a trainer chooses its best checkpoint.
    name
        What names of metrics begin with.
    ties
        Documents with equal scores: expected (the mean over all their orders) or order.
    confidence
        Of the intervals of the means, which are logged as ``…_low`` and ``…_high``.
    batch_size
        Texts that the model takes at once.
    """

    def __init__(
        self,
        samples: Sequence[Mapping[str, Any]],
        measures: Any = ("nDCG@10",),
        *,
        name: str = "",
        ties: Ties = "expected",
        confidence: float = 0.95,
        batch_size: int = 32,
    ) -> None:
        for number, sample in enumerate(samples, 1):
            missing = [key for key in ("query", "documents", "labels") if key not in sample]
            if missing:
                raise DataError(f"sample {number}: expected query, documents and labels, got {', '.join(sample)}")
            if len(sample["documents"]) != len(sample["labels"]):
                counts = f"{len(sample['labels'])} for {len(sample['documents'])} documents"
                raise DataError(f"sample {number}: expected one label per document, got {counts}")
        if len(samples) < 2:
            raise DataError(f"expected at least 2 samples, one per query, got {len(samples)}")
        self.samples, self.measures = list(samples), parse_measures(measures)
        self.name, self.ties, self.confidence, self.batch_size = name, ties, confidence, batch_size
        self.greater_is_better = self.measures[0].definition.higher != "worse"
        self.primary_metric = self._called(self.measures[0])

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """The mean of every measure, and its interval; also a line of a CSV file if there is a folder for it."""
        scores = self._ranked(model)
        labels = [list(sample["labels"]) for sample in self.samples]
        found: dict[str, float] = {}
        for measure in self.measures:
            values = score(measure, labels, scores, ties=self.ties)
            ends = np.clip(t_interval(values[None, :], confidence=self.confidence), *(measure.bounds or (None, None)))
            name, (low, high) = self._called(measure), ends.ravel().tolist()
            found |= {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}
        if hasattr(model, "model_card_data"):
            model.model_card_data.set_evaluation_metrics(self, found, epoch, steps)
        if output_path is not None:
            self._write(Path(output_path), found, epoch, steps)
        return found

    @property
    def description(self) -> str:
        """What model cards call it."""
        return "Ranking"

    def get_config_dict(self) -> dict[str, Any]:
        """The settings that model cards print."""
        return {"ties": self.ties, "confidence": self.confidence}

    def _called(self, measure: Measure) -> str:
        return "_".join([*([self.name] if self.name else []), metric_name(str(measure))])

    def _ranked(self, model: Any) -> list[list[float]]:
        """The scores of the documents of each query."""
        queries = [sample["query"] for sample in self.samples]
        sizes = [len(sample["documents"]) for sample in self.samples]
        documents = [document for sample in self.samples for document in sample["documents"]]
        topic = np.repeat(np.arange(len(queries)), sizes)
        if hasattr(model, "predict"):  # a cross-encoder
            pairs = [(queries[at], document) for at, document in zip(topic.tolist(), documents, strict=True)]
            flat = np.asarray(model.predict(pairs, batch_size=self.batch_size, show_progress_bar=False), np.float64)
        else:
            encoded = [
                model.encode(texts, batch_size=self.batch_size, convert_to_tensor=True, show_progress_bar=False)
                for texts in (queries, documents)
            ]
            flat = np.asarray(model.similarity_pairwise(encoded[0][topic], encoded[1]).float().cpu(), np.float64)
        return [part.tolist() for part in np.split(flat, np.cumsum(sizes)[:-1])]

    def _write(self, folder: Path, found: Mapping[str, float], epoch: int, steps: int) -> None:
        path = folder / f"ranking_evaluation{'_' if self.name else ''}{self.name}_results.csv"
        new = not path.exists()
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(["epoch", "steps", *found])
            writer.writerow([epoch, steps, *found.values()])
