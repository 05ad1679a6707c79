"""A metric and a scorer for scikit-learn, whose own ndcg_score has no groups, no negative labels and no filtering."""

from __future__ import annotations

from typing import Any

from gainful.data.policies import Ties
from gainful.errors import DataError


def ranking_score(
    y_true: Any, y_score: Any, *, groups: Any = None, measure: str = "nDCG@10", ties: Ties = "expected"
) -> float:
    """The mean of a measure over topics, from flat arrays as scikit-learn has them.

    Parameters
    ----------
    y_true, y_score
        Labels, which may be graded or negative, and scores: one per document.
    groups
        The topic of each document, in any order; without it, all are of one topic.
    measure
        What to compute, such as nDCG@10 or nDCGf@3.
    ties
        Documents with equal scores: expected (the mean over all their orders) or order (as given). A measure that
        depends on the first relevant rank, such as RR, needs order.

    Examples
    --------
    >>> round(ranking_score([1, 0, 2, -1], [0.2, 0.9, 0.5, 0.1], groups=["a", "a", "b", "b"], measure="nDCGf@1"), 3)
    0.5
    """
    import numpy as np

    from gainful.verbs.evaluate import score

    labels, scores = np.asarray(y_true, np.float64), np.asarray(y_score, np.float64)
    if labels.ndim != 1 or labels.shape != scores.shape:
        raise DataError(f"expected one score per label, got shapes {labels.shape} and {scores.shape}")
    topics = np.zeros(len(labels)) if groups is None else np.asarray(groups)
    if len(topics) != len(labels):
        raise DataError(f"groups: expected one topic per label, got {len(topics)} for {len(labels)}")
    order = np.argsort(topics, kind="stable")
    cuts = np.flatnonzero(topics[order][1:] != topics[order][:-1]) + 1
    parts = [np.split(values[order], cuts) for values in (labels, scores)]
    values = score(measure, *(list(map(list, part)) for part in parts), ties=ties)
    return float(np.nanmean(values))


def ranking_scorer(measure: str = "nDCG@10", *, ties: Ties = "expected") -> Any:
    """A scorer for ``cross_val_score``, ``GridSearchCV`` and the like, which asks for ``groups``.

    Pass topics as ``params={"groups": …}`` with ``sklearn.set_config(enable_metadata_routing=True)``. Of a measure for
    which lower is better the scorer gives the negative, as scikit-learn has it.
    """
    from sklearn.metrics import make_scorer

    from gainful.measures import parse_measure

    lower = parse_measure(measure).definition.higher == "worse"
    scorer = make_scorer(
        ranking_score,
        response_method=("decision_function", "predict_proba", "predict"),
        greater_is_better=not lower,
        measure=measure,
        ties=ties,
    )
    try:
        return scorer.set_score_request(groups=True)
    except RuntimeError:
        raise DataError("expected sklearn.set_config(enable_metadata_routing=True) before, to hand on groups") from None
