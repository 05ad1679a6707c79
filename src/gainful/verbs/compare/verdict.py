"""What a comparison says in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gainful.errors import setting
from gainful.results import Note, beside, listed, plural
from gainful.stats.choices import Test
from gainful.stats.paired import least_p
from gainful.stats.resample import MOST
from gainful.tables import number
from gainful.verbs.compare.equivalence import equivalence_sentence
from gainful.verbs.compare.tables import BETTER, MOST_LETTERS, WORSE

if TYPE_CHECKING:
    from gainful.verbs.compare.contrasts import Contrasts
    from gainful.verbs.compare.result import Comparison

# Means that agree to so many digits are equal.
DIGITS = 8
# Of fewer topics, winning them all is no news: a sign test has p = 2/2⁴ at best.
FEW_TOPICS = 5
# Notes of runs that have nothing in common with the judgments.
_NOTHING = ("no-topic-matches", "no-document-matches")
# More sentences are not read.
_MOST_MEASURES, _MOST_PAIRS = 4, 5
_TESTS: dict[Test, str] = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "randomisation": "randomisation test",
    "bootstrap": "studentised bootstrap",
    "tukey": "randomised Tukey HSD",
}
# With fewer topics in a group than this, the variance of its mean is hardly known.
_SMALL = 8
_CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini-Hochberg"}


def sentences(found: Comparison) -> Iterator[str]:
    """Per measure who is better, and by which test that is significant."""
    if any(note.code in _NOTHING for note in found.settings.notes) and not any(o.values.any() for o in found.contrasts):
        yield "There is nothing to compare: no run returns any document that is judged."
        return
    directed = [one for one in found.contrasts if one.higher != "neither"] or list(found.contrasts)
    for one in directed[:_MOST_MEASURES]:
        if len(found.systems) == 2:
            yield _pair(found, one)
        elif found.baseline is not None:
            yield _against_baseline(found, one)
        elif one.higher == "neither":
            differ = f"{one.significant().sum():,} of {found.family():,} pairs of runs"
            yield f"In {one.measure}, {differ} differ significantly."
        else:
            yield _lead(found, one)
    if len(directed) > _MOST_MEASURES:
        yield f"The table has {plural(len(directed) - _MOST_MEASURES, 'more measure')}."
    yield f"Significance is by {_how(found)}."
    if found.settings["equivalence"] is not None:
        yield equivalence_sentence(found, found.settings["equivalence"])


def headline(found: Comparison, one: Contrasts) -> str:
    """In one short sentence who leads, and who may be as good."""
    if len(found.systems) == 2 or found.baseline is not None or one.higher == "neither":
        return next(sentences(replace(found, contrasts=(one,))))
    at, runs, best = int(one.order()[0]), len(found.systems), int(one.may_be_best().sum())
    if np.ptp(np.round(one.mean, DIGITS)) == 0.0:
        return f"All runs have the same mean in {one.measure}."
    if best == runs:
        return f"{found.systems[at]} has the best mean in {one.measure}, but all {runs} runs may be best."
    if best == 1:
        return f"{found.systems[at]} leads in {one.measure}, and no other run may be best."
    return f"{found.systems[at]} leads in {one.measure}; {best - 1} of {plural(runs - 1, 'other')} may be best, too."


def certainty(found: Comparison, one: Contrasts) -> str:
    """What is behind the headline: the means, the tests, and how often the leader is best on resampled topics."""
    said = next(sentences(replace(found, contrasts=(one,))))
    shown = [] if said == headline(found, one) else [said]
    test = f"Significance is by {_how(found)}."
    if found.baseline is not None or len(found.systems) == 2 or one.higher == "neither":
        return " ".join([*shown, test])
    at = int(one.order()[0])
    shown += [f"{found.systems[at]} is best on {100 * one.best[at]:.0f}% of resampled sets of topics.", test]
    if not one.may_be_best().all():
        less = f", which takes less than to differ among {found.family():,} pairs" if _is_corrected(found) else ""
        shown.append(f"Who may be best is by intervals of places ({_level(found)} for each run by itself){less}.")
    return " ".join(shown)


def _is_corrected(found: Comparison) -> bool:
    return found.settings["correction"] in _CORRECTIONS and found.family() > 1


def _level(found: Comparison) -> str:
    return f"{100 * found.settings['confidence']:.6g}% confidence"


def _how(found: Comparison) -> str:
    how = f"{_TESTS[found.settings['test']]}, p < {found.settings['alpha']:g}"
    if not _is_corrected(found):
        return how
    name = _CORRECTIONS[found.settings["correction"]]
    return f"{how} after {name}'s correction for the {found.family():,} pairs per measure"


def _lead(found: Comparison, one: Contrasts) -> str:
    means = np.round(one.sign() * one.mean, DIGITS)
    at = int(np.argmax(means))
    alike, others = int((means == means[at]).sum()) - 1, len(found.systems) - 1
    if alike == others:
        return f"All runs have the same mean in {one.measure}, {one.mean[at]:.3f}."
    name = f"{found.systems[at]} (and {plural(alike, 'other')} alike)" if alike else found.systems[at]
    luck = f"{one.optimism:.3f}"
    chosen = f"; about {luck} too good, as the best of {others + 1}" if float(luck) else ""
    mean = f"{one.mean[at]:z.3f} ({one.low[at]:z.3f} to {one.high[at]:z.3f}{chosen})"
    best = int(one.may_be_best().sum())
    may = (
        "all runs may be best"
        if best > others
        else "no other run may be best"
        if best == 1
        else f"{best} runs may be best"
    )
    where = f"{one.measure} (lower is better)" if one.higher == "worse" else one.measure
    beaten = int(one.better()[at].sum())
    of = plural(others, "other")
    if not beaten:
        return f"{name} has the best mean in {where}, {mean}, but is significantly better than none of {of}; {may}."
    a_mean = "a mean of " if one.summary == "sum" else ""
    return f"{name} leads in {where} with {a_mean}{mean}, significantly better than {beaten} of {of}; {may}."


def _against_baseline(found: Comparison, one: Contrasts) -> str:
    at = found.systems.index(str(found.baseline))
    better, worse = int(one.better()[:, at].sum()), int(one.better()[at].sum())
    up, down = ("higher", "lower") if one.higher == "neither" else ("better", "worse")
    are = "is" if better == 1 else "are"
    if not better and not worse:
        none = f"none of {len(found.systems) - 1} runs is significantly {up} or {down}"
        return f"In {one.measure}, {none} than the baseline {found.baseline}."
    best = ""
    if better:
        first = next(run for run in one.order().tolist() if one.better()[run, at])
        best = f" ({found.systems[first]} most: {one.mean[first]:z.3f} against {one.mean[at]:z.3f})"
    return (
        f"In {one.measure}, {better} of {len(found.systems) - 1} runs {are} significantly {up} than the baseline "
        f"{found.baseline}{best}, and {worse or 'none'} significantly {down}."
    )


def _pair(found: Comparison, one: Contrasts) -> str:
    """Which of two runs is better, and by how much."""
    names = [found.systems[one.first[0]], found.systems[one.second[0]]]
    if found.baseline is not None:
        names[1] = f"the baseline {names[1]}"
    means = [one.mean[one.first[0]], one.mean[one.second[0]]]
    difference, ends = one.difference[0], [one.difference_low[0], one.difference_high[0]]
    if not one.wins[0] and not one.losses[0]:
        topics = "the one topic" if len(one.topics) == 1 else f"all {len(one.topics)} topics"
        return f"{_capital(names[0])} and {names[1]} have the same {one.measure} on {topics}."
    level = float(one.p_corrected[0])
    p = "p < 0.0001" if level < 0.00005 else f"p = {beside(level, one.alpha, 4)}"  # never 0, which no p-value is
    if not one.significant()[0]:
        says = f"{_capital(names[0])} and {names[1]} do not differ significantly in {one.measure}"
        between = f"{means[0]:.3f} and {means[1]:.3f}"
    else:
        if one.sign() * one.direction[0] < 0:
            names, means, difference, ends = names[::-1], means[::-1], -difference, [-ends[1], -ends[0]]
        better = "higher" if one.higher == "neither" else "better"
        ranks = " by signed ranks, though not by its mean" if one.against_the_mean()[0] else ""
        says = f"{_capital(names[0])} is significantly {better} than {names[1]} in {one.measure}{ranks}"
        between = f"{means[0]:.3f} against {means[1]:.3f}"
    interval = f"{ends[0]:z.3f} to {ends[1]:z.3f}" if np.isfinite(ends).all() else "no interval"
    return f"{says}: {between}, a difference of {difference:z.3f} ({interval}; {p})."


def _capital(name: str) -> str:
    return f"T{name[1:]}" if name.startswith("the baseline ") else name


def few_topics(found: Comparison) -> list[Note]:
    """Measures with too few topics."""
    few = [one for one in found.contrasts if len(one.topics) < FEW_TOPICS]
    says = "{}: tests and intervals say little on {}."
    return [Note("few-topics", one.measure, says.format(one.measure, plural(len(one.topics), "topic"))) for one in few]


def notes(found: Comparison) -> Iterator[Note]:
    """How to read the table, and what the numbers do not say."""
    if found.baseline is not None:
        text = f"{BETTER} is significantly better, {WORSE} significantly worse than {found.baseline!r}."
    elif len(found.systems) <= MOST_LETTERS:
        text = "The letters name the runs that a run is significantly better than."
    else:
        text = (
            "A run beats those that it is significantly better than. Group 1 is the best run and all that it does not "
            "beat; the best of the others leads group 2 in the same way, and so on."
        )
    yield Note("marks", "", text)
    neutral = [one.measure for one in found.contrasts if one.higher == "neither"]
    if neutral:
        text = f"Neither higher nor lower is better for {listed(neutral)}: better means higher there."
        yield Note("no-direction", listed(neutral), text)
    if found.baseline is None and len(found.systems) > 2:
        text = (
            f"Places are intervals, at {_level(found)} for each run by itself. A "
            "run whose place begins with 1 may be best: no other is shown to be better."
        )
        if len(found.systems) > MOST_LETTERS and found.settings["correction"] != "none":
            text += (
                " To be shown worse than another run takes less than to be beaten by it: places compare one run with "
                f"all others, corrected p-values all {plural(found.family(), 'pair')} of runs."
            )
        yield Note("places", "", text)
    if found.settings["macro"]:
        yield Note("macro", "", "Means are means of the groups' means: every group counts the same.")
        yield from _small_groups(found)
    yield from _contradictions(found)
    yield from few_topics(found)
    yield from _never_significant(found)
    yield from _without_variance(found)


def _small_groups(found: Comparison) -> Iterator[Note]:
    """Groups with few topics that count as much as larger ones: 10 to 25 % of errors in simulations at 5 %."""
    strata = found.contrasts[0].strata
    if strata is None or found.family() == 1:
        return
    sizes = strata.sizes()
    small = [name for name, size in zip(strata.names, sizes.tolist(), strict=True) if size < min(_SMALL, sizes.max())]
    if small:
        text = (
            f"Few topics in {listed(small, _MOST_PAIRS)}, and as much weight as larger groups: corrected p-values, "
            "places and intervals of all pairs may be too sure of differences."
        )
        yield Note("small-groups", "", text)


def _contradictions(found: Comparison) -> list[Note]:
    """Pairs in which the test and the mean speak for different runs: ranks heed small differences, means large ones."""
    noted = []
    for one in found.contrasts:
        for at in np.flatnonzero(one.against_the_mean()):
            run, other = found.systems[one.first[at]], found.systems[one.second[at]]
            better = "better" if one.sign() * one.direction[at] > 0 else "worse"
            text = f"{run!r} is significantly {better} than {other!r} by signed ranks, but not by its mean."
            noted.append(Note("test-against-mean", one.measure, f"{one.measure}: {text}"))
    return _first_pairs(noted)


def _without_variance(found: Comparison) -> list[Note]:
    """Pairs whose differences are all equal, which neither t nor the bootstrap can test."""
    if found.settings["test"] not in ("t", "bootstrap"):
        return []
    noted = []
    for one in found.contrasts:
        for at in np.flatnonzero(one.equal):
            run, other = found.systems[one.first[at]], found.systems[one.second[at]]
            where = "in each group " if one.strata is not None else ""
            text = (
                f"All differences between {run!r} and {other!r} are equal {where}and have no variance: p is that of "
                f"the exact randomisation test ({number(float(one.p[at]))}), and there is no effect size."
            )
            noted.append(Note("no-variance", one.measure, f"{one.measure}: {text}"))
    return _first_pairs(noted)


def _first_pairs(noted: list[Note]) -> list[Note]:
    """Notes on pairs, the last ones counted if they are many."""
    more = len(noted) - _MOST_PAIRS
    if more > 0:
        noted[_MOST_PAIRS:] = [Note(noted[0].code, "", f"The same holds for {plural(more, 'more pair')}.")]
    return noted


def _never_significant(found: Comparison) -> Iterator[Note]:
    """Measures with so few topics, or so few resamples for so many pairs, that no scores could be significant."""
    settings, family = found.settings, found.family()
    times = family if settings["correction"] in ("holm", "bonferroni") else 1
    for one in found.contrasts:
        topics = len(one.topics)
        least = least_p(settings["test"], topics, len(found.systems), settings["resamples"])
        if least * times < one.alpha:
            continue
        corrected = f", {times * least:.3g} after correction for {times:,} pairs" if times > 1 else ""
        enough = least_p(settings["test"], topics, len(found.systems), MOST) * times < one.alpha
        cure = f"take more {setting('resamples')}" if enough else "it takes more topics"
        text = (
            f"{one.measure}: nothing can be significant here, whatever the scores: the smallest p of the "
            f"{_TESTS[settings['test']]} on {topics} topics is {least:.3g}{corrected}; {cure}."
        )
        yield Note("never-significant", one.measure, text)
