"""A real Chromium, looking at files; where there is none, these tests are skipped and say so."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Nothing that a browser asks for by itself: what is asked for is asked for by the page.
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


class Seen:
    """What happened while a page was looked at."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """The browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(OPTIONS))
        yield browser
        browser.close()


@pytest.fixture
def look(chromium) -> Iterator[Callable[..., object]]:
    """Open a file, and find in the end that nothing went wrong and nothing left the page."""
    seen = Seen()
    contexts = []

    def open_page(path: Path, *, width: int = 1280, scheme: str = "light", media: str = "screen", address: str = ""):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.set_default_timeout(30_000)  # others may be at work, too
        page = context.new_page()
        page.on("console", lambda said: seen.problems.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: seen.problems.append(str(error)))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
        page.emulate_media(media=media)
        page.goto(path.as_uri() + address)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert seen.problems == []
    assert seen.dialogs == []
    assert [url for url in seen.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert sum(url.startswith("file:") for url in seen.requests) == len(contexts)
