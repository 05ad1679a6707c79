"""Encoders from folders: nothing in them is executed, and they say nothing while they are read."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gainful.errors import DataError, GainfulError, MissingExtraError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")


def load_sentence_transformers() -> Any:
    """The sentence-transformers package, or an error that names the extra."""
    try:
        import accelerate  # noqa: F401 (what its trainer stands on)
        import datasets  # noqa: F401 (what its trainer takes)
        import sentence_transformers
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtraError("ltrf", "learning from text") from None
    return sentence_transformers


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the packages below from telling what we asked for: new heads, shards written, weights loaded.

    A download still shows its bar, on a terminal.
    """
    import datasets
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars
    from transformers.utils import logging as talk

    level, bars = talk.get_verbosity(), talk.is_progress_bar_enabled()
    downloads = not are_progress_bars_disabled()
    mapping = not datasets.utils.are_progress_bars_disabled()
    encoders = logging.getLogger("sentence_transformers")
    encoder_level = encoders.level
    talk.set_verbosity(logging.CRITICAL)
    talk.disable_progress_bar()
    datasets.disable_progress_bars()
    encoders.setLevel(logging.ERROR)
    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        with warnings.catch_warnings():
            # On a machine without a GPU, pinned memory is asked for by default and then not used.
            warnings.filterwarnings("ignore", message=".*'pin_memory' argument is set as true.*", category=UserWarning)
            yield
    finally:
        talk.set_verbosity(level)
        encoders.setLevel(encoder_level)
        if bars:
            talk.enable_progress_bar()
        if mapping:
            datasets.enable_progress_bars()
        if downloads:
            enable_progress_bars()


def open_encoder(folder: Path, *, heads: int | None, max_length: int | None, device: str | None) -> CrossEncoder:
    """The encoder of a checked folder, ready for so many heads.

    It is put together here, from weights, words and their settings alone: what else its folder says about modules,
    methods and activations is not even read.
    """
    package = load_sentence_transformers()
    from sentence_transformers.base.modules import Transformer
    from torch.nn import Identity

    local: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    try:
        with quiet():
            transformer = Transformer(
                str(folder),
                transformer_task="sequence-classification",
                # A checkpoint with another number of heads gets new ones.
                model_kwargs={**local, "use_safetensors": True, "ignore_mismatched_sizes": heads is not None},
                config_kwargs={**local, **({} if heads is None else {"num_labels": heads})},
                processor_kwargs={**local, **({} if max_length is None else {"model_max_length": max_length})},
            )
            encoder: CrossEncoder = package.CrossEncoder(
                modules=[transformer], device=device, activation_fn=Identity(), trust_remote_code=False
            )
    except Exception as error:  # many kinds, from three packages
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"{folder}: expected an encoder (config.json, words and .safetensors), got: {reason}") from None
    return encoder


def check_device(device: str | None, *, training: bool = False) -> None:
    """Refuse a device that this machine does not have, or that the trainer would not keep to."""
    if device is None:
        return
    if not _DEVICE.fullmatch(device):
        raise GainfulError(f"device: expected cpu, cuda, cuda:1 (a GPU by its number) or mps, got {device!r}")
    import torch

    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().partition("\n")[0].partition(". ")[0]
        raise GainfulError(f"device {device!r} cannot be used here: {reason}; say cpu, or nothing") from None
    number = device.partition(":")[2]
    if training and number and torch.cuda.device_count() > 1:
        raise GainfulError(
            f"device {device!r}: training takes all GPUs that it sees; to use this one alone, set "
            f"CUDA_VISIBLE_DEVICES={number} and say cuda"
        )
