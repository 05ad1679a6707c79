"""Folders of weights, from whoever: what may be in one, what is read of it, and what is refused unread.

Nothing in them is executed, and they say nothing while they are read.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gainful.errors import DataError, GainfulError, MissingExtraError, did_you_mean
from gainful.ltrf.targets import FloatArray

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

# All that is ever read: numbers, words and settings. Code, pickles and whatever else there is are not.
_READ = (".json", ".txt", ".safetensors", ".model", ".jinja")
_SAVED = (*_READ, ".md")
# The modules of a saved f-ranker: an encoder and, for ordinal losses, what makes one score of its heads.
_MODULE = "sentence_transformers.base.modules.transformer.Transformer"
_DENSE = "sentence_transformers.base.modules.dense.Dense"
_MODULES = [(_MODULE, ""), (_DENSE, "1_Dense"), (_DENSE, "2_Dense")]
# Keys under which a package below looks for the name of a class or function.
_NAMES = re.compile(r"_class$|^architectures$|^model_type$|^activation|activation_f|^type$")
_PLAIN = re.compile(r"[\w-]*")
_ACTIVATION = re.compile(r"torch\.nn\.modules\.(activation|linear)\.[A-Z]\w*")
_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")
_PACKAGE = re.compile(r"sentence_transformers(\.[a-z]\w*)*\.[A-Z]\w*")


def encoder_folder(checkpoint: str) -> Path:
    """The folder of an encoder, checked; one that is known by name is fetched, without code and pickles."""
    folder = local_folder(checkpoint)
    if folder is None:
        folder = _fetched(checkpoint)
        check_encoder(folder)
    return folder


def local_folder(checkpoint: str) -> Path | None:
    """The folder of an encoder, checked; None if that is a name to be fetched by."""
    folder = Path(checkpoint)
    if folder.is_dir():
        check_encoder(folder)
        return folder
    if folder.exists() or folder.is_absolute() or checkpoint.startswith(".") or checkpoint.count("/") > 1:
        raise DataError(f"model {checkpoint!r}: expected a folder of weights, found none")
    return None


def check_saved(folder: Path) -> None:
    """Refuse a saved f-ranker (settings and trees or an encoder) that holds or asks for more than numbers and words."""
    allowed = [folder / "model" / name for _, name in _MODULES]
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise DataError(f"{path}: expected no links in a folder of weights")
        if path.is_dir():
            if path not in allowed:
                raise DataError(f"{path}: expected no folders in a folder of weights")
        elif not path.is_file() or path.suffix.lower() not in _SAVED:
            raise DataError(f"{path}: expected only {', '.join(_SAVED)} in a folder of weights")
    inner = folder / "model"
    if not inner.is_dir():
        return
    check_encoder(inner)
    for path in sorted(inner.glob("*/*.json")):
        _check_names(path, _json(path))
    modules = inner / "modules.json"
    if modules.exists():
        content = _json(modules)
        parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
        given = [(part.get("type"), part.get("path")) for part in parts]
        if given not in (_MODULES[:1], _MODULES):
            got = ", ".join(f"{kind} in {path!r}" for kind, path in given)
            raise DataError(f"{modules}: expected {_MODULE} in '', and at most two layers, got {got or 'nothing'}")


def check_encoder(folder: Path) -> None:
    """Refuse an encoder that asks for code, or whose files lie elsewhere; files that are never read are let be."""
    for path in _files(folder):
        if path.is_symlink() and not _in_a_cache(path):
            raise DataError(f"{path}: expected no links in a folder of weights")
        if path.name.startswith("adapter_"):
            raise DataError(f"{path}: expected whole weights, got an adapter for those of another model")
        # Those that are read for what to load; a vocabulary may be large, and names nothing.
        if path.suffix.lower() == ".json" and ("config" in path.name or path.name == "modules.json"):
            _check_names(path, _json(path))
    if not any(path.suffix.lower() == ".safetensors" for path in _files(folder)):
        raise DataError(f"{folder}: expected a folder of weights (config.json and .safetensors), found no .safetensors")


def fingerprint(folder: Path) -> str:
    """A short text that other weights, words and settings do not have."""
    digest = hashlib.sha256()
    for path in _files(folder):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def _files(folder: Path) -> list[Path]:
    """What is read of a folder: nothing further down."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in _READ and not path.is_dir())


def _in_a_cache(path: Path) -> bool:
    """Whether a link is one of those that Hugging Face's cache is made of: from snapshots to the blobs beside them."""
    snapshots = path.absolute().parent.parent
    return snapshots.name == "snapshots" and path.resolve().parent == (snapshots.parent / "blobs").resolve()


def _fetched(checkpoint: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        fetched = snapshot_download(
            checkpoint, allow_patterns=[f"*{suffix}" for suffix in _READ], ignore_patterns=["*/*"]
        )
    except Exception as error:  # many kinds, of several packages
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = lines[0].removeprefix("Got: ") if lines else type(error).__name__
        folders = [path.name for path in Path().iterdir() if path.is_dir()]
        raise DataError(
            f"model {checkpoint!r}: expected a folder of weights, or a name that can be fetched; there is no such "
            f"folder, and it cannot be fetched: {reason}{did_you_mean(checkpoint, folders)}"
        ) from None
    return Path(fetched)


def _json(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None


def _check_names(path: Path, content: object) -> None:
    """Whatever names a class or a function must be a name of the packages below, not a place to take code from."""
    for key, value in _entries(content):
        asked = "auto_map" if key == "auto_map" and value else None
        if isinstance(value, str) and _NAMES.search(key):
            known = (_ACTIVATION,) if "activation" in key else (_PACKAGE,) if path.name == "modules.json" else ()
            if not any(pattern.fullmatch(value) for pattern in (_PLAIN, *known)):
                asked = value
        if asked is not None:
            raise DataError(f"{path}: asks for code of its own ({asked}), which is never run")


def _entries(content: object, key: str = "") -> Iterator[tuple[str, object]]:
    """All entries, however deep; those of a list under the key of the list."""
    if isinstance(content, dict):
        for name, inner in content.items():
            yield name, inner
            yield from _entries(inner, name)
    elif isinstance(content, list):
        for inner in content:
            yield key, inner
            yield from _entries(inner, key)


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
    """Keep the packages below from telling what we asked for; a download still shows its bar, on a terminal."""
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


def open_encoder(
    folder: Path, *, heads: int | None, max_length: int | None, device: str | None, half: bool = False
) -> CrossEncoder:
    """The encoder of a checked folder, ready for so many heads; in whole precision or as bfloat16.

    It is put together here, from weights, words and their settings alone: what else its folder says about modules,
    methods and activations is not even read.
    """
    package = load_sentence_transformers()
    from sentence_transformers.base.modules import Transformer
    from torch import bfloat16, float32
    from torch.nn import Identity

    local: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    try:
        with quiet():
            transformer = Transformer(
                str(folder),
                transformer_task="sequence-classification",
                # A checkpoint with another number of heads gets new ones.
                model_kwargs={
                    **local,
                    "use_safetensors": True,
                    "ignore_mismatched_sizes": heads is not None,
                    "dtype": bfloat16 if half else float32,
                },
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


def scoring_encoder(encoder: CrossEncoder, weights: FloatArray) -> CrossEncoder:
    """The encoder of an ordinal model with two layers more: the sum of its heads' probabilities times their weights."""
    package = load_sentence_transformers()
    import torch
    from sentence_transformers.base.modules import Dense

    heads = len(weights)
    where: dict[str, Any] = {"bias": False, "module_input_name": "scores", "module_output_name": "scores"}
    chances = Dense(heads, heads, activation_function=torch.nn.Sigmoid(), init_weight=torch.eye(heads), **where)
    total = torch.as_tensor(weights, dtype=torch.float32)[None]
    score = Dense(heads, 1, activation_function=torch.nn.Identity(), init_weight=total, **where)
    return package.CrossEncoder(
        modules=[encoder[0], chances, score], device=str(encoder.device), activation_fn=torch.nn.Identity()
    )


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
