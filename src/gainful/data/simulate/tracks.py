"""How simulated systems, documents and labels behave, and stand-ins for the TREC Web Tracks.

The runs of the tracks are not public. A stand-in has the published sizes and label shares of its track (Carmel et al.,
SIGIR 2022, Table 3; the runs of Gienapp et al., CIKM 2020, Table 1), and a behaviour that was fitted to other published
figures by ``benchmarks/calibrate.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

# Labels and their shares among the judgments: mean of the Web Tracks 2010-2014 (Carmel et al., SIGIR 2022, Table 3).
LABEL_SHARES = {-2: 0.0434, 0: 0.7031, 1: 0.1749, 2: 0.0560, 3: 0.0116, 4: 0.0112}

Like = Literal["web2010", "web2011", "web2012", "web2013", "web2014"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """What can be fitted; the defaults are those of a collection like no track in particular."""

    # In a system's score of a document, the weights of the match with the query and of noise of its own: the higher
    # the first and the lower the second, the more alike runs are, and the smaller the pool.
    match: float = 1.2
    run_noise: float = 0.4
    # Parts of the skill: of the quality of a system, from 0 to 1, and of its chances with a topic.
    skill: float = 0.65
    ease: float = -0.55
    ease_spread: float = 0.6
    team_topic: float = 0.35
    run_topic: float = 0.2
    # How far the most and the least resistant systems are apart in what they make of spam; how much of the resistance
    # is quality, the rest being chance; and how much of the chance is the team's, the rest being the run's.
    spam_push: float = 0.7
    resistance_by_quality: float = 0.35
    resistance_by_team: float = 0.0
    # How alike the topics' shares of the labels are; at 8 the middle 80 % of the topics have 8 to 46 % relevant in
    # their pool. That of spam may be another one.
    share_concentration: float = 8.0
    spam_concentration: float = 8.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A published figure of a track, and what a stand-in has: the mean over 20 seeds that nothing was fitted on."""

    name: str
    published: float
    simulated: float
    fitted: bool

    def __str__(self) -> str:
        return f"{self.name} {self.simulated:.3g} (published {self.published:.3g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """A collection to be simulated: sizes, label shares, behaviour, and how near it comes to published figures."""

    topics: int = 50
    systems: int = 60
    pool_depth: int = 20
    team_size: int = 4
    shares: Mapping[int, float] = field(default_factory=lambda: LABEL_SHARES)
    behaviour: Behaviour = Behaviour()
    figures: tuple[Figure, ...] = ()

    def likeness(self) -> tuple[str, ...]:
        """What was fitted, and what was not, in words."""
        kinds = {"Fitted, as means over 20 seeds": True, "Not fitted": False}
        parts = {kind: [str(one) for one in self.figures if one.fitted is fitted] for kind, fitted in kinds.items()}
        return tuple(f"{kind}: {', '.join(texts)}." for kind, texts in parts.items() if texts)


DEFAULT = Track()


def _track(
    sizes: tuple[int, int, int],
    percent: tuple[float, ...],
    behaviour: Behaviour,
    *,
    fitted: Mapping[str, tuple[float, float]],
    other: Mapping[str, tuple[float, float]] | None = None,
) -> Track:
    """Topics, runs and pool depth; per cent of the labels; figures as (published, simulated)."""
    topics, systems, pool_depth = sizes
    shares = {label: round(part / sum(percent), 6) for label, part in zip(LABEL_SHARES, percent, strict=True)}
    figures = [Figure(name, *values, True) for name, values in fitted.items()]
    figures += [Figure(name, *values, False) for name, values in (other or {}).items()]
    return Track(
        topics=topics,
        systems=systems,
        pool_depth=pool_depth,
        team_size=3,
        shares=shares,
        behaviour=behaviour,
        figures=tuple(figures),
    )


def _behaviour(**fitted: float) -> Behaviour:
    """What the calibration found; the rest is the same for all tracks."""
    return replace(Behaviour(match=0.8, ease=-0.8, resistance_by_team=0.8), **fitted)


# What benchmarks/calibrate.py found.
TRACKS: Mapping[Like, Track] = {
    "web2010": _track(
        (48, 56, 20),
        (5.65, 73.7, 15.9, 4.25, 0.54, 0.0),
        _behaviour(
            run_noise=0.8252,
            skill=2.4337,
            spam_push=3.5,
            resistance_by_quality=0.1072,
            share_concentration=33.1366,
            spam_concentration=44.7273,
        ),
        fitted={
            "judgments per topic": (527.7, 519),
            "topics below 0": (1, 0.9958),
            "topics at most -1, @10": (0.44, 0.5521),
            "ρ(nDCGorg, nDCG0)": (0.87, 0.8794),
            "ρ(nDCGorg, nDCGmin)": (1, 0.9991),
            "ρ(nDCG0, nDCGmin)": (0.88, 0.8853),
        },
    ),
    "web2011": _track(
        (50, 37, 20),
        (5.25, 78.45, 10.5, 3.67, 2.11, 0.0),
        _behaviour(
            run_noise=1.0315,
            skill=3.7355,
            spam_push=5.0,
            resistance_by_quality=0.0205,
            share_concentration=2.6011,
            spam_concentration=16.1465,
        ),
        fitted={
            "judgments per topic": (387.6, 368.5),
            "topics below 0": (0.94, 0.914),
            "topics at most -1, @10": (0.68, 0.619),
            "ρ(nDCGorg, nDCG0)": (0.79, 0.825),
            "ρ(nDCGorg, nDCGmin)": (0.99, 0.9729),
            "ρ(nDCG0, nDCGmin)": (0.82, 0.894),
            "Φ(nDCG0@20)": (0.975, 0.9695),
        },
        other={"Φ(nDCGorg@20)": (0.924, 0.9334), "Φ(nDCGmin@20)": (0.984, 0.9791)},
    ),
    "web2012": _track(
        (50, 32, 20),
        (5.34, 72.71, 13.75, 2.52, 0.32, 5.34),
        _behaviour(
            run_noise=0.5997,
            skill=1.132,
            spam_push=2.485,
            resistance_by_quality=0.2971,
            share_concentration=13.5635,
            spam_concentration=19.6521,
        ),
        fitted={
            "judgments per topic": (321.1, 326.4),
            "topics below 0": (0.96, 0.949),
            "topics at most -1, @10": (0.08, 0.073),
            "ρ(nDCGorg, nDCG0)": (0.91, 0.8904),
            "ρ(nDCGorg, nDCGmin)": (0.99, 0.9952),
            "ρ(nDCG0, nDCGmin)": (0.93, 0.908),
            "Φ(nDCG0@20)": (0.94, 0.945),
        },
        other={"Φ(nDCGorg@20)": (0.967, 0.967), "Φ(nDCGmin@20)": (0.996, 0.9525)},
    ),
    "web2013": _track(
        (50, 34, 15),
        (1.62, 69.8, 21.03, 6.36, 1.24, 0.05),
        _behaviour(
            run_noise=0.873,
            skill=2.4337,
            spam_push=4.1096,
            resistance_by_quality=0.2187,
            share_concentration=6.5523,
            spam_concentration=37.1528,
        ),
        fitted={
            "judgments per topic": (289.5, 295.3),
            "topics below 0": (0.74, 0.718),
            "topics at most -1, @10": (0.18, 0.199),
            "ρ(nDCGorg, nDCG0)": (0.93, 0.9443),
            "ρ(nDCGorg, nDCGmin)": (0.96, 0.993),
            "ρ(nDCG0, nDCGmin)": (0.97, 0.9611),
        },
    ),
    "web2014": _track(
        (50, 30, 15),
        (3.86, 56.9, 26.25, 11.18, 1.59, 0.23),
        _behaviour(
            run_noise=1.0805,
            skill=2.4337,
            spam_push=4.9457,
            resistance_by_quality=0.4673,
            share_concentration=14.604,
            spam_concentration=8.861,
        ),
        fitted={
            "judgments per topic": (288.6, 286.6),
            "topics below 0": (0.7, 0.705),
            "topics at most -1, @10": (0.12, 0.147),
            "ρ(nDCGorg, nDCG0)": (0.95, 0.9662),
            "ρ(nDCGorg, nDCGmin)": (0.97, 0.9969),
            "ρ(nDCG0, nDCGmin)": (0.99, 0.9729),
        },
    ),
}
