"""Check what was built: every link leads somewhere, and no page asks the network for anything."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, by tag; a link of <a> is followed only when a person clicks it.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
# <link> elements that name something without fetching it.
NAMED_ONLY = ("canonical", "next", "prev", "alternate")


class _Page(HTMLParser):
    """The anchors of a page, what it links to, and what it fetches."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element defines and where it leads."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if FETCHED.get(tag) in found and found.get("rel") not in NAMED_ONLY:
            self.fetched.append(found[FETCHED[tag]])


def problems(site: Path) -> Iterator[str]:
    """Each link of the site that leads nowhere, and each thing that it fetches from elsewhere."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        yield from (f"{name}: fetches {url}" for url in page.fetched if urlsplit(url).netloc)
        for url in [*page.links, *page.fetched]:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = path if not parts.path else _target(path, site, unquote(parts.path))
            if not target.is_file():
                yield f"{name}: nothing at {url}"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name}: no such place as {url}"
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        if "url(http" in text or "url(//" in text or "@import" in text:
            yield f"{path.relative_to(site).as_posix()}: fetches from elsewhere"


def _target(page: Path, site: Path, path: str) -> Path:
    """The file behind a link."""
    found = site / path.lstrip("/") if path.startswith("/") else page.parent / path
    found = Path(*found.resolve().parts)
    return found / "index.html" if found.is_dir() else found
