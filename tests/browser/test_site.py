"""The site that `make docs` built, opened from disk."""

from __future__ import annotations

from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "site"
# Those that people wrote, and one of each generated kind; 404.html is for servers.
PAGES = [path for path in sorted(SITE.rglob("*.html")) if "reference" not in path.parts and path.name != "404.html"]
PAGES += [SITE / "reference" / "commands" / "compare.html", SITE / "reference" / "python" / "evaluate.html"]

pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="no site: 'make docs' builds it")


@pytest.fixture
def visit(chromium):
    """Open a page, and find in the end that nothing went wrong and nothing was asked of a network."""
    problems, requests, contexts = [], [], []

    def open_page(name, *, width=1280, scheme="light"):
        contexts.append(chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((SITE / name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:", "about:"))] == []


def test_search_works_without_a_server(visit):
    page = visit("index.html")
    page.locator(".md-search__button").click()
    field = page.locator("input[aria-label=Search]")
    field.press_sequentially("bootstrap", delay=50)
    assert field.input_value() == "bootstrap"  # which an answer that comes too early would clear
    found = page.locator("[id$=-results] a", has_text="bootstrap").first
    found.wait_for()
    found.click()
    page.wait_for_url(lambda url: "index.html" not in url)
    assert "bootstrap" in page.locator("article").inner_text().lower()


def test_search_for_install_finds_the_page_about_it(visit):
    page = visit("index.html")
    page.locator(".md-search__button").click()
    page.locator("input[aria-label=Search]").press_sequentially("install", delay=50)
    found = page.locator("[id$=-results] a")
    found.and_(page.locator("[href*='h=install']")).first.wait_for()  # of the whole word
    assert "/install.html" in (found.first.get_attribute("href") or "")


def test_front_page_shows_a_report_that_works(visit):
    page = visit("index.html")
    assert "pip install" in page.locator("article").inner_text()
    assert (
        page.get_by_role("link", name="Repository", exact=True).get_attribute("href")
        == "https://github.com/gainful-eval/gainful"
    )
    page.locator(".example").scroll_into_view_if_needed()
    report = page.frame_locator(".example iframe")
    report.locator("html[data-ready]").wait_for(state="attached")
    assert report.locator("h1").inner_text() == "Twelve simulated runs"
    assert not page.locator("article a > img").is_visible()
    phone = visit("index.html", width=390)
    assert phone.locator("article a > img").is_visible()
    assert not phone.locator(".example iframe").is_visible()


def test_links_lead_from_page_to_page(visit):
    page = visit("reference/commands/compare.html")
    page.get_by_role("link", name="gainful.compare", exact=True).click()
    page.wait_for_url("**/reference/python/evaluate.html#gainful.compare")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_of_a_page(visit, scheme):
    """Tables and code scroll inside of themselves; the page does not."""
    page = visit("index.html", width=390, scheme=scheme)
    wide = []
    for path in PAGES if scheme == "light" else PAGES[:3]:
        page.goto(path.as_uri(), wait_until="domcontentloaded")
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wide.append(path.relative_to(SITE).as_posix())
    assert wide == []
