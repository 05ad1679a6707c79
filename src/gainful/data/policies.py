"""The five decisions that change a score, as one value that travels with every result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Literal, TypeAlias, TypedDict, get_args, get_type_hints

from gainful.errors import PolicyError, did_you_mean

Ties = Literal["trec", "order", "expected"]
Unjudged = Literal["zero", "condensed"]
Missing = Literal["empty", "skip", "error"]
Degenerate = Literal["zero", "nan", "skip", "one"]
Duplicates = Literal["error", "first"]
# What analyses of complete tables do about a topic that some run has no score for.
Gaps = Literal["error", "drop"]
# What columns of tables are called, by gainful's name for them; at the shell words such as doc_id=chunk.
Columns: TypeAlias = Mapping[str, str | int] | Sequence[str] | None


class PolicyOptions(TypedDict, total=False):
    """The policies as keywords of a function; see `Policies`."""

    ties: Ties
    unjudged: Unjudged
    missing: Missing
    degenerate: Degenerate
    duplicates: Duplicates


_VALUES: dict[str, tuple[str, ...]] = {name: get_args(hint) for name, hint in get_type_hints(PolicyOptions).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """How ties, unjudged documents, missing topics, undefined values and duplicates are treated.

    Parameters
    ----------
    ties
        ``trec``: score as float32 descending, then document id descending in byte order, as trec_eval;
        ``order``: score descending, tied documents in the order of the run;
        ``expected``: the expected value over all orders of tied documents (measures that are sums over ranks).
    unjudged
        ``zero``: an unjudged document has label 0 and holds its rank; ``condensed``: it is removed before ranking.
    missing
        A judged topic absent from a run is ``empty``: scored as an empty ranking; ``skip``: left out of that
        run's mean; ``error``: refused.
    degenerate
        The value where a measure is undefined: ``zero``, ``nan``, ``one``, or ``skip`` to leave the topic out.
    duplicates
        A document twice in one topic of a run, or judged twice: ``error``, or ``first`` to keep the first.
    """

    ties: Ties = "trec"
    unjudged: Unjudged = "zero"
    missing: Missing = "empty"
    degenerate: Degenerate = "zero"
    duplicates: Duplicates = "error"

    def __post_init__(self) -> None:
        for field in fields(self):
            value, allowed = getattr(self, field.name), _VALUES[field.name]
            if value not in allowed:
                raise PolicyError(
                    f"The {field.name!r} policy must be one of {', '.join(allowed)}, got {value!r} instead."
                    + did_you_mean(str(value), allowed)
                )

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.to_dict().items())

    def to_dict(self) -> dict[str, str]:
        """The policies by name."""
        return asdict(self)
