"""Build the site: `python -m sitegen`, which `make docs` calls."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time

from sitegen.links import problems
from sitegen.stage import ROOT, stage


def main() -> int:
    """Stage, build, check; 1 if anything is wrong."""
    begun = time.perf_counter()
    folder, site = ROOT / "build" / "site", ROOT / "site"
    count = stage(folder)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    if built.returncode:  # what it found, in colours, stands before its traceback
        print(re.sub(r"\x1b\[[\d;]*m", "", built.stdout.partition("Traceback")[0]), file=sys.stderr)
        return built.returncode
    shutil.rmtree(site, ignore_errors=True)
    shutil.move(folder / "site", site)
    wrong = list(problems(site))
    for problem in wrong:
        print(problem, file=sys.stderr)
    print(f"{count} pages in {time.perf_counter() - begun:.1f} s: {site / 'index.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
