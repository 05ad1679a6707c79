"""Let an f-ranker rank and filter."""

from __future__ import annotations

import os
from typing import Any

from gainful.data.run import Run
from gainful.errors import GainfulError
from gainful.ltrf.ranker import Cut, FRanker


def score(
    ranker: FRanker | str | os.PathLike[str],
    data: Any,
    *,
    cut: Cut = "threshold",
    name: str | None = None,
    device: str | None = None,
) -> Run:
    """Rank documents with an f-ranker, and leave out what must not be shown.

    Parameters
    ----------
    ranker
        What `train` returned, or the folder that it was saved to.
    data
        The documents, as for training; labels are not needed.
    cut
        threshold (documents at or above the f-ranker's threshold), none (all documents, ranked) or bayes (for every
        query what is expected to add to its nDCGf; experimental, for ordinal losses).
    name
        Of the run; the loss if not given.
    device
        Text: cpu, cuda, cuda:1 (a GPU by its number) or mps; by default the best there is.

    Returns
    -------
    Run
        The documents that are shown, with their scores. Queries may be empty, and gone.

    Examples
    --------
    >>> import gainful as gf
    >>> import polars as pl
    >>> labels = [2, -1, 1] * 40
    >>> rows = {"query_id": [n // 3 for n in range(120)], "doc_id": range(120), "label": labels, "f": labels}
    >>> rows = pl.DataFrame(rows)
    >>> ranker = gf.ltrf.train(rows, settings=gf.ltrf.Settings(rounds=5))
    >>> score(ranker, rows.drop("label")), score(ranker, rows, cut="none", name="all")
    (Run('ordinal': 80 documents, 40 topics), Run('all': 120 documents, 40 topics))
    """
    if isinstance(ranker, FRanker):
        if device is not None:
            raise GainfulError("device: is chosen where an f-ranker is loaded; give its folder, or leave it out")
        return ranker.rank(data, cut=cut, name=name)
    return FRanker.load(ranker, device=device).rank(data, cut=cut, name=name)
