"""The charts of an optimum: Figures 2–4 and 6–9 of Kanoulas & Aslam (2009), and what they leave out, held-out Φ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from gainful.charts import COLOURS, HEIGHT, WIDTH, load_altair, styled
from gainful.errors import GainfulError, did_you_mean

if TYPE_CHECKING:
    import altair

    from gainful.tune.optimum import Optimum, Part

Figure = Literal["all", "discount", "gain", "reliability", "held_out", "scores", "asl"]

TITLES = {
    "discount": "Discounts, each made to add up to 1",
    "gain": "Gains, each over that of the lowest relevant label",
    "reliability": "Reliability and the number of topics (in-sample)",
    "held_out": "Reliability on the topics that were not used",
    "scores": "Mean scores against those of the optimum",
    "asl": "Pairs of runs by how clearly they differ",
}
# More points than this on a curve cannot be seen.
_POINTS = 120


def draw(found: Optimum, figure: Figure) -> altair.TopLevelMixin:
    """One figure, or all that say something, for every collection and cutoff.

    Parameters
    ----------
    found
        What `optimize` returned.
    figure
        Which.
    """
    if figure not in get_args(Figure):
        hint = did_you_mean(str(figure), get_args(Figure))
        raise GainfulError(f"figure: expected one of {', '.join(get_args(Figure))}, got {figure!r}.{hint}")
    alt = load_altair()
    wanted = _telling(found) if figure == "all" else [figure]
    if figure == "held_out" and not found.splits:
        raise GainfulError("figure: held_out needs splits; there were none (splits=0)")
    several = len(found.parts) > 1
    size = (WIDTH, HEIGHT) if len(wanted) == 1 and not several else (WIDTH * 2 // 3, HEIGHT * 2 // 3)
    charts = [
        _FIGURES[name](alt, part, size).properties(title=f"{TITLES[name]}: {part.title}" if several else TITLES[name])
        for part in found.parts
        for name in wanted
    ]
    if len(charts) == 1:
        return styled(charts[0], TITLES[wanted[0]])
    columns = 2 if figure == "all" else min(len(charts), 2)
    # Each with its own legend: that of one figure would otherwise decide the colours of all.
    grid = alt.concat(*charts, columns=columns).resolve_scale(color="independent")
    return styled(grid, f"Optimal {_WHAT[found.target]} of nDCG")


_WHAT = {"discount": "discount", "gain": "gain", "both": "gain and discount"}


def _telling(found: Optimum) -> list[str]:
    """The figures in which candidates can differ."""
    first = {"discount": ["discount"], "gain": ["gain"], "both": ["discount", "gain"]}[found.target]
    return [*first, "reliability", *(["held_out"] if found.splits else []), "scores", "asl"]


def _colour(alt: Any, part: Part, **further: Any) -> Any:
    """One colour a candidate, the same in all figures; those beyond the eighth share them."""
    names = [candidate.name for candidate in part.candidates]
    colours = [COLOURS[at % len(COLOURS)] for at in range(len(names))]
    scale = alt.Scale(domain=names, range=colours)
    return alt.Color("candidate:N", title=None, sort=names, scale=scale, **further)


def _discount(alt: Any, part: Part, size: tuple[int, int]) -> Any:
    kind = "log" if part.cutoff > 100 else "linear"
    at = np.unique(np.geomspace(1, part.cutoff, _POINTS).round().astype(int)) - 1
    frame = _long(part, lambda c: {"rank": at + 1, "discount": c.discount[at].round(6)})
    return (
        alt.Chart(frame, width=size[0], height=size[1])
        .mark_line(strokeWidth=2, point=part.cutoff <= 30)
        .encode(
            x=alt.X("rank:Q", title="rank", scale=alt.Scale(type=kind, domain=[1, part.cutoff], nice=False)),
            y=alt.Y("discount:Q", title="discount"),
            color=_colour(alt, part),
            tooltip=["candidate:N", "rank:Q", alt.Tooltip("discount:Q", format=".4f")],
        )
    )


def _gain(alt: Any, part: Part, size: tuple[int, int]) -> Any:
    frame = _long(part, lambda c: {"label": list(c.gain), "ratio": list(c.gain_ratios.values())})
    return (
        alt.Chart(frame, width=size[0], height=size[1])
        .mark_line(strokeWidth=2, point=True)
        .encode(
            x=alt.X("label:O", title="label", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("ratio:Q", title="gain, relative"),
            color=_colour(alt, part),
            tooltip=["candidate:N", "label:O", alt.Tooltip("ratio:Q", title="gain, relative", format=".3f")],
        )
    )


def _reliability(alt: Any, part: Part, size: tuple[int, int]) -> Any:
    sizes = part.reliability.sizes
    frame = _long(part, lambda c: {"topics": sizes, "phi": part.reliability[c.name].curve(sizes)[0].round(4)})
    lines = (
        alt.Chart(frame, width=size[0], height=size[1])
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("topics:Q", title="topics", scale=alt.Scale(domain=[0, max(sizes)], nice=False)),
            y=alt.Y("phi:Q", title="Φ", scale=alt.Scale(domain=[0, 1])),
            color=_colour(alt, part),
            tooltip=["candidate:N", "topics:Q", alt.Tooltip("phi:Q", title="Φ", format=".4f")],
        )
    )
    goal = alt.Chart().mark_rule(strokeDash=[5, 4], color="#555555").encode(y=alt.datum(part.reliability.target))
    return alt.layer(goal, lines)


def _held_out(alt: Any, part: Part, size: tuple[int, int]) -> Any:
    frame = _long(part, lambda c: {"phi": c.held_out.round(4)})
    names = [candidate.name for candidate in part.candidates]
    base = alt.Chart(frame, width=size[0], height=size[1]).encode(
        y=alt.Y("candidate:N", title=None, sort=names),
        color=_colour(alt, part, legend=None),
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


def _scores(alt: Any, part: Part, size: tuple[int, int]) -> Any:
    means, tau, rms = part.scores.summary(), part.tau()[0], part.rms()[0]
    titles = {c.name: f"{c.name}: τ {tau[i]:.3f}, RMS {rms[i]:.3f}" for i, c in enumerate(part.candidates) if i}
    frame = pl.concat(
        pl.DataFrame(
            {"run": part.scores.systems, "optimal": means[0].round(4), "score": means[i].round(4)}
        ).with_columns(candidate=pl.lit(c.name), agreement=pl.lit(titles[c.name]))
        for i, c in enumerate(part.candidates)
        if i
    )
    low, high = float(means.min()), float(means.max())
    domain = alt.Scale(domain=[low, high], nice=True, zero=False)
    names = [candidate.name for candidate in part.candidates][1:]
    colours = [COLOURS[at % len(COLOURS)] for at in range(1, len(names) + 1)]
    scale = alt.Scale(domain=list(titles.values()), range=colours)
    dots = (
        alt.Chart(frame, width=size[0], height=size[1])
        .mark_point(filled=True, size=36, opacity=0.75)
        .encode(
            x=alt.X("optimal:Q", title="mean nDCG, optimal", scale=domain),
            y=alt.Y("score:Q", title="mean nDCG", scale=domain),
            color=alt.Color("agreement:N", title=None, sort=list(titles.values()), scale=scale),
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
        alt.Chart(ends).mark_line(strokeDash=[4, 4], color="#888888", strokeWidth=1).encode(x="optimal:Q", y="score:Q")
    )
    return alt.layer(same, dots)


def _asl(alt: Any, part: Part, size: tuple[int, int]) -> Any:
    number = len(part.asl().curve())
    at = np.unique(np.linspace(0, number - 1, min(number, _POINTS)).astype(int))
    frame = _long(part, lambda c: {"share": (at + 1) / number, "asl": part.asl(c.name).curve()[at].round(4)})
    lines = (
        alt.Chart(frame, width=size[0], height=size[1])
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("share:Q", title="share of the pairs of runs", axis=alt.Axis(format="%")),
            y=alt.Y("asl:Q", title="achieved significance level", scale=alt.Scale(domain=[0, 1])),
            color=_colour(alt, part),
            tooltip=["candidate:N", alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("asl:Q", format=".4f")],
        )
    )
    return alt.layer(alt.Chart().mark_rule(strokeDash=[4, 4], color="#555555").encode(y=alt.datum(0.05)), lines)


def _long(part: Part, columns: Any) -> pl.DataFrame:
    """The columns of every candidate, one below the other."""
    return pl.concat(pl.DataFrame(columns(c)).with_columns(candidate=pl.lit(c.name)) for c in part.candidates)


_FIGURES = {
    "discount": _discount,
    "gain": _gain,
    "reliability": _reliability,
    "held_out": _held_out,
    "scores": _scores,
    "asl": _asl,
}
