"""Measures in JSON files: what `Measure.save` wrote, or a person; data only, nothing is evaluated.

``{"measure": "nDCG", "cutoff": 20, "gain": {"1": 1, "2": 1.3}, "discount": [1, 0.9, …]}``
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gainful.errors import GainfulError, MeasureError, did_you_mean
from gainful.measures.registry import PRESETS, REGISTRY, Measure, load_installed, short

# Room for thousands of discounts, and no more than can be read at once without a thought.
_LARGEST = 1_000_000


def is_file_name(text: str) -> bool:
    """Whether a text names a file rather than a measure: ``@….json``."""
    text = text.strip()
    return text.startswith("@") and text.lower().endswith(".json") and len(text) > len("@.json")


def read_measure(path: str) -> Measure:
    """The measure in a file, whose name is given without the ``@``."""
    content = read_json(path, MeasureError, "a measure")
    wanted = 'an object such as {"measure": "nDCG", "cutoff": 10, "discount": [1, 0.8]}'
    if not isinstance(content, dict) or not isinstance(content.get("measure"), str):
        raise MeasureError(f"{path}: expected {wanted}, got {shortened(content)}")
    if "threshold" in content:
        raise MeasureError(f"{path}: expected a measure, got a threshold: 'gainful threshold apply --cut' takes it")
    called = content.pop("measure")
    if called not in REGISTRY and called not in PRESETS:
        load_installed()
    name, fixed = PRESETS.get(called, (called, {}))
    if name not in REGISTRY:
        raise MeasureError(f"{path}: Unknown measure {name!r}.{did_you_mean(name, (*REGISTRY, *PRESETS))}")
    if again := fixed.keys() & content:
        raise MeasureError(f"{path}: {called} sets {', '.join(again)} itself: leave it out, or write {name}")
    try:
        given = {key: _labelled(value) if isinstance(value, dict) else value for key, value in content.items()}
        return REGISTRY[name].bind({**given, **fixed})
    except MeasureError as error:
        raise MeasureError(f"{path}: {error}") from None


def read_json(path: str, kind: type[GainfulError], what: str) -> Any:
    """A small JSON file that somebody else may have written; what is wrong with it is raised as an error of `kind`."""
    try:
        if not Path(path).is_file():  # not to wait for a pipe, or read a device for ever
            raise kind(f"{path}: expected a file" if Path(path).exists() else f"{path}: no such file")
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except GainfulError:
        raise
    except (OSError, ValueError) as error:
        raise kind(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > _LARGEST:
        raise kind(f"{path}: expected {what} of at most {_LARGEST} bytes")
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise kind(f"{path}: expected JSON: {why}") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} is there twice")
        found[name] = value
    return found


def _labelled(gains: dict[str, Any]) -> dict[Any, Any]:
    """Labels are numbers, but JSON writes them as text; what is no number is left for the measure to refuse."""
    found: dict[Any, Any] = {}
    for text, gain in gains.items():
        try:
            label: Any = text if "_" in text else float(text)  # Python would take 1_0 for 10
        except ValueError:
            label = text
        if label in found:
            raise MeasureError(f"the label {text} is there twice")
        found[label] = gain
    return found


def shortened(value: object, most: int = 60) -> str:
    """What JSON holds, in at most so many characters."""
    return short(json.dumps(value, ensure_ascii=False), most)
