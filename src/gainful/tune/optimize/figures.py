"""The charts of an optimum: Figures 2–4 and 6–9 of Kanoulas & Aslam (2009), and what they leave out, held-out Φ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from gainful import _polars as pl
from gainful.charts import COLOURS, DASHES, HEIGHT, SHAPES, WIDTH, load_altair, styled
from gainful.errors import GainfulError, check_choice
from gainful.results import Chart

if TYPE_CHECKING:
    from gainful.tune.optimize.result import Candidate, CollectionOptimum, Optimum

Figure = Literal["all", "discount", "gain", "reliability", "held_out", "scores", "asl"]

# More points than this on a curve cannot be seen.
_POINTS = 120


def draw(found: Optimum, figure: Figure) -> Chart:
    """One figure, or all that say something, for every collection and cutoff."""
    check_choice("figure", figure, get_args(Figure))
    alt = load_altair()
    wanted = _telling(found) if figure == "all" else [figure]
    if figure == "held_out" and not found.settings["splits"]:
        raise GainfulError("figure: held_out needs splits; there were none (splits=0)")
    several = len(found.collections) > 1
    size = (WIDTH, HEIGHT) if len(wanted) == 1 and not several else (WIDTH * 2 // 3, HEIGHT * 2 // 3)
    charts = [
        figure_of(alt, one, size).properties(title=f"{title}: {one.title}" if several else title)
        for one in found.collections
        for title, figure_of in (_FIGURES[name] for name in wanted)
    ]
    if len(charts) == 1:
        return styled(charts[0], _FIGURES[wanted[0]][0])
    columns = 2 if figure == "all" else min(len(charts), 2)
    # Each with its own legend: that of one figure would otherwise decide the colours of all.
    grid = alt.concat(*charts, columns=columns).resolve_scale(
        color="independent", strokeDash="independent", shape="independent"
    )
    return styled(grid, f"Optimal {found.settings['target'].replace('both', 'gain and discount')} of nDCG")


def _telling(found: Optimum) -> list[str]:
    """The figures in which candidates can differ."""
    first = {"discount": ["discount"], "gain": ["gain"], "both": ["discount", "gain"]}[found.settings["target"]]
    return [*first, "reliability", *(["held_out"] if found.settings["splits"] else []), "scores", "asl"]


def _colour(alt: Any, names: list[str], field: str = "candidate", *, first: int = 0, **further: Any) -> Any:
    """One colour per name; those beyond the eighth share them."""
    colours = [COLOURS[at % len(COLOURS)] for at in range(first, first + len(names))]
    return alt.Color(f"{field}:N", title=None, sort=names, scale=alt.Scale(domain=names, range=colours), **further)


def _lines(alt: Any, frame: pl.DataFrame, names: list[str], size: tuple[int, int], **mark: Any) -> Any:
    """Lines in colours and dashes, for print and for who does not see colours; no two lines have both in common."""
    scale = alt.Scale(domain=names, range=[_second(DASHES, at) for at in range(len(names))])
    dashes = alt.StrokeDash("candidate:N", title=None, sort=names, scale=scale)
    whole = alt.Chart(frame, width=size[0], height=size[1]).mark_line(strokeWidth=2, **mark)
    return whole.encode(color=_colour(alt, names), strokeDash=dashes)


def _second(marks: Sequence[Any], at: int) -> Any:
    """The mark that goes with the colour of the candidate at this place."""
    return marks[(at + at // len(COLOURS)) % len(marks)]


def _distinct(one: CollectionOptimum, parameter: str) -> dict[str, Candidate]:
    """The candidates that differ in one parameter, under its name where it has one."""
    found: dict[str, Candidate] = {}
    for candidate in one.candidates:
        value = candidate.measure.parameters[parameter]
        found.setdefault(value if isinstance(value, str) else candidate.name, candidate)
    return found


def _discount(alt: Any, one: CollectionOptimum, size: tuple[int, int]) -> Any:
    last = len(one.candidates[0].discount)
    kind = "log" if last > 100 else "linear"
    at = np.unique(np.geomspace(1, last, _POINTS).round().astype(int)) - 1
    curves = _distinct(one, "discount")
    frame = _long(curves, lambda c: {"rank": at + 1, "discount": c.discount[at].round(6)})
    scale = alt.Scale(type=kind, domain=[1, last], nice=False)
    return _lines(alt, frame, list(curves), size, point=last <= 30).encode(
        x=alt.X("rank:Q", title="rank", scale=scale, axis=alt.Axis(format="d", tickMinStep=1)),
        y=alt.Y("discount:Q", title="discount"),
        tooltip=["candidate:N", "rank:Q", alt.Tooltip("discount:Q", format=".4f")],
    )


def _gain(alt: Any, one: CollectionOptimum, size: tuple[int, int]) -> Any:
    curves = _distinct(one, "gain")
    frame = _long(
        curves, lambda c: {"label": list(c.gain), "share": [g / max(c.gain.values()) for g in c.gain.values()]}
    )
    return _lines(alt, frame, list(curves), size, point=True).encode(
        x=alt.X("label:O", title="label", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("share:Q", title="gain, relative", scale=alt.Scale(domain=[0, 1])),
        tooltip=["candidate:N", "label:O", alt.Tooltip("share:Q", title="gain, relative", format=".3f")],
    )


def _reliability(alt: Any, one: CollectionOptimum, size: tuple[int, int]) -> Any:
    sizes = one.reliability.sizes
    frame = _long(one.by_name, lambda c: {"topics": sizes, "phi": one.reliability[c.name].curve(sizes)[0].round(4)})
    lines = _lines(alt, frame, list(one.by_name), size).encode(
        x=alt.X("topics:Q", title="topics", scale=alt.Scale(domain=[0, max(sizes)], nice=False)),
        y=alt.Y("phi:Q", title="Φ", scale=alt.Scale(domain=[0, 1])),
        tooltip=["candidate:N", "topics:Q", alt.Tooltip("phi:Q", title="Φ", format=".4f")],
    )
    goal = alt.Chart().mark_rule(strokeDash=[5, 4], color="#555555").encode(y=alt.YDatum(one.target))
    return alt.layer(goal, lines)


def _held_out(alt: Any, one: CollectionOptimum, size: tuple[int, int]) -> Any:
    frame = _long(one.by_name, lambda c: {"phi": c.held_out.round(4)})
    names = list(one.by_name)
    base = alt.Chart(frame, width=size[0], height=size[1]).encode(
        y=alt.Y("candidate:N", title=None, sort=names), color=_colour(alt, names, legend=None)
    )
    x = alt.X("phi:Q", title="held-out Φ (tick: one half; dot: mean)", scale=alt.Scale(zero=False))
    ticks = base.mark_tick(thickness=1.5, size=16, opacity=0.45).encode(
        x=x, tooltip=["candidate:N", alt.Tooltip("phi:Q", title="held-out Φ", format=".4f")]
    )
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("mean(phi):Q", title="held-out Φ (tick: one half; dot: mean)"),
        tooltip=["candidate:N", alt.Tooltip("mean(phi):Q", title="mean held-out Φ", format=".4f")],
    )
    return alt.layer(ticks, dots)


def _scores(alt: Any, one: CollectionOptimum, size: tuple[int, int]) -> Any:
    means, tau, rms = one.scores.summary(), one.tau()[0], one.rms()[0]
    titles = {c.name: f"{c.name}: τ {tau[i]:.3f}, RMS {rms[i]:.3f}" for i, c in enumerate(one.candidates) if i}
    frame = pl.concat(
        pl.DataFrame(
            {"run": one.scores.systems, "optimal": means[0].round(4), "score": means[i].round(4)}
        ).with_columns(candidate=pl.lit(c.name), agreement=pl.lit(titles[c.name]))
        for i, c in enumerate(one.candidates)
        if i
    )
    low, high = float(means.min()), float(means.max())
    domain = alt.Scale(domain=[low, high], nice=True, zero=False)
    names = list(titles.values())
    shapes = alt.Scale(domain=names, range=[_second(SHAPES, at) for at in range(1, len(names) + 1)])
    dots = (
        alt.Chart(frame, width=size[0], height=size[1])
        .mark_point(filled=True, size=36, opacity=0.75)
        .encode(
            x=alt.X("optimal:Q", title="mean nDCG, optimal", scale=domain),
            y=alt.Y("score:Q", title="mean nDCG", scale=domain),
            color=_colour(alt, names, "agreement", first=1),
            shape=alt.Shape("agreement:N", title=None, sort=names, scale=shapes),
            tooltip=[
                "run:N",
                "candidate:N",
                alt.Tooltip("optimal:Q", format=".4f"),
                alt.Tooltip("score:Q", title="mean nDCG", format=".4f"),
            ],
        )
    )
    ends = pl.DataFrame({"optimal": [low, high], "score": [low, high]})
    same = (
        alt.Chart(ends)
        .mark_line(strokeDash=[4, 4], color="#888888", strokeWidth=1)
        .encode(x=alt.X("optimal:Q"), y=alt.Y("score:Q"))
    )
    return alt.layer(same, dots)


def _asl(alt: Any, one: CollectionOptimum, size: tuple[int, int]) -> Any:
    number = len(one.asl().curve())
    at = np.unique(np.linspace(0, number - 1, min(number, _POINTS)).astype(int))
    frame = _long(one.by_name, lambda c: {"share": (at + 1) / number, "asl": one.asl(c.name).curve()[at].round(4)})
    lines = _lines(alt, frame, list(one.by_name), size).encode(
        x=alt.X("share:Q", title="share of the pairs of runs", axis=alt.Axis(format="%")),
        y=alt.Y("asl:Q", title="achieved significance level", scale=alt.Scale(domain=[0, 1])),
        tooltip=["candidate:N", alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("asl:Q", format=".4f")],
    )
    return alt.layer(alt.Chart().mark_rule(strokeDash=[4, 4], color="#555555").encode(y=alt.YDatum(0.05)), lines)


def _long(curves: dict[str, Candidate], columns: Any) -> pl.DataFrame:
    """The columns of every candidate, one below the other; the optimum last, so that it is drawn over the others."""
    return pl.concat(
        pl.DataFrame(columns(c)).with_columns(candidate=pl.lit(name)) for name, c in reversed(curves.items())
    )


_FIGURES = {
    "discount": ("Discounts, each made to add up to 1", _discount),
    "gain": ("Gains, each over its largest", _gain),
    "reliability": ("Reliability and the number of topics (in-sample)", _reliability),
    "held_out": ("Reliability on the topics that were not used", _held_out),
    "scores": ("Mean scores against those of the optimum", _scores),
    "asl": ("Pairs of runs by how clearly they differ", _asl),
}
