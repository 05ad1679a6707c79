"""One call of a command: what is checked before, the work itself, and where its result goes."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gainful.cli.output import STDOUT, check_targets, chosen_format, emit, note, paragraph, printed, raw
from gainful.engine import Dask
from gainful.errors import DataError, GainfulError, MeasureError
from gainful.memory import limit_memory
from gainful.progress import tracked_by
from gainful.verbs.source import FileOptions

if TYPE_CHECKING:
    from rich.progress import Progress

    from gainful.io.read import AnyRun
    from gainful.results import Result

T = TypeVar("T")
# Fewer files are read before a bar would have been noticed.
_MANY = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a command line asks for."""

    function: Callable[..., Any]
    # Its parameters by name: those without an option, those with one, and those of its dataclass of settings.
    word: Mapping[str, Any]
    own: Mapping[str, Any]
    settings: Mapping[str, Any]
    shared: Mapping[str, Any]  # what judgments, runs and engines come with, where it is not the default
    shown: Mapping[str, Any]  # format, output, chart and save
    check_save: Callable[[Path], None] | None = None  # refuses a place that the result cannot be saved to

    @property
    def files(self) -> tuple[str, ...]:
        """All words without an option, in order."""
        return tuple(word for value in self.word.values() for word in ([value] if isinstance(value, str) else value))

    def changed(self, **own: Any) -> Call:
        """The same with other values of the function's own parameters."""
        return replace(self, own={**self.own, **own})

    def with_words(self, **word: Any) -> Call:
        """The same with other values for what stands without an option."""
        return replace(self, word=word)

    def check(self, written: Iterable[Path | None] = ()) -> None:
        """Refuse, before any work, what cannot be written or would write over what is read."""
        limit_memory(self.shown["memory"])
        raw.set(self.shown.get("raw", False))
        if self.check_save is not None and self.shown["save"] is not None:
            self.check_save(self.shown["save"])
        targets = [*written, *(self.shown.get(name) for name in ("output", "chart", "save"))]
        check_targets([target for target in targets if target is not None], self._inputs())
        if "format" in self.shown:
            chosen_format(self.shown["format"], self.shown["output"])
        if self.shown.get("chart") is not None:
            from gainful.charts import check_chart_path

            check_chart_path(self.shown["chart"])

    def _inputs(self) -> Iterator[str]:
        yield from self.files
        for name, value in {**self.own, **self.shared}.items():
            for item in _flat(value):
                if isinstance(item, str) and item.startswith("@"):  # a measure in a file
                    yield item[1:]
                # The --test of `compare` is a word, that of `ltrf train` a path.
                elif isinstance(item, Path) or (
                    name in ("filter_run", "also", "cut", "runs", "groups", "metadata") and isinstance(item, str)
                ):
                    yield str(item)

    def result(self) -> Any:
        """What the function returns, with bars while it works."""
        with bars(), self._positional() as positional:
            keywords = {name: value for name, value in self.own.items() if value != () or name != "measures"}
            return self.function(*positional, **keywords, **self._settings(), **self._options())

    @contextmanager
    def _positional(self) -> Iterator[list[Any]]:
        words = dict(self.word)
        if "collections" in words:
            yield [words["collections"]]
            return
        if "source" in words:
            files = words["source"]
            if self.shared.get("scores") is not None:
                if files:
                    raise DataError(f"expected either judgments and runs or --scores FILE, got both: {' '.join(files)}")
                yield [str(self.shared["scores"])]  # a text, of which - is standard input
                return
            if len(files) < 2:
                got = f"only {files[0]!r}" if files else "none"
                raise DataError(f"expected judgments and runs, or --scores FILE, got {got}")
            words = {"qrels": files[0], "runs": files[1:]}
        if "runs" not in words:
            others = words.pop("others", ())
            yield [*words.values(), *others]
            return
        runs = list(words.pop("runs"))
        refuse_measures([*words.values(), *runs])
        here = not {"engine", "keep_going", *FileOptions.__annotations__, "metadata"} & self.shared.keys()
        here = here and not any(self.own.get(name) for name in ("metadata", "teams"))  # which may be in the files
        with reading(runs, here=here) as given:
            yield [*words.values(), given if runs else ()]

    def _settings(self) -> dict[str, Any]:
        if not self.settings:
            return {}
        from gainful.ltrf.settings import Settings

        return {"settings": Settings(**self.settings)}

    def _options(self) -> dict[str, Any]:
        """The options as the function takes them: an engine is one value."""
        given = {name: value for name, value in self.shared.items() if name not in ("scores", "address", "workers")}
        where = {name: self.shared[name] for name in ("address", "workers") if name in self.shared}
        if given.get("engine") == "dask":
            given["engine"] = Dask(**where)
        elif where:
            name = next(iter(where))
            raise GainfulError(f"--{name} {where[name]}: expected --engine dask with it")
        return given

    def finish(self) -> int:
        """Work, then show; 1 where runs were left out."""
        found = self.result()
        self.show(found)
        return left_out(found)

    def show(self, found: Result, text: str | None = None) -> None:
        """Print or write a result, or a text in its place; save it and draw its chart; then tell what must be known."""
        output, chart, save = (self.shown.get(name) for name in ("output", "chart", "save"))
        emit(printed(found, self.shown["format"], output) if text is None else text, output)
        if chart is not None:
            from gainful.charts import save_chart

            save_chart(found.chart(), chart)
        if save is not None:
            found.save(save)  # type: ignore[attr-defined]
        written = None if output is None or str(output) in STDOUT else output
        if written is not None and found.verdict():  # which is not seen there
            note(paragraph(found.verdict())[0])
        for remark in found.notes():
            note(f"{'failed' if remark.code == 'failed' else 'note'}: {remark.text}")
        note(str(found.settings))
        for name, path in {"written to": written, "chart": chart, "saved to": save}.items():
            if path is not None:
                note(f"{name}: {path}")


def left_out(found: Result) -> int:
    """The exit status of a result: 1 where runs could not be read and were left out."""
    return 1 if any(note.code == "failed" for note in found.notes()) else 0


def refuse_measures(files: list[str]) -> None:
    """``-m nDCG@10 AP`` asks for a file called AP: say what was meant."""
    for name in files:
        if name != "-" and not os.path.exists(name):
            from gainful.measures import parse_measures

            with suppress(MeasureError):
                parse_measures(name)
                raise DataError(f"{name}: no such file; if you mean the measure, write -m {shlex.quote(name)}")


def _flat(value: Any) -> Iterator[Any]:
    """The single values of lists, and of pairs in lists."""
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _flat(inner)
    else:
        yield value


@contextmanager
def reading(runs: list[str], *, here: bool) -> Iterator[Iterable[str] | Iterable[AnyRun]]:
    """The runs to hand on: as given, or counted by a bar while they are read `here`."""
    countable = all(Path(run).is_file() for run in runs)  # a folder or a pattern may hold any number
    if not here or (countable and len(runs) < _MANY) or not sys.stderr.isatty():
        yield runs
        return
    from gainful.io.read import iterate_runs

    with _bar() as bar:
        yield bar.track(
            iterate_runs(runs, raw=True), total=len(runs) if countable else None, description="Reading runs"
        )


@contextmanager
def bars() -> Iterator[None]:
    """Show how far the work inside is, for all that `gainful.progress.track` is told."""
    if not sys.stderr.isatty():
        yield
        return

    active: list[str] = []

    def shown(steps: Iterable[T], total: int, label: str) -> Iterable[T]:
        if total < 2 or active:  # work within work has no bar of its own
            yield from steps
            return
        active.append(label)
        try:
            with _bar() as bar:
                yield from bar.track(steps, total=total, description=label)
        finally:
            active.pop()

    with tracked_by(shown):
        yield


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
