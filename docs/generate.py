"""Write what is generated; tests check that it is up to date.

`python docs/generate.py` writes docs/measures.md from the registry.

`python docs/generate.py --notebooks` runs the tutorials and keeps what they show.

`python docs/generate.py --console [PAGE …]` runs what pages show, all of them or those named, and writes down what is
printed now, what doctests give now, and the charts that are drawn now: read the diff.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import follow
from gainful.measures import PRESETS, REGISTRY
from gainful.measures.parameters import write
from sitegen import notebooks

PAGE = Path(__file__).parent / "measures.md"

HEAD = """# Measures

<!-- Written by docs/generate.py from the docstrings: edit those, not this page. -->

A measure is written `Name(parameter=value, …)@cutoff`: in Python, on the command line, and as the name of its column.
`@5,10,20` asks for several cutoffs. The names of trec_eval (`ndcg_cut_10`, `map`, `P_5`), ir_measures
(`nDCG(dcg='exp-log2')@10`) and ranx (`hit_rate@5`) work, too. `gainful measures` prints this list, and `gainful
measures nDCG` prints one measure.

*Relevant* means a label of at least `rel`. The gain of an unjudged document is 0. The `degenerate` policy says what
an undefined value becomes, see [policies](policies.md).
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, "| measure | what it is | better | ties='expected' |", "|---|---|---|---|"]
    for definition in REGISTRY.values():
        better = {"better": "higher", "worse": "lower", "neither": "–"}[definition.higher]
        exact = "yes" if definition.expected else "no"
        name = f"[{definition.name}](#{definition.name.lower()})"
        parts.append(f"| {name} | {definition.headline} | {better} | {exact} |")
    for definition in REGISTRY.values():
        parts += ["", f"## {definition.name}", "", f"`{definition.signature}`", "", definition.doc]
        names = {name: fixed for name, (target, fixed) in PRESETS.items() if target == definition.name}
        if names:
            spelled = (
                f"`{name}` = `{key}={write(value)}`" for name, fixed in names.items() for key, value in fixed.items()
            )
            parts += ["", f"Short names: {', '.join(spelled)}."]
    return "\n".join(parts) + "\n"


def main() -> int:
    """Write; 1 if a page could not be followed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--console", nargs="*", type=Path, metavar="PAGE", help="rewrite what pages show, not the reference"
    )
    parser.add_argument("--notebooks", action="store_true", help="run the notebooks, and keep what they show")
    given = parser.parse_args()
    if given.notebooks:
        notebooks.rewrite()
        return 0
    pages = given.console
    if pages is None:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    wrong = follow.rewrite([path.resolve() for path in pages] or follow.PAGES)
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
