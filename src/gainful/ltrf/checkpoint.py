"""Encoders from folders and names: nothing in them is executed, and they say nothing while they are read."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gainful.errors import DataError, GainfulError, MissingExtraError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

# What a folder of weights may hold: nothing that is code, nothing that is unpickled.
_SAFE = (".json", ".txt", ".safetensors", ".model", ".md", ".jinja")


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


def open_encoder(checkpoint: str, *, heads: int | None, max_length: int | None, device: str | None) -> CrossEncoder:
    """A checkpoint by name or folder, ready for so many heads."""
    package = load_sentence_transformers()
    check_device(device)
    local = Path(checkpoint).is_dir()
    if local:
        check_configurations(Path(checkpoint))
    try:
        with quiet():
            encoder: CrossEncoder = package.CrossEncoder(
                checkpoint,
                num_labels=heads,
                max_length=max_length,
                device=device,
                trust_remote_code=False,
                local_files_only=local,
                # A checkpoint with another number of heads gets new ones.
                model_kwargs={"use_safetensors": True, "ignore_mismatched_sizes": heads is not None},
            )
    except Exception as error:  # many kinds, from three packages
        reason = str(error).strip().partition("\n")[0]
        raise DataError(
            f"model {checkpoint!r}: expected a folder of weights (safetensors) or a name that can be fetched, got: "
            f"{reason}"
        ) from None
    return encoder


def check_weights(folder: Path) -> None:
    """Refuse a folder that could execute anything when it is loaded."""
    if not folder.is_dir():
        raise DataError(f"{folder}: expected a folder of weights, found none")
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix.lower() not in _SAFE:
            raise DataError(f"{path}: expected only {', '.join(_SAFE)} in a folder of weights")
    check_configurations(folder)


def check_configurations(folder: Path) -> None:
    """Refuse configurations that name code to run."""
    for path in sorted(folder.rglob("*.json")):
        # Those that are read for what to load; a vocabulary may be large, and names nothing.
        if path.name == "modules.json" or "config" in path.name:
            _check_configuration(path)


def _check_configuration(path: Path) -> None:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    if isinstance(content, dict) and "auto_map" in content:
        raise DataError(f"{path}: asks for code of its own (auto_map), which is never run")
    for module in content if isinstance(content, list) else ():
        kind = str(module.get("type", "") if isinstance(module, dict) else module)
        if not kind.startswith("sentence_transformers."):
            raise DataError(f"{path}: asks for code of its own ({kind}), which is never run")
    for name in _named(content, "activation_fn"):
        if not name.startswith("torch.nn.modules."):
            raise DataError(f"{path}: asks for code of its own ({name}), which is never run")


def _named(content: object, key: str) -> Iterator[str]:
    """All that stands under a key, however deep."""
    if isinstance(content, dict):
        for name, inner in content.items():
            if name == key and inner is not None:
                yield str(inner)
            else:
                yield from _named(inner, key)
    elif isinstance(content, list):
        for inner in content:
            yield from _named(inner, key)


def check_device(device: str | None) -> None:
    """Refuse a device that this machine does not have."""
    if device is None:
        return
    import torch

    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise GainfulError(f"device {device!r} cannot be used here: {reason}") from None
