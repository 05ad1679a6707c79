"""f-rankers behind scikit-learn's fit and predict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gainful.ltrf.settings import Loss, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from gainful.ltrf.data import Examples
    from gainful.ltrf.ranker import FRanker

_PARAMETERS = ("loss", "gains", "cutoff", "seed", "settings")


class Estimator:
    """An f-ranker with scikit-learn's fit and predict, for its pipelines, clones and searches.

    Parameters
    ----------
    loss, gains, cutoff, seed, settings
        See `train`.

    Attributes
    ----------
    ranker_
        The `FRanker`, once fitted: it saves, explains and draws itself.

    Examples
    --------
    >>> import gainful as gf
    >>> labels = [2, -1, 1] * 40
    >>> features, groups = [[label, 0] for label in labels], [n // 3 for n in range(120)]
    >>> model = gf.ltrf.Estimator(gains={-1: -10, 1: 1, 2: 2}, settings=gf.ltrf.Settings(rounds=5))
    >>> model.fit(features, labels, groups=groups).shown(features[:3]).tolist()
    [True, False, True]
    """

    ranker_: FRanker

    def __init__(
        self,
        *,
        loss: Loss = "ordinal",
        gains: Mapping[float, float] | str | None = None,
        cutoff: int = 3,
        seed: int = 0,
        settings: Settings = Settings(),
    ) -> None:
        self.loss, self.gains, self.cutoff, self.seed, self.settings = loss, gains, cutoff, seed, settings

    def __repr__(self) -> str:
        return f"Estimator({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters it was made with."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> Estimator:
        """Change parameters, for the next fit."""
        from gainful.errors import check_choice

        for name, value in parameters.items():
            check_choice("parameter", name, _PARAMETERS)
            setattr(self, name, value)
        return self

    def fit(self, x: Any, y: ArrayLike, *, groups: ArrayLike | None = None) -> Estimator:
        """Train on features (documents × features, a frame or an array) or on pairs of query and document.

        `y` has one label per document. `groups` says which query a document is of; of text, the query itself does. A
        fifth of the queries choose the epoch and the threshold.
        """
        from gainful.errors import GainfulError
        from gainful.ltrf.functions import train

        examples = _examples(x, y, groups)
        if groups is None and examples.kind == "features":
            raise GainfulError("groups: expected the query of every document, got none")
        learnt, validation = examples.split((0.8, 0.2), seed=self.seed)
        self.ranker_ = train(learnt, validation=validation, **self.get_params())
        return self

    def predict(self, x: Any) -> NDArray[np.float64]:
        """One score per document, in the order given."""
        import numpy as np

        examples = _examples(x, None, None)
        found = np.empty(len(examples))
        found[np.array(examples.doc_ids, np.int64)] = self._fitted().score(examples)
        return found

    def shown(self, x: Any) -> NDArray[np.bool_]:
        """Whether each document scores at least the threshold."""
        return self.predict(x) >= self._fitted().threshold

    def _fitted(self) -> FRanker:
        from gainful.errors import GainfulError

        if not hasattr(self, "ranker_"):
            raise GainfulError("the estimator is not fitted yet: call fit first")
        return self.ranker_


def _examples(x: Any, y: ArrayLike | None, groups: ArrayLike | None) -> Examples:
    import numpy as np

    from gainful import _polars as pl
    from gainful.errors import DataError
    from gainful.io.objects import is_table
    from gainful.ltrf.data import read_examples
    from gainful.ltrf.reading import frame_of

    if is_table(x):
        frame = frame_of(x)
    else:
        cells = np.asarray(x)
        if cells.ndim != 2 or not len(cells):
            raise DataError(f"expected documents × features, or pairs of query and document, got {cells.shape}")
        text = cells.dtype.kind in "UO"
        if text and cells.shape[1] != 2:
            raise DataError(f"expected pairs of query and document, got {cells.shape[1]} texts each")
        names = ["query", "document"] if text else [f"f{number}" for number in range(cells.shape[1])]
        frame = pl.DataFrame(dict(zip(names, cells.T.tolist(), strict=True)))
    number = frame.height
    for name, given in (("y", y), ("groups", groups)):
        if given is not None and len(np.asarray(given)) != number:
            raise DataError(f"{name}: expected one per document, {number}, got {len(np.asarray(given))}")
    queries = frame["query"] if groups is None and "query" in frame.columns else np.zeros(number, int)
    return read_examples(
        frame.with_columns(
            query_id=pl.Series(np.asarray(queries if groups is None else groups).astype(str)),
            doc_id=pl.Series(np.arange(number).astype(str)),
            label=pl.Series(np.full(number, np.nan) if y is None else np.asarray(y, np.float64)).fill_nan(None),
        ),
        labelled=y is not None,
    )
