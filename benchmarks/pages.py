"""Time reports in a browser: to make and to show them, and what every interaction takes. Needs playwright and Chromium.

`python benchmarks/pages.py FOLDER` simulates the collections in the folder, unless they are there, and prints the table
of docs/report.md, in about five minutes. Pages are made, and interactions worked out, in processor time, which does not
depend on what else the machine is doing; the latter in milliseconds of the page's main thread, all that follows
included: the worst of some, each begun on a page at rest. First paint is by the clock, the best of some.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

SIZES = {"2 × 1": (2, 1), "12 × 50": (12, 50), "143 × 30": (143, 30), "400 × 50": (400, 50)}
SIZES |= {"10 × 2,000": (10, 2000), "10 × 5,000": (10, 5000)}
MEASURES = ("nDCG@10", "AP", "Forbidden@10")
DEPTH = 100
REPEAT = 2
SET = """(id, value) => {
  const field = document.getElementById(id);
  if (!field) return;
  field.value = value ?? JSON.parse(document.getElementById("contents").textContent).systems[1];
  if (value === undefined && field.tagName === "SELECT") field.selectedIndex = 1;
  field.dispatchEvent(new Event(field.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
}"""
# What is done, in turn, and the settings of fields; pairs are done and undone.
FIELDS = {
    "measure": [("choose-measure", "AP"), ("choose-measure", "nDCG@10")],
    "filter": [("find-runs", "1"), ("find-runs", "")],
    "pair": [("run-b", None)],
    "baseline": [("choose-baseline", None)],
    "find topics": [("find-topics", "1"), ("find-topics", "")],
    "order topics": [("order-topics", "hardest"), ("order-topics", "given")],
    "colours": [("colour-by", "topic"), ("colour-by", "score")],
}
CLICKS = {
    "dark": "document.querySelector('.theme').click()",
    "open a topic": "document.querySelector('.movers button')?.click()",
    "next topic": "[...document.querySelectorAll('dialog nav button')].find((button) => !button.disabled)?.click()",
}


def made(folder: Path, runs: int, topics: int) -> tuple[Path, float]:
    """The report of a simulated collection, and the processor seconds that it took."""
    gainful = str(Path(sys.executable).with_name("gainful"))
    where, page = folder / f"{runs}x{topics}", folder / f"{runs}x{topics}.html"
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if not where.exists():
        sizes = ["--systems", str(runs), "--topics", str(topics), "--depth", str(DEPTH), "--seed", "7"]
        subprocess.run([gainful, "simulate", str(where), *sizes], **quiet)
    asked = [word for name in MEASURES for word in ("-m", name)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([gainful, "report", f"{where}/qrels.txt", f"{where}/runs", *asked, "-o", str(page)], **quiet)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return page, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spent(session: CDPSession) -> float:
    """Milliseconds that the main thread has worked so far."""
    found = session.send("Performance.getMetrics")["metrics"]
    return 1000.0 * next(each["value"] for each in found if each["name"] == "TaskDuration")


def at_rest(page: Page, session: CDPSession) -> float:
    """Wait until the page does nothing more; what it has worked until then."""
    end, last = time.monotonic() + 60, spent(session)
    while True:
        page.wait_for_timeout(400)
        now = spent(session)
        if now - last < 5 or time.monotonic() > end:
            return now
        last = now


def interactions(page: Page, session: CDPSession) -> dict[str, float]:
    """The worst of each kind."""
    found: dict[str, float] = {}

    def timed(name: str, script: str, *given: object) -> None:
        before = at_rest(page, session)
        page.evaluate(script, *given)
        found[name] = max(found.get(name, 0.0), at_rest(page, session) - before)

    for name, steps in FIELDS.items():
        for field, value in steps:
            timed(name, f"([id, value]) => ({SET})(id, value ?? undefined)", [field, value])
    for name in ("dark", "dark", "open a topic", "next topic"):
        timed(name, f"() => {{ {CLICKS[name]} }}")
    return found


def main(folder: Path) -> None:
    """Print the table."""
    names = [*FIELDS, *CLICKS]
    print(f"{DEPTH} documents per run and topic; {', '.join(MEASURES)}; interactions in ms.\n")
    heads = ["runs × topics", "made", "size", "first paint", *names]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    with sync_playwright() as driver:
        chromium = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for title, sizes in SIZES.items():
            path, seconds = made(folder, *sizes)
            paints, worst = [], dict.fromkeys(names, 0.0)
            for _ in range(REPEAT):
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                session = page.context.new_cdp_session(page)
                session.send("Performance.enable", {"timeDomain": "threadTicks"})
                page.goto(path.resolve().as_uri())
                page.wait_for_selector("html[data-ready]")
                paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
                for name, spent_ in interactions(page, session).items():
                    worst[name] = max(worst[name], spent_)
                page.close()
            cells = [f"{seconds:.1f} s", f"{path.stat().st_size / 1e6:.1f} MB", f"{min(paints) / 1000:.1f} s"]
            cells += [f"{worst[name]:.0f}" for name in names]
            print(f"| {' | '.join([title, *cells])} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
