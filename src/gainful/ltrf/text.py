"""f-rankers on text: a cross-encoder of sentence-transformers, trained by its trainer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.errors import DataError, setting
from gainful.ltrf.adapters import adapter_trainer, add_adapters, load_peft, merged
from gainful.ltrf.data import Examples
from gainful.ltrf.heads import start_heads, warm_heads
from gainful.ltrf.lists import list_loss, lists
from gainful.ltrf.resume import resumed
from gainful.ltrf.settings import Precision
from gainful.ltrf.targets import FloatArray, Loss, NotFiniteError, Scale, TrainingError
from gainful.ltrf.validation import Validation
from gainful.ltrf.weights import (
    check_device,
    encoder_folder,
    fingerprint,
    local_folder,
    open_encoder,
    quiet,
    scoring_encoder,
)
from gainful.ltrf.weights import load_sentence_transformers as load_packages
from gainful.progress import track

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

MODEL = "model"
# Documents scored at once, and between two steps of a progress bar; documents that the heads are started on.
_BATCH, _CHUNK = 64, 2048
_STARTED_ON = 64


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

    def save(self, folder: Path, weights: FloatArray | None = None) -> None:
        """As safetensors and JSON, with the weights of an ordinal model's heads: sentence-transformers gets scores."""
        with quiet():
            encoder = self.encoder if weights is None else scoring_encoder(self.encoder, weights)
            encoder.save_pretrained(str(folder / MODEL), create_model_card=False)

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
    model, epochs, patience, rate, device, rank = (
        settings[name] for name in ("model", "epochs", "patience", "learning_rate", "device", "lora")
    )
    local_folder(model)  # what is wrong with it is told before packages that take seconds are loaded
    load_packages()
    if rank is not None:
        load_peft()
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
        import torch
        from transformers import EarlyStoppingCallback, PrinterCallback, set_seed

        kept = Path(temporary) if checkpoints is None else checkpoints.resolve()
        folder, heads = encoder_folder(model), scale.heads(loss)

        def opened(half: bool = False) -> CrossEncoder:
            set_seed(seed)  # heads that the checkpoint does not have are drawn
            return open_encoder(folder, heads=heads, max_length=settings["max_length"], device=device, half=half)

        def best_of(state: Path) -> Encoder:
            # Read anew: on a GPU, what the trainer leaves goes on in half precision, and a saved f-ranker would not.
            if rank is not None:
                return Encoder(merged(opened(), rank, state))
            return Encoder(open_encoder(state, heads=None, max_length=None, device=device))

        done = resumed(kept, all_of_it, patience=patience)
        if done is not None and done.finished:
            # The trainer would go on: that patience has run out is not among what it takes up again.
            return best_of(done.best), list(done.rounds)
        encoder = opened(half=settings["precision"] == "bfloat16")
        ranker = Encoder(encoder)
        if done is None:
            warm_heads(encoder, folder)
            some = np.random.default_rng(seed).permutation(len(train)) < _STARTED_ON
            start_heads(encoder, ranker.outputs(train.where(some)), scale.start(loss, train.labels, train.sizes))
        if rank is not None:
            add_adapters(encoder, rank)
        if settings["recompute"]:  # by the trainer, it would depend on how its version and that of the encoder agree
            encoder.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        judged = Validation(scale, validation.labels, validation.sizes, cutoff=cutoff, doc_ids=validation.doc_ids)

        def measured(epoch: float) -> float:
            try:
                with _whole_precision(encoder):
                    outputs = ranker.outputs(validation)
                return judged.best(scale.document_score(loss, outputs)).value
            except NotFiniteError as error:
                raise TrainingError(
                    f"training diverged: loss {loss}, epoch {round(epoch)} of {epochs}: {error}; lower the learning "
                    f"rate ({rate:g})"
                ) from None

        aim = list_loss(encoder, loss, scale, cutoff=cutoff, seed=seed, settings=settings)
        trainer = _trainer(
            encoder,
            data=lists(train, scale),
            loss=aim,
            measured=measured,
            callbacks=[EarlyStoppingCallback(early_stopping_patience=patience), _progress(f"Training {loss}", aim)],
            adapters=rank is not None,
            output_dir=str(kept),
            num_train_epochs=epochs,
            per_device_train_batch_size=settings["batch_size"],
            gradient_accumulation_steps=settings["accumulate"],
            learning_rate=rate,
            seed=seed,
            data_seed=seed,
            use_cpu=device == "cpu",
            save_only_model=checkpoints is None,
            **_precision(encoder, settings["precision"]),
        )
        trainer.remove_callback(PrinterCallback)  # it prints to stdout, which is for data
        try:
            trainer.train(resume_from_checkpoint=None if done is None else str(done.last))
        except torch.OutOfMemoryError:
            raise TrainingError(
                f"out of memory: loss {loss}, {settings['batch_size']} queries of up to {settings['max_docs']} "
                f"documents per step; take a smaller {setting('batch_size')}, or {setting('recompute')}"
            ) from None
        rounds = [entry["eval_nDCGf"] for entry in trainer.state.log_history if "eval_nDCGf" in entry]
        return best_of(Path(trainer.state.best_model_checkpoint)), rounds


@contextmanager
def _whole_precision(encoder: CrossEncoder) -> Iterator[None]:
    """Without the half precision that the trainer puts around the forward pass: it makes ties of scores that differ."""
    around = vars(encoder).pop("forward", None)
    try:
        yield
    finally:
        if around is not None:
            encoder.forward = around


def _precision(encoder: CrossEncoder, precision: Precision) -> dict[str, bool]:
    """Half precision on a GPU, in the format that it is made for."""
    import torch

    cuda = encoder.device.type == "cuda" and precision != "float32"
    bf16 = cuda and torch.cuda.is_bf16_supported()
    return {"bf16": bf16, "fp16": cuda and not bf16}


def _trainer(
    encoder: CrossEncoder,
    *,
    data: Any,
    loss: Any,
    measured: Callable[[float], float],
    callbacks: list[Any],
    adapters: bool = False,
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
        len(data),
        settings.train_batch_size * settings.world_size * settings.gradient_accumulation_steps,
        arguments["num_train_epochs"],
    )
    trainer = (adapter_trainer(CrossEncoderTrainer) if adapters else CrossEncoderTrainer)(
        model=encoder, args=settings, train_dataset=data, loss=loss, evaluator=_selection(measured), callbacks=callbacks
    )
    trainer.model_accepts_loss_kwargs = False  # the loss is a mean over a batch: the trainer is to take that of batches
    return trainer


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


def _progress(label: str, loss: Any) -> Any:
    """Tells `gainful.progress` of every step, and the loss of every epoch."""
    from transformers import TrainerCallback

    class Progress(TrainerCallback):  # type: ignore[misc]
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            left = max(1, state.max_steps - state.global_step)
            self.steps = iter(track(range(left), left, label))

        def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            loss.epoch = round(state.epoch or 0)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            next(self.steps, None)

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            getattr(self.steps, "close", lambda: None)()

    return Progress()
