"""f-rankers on text: a cross-encoder of sentence-transformers, trained by its trainer under the six losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.errors import DataError, GainfulError
from gainful.ltrf.data import Examples
from gainful.ltrf.losses import loss_of
from gainful.ltrf.resume import resumed
from gainful.ltrf.targets import FloatArray, Loss, NotFiniteError, Scale
from gainful.ltrf.validation import Validation
from gainful.ltrf.weights import check_device, encoder_folder, fingerprint, local_folder, open_encoder, quiet
from gainful.ltrf.weights import load_sentence_transformers as load_packages
from gainful.progress import track

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

MODEL = "model"
# Documents scored at once, and between two steps of a progress bar.
_BATCH, _CHUNK = 64, 2048


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """A cross-encoder: reads query and document together, gives one number a head."""

    encoder: CrossEncoder
    names: tuple[str, ...] = ()  # no features: it reads text

    @property
    def heads(self) -> int:
        """How many numbers it gives for a document."""
        return int(self.encoder.num_labels)

    def outputs(self, examples: Examples) -> FloatArray:
        """Documents, or documents × heads."""
        from torch.nn import Identity

        pairs = list(examples.frame.select("query", "document").iter_rows())
        starts = range(0, len(pairs), _CHUNK)
        with quiet():
            parts = [
                self.encoder.predict(
                    pairs[start : start + _CHUNK],
                    batch_size=_BATCH,
                    activation_fn=Identity(),
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
                for start in track(starts, len(starts), "Scoring")
            ]
        return np.concatenate(parts).astype(np.float64)

    def save(self, folder: Path) -> None:
        """As safetensors and JSON."""
        with quiet():
            self.encoder.save_pretrained(str(folder / MODEL), create_model_card=False)

    @classmethod
    def load(cls, folder: Path, device: str | None = None) -> Encoder:
        """From a folder that holds no code and nothing pickled."""
        if not (folder / MODEL).is_dir():
            raise DataError(f"{folder / MODEL}: expected a folder of weights, found none")
        load_packages()
        check_device(device)
        return cls(open_encoder(folder / MODEL, heads=None, max_length=None, device=device))


def made_by(model: str, device: str | None) -> dict[str, Any]:
    """What a training depends on beside its settings: the encoder that it starts from, the kind of device, packages."""
    load_packages()
    from sentence_transformers.util import get_device_name

    with quiet():
        encoder = fingerprint(encoder_folder(model))
    packages = ("torch", "transformers", "sentence-transformers")
    return {
        "encoder": encoder,
        "device": (device or get_device_name()).partition(":")[0],
        **{package: version(package) for package in packages},
    }


def train_text(
    train: Examples,
    validation: Examples,
    loss: Loss,
    scale: Scale,
    *,
    cutoff: int,
    seed: int,
    settings: Mapping[str, Any],
    checkpoints: Path | None = None,
) -> tuple[Encoder, list[float]]:
    """Fine-tune a cross-encoder; the epoch with the best nDCGf on the validation queries is kept.

    `checkpoints` keeps the state after every epoch: a training that was cut off goes on from there.
    """
    model, epochs, patience, rate, device = (
        settings[name] for name in ("model", "epochs", "patience", "learning_rate", "device")
    )
    local_folder(model)  # what is wrong with it is told before packages that take seconds are loaded
    load_packages()
    check_device(device, training=True)
    all_of_it = {
        "loss": loss,
        "gains": scale.to_dict(),
        "cutoff": cutoff,
        "seed": seed,
        **settings,
        "training": train.fingerprint(),
        "validation": validation.fingerprint(),
        **made_by(model, device),
    }
    with TemporaryDirectory() as temporary, quiet():
        from transformers import EarlyStoppingCallback, PrinterCallback, set_seed

        kept = Path(temporary) if checkpoints is None else checkpoints.resolve()
        done = resumed(kept, all_of_it, patience=patience)
        if done is not None and done.finished:
            # The trainer would go on: that patience has run out is not among what it takes up again.
            return Encoder(open_encoder(done.best, heads=None, max_length=None, device=device)), list(done.rounds)
        set_seed(seed)
        encoder = open_encoder(
            encoder_folder(model), heads=scale.heads(loss), max_length=settings["max_length"], device=device
        )
        judged = Validation(scale, validation.labels, validation.sizes, cutoff=cutoff, doc_ids=validation.doc_ids)
        ranker = Encoder(encoder)

        def measured(epoch: float) -> float:
            try:
                with _whole_precision(encoder):
                    outputs = ranker.outputs(validation)
                return judged.best(scale.document_score(loss, outputs)).value
            except NotFiniteError as error:
                raise GainfulError(
                    f"training diverged: loss {loss}, epoch {round(epoch)} of {epochs}: {error}; lower the learning "
                    f"rate ({rate:g})"
                ) from None

        trainer = _trainer(
            encoder,
            data=_lists(train, scale, settings["max_docs"], seed),
            loss=_list_loss(encoder, loss, scale, cutoff, settings["gamma"]),
            measured=measured,
            callbacks=[EarlyStoppingCallback(early_stopping_patience=patience), _progress(f"Training {loss}")],
            output_dir=str(kept),
            num_train_epochs=epochs,
            per_device_train_batch_size=settings["batch_size"],
            learning_rate=rate,
            seed=seed,
            data_seed=seed,
            use_cpu=device == "cpu",
            save_only_model=checkpoints is None,
            **_precision(encoder),
        )
        trainer.remove_callback(PrinterCallback)  # it prints to stdout, which is for data
        trainer.train(resume_from_checkpoint=None if done is None else str(done.last))
        rounds = [entry["eval_nDCGf"] for entry in trainer.state.log_history if "eval_nDCGf" in entry]
        # Read anew: on a GPU, what the trainer leaves goes on in half precision, and a saved f-ranker would not.
        best = open_encoder(Path(trainer.state.best_model_checkpoint), heads=None, max_length=None, device=device)
    return Encoder(best), rounds


@contextmanager
def _whole_precision(encoder: CrossEncoder) -> Iterator[None]:
    """Without the half precision that the trainer puts around the forward pass: it makes ties of scores that differ."""
    around = vars(encoder).pop("forward", None)
    try:
        yield
    finally:
        if around is not None:
            encoder.forward = around


def _precision(encoder: CrossEncoder) -> dict[str, bool]:
    """Half precision on a GPU, in the format that it is made for."""
    import torch

    cuda = encoder.device.type == "cuda"
    bf16 = cuda and torch.cuda.is_bf16_supported()
    return {"bf16": bf16, "fp16": cuda and not bf16}


def _trainer(
    encoder: CrossEncoder,
    *,
    data: Any,
    loss: Any,
    measured: Callable[[float], float],
    callbacks: list[Any],
    **arguments: Any,
) -> Any:
    """The trainer: validates and saves after every epoch, and goes back to the best one in the end."""
    from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments

    settings = CrossEncoderTrainingArguments(
        **arguments,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="eval_nDCGf",
        greater_is_better=True,
        restore_callback_states_from_checkpoint=True,  # or patience would start anew
        report_to="none",
        disable_tqdm=True,
    )
    settings.warmup_steps = warm_up(
        len(data), settings.train_batch_size * settings.world_size, arguments["num_train_epochs"]
    )
    return CrossEncoderTrainer(
        model=encoder, args=settings, train_dataset=data, loss=loss, evaluator=_selection(measured), callbacks=callbacks
    )


def warm_up(queries: int, batch: int, epochs: int) -> int:
    """A tenth of all steps; a step takes a batch on every GPU."""
    return max(1, -(-queries // batch) * epochs // 10)


def _selection(measured: Callable[[float], float]) -> Any:
    """What the trainer calls after every epoch."""
    from sentence_transformers.base.evaluation import BaseEvaluator

    class Selection(BaseEvaluator):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.primary_metric = "nDCGf"

        def __call__(self, *_: Any, epoch: float, **__: Any) -> dict[str, float]:
            return {"nDCGf": measured(epoch)}

    return Selection()


def _progress(label: str) -> Any:
    """Tells `gainful.progress` of every step."""
    from transformers import TrainerCallback

    class Progress(TrainerCallback):  # type: ignore[misc]
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            left = max(1, state.max_steps - state.global_step)
            self.steps = iter(track(range(left), left, label))

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            next(self.steps, None)

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            getattr(self.steps, "close", lambda: None)()

    return Progress()


def _list_loss(encoder: CrossEncoder, loss: Loss, scale: Scale, cutoff: int, gamma: float) -> Any:
    """The loss as the module that the trainer wants: (queries, lists of documents), lists of grades → a number."""
    import torch
    from sentence_transformers.util import batch_to_device

    class ListLoss(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = encoder  # the trainer puts a wrapper here that spreads the work over several GPUs

        def forward(self, inputs: list[Any], labels: list[torch.Tensor], **_: Any) -> torch.Tensor:
            queries, lists = inputs
            pairs = [
                (query, document) for query, documents in zip(queries, lists, strict=True) for document in documents
            ]
            device = next(self.model.parameters()).device
            outputs = self.model(batch_to_device(self.model.preprocess(pairs), device))["scores"].float()
            sizes = torch.tensor([len(documents) for documents in lists])
            mask = (torch.arange(int(sizes.max()))[None, :] < sizes[:, None]).to(device)
            heads = (scale.heads(loss),) if "ordinal" in loss else ()
            scores = torch.zeros((*mask.shape, *heads), device=device)
            scores[mask] = outputs.reshape(-1, *heads)
            grades = torch.full(mask.shape, -1, device=device)
            grades[mask] = torch.cat([part.long() for part in labels]).to(device)
            return loss_of(loss, scale, scores, grades, mask, cutoff=cutoff, gamma=gamma)

        def get_config_dict(self) -> dict[str, Any]:
            return {"loss": loss, "cutoff": cutoff, "gamma": gamma}

    return ListLoss()


def _lists(examples: Examples, scale: Scale, max_docs: int, seed: int) -> Any:
    """One row per topic: its text, at most `max_docs` of its documents, drawn at random once, and their grades."""
    from datasets import Dataset

    from gainful import _polars as pl

    rng = np.random.default_rng(seed)
    frame = examples.frame.with_columns(
        grade=pl.Series(scale.grade(examples.labels)), draw=pl.Series(rng.random(len(examples)))
    )
    frame = frame.filter(pl.col("draw").rank("ordinal").over("query_id") <= max_docs)
    lists = frame.group_by("query_id", maintain_order=True).agg(pl.col("query").first(), "document", "grade")
    return Dataset.from_dict(
        {"query": lists["query"].to_list(), "docs": lists["document"].to_list(), "label": lists["grade"].to_list()}
    )
