"""What a paper found, and whether it holds on a collection."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

_WORDS = {True: "holds", False: "DOES NOT HOLD", None: "not decided"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the paper found, and whether it holds here."""

    claim: str  # what the paper found, in a sentence
    collection: str  # where it was looked for
    holds: bool | None  # whether it holds there; None if a number that would decide it is undefined
    evidence: str  # the numbers that say so
    paper: str = ""  # what the paper prints of it, or where it shows it

    def __str__(self) -> str:
        return f"{self.collection}: {_WORDS[self.holds]}: {self.claim} ({self.evidence})"

    def to_dict(self) -> dict[str, object]:
        """All of it, ready for JSON."""
        return asdict(self)


# What the paper prints of a finding that goes beyond it.
BEYOND = "not in the paper"


def decide(collection: str, claim: str, holds: Any, evidence: str, *numbers: Any, paper: str = "") -> Finding:
    """A finding; not decided where one of all the numbers that it depends on and tells is NaN."""
    values = (list(some.values()) if isinstance(some, Mapping) else some for some in numbers)
    undefined = any(np.isnan(np.asarray(some, np.float64)).any() for some in values)
    decided = None if undefined else bool(holds)
    return Finding(claim=claim, collection=collection, holds=decided, evidence=evidence, paper=paper)


def each(values: Mapping[str, float], form: str = ".4f") -> str:
    """Numbers under their names: 'nDCGorg 0.8000, nDCGmin 0.9000'."""
    return ", ".join(f"{name} {'undefined' if math.isnan(v) else format(v, form)}" for name, v in values.items())
