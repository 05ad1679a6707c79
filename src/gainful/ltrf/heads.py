"""Where the heads of an encoder start: at what the labels say on average, and at what a reranker knows already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gainful.ltrf.targets import FloatArray

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder
    from torch import Tensor


def last_layer(encoder: CrossEncoder) -> tuple[str, Any]:
    """The name and the layer that gives one number per head."""
    import torch

    found = [(name, layer) for name, layer in encoder.model.named_modules() if isinstance(layer, torch.nn.Linear)]
    return found[-1]


def warm_heads(encoder: CrossEncoder, folder: Path) -> None:
    """Start every head at the one of a reranker; heads of a checkpoint with as many are there already."""
    import torch

    name, layer = last_layer(encoder)
    known = _saved(folder, f"{name}.weight")
    if known is not None and known.shape != layer.weight.shape and len(known) == 1:
        with torch.no_grad():
            layer.weight.copy_(known.expand_as(layer.weight))


def start_heads(encoder: CrossEncoder, outputs: FloatArray, start: FloatArray) -> None:
    """Move the biases so that the mean of these outputs (documents × heads) is `start`; some decoders have none."""
    import torch

    layer = last_layer(encoder)[1]
    if layer.bias is not None:
        move = start - outputs.reshape(len(outputs), -1).mean(axis=0)
        with torch.no_grad():
            layer.bias += torch.as_tensor(move, dtype=layer.bias.dtype, device=layer.bias.device)


def _saved(folder: Path, name: str) -> Tensor | None:
    from safetensors import safe_open

    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as weights:
            if name in weights.keys():  # noqa: SIM118 (not a mapping)
                return weights.get_tensor(name)
    return None
