"""The folder in which a training keeps its states: whose it is, and where to go on from."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gainful.errors import DataError
from gainful.io.atomic import write_atomically
from gainful.ltrf.settings import differing

SETTINGS = "training.json"
_STATE = "trainer_state.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a training has come."""

    last: Path  # the folder of the state to go on from
    best: Path  # the folder of the best epoch so far
    rounds: tuple[float, ...]  # the validation nDCGf of every epoch so far
    finished: bool  # whether there is nothing to go on with: all epochs are done, or patience has run out


def resumed(folder: Path, settings: Mapping[str, Any], *, patience: int) -> Progress | None:
    """The last state that was written whole, None at the start; a folder belongs to one training."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: expected a folder for checkpoints: {error.strerror}") from None
    states = sorted(
        (path for path in folder.iterdir() if re.fullmatch(r"checkpoint-\d+", path.name)),
        key=lambda state: int(state.name.rpartition("-")[2]),
    )
    claim(folder, SETTINGS, settings, used=bool(states), what="checkpoints of another training")
    whole: dict[Path, dict[str, Any]] = {}
    for state in states:
        try:
            whole[state] = json.loads((state / _STATE).read_bytes())  # the trainer writes it last
        except (OSError, ValueError):
            shutil.rmtree(state)
    return _progress(folder, *list(whole.items())[-1], patience=patience) if whole else None


def claim(folder: Path, name: str, settings: Mapping[str, Any], *, used: bool, what: str) -> None:
    """Note in a file of the folder what it is for; refuse a folder that is for something else."""
    path = folder / name
    wanted = json.loads(json.dumps(settings))
    try:
        known = json.loads(path.read_bytes())
    except FileNotFoundError:
        if used:
            raise DataError(f"{folder}: has {what.partition(' ')[0]}, but no {name}: choose another folder") from None
        write_atomically(path, json.dumps(wanted, indent=1) + "\n")
        return
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    if known != wanted:
        raise DataError(f"{folder}: has {what} ({differing(known, wanted)}): choose another folder")


def _progress(folder: Path, last: Path, state: dict[str, Any], *, patience: int) -> Progress:
    path = last / _STATE
    try:
        best = folder / Path(state["best_model_checkpoint"]).name
        waited = state["stateful_callbacks"]["EarlyStoppingCallback"]["attributes"]["early_stopping_patience_counter"]
        rounds = tuple(entry["eval_nDCGf"] for entry in state["log_history"] if "eval_nDCGf" in entry)
        finished = waited >= patience or state["global_step"] >= state["max_steps"]
    except (KeyError, TypeError):
        raise DataError(f"{path}: expected the state of a training, got something else") from None
    if not best.is_dir():
        raise DataError(f"{folder}: the state of the best epoch, {best.name}, is gone: choose another folder")
    if state["best_model_checkpoint"] != str(best):
        # The folder has been moved since, and the trainer would look where it was.
        write_atomically(path, json.dumps({**state, "best_model_checkpoint": str(best)}, indent=2) + "\n")
    return Progress(last=last, best=best, rounds=rounds, finished=finished)
