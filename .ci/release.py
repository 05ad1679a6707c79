"""Build the archives of a release into dist/, check what is in them, and try the wheel: `make release`.

Nothing is uploaded or tagged: CONTRIBUTING.md says what to do next.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
# What people would miss first, named one by one: a glob that fits nothing would not be noticed.
NEEDED = ("py.typed", "__init__.pyi", "pages/page.html", "pages/report.css", "pages/report.js", "pages/study.js")
BESIDE = {"README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "pyproject.toml", "hatch_build.py"}
BESIDE |= {"PKG-INFO", ".gitignore"}
# What is compiled, for every Python from 3.11 on: not in git, but in a wheel.
CORE = "gainful/_core/native.abi3.so"


def tracked() -> set[str]:
    """The files of the package that git knows, relative to src/."""
    listed = _run("git", "ls-files", "src/gainful").split()
    return {path.removeprefix("src/") for path in listed}


def version() -> str:
    """What _version.py says."""
    found: dict[str, str] = {}
    exec((ROOT / "src" / "gainful" / "_version.py").read_text(encoding="utf-8"), found)
    return found["__version__"]


def problems_of_wheel(names: Iterable[str], expected: set[str], release: str) -> list[str]:
    """What a wheel lacks, and what it has no business to have."""
    names = set(names)
    info = f"gainful-{release}.dist-info/"
    wrong = [f"wheel: no gainful/{name}" for name in NEEDED if f"gainful/{name}" not in names]
    wrong += [f"wheel: no {name}" for name in sorted(expected - names) if name.removeprefix("gainful/") not in NEEDED]
    wrong += [f"wheel: {name} is not ours" for name in sorted(names - expected) if not name.startswith(info)]
    wrong += [f"wheel: no {info}{name}" for name in ("METADATA", "licenses/LICENSE") if info + name not in names]
    return wrong


def problems_of_sdist(names: Iterable[str], expected: set[str], release: str) -> list[str]:
    """What a source archive lacks, and what it has no business to have: no tests, no data, no caches."""
    inside = {PurePosixPath(name).relative_to(f"gainful-{release}").as_posix() for name in names}
    wanted = {f"src/{name}" for name in expected} | (BESIDE - {".gitignore"})
    wrong = [f"sdist: no {name}" for name in sorted(wanted - inside)]
    return wrong + [f"sdist: {name} does not belong there" for name in sorted(inside - wanted - BESIDE)]


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of each archive in a folder."""
    archives = sorted(path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in archives}


def problems_of_second() -> list[str]:
    """What is not the same if the archives are built once more, from a copy of the sources in another place."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        _run("git", "clone", "--quiet", "--no-hardlinks", ROOT, copy)
        for name in _run("git", "ls-files", "--modified", "--others", "--exclude-standard").splitlines():
            if (ROOT / name).is_file():  # what is not committed yet
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, copy / name)
        _run(sys.executable, "-m", "build", "--outdir", Path(folder, "dist"), copy)
        first, second = hashes(DIST), hashes(Path(folder, "dist"))
    names = sorted({*first, *second})
    return [f"{name}: another one if it is built again" for name in names if first.get(name) != second.get(name)]


def try_wheel(wheel: Path, release: str) -> list[str]:
    """Install the wheel where there is nothing else; ask its version, and evaluate a run whose scores are known."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder) / "venv", with_pip=True)
        bin_ = Path(folder) / "venv" / ("Scripts" if os.name == "nt" else "bin")
        _run(bin_ / "python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel)
        said = _run(bin_ / "gainful", "--version", cwd=folder).strip()
        Path(folder, "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n1 0 c 1\n", encoding="utf-8")
        Path(folder, "run.txt").write_text("1 Q0 a 1 3 r\n1 Q0 b 2 2 r\n1 Q0 c 3 1 r\n", encoding="utf-8")
        words = ("evaluate", "qrels.txt", "run.txt", "-m", "AP", "-m", "P@2", "--format", "csv")
        scores = dict(line.split(",")[1::2] for line in _run(bin_ / "gainful", *words, cwd=folder).splitlines()[1:])
    right_version = f"gainful {release} (compiled core)"
    wrong = [] if said == right_version else [f"wheel: --version says {said!r}, not {right_version!r}"]
    # Relevant at ranks 1 and 3 of 2: AP = (1 + 2/3)/2, P@2 = 1/2.
    right = {"AP": (1 + 2 / 3) / 2, "P@2": 1 / 2}
    found = {name: float(score) for name, score in scores.items()}
    if found.keys() != right.keys() or any(abs(found[name] - right[name]) > 1e-12 for name in right):
        wrong.append(f"wheel: evaluate gives {found}, not {right}")
    return wrong


def main() -> int:
    """Build, check, try; 1 if anything is wrong."""
    release, expected = version(), tracked()
    shutil.rmtree(DIST, ignore_errors=True)
    os.environ["GAINFUL_CORE"] = "1"  # here there must be a compiler
    os.environ["PIP_CONSTRAINT"] = str(ROOT / "constraints.txt")  # heeded where the archives are built, too
    _run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    wrong = problems_of_second()
    [wheel], sdist = DIST.glob(f"gainful-{release}-cp311-abi3-*.whl"), DIST / f"gainful-{release}.tar.gz"
    with zipfile.ZipFile(wheel) as archive:
        wrong += problems_of_wheel(archive.namelist(), expected | {CORE}, release)
    _run(Path(sys.executable).parent / "abi3audit", "--strict", wheel)  # nothing outside of the stable ABI
    with tarfile.open(sdist) as archive:
        wrong += problems_of_sdist((one.name for one in archive if one.isfile()), expected, release)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"## {release} — " not in changes:
        wrong.append(f"CHANGELOG.md: no dated section for {release}")
    wrong += try_wheel(wheel, release)
    for problem in wrong:
        print(problem, file=sys.stderr)
    (DIST / "SHA256SUMS").write_text(
        "".join(f"{digest}  {name}\n" for name, digest in hashes(DIST).items()), encoding="utf-8"
    )
    for path in () if wrong else (sdist, wheel, DIST / "SHA256SUMS"):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} KB")
    return 1 if wrong else 0


def _run(*words: str | Path, cwd: str | Path = ROOT) -> str:
    ended = subprocess.run([str(word) for word in words], cwd=cwd, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    if ended.returncode:
        print(ended.stdout, file=sys.stderr)
        sys.exit(f"failed: {' '.join(map(str, words))}")
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
