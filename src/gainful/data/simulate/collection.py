"""A test collection with known truth, made up but built like a TREC Web Track.

The model, for one topic with some thousands of candidate documents:

* A document has a *match* with the query, which every system sees, a *merit* beyond it, and a *spamminess*. Its
  usefulness is merit plus ``MATCH_VALUE`` times match.
* A system scores a document by a weighted sum: match, merit times its *skill* on the topic, the view that all runs
  of its team share, noise of its own, and a push for spam that falls with its *spam resistance*. A team also has
  not indexed some of the documents at all.
* The skill is *quality* of the system + ease of the topic + interaction of both, with one part of the interaction
  the team's and one the run's: the variance components of an evaluation. It can be negative, as when a query is
  misunderstood.
* The best ``pool_depth`` documents of every contributing system are judged, the others are not in the qrels. How
  many of a topic's pool get which label is Dirichlet-multinomial around ``LABEL_SHARES``; the most spammy of the
  pool are the spam, the most useful of the others the relevant. The same cuts give the true label of every
  document that any run returned.

Topics are independent draws, as reliability and significance tests assume, so the label shares vary between seeds,
about as they do between the real tracks. The teams' qualities are spread evenly over 0 to 1.

A stand-in for a track (`tracks`) has other weights. Above all, keeping spam out is a trait of a team there, as in real
tracks, where teams filter spam or do not; by default topics drown it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from gainful import _polars as pl
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.data.simulate.tracks import DEFAULT, LABEL_SHARES, TRACKS, Behaviour, Track
from gainful.errors import GainfulError, check_choice
from gainful.results import plural

# Candidates per topic: this many times the depth, and never fewer than for a depth of 1,000.
CANDIDATES_PER_RANK = 5
CANDIDATES_MIN = 5_000

# Weights in a system's score of a document; that of the match, and so the pool size, varies by topic (sd of its log).
MATCH_SPREAD = 0.25
TEAM_VIEW = 0.7
MATCH_VALUE = 0.5  # of the match in the usefulness, the merit's being 1

QUALITY_WITHIN_TEAM = 0.08  # sd of the runs of a team around its quality
COVERAGE = (0.3, 0.7)  # share of the candidates that a team has indexed, lowest and highest
NOT_INDEXED = 100.0  # subtracted from the score: never reached, the candidates being many times the depth

# Some systems return fewer documents: their share, their typical length in depths, its spread by topic (sd of its log).
SHORT_SHARE, SHORT_LENGTH, SHORT_SPREAD = 0.2, (0.1, 0.8), 0.5

# Reported scores: lowest, highest, decimals of a precise and of a coarse run (few enough to survive float32).
SCALES = {"bm25": (0.0, 40.0, 4, 2), "logprob": (-20.0, 0.0, 4, 2), "cosine": (0.0, 1.0, 6, 4)}
COARSE_SHARE = 0.25  # of the systems round so much that many documents tie
HALF_SCALE = 3.0  # the inner score that lands a quarter of the scale above its middle

FIRST_TOPIC = 101

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Truth:
    """The truth of a simulated collection, which is unknown for a real one.

    Parameters
    ----------
    systems
        One row per run: ``run``, ``team``, ``quality`` and ``spam_resistance`` (both 0 to 1, higher is better),
        ``contributes`` (to the pool), ``scale`` of its scores.
    labels
        The label of every document that any run returned, judged or not; has the columns of qrels, so
        ``Qrels(truth.labels)`` are complete judgments of the runs.
    """

    systems: pl.DataFrame
    labels: pl.DataFrame

    def __repr__(self) -> str:
        return f"Truth({self.systems.height} systems, {self.labels.height} labels)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Collection:
    """A simulated test collection.

    Parameters
    ----------
    qrels
        The judgments: the pool, sorted by topic and document.
    runs
        One per system, every topic's documents best first (equal scores: higher document id first, as trec_eval).
    truth
        The systems' parameters and the labels of all returned documents.
    settings
        The arguments of `simulate`, seed included, that make this collection again.
    """

    qrels: Qrels
    runs: list[Run]
    truth: Truth
    settings: Mapping[str, int | float | str]

    def label_shares(self) -> dict[int, float]:
        """Share of every label among the judgments."""
        labels = self.qrels.frame["relevance"].to_numpy()
        return {label: float(np.mean(labels == label)) for label in LABEL_SHARES}

    def likeness(self) -> tuple[str, ...]:
        """Of a stand-in for a track, which published figures it was fitted to, and which not; nothing for others.

        Simulated figures are means over seeds: one collection varies around them.
        """
        like = self.settings.get("like")
        if like is None:
            return ()
        track: Track = TRACKS[like]  # type: ignore[index]
        usual, here = (track.topics, track.systems), (self.settings["topics"], self.settings["systems"])
        other = f"These are figures of {usual[0]} topics and {usual[1]} runs; here are {here[0]} and {here[1]}."
        return (*track.likeness(), *(() if here == usual else (other,)))

    def __str__(self) -> str:
        s, shares = self.settings, self.label_shares()
        relevant = sum(share for label, share in shares.items() if label > 0)
        like = f"like {s['like']}, " if "like" in s else ""
        sizes = f"{plural(int(s['topics']), 'topic')}, {plural(len(self.runs), 'run')}"
        return (
            f"Collection({sizes}, {plural(len(self.qrels), 'judgment')}: "
            f"{relevant:.1%} relevant, {shares[-2]:.1%} spam; {like}seed {s['seed']})"
        )

    __repr__ = __str__

    def to_dict(self) -> dict[str, object]:
        """Settings, sizes, label shares and the systems' parameters; not the documents."""
        return {
            "settings": dict(self.settings),
            "judgments": len(self.qrels),
            "returned": sum(len(run) for run in self.runs),
            "label_shares": self.label_shares(),
            "systems": self.truth.systems.to_dicts(),
        }


def draw(given: Mapping[str, Any]) -> Collection:
    """What `simulate` returns, by its parameters."""
    track, settings = _settings(given)
    topics, systems, depth, pool_depth, seed = (
        int(settings[name]) for name in ("topics", "systems", "depth", "pool_depth", "seed")
    )
    spam, missing = float(settings["spam"]), float(settings["missing"])
    rng = np.random.default_rng(seed)
    field = _draw_systems(
        rng, track.behaviour, systems, int(settings["team_size"]), contributors=int(settings["contributors"])
    )
    candidates = max(CANDIDATES_MIN, CANDIDATES_PER_RANK * depth)

    ranked = np.empty((topics, systems, depth), dtype=np.int32)
    scores = np.empty((topics, systems, depth))
    kept = np.empty((topics, systems, depth), dtype=np.bool_)
    labels = np.empty((topics, candidates), dtype=np.int8)
    judged = np.zeros((topics, candidates), dtype=np.bool_)
    returned = np.zeros((topics, candidates), dtype=np.bool_)
    for topic, stream in enumerate(rng.spawn(topics)):  # one stream per topic: more topics leave the first ones alone
        inner, usefulness, spamminess = _score_documents(stream, field, track.behaviour, candidates)
        ranked[topic], scores[topic] = _rank(inner, field, depth)
        lengths = _draw_lengths(stream, field, depth, pool_depth, missing)
        kept[topic] = np.arange(depth) < lengths[:, None]
        pool = np.unique(ranked[topic, field.contributes, :pool_depth][kept[topic, field.contributes, :pool_depth]])
        judged[topic, pool] = True
        returned[topic, ranked[topic][kept[topic]]] = True
        labels[topic] = _label(stream, track, usefulness, spamminess, pool, spam)

    truth = _label_frame(labels, returned)
    row_of = np.cumsum(returned.ravel()) - 1  # row in the truth of a returned candidate
    start = np.arange(topics, dtype=np.int64)[:, None] * candidates
    runs = []
    for system, name in enumerate(field.names):
        keep = kept[:, system]
        rows = row_of[(start + ranked[:, system])[keep]]
        frame = truth.select("query_id", "doc_id")[rows].with_columns(score=pl.Series(scores[:, system][keep]))
        runs.append(Run(frame, name=name))
    teams = [name.rpartition("-")[0] for name in field.names]
    systems_of = {"run": field.names, "team": teams, "quality": field.quality, "spam_resistance": field.resistance}
    systems_of |= {"contributes": field.contributes, "scale": field.scale}
    return Collection(
        qrels=Qrels(truth.filter(pl.Series(judged[returned])), name=f"simulated (seed {seed})"),
        runs=runs,
        truth=Truth(systems=pl.DataFrame(systems_of), labels=truth),
        settings=settings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """The participating systems' parameters, one entry per system; coverage has one per team."""

    names: list[str]
    team: Ints
    quality: Floats
    resistance: Floats
    coverage: Floats
    contributes: npt.NDArray[np.bool_]
    scale: list[str]
    coarse: npt.NDArray[np.bool_]
    typical_length: Floats  # in depths; infinite for a system that always fills the list


def _draw_systems(
    rng: np.random.Generator, how: Behaviour, systems: int, team_size: int, *, contributors: int
) -> _Field:
    team = np.arange(systems) // team_size
    teams = int(team[-1]) + 1
    team_quality = (rng.permutation(teams) + rng.random(teams)) / teams  # even spread: good and bad in any collection
    quality = np.clip(team_quality[team] + rng.normal(0.0, QUALITY_WITHIN_TEAM, systems), 0.0, 1.0)
    chance = rng.uniform(0.0, 1.0, systems)
    chance = (1 - how.resistance_by_team) * chance + how.resistance_by_team * chance[team * team_size]
    resistance = how.resistance_by_quality * quality + (1 - how.resistance_by_quality) * chance
    short = rng.random(systems) < SHORT_SHARE
    scales = list(SCALES)
    width = len(str(teams)) if teams > 99 else 2
    return _Field(
        names=[f"team{t + 1:0{width}}-{i % team_size + 1}" for i, t in enumerate(team)],
        team=team,
        quality=quality,
        resistance=resistance,
        coverage=rng.uniform(*COVERAGE, teams),
        contributes=rng.permutation(systems) < contributors,
        scale=[scales[i] for i in rng.integers(len(scales), size=teams)[team]],
        coarse=rng.random(systems) < COARSE_SHARE,
        typical_length=np.where(short, rng.uniform(*SHORT_LENGTH, systems), np.inf),
    )


def _score_documents(
    rng: np.random.Generator, field: _Field, how: Behaviour, candidates: int
) -> tuple[Singles, Singles, Singles]:
    """Every system's inner score of every candidate; usefulness and spamminess of the candidates."""
    systems, teams = field.team.size, field.coverage.size
    match = rng.standard_normal(candidates, dtype=np.float32)
    merit = rng.standard_normal(candidates, dtype=np.float32)
    spamminess = rng.standard_exponential(candidates, dtype=np.float32)
    match_weight = how.match * np.exp(MATCH_SPREAD * rng.standard_normal())
    skill = how.skill * field.quality + how.ease + how.ease_spread * rng.standard_normal()
    skill += how.team_topic * rng.standard_normal(teams)[field.team] + how.run_topic * rng.standard_normal(systems)
    push = how.spam_push * (0.5 - field.resistance)

    view = TEAM_VIEW * rng.standard_normal((teams, candidates), dtype=np.float32)
    view += np.float32(match_weight) * match
    view[rng.random((teams, candidates), dtype=np.float32) >= field.coverage[:, None]] -= NOT_INDEXED
    inner = how.run_noise * rng.standard_normal((systems, candidates), dtype=np.float32)
    inner += view[field.team]
    inner += skill.astype(np.float32)[:, None] * merit
    inner += push.astype(np.float32)[:, None] * spamminess
    return inner, merit + np.float32(MATCH_VALUE) * match, spamminess


def _rank(inner: Singles, field: _Field, depth: int) -> tuple[Ints, Floats]:
    """The best `depth` candidates of every system and their reported scores, in trec_eval's order."""
    low, high, fine, coarse = (np.array(column) for column in zip(*(SCALES[s] for s in field.scale), strict=True))
    unit = 10.0 ** np.where(field.coarse, coarse, fine)[:, None]
    best = np.argpartition(-inner, depth - 1, axis=1)[:, :depth]
    best = np.sort(best, axis=1)[:, ::-1]  # ids descending, so that the stable sort below breaks ties by id
    x = np.take_along_axis(inner, best, axis=1).astype(np.float64)
    squashed = 0.5 + 0.5 * x / (HALF_SCALE + np.abs(x))
    steps = np.rint((low[:, None] + (high - low)[:, None] * squashed) * unit)
    order = np.argsort(-steps, axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1), np.take_along_axis(steps, order, axis=1) / unit


def _draw_lengths(rng: np.random.Generator, field: _Field, depth: int, pool_depth: int, missing: float) -> Ints:
    """How many documents every system returns for the topic."""
    spread = np.exp(SHORT_SPREAD * rng.standard_normal(field.team.size))
    # A short list still fills the pool: the scores at the top should not depend on the length.
    lengths = np.clip(depth * field.typical_length * spread, min(pool_depth, depth), depth).astype(np.int64)
    missed = rng.random(field.team.size) < missing
    if missed[field.contributes].all():  # a topic that no contributor answered could not be judged
        missed[rng.choice(np.flatnonzero(field.contributes))] = False
    return np.where(missed, 0, lengths)


def _label(
    rng: np.random.Generator,
    track: Track,
    usefulness: Singles,
    spamminess: Singles,
    pool: npt.NDArray[np.int32],
    spam: float,
) -> npt.NDArray[np.int8]:
    """Labels of all candidates, by cuts that give the pool the topic's share of every label."""
    means = np.array(list(track.shares.values()))
    means = np.append(spam, means[1:] * (1 - spam) / means[1:].sum())
    alike = np.full(len(means), track.behaviour.share_concentration)
    alike[0] = track.behaviour.spam_concentration
    # Normalised gammas are Dirichlet, if all are equally concentrated; allows spam = 0.
    shares = rng.standard_gamma(alike * means) * (track.behaviour.share_concentration / alike)
    counts = rng.multinomial(pool.size, shares / shares.sum())

    spams = min(int(counts[0]), pool.size - 1)
    is_spam = spamminess >= _cut(spamminess[pool], spams)
    at_least = np.cumsum(counts[:1:-1])[::-1]  # documents with label >= 1, 2, 3, 4
    at_least[0] = max(at_least[0], 1)  # TREC drops topics without a relevant document
    wanted = usefulness[pool[~is_spam[pool]]]
    cuts = np.array([_cut(wanted, min(int(n), wanted.size)) for n in at_least])
    grades = np.searchsorted(cuts, usefulness, side="right")
    return np.where(is_spam, -2, grades).astype(np.int8)


def _cut(values: Singles, count: int) -> float:
    """The value that `count` of the values reach."""
    return float(np.partition(values, values.size - count)[values.size - count]) if count else np.inf


def _label_frame(labels: npt.NDArray[np.int8], returned: npt.NDArray[np.bool_]) -> pl.DataFrame:
    """Query id, document id and label of the returned candidates, in that order."""
    topic, document = np.nonzero(returned)
    width = max(7, len(str(labels.shape[1] - 1)))  # ids in byte order are ids in number order
    query_id = pl.Series(topic + FIRST_TOPIC).cast(pl.String)
    number = pl.Series(document).cast(pl.String).str.zfill(width)
    return pl.DataFrame({"query_id": query_id, "number": number}).select(
        "query_id",
        doc_id=pl.format("sim-{}-{}", pl.col("query_id").str.zfill(4), "number"),
        relevance=pl.Series(labels[returned].astype(np.float64)),
    )


def _settings(given: Mapping[str, Any]) -> tuple[Track, dict[str, int | float | str]]:
    """The track that is asked for, and all parameters as plain values, those not given as the track has them."""
    like = given["like"]
    if like is not None:
        check_choice("like", like, TRACKS)
    track = DEFAULT if like is None else TRACKS[like]
    own = {name: getattr(track, name) for name in ("topics", "systems", "pool_depth", "team_size")}
    own["spam"] = track.shares[-2]
    full = {name: own.get(name) if value is None else value for name, value in given.items() if name != "like"}
    settings: dict[str, int | float | str] = {name: _checked(name, value, full) for name, value in full.items()}
    return track, settings if like is None else {"like": str(like), **settings}


def _checked(name: str, value: Any, given: Mapping[str, Any]) -> Any:
    """The value of a parameter as a Python number; refuses a wrong one."""
    share = name in ("spam", "missing")
    if share:
        ok, wanted = isinstance(value, Real) and 0 <= float(value) < 1, "a number of at least 0 and below 1"
    elif name == "contributors":
        most = _checked("systems", given["systems"], given)
        value = most if value is None else value
        ok, wanted = isinstance(value, Integral) and 1 <= int(value) <= most, f"a whole number from 1 to {most}"
    else:
        least = 0 if name == "seed" else 1
        ok, wanted = isinstance(value, Integral) and least <= int(value), f"a whole number of at least {least}"
    if not ok or isinstance(value, bool):
        raise GainfulError(f"{name}: expected {wanted}, got {value!r}")
    return float(value) if share else int(value)
