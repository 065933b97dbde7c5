"""Checks a built site: each link inside it leads to a page and a place that are there, and nothing is loaded from elsewhere.

python scripts/check_links.py FOLDER
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href"}
"""What a browser fetches without being asked, by the attribute that names it."""

FETCHED_BY_STYLE = re.compile(r"(?:@import\s*|url\()[\"']?((?:https?:)?//[^\"')\s]+)")


class Page(HTMLParser):
    """What a page of the site links to, what it loads, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.places |= {said[name] for name in ("id", "name") if said.get(name)}
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        if LOADED.get(tag) in said and said.get("rel") != "canonical":
            self.loaded.append(said[LOADED[tag]])


def faults(site: Path) -> Iterator[str]:
    """Each dead link, and each thing that is loaded from elsewhere, with the page that it stands on."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    for page in pages.values():
        where = page.path.relative_to(site)
        for link in [*page.links, *page.loaded]:
            if problem := _problem(link, page, pages, site):
                yield f"{where}: {link}: {problem}"
        yield from (f"{where}: {link}: loaded from elsewhere" for link in page.loaded if _leaves(link))
    for style in sorted(site.rglob("*.css")):
        for link in FETCHED_BY_STYLE.findall(style.read_text("utf-8")):
            yield f"{style.relative_to(site)}: {link}: loaded from elsewhere"


def _leaves(link: str) -> bool:
    return urlsplit(link).netloc != ""


def _problem(link: str, page: Page, pages: dict[Path, Page], site: Path) -> str:
    """What is wrong with a link inside the site; empty where nothing is, and for one that leads out of it."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    folder = site if parts.path.startswith("/") else page.path.parent
    target = (folder / unquote(parts.path).lstrip("/")).resolve() if parts.path else page.path.resolve()
    if not target.is_file():
        return "there is no such file"
    if target in pages and unquote(parts.fragment) not in pages[target].places:
        return "there is no such place on that page"
    return ""


def main() -> int:
    """Prints what is wrong; 1 where anything is."""
    site = Path(sys.argv[1])
    found = list(faults(site))
    print(*found, f"{len(list(site.rglob('*.html')))} pages, {len(found)} faults", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
