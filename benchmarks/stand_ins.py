"""On how many seeds each finding of a paper holds for the stand-ins of its tracks; Markdown on stdout.

python benchmarks/stand_ins.py negative-labels web2011 web2012 [--seeds 20]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter

import gainful as gf

# Findings that rest on figures which the stand-ins were fitted to.
FITTED = (
    "in most topics nDCGorg can fall below 0",
    "nDCGmin reproduces the order of runs by nDCGorg (ρ of at least 0.95)",
    "nDCG0 departs further from the order of runs by nDCGorg than nDCGmin",
)


def main() -> None:
    """Run the study on every seed, and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=["negative-labels", "forbidden-documents"])
    parser.add_argument("tracks", nargs="+")
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    study = getattr(gf.studies, given.study.replace("-", "_"))
    held: dict[str, Counter[str]] = {}
    for track in given.tracks:
        for seed in range(given.seeds):
            made = gf.simulate(like=track, seed=seed)
            for finding in study({track: (made.qrels, made.runs)}, seed=seed).findings:
                held.setdefault(finding.claim, Counter())[track] += finding.holds is True
            print(f"{track}, seed {seed}", file=sys.stderr, flush=True)
    print("| finding | " + " | ".join(given.tracks) + " |\n|---|" + "---|" * len(given.tracks))
    for claim, counts in held.items():
        cells = ["fitted" if claim in FITTED else f"{counts[track]} of {given.seeds}" for track in given.tracks]
        print(f"| {claim} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
