"""Low-rank adapters (LoRA, Hu et al. 2022) through peft: large encoders trained by few weights.

Every linear layer of the encoder gets one; its pooler and head, which a task starts anew, are trained whole. What is
kept between epochs are the trained weights alone; an f-ranker gets whole ones, into which the adapters are merged.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gainful.errors import MissingExtraError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

WEIGHTS = "trained.safetensors"


def load_peft() -> Any:
    """The peft package, or an error that names the extra."""
    try:
        import peft
    except ImportError:
        raise MissingExtraError("lora", "training adapters") from None
    return peft


def add_adapters(encoder: CrossEncoder, rank: int) -> Any:
    """Put adapters into an encoder and freeze the rest; what is returned merges them."""
    import torch

    peft = load_peft()
    model = encoder.model
    prefix = f"{model.base_model_prefix}."

    def whole(name: str) -> bool:
        return not name.startswith(prefix) or ".pooler." in name

    linear = [name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)]
    config = peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=[name for name in linear if not whole(name)])
    tuner = peft.LoraModel(model, config, "default")
    for name, module in model.named_modules():
        if name in linear and whole(name):
            module.float().requires_grad_(True)
            # What comes from frozen weights in bfloat16 has their type.
            module.register_forward_pre_hook(lambda layer, given: (given[0].to(layer.weight.dtype), *given[1:]))
    return tuner


def save_trained(encoder: CrossEncoder, folder: Path) -> None:
    """What training changes, as safetensors."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    trained = {name: value for name, value in encoder.model.named_parameters() if value.requires_grad}
    save_file({name: value.detach().cpu().contiguous() for name, value in trained.items()}, folder / WEIGHTS)


def load_trained(encoder: CrossEncoder, folder: Path) -> None:
    """What `save_trained` kept, back into an encoder with the same adapters."""
    from safetensors.torch import load_file

    encoder.model.load_state_dict(load_file(folder / WEIGHTS), strict=False)


def merged(encoder: CrossEncoder, rank: int, folder: Path) -> CrossEncoder:
    """The encoder as it was before training, with what `save_trained` kept as part of its own weights."""
    tuner = add_adapters(encoder, rank)
    load_trained(encoder, folder)
    tuner.merge_and_unload()
    return encoder


def adapter_trainer(trainer: type) -> type:
    """The trainer that keeps, and takes up again, what is trained alone."""

    class AdapterTrainer(trainer):  # type: ignore[misc]
        def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
            save_trained(self.model, Path(output_dir or self.args.output_dir))

        def _load_from_checkpoint(self, checkpoint_path: str) -> None:
            load_trained(self.model, Path(checkpoint_path))

    return AdapterTrainer
