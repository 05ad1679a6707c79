"""What one should know about the scores that an analysis starts from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from gainful.cli.evaluate import remarks
from gainful.data.scores import Scores


def caveats(scores: Scores, *, dropped: bool = True) -> Iterator[str]:
    """What evaluate tells of topics that are missing, ignored or undefined, and how many `gaps` drops.

    Parameters
    ----------
    scores
        What was analysed; a table tells nothing of judgments.
    dropped
        Whether topics with a gap were left out.
    """
    if scores.policies is not None:
        yield from islice(remarks(scores), 1, None)
    for measure in scores.measures if dropped else ():
        gaps = int(np.isnan(scores[measure].values).any(axis=0).sum())
        if gaps:
            yield f"note: {measure}: {gaps} of {len(scores.topics)} topics dropped, as some run has no score there"
