"""Take the pictures of the report that the pages show; needs Chromium, playwright and Pillow.

gainful simulate reported --topics 50 --systems 12 --contributors 8 --depth 100 --seed 7
gainful report reported/qrels.txt reported/runs -m nDCG@20 -m nDCGf@20 -m AP -m Forbidden@20 -o report.html
python docs/report_picture.py report.html
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

CHARTS = Path(__file__).parent / "charts"


def take(report: Path) -> None:
    """Both pictures: the page down to the heat map, and a topic opened."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1140, "height": 860})
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-ready]")
        end = page.locator("#heat").bounding_box() or {"y": 0, "height": 0}
        whole = {"x": 0, "y": 0, "width": 1140, "height": end["y"] + end["height"] + 40}
        page.screenshot(path=CHARTS / "report.png", full_page=True, clip=whole)
        page.locator("#heat canvas").click(position={"x": 80, "y": 10})
        page.wait_for_selector("dialog.sheet .ranking")
        page.screenshot(path=CHARTS / "report-topic.png")
        browser.close()
    for name in ("report.png", "report-topic.png"):
        Image.open(CHARTS / name).convert("RGB").quantize(220, Image.Quantize.MEDIANCUT).save(
            CHARTS / name, optimize=True
        )  # a third of the size


if __name__ == "__main__":
    take(Path(sys.argv[1]))
