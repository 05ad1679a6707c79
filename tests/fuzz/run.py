"""Fuzz every reader and the grammar, guided by coverage: `make fuzz SECONDS=60 TARGETS="text csv"`.

What it finds is printed as a Python literal; fix it, and keep it as a test.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

STARTED = "--child"


def child(name: str, options: list[str]) -> None:
    """Fuzz one target in this process, until libFuzzer has enough."""
    import atheris

    with atheris.instrument_imports(include=["gainful"], enable_loader_override=False):
        from fuzz import targets
    targets.short_borders()
    target = targets.TARGETS[name]
    warnings.simplefilter("error")

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        try:
            changed = atheris.Mutate(targets.unpack(target, data), most)
            return targets.pack(target, changed) if seed % 4 else atheris.Mutate(data, most)
        except ValueError:  # damaged already: unpacked no more
            return atheris.Mutate(data, most)

    atheris.Setup([name, *options], target.check, **({"custom_mutator": mutate} if target.packed else {}))
    atheris.Fuzz()


def fuzz(name: str, seconds: int, corpus: Path) -> bool:
    """Fuzz one target in a process of its own; whether nothing was found."""
    from fuzz import targets

    place = corpus / name
    place.mkdir(parents=True, exist_ok=True)
    target = targets.TARGETS[name]
    for number, seed in enumerate(target.seeds):
        (place / f"seed{number}").write_bytes(seed)
    # In memory where there is such a place; the process that fuzzes ends without tidying up.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        words, tries = Path(folder) / "words", Path(folder) / "tries"
        tries.mkdir()
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
        options = [f"-max_total_time={seconds}", "-max_len=4096", "-timeout=60", "-rss_limit_mb=4096"]
        options += ["-print_final_stats=1", f"-dict={words}", f"-artifact_prefix={folder}/", str(place)]
        done = subprocess.run(
            [sys.executable, __file__, STARTED, name, *options],
            capture_output=True,
            text=True,
            errors="replace",
            # Small files, many of them.
            env={**os.environ, "TMPDIR": str(tries), "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        executions = re.search(r"number_of_executed_units:\s*(\d+)", done.stderr)
        covered = re.findall(r"cov: (\d+)", done.stderr)
        print(f"{name:15} {executions[1] if executions else '?':>9} executions, coverage {covered[-1:]}", flush=True)
        found = [path for path in Path(folder).iterdir() if path not in (words, tries)]
        for path in found:
            print(f"  {path.name}: {path.read_bytes()!r}")
        if done.returncode:
            print("\n".join(done.stderr[-6000:].splitlines()[-60:]))
    return done.returncode == 0


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def main() -> int:
    """Fuzz all targets, or those named."""
    from fuzz import targets

    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=int, default=60, help="for each target")
    arguments.add_argument("--corpus", type=Path, default=Path(".fuzz"), help="inputs that reached something new")
    arguments.add_argument("target", nargs="*", help=", ".join(targets.TARGETS))
    given = arguments.parse_args()
    results = [fuzz(name, given.seconds, given.corpus) for name in given.target or targets.TARGETS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    if sys.argv[1:2] == [STARTED]:
        child(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main())
