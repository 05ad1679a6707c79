"""An f-ranker: a model that scores documents, and the threshold below which they are not shown."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np

from gainful import _polars as pl
from gainful import results
from gainful.charts import COLOURS, HEIGHT, WIDTH, load_altair, styled
from gainful.data.run import Run
from gainful.errors import DataError, GainfulError, check_choice, setting
from gainful.io.atomic import write_atomically
from gainful.ltrf.bayes import Calibration, expected_gains, streams
from gainful.ltrf.card import card
from gainful.ltrf.data import Examples, read_examples
from gainful.ltrf.settings import Cut, Kind
from gainful.ltrf.targets import FloatArray, Loss, Scale
from gainful.ltrf.weights import check_saved
from gainful.results import Chart, Note, Result
from gainful.tables import Table

if TYPE_CHECKING:
    from gainful.ltrf.features import Trees
    from gainful.ltrf.text import Encoder

Model: TypeAlias = "Trees | Encoder"
SETTINGS, CARD = "ranker.json", "README.md"
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FRanker(Result):
    """Ranks documents and leaves out those below its threshold.

    Parameters
    ----------
    kind
        Whether it reads features or text.
    model
        What gives the numbers.
    loss, scale
        What it was trained for.
    cutoff
        Of the nDCGf that its threshold was tuned for.
    threshold
        Documents that score at least this are shown.
    validation
        On the validation queries: nDCGf at the threshold, after each round of training (rounds), and at other
        thresholds (curve); with a risk also what was guaranteed (risk); for text also how many pairs of query and
        document there were to learn from, per epoch and at all (pairs).
    test
        What it is worth on queries that it has not seen, if there were any; by measure.
    calibration
        What makes probabilities of an ordinal model's numbers, for the cut by query; None for other losses.
    settings
        What repeats the training, the seed included.
    """

    kind: Kind
    model: Model
    loss: Loss
    scale: Scale
    cutoff: int
    threshold: float
    validation: Mapping[str, Any]
    settings: results.Settings
    test: Mapping[str, float] | None = None
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        if math.isnan(self.threshold) or self.threshold == -math.inf:
            raise DataError(f"threshold: expected a number, or inf to show nothing, got {self.threshold}")

    def verdict(self) -> str:
        """What it shows, and what that is worth."""
        shown = f"shows documents from score {self.threshold:.4g} up" if self._shows() else "shows nothing"
        measure = f"nDCGf@{self.cutoff}"
        seen = "" if self.test is None else f", {self.test[measure]:.4f} on the test queries"
        return (
            f"The f-ranker (loss {self.loss}, {self.kind}) {shown}: {measure} {self.validation['nDCGf']:.4f} on the "
            f"validation queries{seen}."
        )

    def _shows(self) -> bool:
        return math.isfinite(self.threshold)

    def tables(self) -> tuple[Table, ...]:
        """What it is worth on the queries it was chosen on, and on those that it has not seen; then every round."""
        rows = [("validation", f"nDCGf@{self.cutoff}", self.validation["nDCGf"])]
        rows += [("test", name, value) for name, value in (self.test or {}).items()]
        outcome = pl.DataFrame(rows, {"queries": pl.String, "measure": pl.String, "mean": pl.Float64}, orient="row")
        return Table.of("outcome", outcome), Table.of("rounds", self.to_frame())

    def score(self, examples: Any) -> FloatArray:
        """One score per document, in the order of `read_examples`."""
        given = read_examples(examples, labelled=False)
        return self._scored(given, self._outputs(given))

    def rank(self, examples: Any, *, cut: Cut = "threshold", name: str | None = None) -> Run:
        """The run, sorted: documents at or above the threshold, all of them, or those that the cut by query leaves."""
        check_choice("cut", cut, get_args(Cut))
        given = read_examples(examples, labelled=False)
        if cut == "bayes":
            scores = self._expected(given)
            scores = np.where(scores > 0, scores, np.nan)
        else:
            scores = self.score(given)
            scores = np.where(scores >= self.threshold, scores, np.nan) if cut == "threshold" else scores
        run = given.run(scores, name or self.loss)
        # Queries as they came, the best document first; of equal scores the later id, as everywhere.
        by = [pl.col("query_id").rle_id(), "score", "doc_id"]
        return replace(run, frame=run.frame.sort(by, descending=[False, True, True]))

    def _left_out(self) -> list[Note]:
        """How many of the pairs to learn from were left out."""
        pairs = self.validation.get("pairs")
        if pairs is None or pairs["per_epoch"] == pairs["all"]:
            return []
        never = pairs["all"] - pairs["seen"]
        text = (
            f"An epoch learns from {pairs['per_epoch']:,} of {pairs['all']:,} pairs "
            f"({setting('max_docs', self.settings['max_docs'])}); {never:,} pairs were in no epoch."
        )
        return [Note("left-out", self.loss, text)]

    def _notes(self) -> list[Note]:
        nothing = "Showing nothing at all was best on the validation queries."
        promise = (self.validation.get("risk") or {}).get("guarantee")
        return [
            *without_forbidden(self.scale),
            *self._left_out(),
            *([Note("guarantee", self.loss, str(promise))] if promise else []),
            *([] if self._shows() else [Note("shows-nothing", self.loss, nothing)]),
        ]

    def content(self) -> dict[str, Any]:
        """All but the weights and the settings, ready for JSON."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "loss": self.loss,
            "gains": self.scale.to_dict(),
            "cutoff": self.cutoff,
            "threshold": self.threshold if self._shows() else None,
            "validation": dict(self.validation),
            "test": None if self.test is None else dict(self.test),
            "calibration": None if self.calibration is None else asdict(self.calibration),
            "features": list(self.model.names),
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per round of training: round, nDCGf of the validation queries at the best threshold of that round."""
        values = self.validation["rounds"]
        return pl.DataFrame(
            {"round": range(1, len(values) + 1), "nDCGf": values}, schema_overrides={"nDCGf": pl.Float64}
        )

    def chart(self) -> Chart:
        """Draw nDCGf of the validation queries against the threshold, with the chosen one marked."""
        alt = load_altair()
        measure = f"nDCGf@{self.cutoff}"
        x = alt.X("threshold:Q", title="threshold: documents with at least this score are shown")
        y = alt.Y("nDCGf:Q", title=f"validation {measure}", scale=alt.Scale(zero=False))
        curve = pl.DataFrame(self.validation["curve"])
        layers = threshold_layers(curve, self.threshold, x=x, y=y, measure=measure, colour=COLOURS[0])
        whole = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
        return styled(whole, f"Where the f-ranker ({self.loss}) cuts")

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write it into a new folder, all of it or nothing: weights, threshold, gains, settings, validation curve."""
        folder = Path(folder)
        check_new(folder)
        draft = folder.with_name(f".{folder.name}-{os.getpid()}.part")
        try:
            draft.mkdir(parents=True)
            self.model.save(draft, self.scale.head_weights(self.loss) if "ordinal" in self.loss else None)
            content = json.dumps({**self.content(), "settings": dict(self.settings)}, indent=1, allow_nan=False)
            write_atomically(draft / SETTINGS, content + "\n")
            write_atomically(draft / CARD, card(self))
            for path in draft.rglob("*.*"):
                if path.is_file():  # safetensors are written for their owner alone
                    shutil.copymode(draft / SETTINGS, path)
            draft.rename(folder)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, device: str | None = None) -> FRanker:
        """Read a folder that `save` wrote; nothing in it is executed."""
        folder = Path(folder)
        content = _settings(folder)
        check_saved(folder)
        kind: Kind = content["kind"]
        try:
            known: dict[str, Any] = {
                "loss": content["loss"],
                "scale": Scale.of({float(label): gain for label, gain in content["gains"].items()}),
                "cutoff": int(content["cutoff"]),
                "threshold": math.inf if content["threshold"] is None else float(content["threshold"]),
                "validation": dict(content["validation"]),
                "test": None if content["test"] is None else dict(content["test"]),
                "calibration": None if content["calibration"] is None else Calibration.of(content["calibration"]),
                "settings": training_settings(kind, content["loss"], dict(content["settings"])),
            }
            names = tuple(map(str, content["features"]))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise DataError(f"{folder / SETTINGS}: expected the settings of an f-ranker, got something else") from None
        heads = known["scale"].heads(known["loss"])
        if known["calibration"] is not None and len(known["calibration"].slopes) != heads:
            number = len(known["calibration"].slopes)
            raise DataError(f"{folder / SETTINGS}: heads: expected {heads}, got a calibration for {number}")
        model = _model(kind, folder, names, device)
        if model.heads != heads:
            raise DataError(
                f"{folder}: heads: expected {heads} for the loss {known['loss']} and its gains, got a model with "
                f"{model.heads}"
            )
        try:
            return cls(kind=kind, model=model, **known)
        except DataError as error:
            raise DataError(f"{folder / SETTINGS}: {error}") from None

    def _outputs(self, examples: Examples) -> FloatArray:
        if examples.kind != self.kind:
            raise DataError(f"{examples.name}: this f-ranker reads {self.kind}, got {examples.kind}")
        return self.model.outputs(examples)

    def _scored(self, examples: Examples, outputs: FloatArray) -> FloatArray:
        try:
            return self.scale.document_score(self.loss, outputs)
        except DataError as error:
            raise DataError(f"{examples.name}: {error}: this f-ranker cannot be used, train another one") from None

    def _expected(self, examples: Examples) -> FloatArray:
        if self.calibration is None:
            bayes = setting("cut", "bayes")
            raise GainfulError(f"{bayes} needs an ordinal loss (ordinal, weighted-ordinal), got {self.loss}")
        outputs = self._outputs(examples)
        self._scored(examples, outputs)  # refuses what are no numbers
        chances = self.calibration.chances(outputs.reshape(len(examples), -1))
        starts = streams(examples.frame["query_id"], examples.doc_ids, seed=self.settings["seed"])
        found = expected_gains(self.scale, chances, examples.sizes, cutoff=self.cutoff, streams=starts)
        return found.astype(np.float32).astype(np.float64)


def without_forbidden(scale: Scale) -> list[Note]:
    """What to know where no label has a negative gain."""
    if min(scale.gains) < 0:
        return []
    text = (
        "No label has a negative gain: nothing is forbidden, and a threshold can only cost; say what labels are "
        f"worth, such as {setting('gains')} {{0:-1,1:1}}."
    )
    return [Note("nothing-forbidden", "", text)]


def threshold_layers(points: pl.DataFrame, threshold: float, *, x: Any, y: Any, measure: str, colour: str) -> list[Any]:
    """A measure against the threshold, and a rule where an f-ranker cuts, if it shows anything."""
    alt = load_altair()
    value = alt.Tooltip(y.shorthand, title=measure, format=".4f")
    hints = [alt.Tooltip("threshold:Q", format=".4~g"), value]
    line = alt.Chart(points).mark_line(interpolate="step-before", color=colour).encode(x=x, y=y, tooltip=hints)
    if not math.isfinite(threshold):
        return [line]
    place = alt.Chart(pl.DataFrame({"threshold": [threshold]}))
    return [line, place.mark_rule(strokeDash=[4, 4], color="#555555").encode(x=x)]


def training_settings(kind: Kind, loss: Loss, given: Mapping[str, Any]) -> results.Settings:
    """What repeats a training."""
    return results.Settings(name="ltrf train", data=f"{kind}, loss {loss}", given=given)


def check_new(folder: str | os.PathLike[str]) -> None:
    """Refuse, before any long work, to write where something is already."""
    folder = Path(folder)
    if folder.exists():
        raise DataError(f"{folder}: expected a new folder, got one that exists")


def _settings(folder: Path) -> dict[str, Any]:
    path = folder / SETTINGS
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"{folder}: expected a saved f-ranker (a folder with {SETTINGS}), found none") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    expected = ["format", "kind", "loss", "gains", "cutoff", "threshold", "validation", "test", "calibration"]
    expected += ["features", "settings"]
    if not isinstance(content, dict) or not set(expected) <= content.keys():
        raise DataError(f"{path}: expected the settings of an f-ranker ({', '.join(expected)})")
    if content["format"] != FORMAT:
        raise DataError(
            f"{path}: expected format {FORMAT}, got {content['format']}: made by another version of gainful"
        )
    if content["kind"] not in get_args(Kind) or content["loss"] not in get_args(Loss):
        raise DataError(f"{path}: unknown kind {content['kind']!r} or loss {content['loss']!r}")
    return content


def _model(kind: Kind, folder: Path, names: tuple[str, ...], device: str | None) -> Model:
    if kind == "features":
        from gainful.ltrf.features import Trees

        if device is not None:
            raise GainfulError(f"device: is for text, and {folder} is an f-ranker on features")
        return Trees.load(folder, names)
    from gainful.ltrf.text import Encoder

    return Encoder.load(folder, device)
