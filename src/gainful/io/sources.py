"""Which files hold the runs: those named, those of folders, patterns and archives; and what to call each."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from gainful.data.run import LargeRun, RawRun, Run
from gainful.errors import DataError, setting
from gainful.io.archives import Member, is_archive, members_of
from gainful.io.compression import split_compression
from gainful.io.dataset import is_dataset, natural
from gainful.io.encoding import id_text
from gainful.io.files import ARROW_SUFFIXES, JSONL_SUFFIXES, Content
from gainful.io.remote import RemoteFile, remote_files

_TEXT_SUFFIXES = (".txt", ".run", ".trec", ".res")
_NAMED = (Path, Member, RemoteFile, Content, Run, RawRun, LargeRun)
_FORMAT_SUFFIXES = (*_TEXT_SUFFIXES, ".csv", ".tsv", ".json", ".parquet", *ARROW_SUFFIXES, *JSONL_SUFFIXES)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files to take, and how to read them.

    Patterns are matched with a file's name, and with its path inside the folder given.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    recursive: bool = False
    # What columns are called, and whether documents with the id of their topic are left out.
    columns: tuple[tuple[str, str], ...] = ()
    ignore_identical_ids: bool = False

    def takes(self, place: PurePath, root: PurePath) -> bool:
        """Whether a file that was found in `root` is wanted."""
        return (not self.include or _matches(place, root, self.include)) and not self.leaves(place, root)

    def leaves(self, place: PurePath, root: PurePath) -> bool:
        """Whether a file, or an archive with all that is in it, is to be left out."""
        return _matches(place, root, self.exclude)


def _matches(place: PurePath, root: PurePath, patterns: Sequence[str]) -> bool:
    inside = place.relative_to(root).as_posix() if place.is_relative_to(root) else str(place)
    return any(fnmatchcase(text, one) for text in (place.name, inside) for one in patterns)


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may hold runs."""

    file: Path | Member | RemoteFile
    searched: bool  # whether it was found beside others; else its name was given


def find_files(path: Path, selection: Selection) -> list[Found]:
    """The files, data sets and members of archives that a path or a pattern stands for."""
    if is_dataset(path):
        files, searched, root = [path], False, path.parent
    elif os.path.isdir(path):
        files, searched, root = _in_folder(path, selection), True, path
    elif os.path.exists(path) or not glob.has_magic(str(path)):
        files, searched, root = [path], False, path.parent
    else:
        files, searched, root = _matching(path), True, path.parent
    found: list[Found] = []
    for file in sorted(files, key=natural):
        if searched and selection.leaves(file, root):
            continue
        if is_archive(file):
            inside = sorted(members_of(file), key=lambda member: natural(member.place))
            found += [Found(member, True) for member in inside if selection.takes(member.place, file)]
        elif selection.takes(file, root):
            found.append(Found(file, searched))
    return found


def find_remote_files(url: str, selection: Selection) -> list[Found]:
    """The files that an address stands for."""
    files, root = sorted(remote_files(url, recursive=selection.recursive), key=natural), RemoteFile(url)
    return [Found(file, file != root) for file in files if selection.takes(file.path, root.path)]


def _in_folder(path: Path, selection: Selection) -> list[Path]:
    try:
        found = [file for file in path.iterdir() if not file.name.startswith(".")]
        if not selection.recursive:
            files = [file for file in found if _may_be_run(file) or _leads_nowhere(file)]
            # Folders are to be named, so that nobody misses what is in them.
            files += [file for file in found if files and os.path.isdir(file) and not is_dataset(file)]
        else:
            files = []
            for file in found:
                inside = file.is_dir() and not is_dataset(file)
                if not inside:
                    files += [file] if _may_be_run(file) or _leads_nowhere(file) else []  # no pipe: it might never end
                elif os.path.realpath(file) not in map(os.path.realpath, (path, *path.parents)):  # a link that leads up
                    files += _in_folder(file, selection)
            return files
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if not files:
        hint = f"; {setting('recursive')} searches the folders in it" if found else ""
        raise DataError(f"{path}: expected a folder of runs, got one without files{hint}")
    return files


def _matching(pattern: Path) -> list[Path]:
    found = [file for file in map(Path, glob.glob(str(pattern), recursive=True)) if _may_be_run(file)]
    found = _once(found)
    sets = {file for file in found if os.path.isdir(file)}
    found = [file for file in found if sets.isdisjoint(file.parents)]
    if not found:
        raise DataError(f"{pattern}: no file matches")
    return found


def _once(files: list[Path]) -> list[Path]:
    """Each file by the shortest of its names: through a link that leads to a folder above it has any number."""
    names: dict[str, Path] = {}
    for file in sorted(files, key=lambda file: (len(file.parts), natural(file))):
        folder = os.path.join(os.path.realpath(file.parent), file.name)
        names.setdefault(folder, file)
    return list(names.values())


def _may_be_run(path: Path) -> bool:
    return os.path.isfile(path) or is_dataset(path)


def _leads_nowhere(path: Path) -> bool:
    """A link to what is gone, or not here: to be named, since it was meant for a run."""
    return os.path.islink(path) and not os.path.exists(path)


def file_name(path: PurePath) -> str:
    """The name of a file without the endings that say how it was written."""
    base, _ = split_compression(path)
    return id_text((base.stem if base.suffix.lower() in _FORMAT_SUFFIXES else base.name) or path.name)


def names_of(places: Sequence[Path]) -> list[str]:
    """Names for the runs of files, told apart by their folders where they must be."""
    paths = [path.absolute() for path in places]
    same = Counter(map(file_name, paths))
    return [
        _with_folders(path, [other for other in paths if file_name(other) == file_name(path)])
        if same[file_name(path)] > 1
        else file_name(path)
        for path in paths
    ]


def _with_folders(path: Path, rivals: list[Path]) -> str:
    """Name with as many of the folders above as tell it from its rivals."""
    for depth in range(1, len(path.parts)):
        folders = path.parts[-1 - depth : -1]
        if sum(rival.parts[-1 - depth : -1] == folders for rival in rivals) == 1:
            return "/".join((*folders, file_name(path)))
    return file_name(path)


def run_name(source: object) -> str:
    """What to call a run that has no name, by where it came from."""
    if isinstance(source, Path | RemoteFile):
        return file_name(source.path if isinstance(source, RemoteFile) else source)
    return "stdin" if isinstance(source, Content) else "run"


def default_names(entries: list[tuple[str | None, object]]) -> Iterator[str]:
    """Names for runs without any; those of files are told apart by their folders where they must be."""
    places = [source.place if isinstance(source, Member) else source for name, source in entries if name is None]
    of_files = iter(names_of([place for place in places if isinstance(place, Path)]))
    others = sum(name is None and not isinstance(source, _NAMED) for name, source in entries)
    for position, (name, source) in enumerate(entries, 1):
        if isinstance(source, Path | Member):
            yield next(of_files) if name is None else name
        elif others > 1 and not isinstance(source, Content | RemoteFile):
            yield f"run{position}"
        else:
            yield run_name(source)
