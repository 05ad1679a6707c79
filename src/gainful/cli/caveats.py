"""What one should know about the scores that an analysis starts from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from gainful.cli.evaluate import remarks
from gainful.data.scores import Scores


def caveats(scores: Scores) -> Iterator[str]:
    """What evaluate tells of topics that are missing, ignored or undefined, and how many `gaps` drops.

    Parameters
    ----------
    scores
        What was analysed: any gap there is must have been dropped. A table tells nothing of judgments.
    """
    if scores.policies is not None:
        yield from islice(remarks(scores), 1, None)
    for measure in scores.measures:
        dropped = int(np.isnan(scores[measure].values).any(axis=0).sum())
        if dropped:
            yield f"note: {measure}: {dropped} of {len(scores.topics)} topics dropped, as some run has no score there"
