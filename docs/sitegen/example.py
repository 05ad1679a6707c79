"""The pages that the site shows at work, a report and a study: made by the gainful of this tree."""

from __future__ import annotations

import shutil
from pathlib import Path

import gainful as gf
from gainful.pages.study_page import study_page

MEASURES = ("nDCG@20", "nDCGf@20", "AP", "Forbidden@20")


def write(folder: Path, kept: Path) -> None:
    """Write report.html and study.html; those that were kept, if nothing of gainful has changed since."""
    package = Path(gf.__file__).parent
    changed = max(file.stat().st_mtime for file in package.rglob("*") if file.suffix in (".py", ".js", ".css", ".html"))
    for path in (kept, folder):
        path.mkdir(parents=True, exist_ok=True)
    for name, save in {"report.html": _report, "study.html": _study}.items():
        made = kept / name
        if not made.exists() or made.stat().st_mtime < changed:
            save(made)
        shutil.copyfile(made, folder / name)


def _report(path: Path) -> None:
    made = gf.simulate(topics=50, systems=12, contributors=8, depth=100, seed=7)
    gf.report(made.qrels, made.runs, MEASURES, title="Twelve simulated runs").save(path)


def _study(path: Path) -> None:
    made = gf.simulate(topics=30, systems=16, depth=100, seed=3)
    found = gf.studies.negative_labels({"sixteen simulated runs": (made.qrels, made.runs)}, cutoffs=[5, 20])
    path.write_text(study_page(found), encoding="utf-8")
