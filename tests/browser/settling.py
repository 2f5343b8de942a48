"""Waiting for a page to be done: what is clicked, typed or uploaded while it is drawn again may be lost."""

from urllib.parse import parse_qs, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

PHONE = {"width": 390, "height": 844}
SERIOUS = ("serious", "critical")
_RULES = {"rules": {"label-content-name-mismatch": {"enabled": True}}, "resultTypes": ["violations"]}
BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 23, 26)"}


def settled(page: Page) -> None:
    """Wait until the page's script has ended and nothing of what is shown is stale."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.locator("[data-stale=true]")).to_have_count(0)


def press(page: Page, name: str) -> None:
    """Click the button of exactly this name, on a settled page."""
    target = page.get_by_role("button", name=name, exact=True)
    expect(target.first).to_be_enabled()
    settled(page)
    target.click()


def sentence(page: Page | Locator, index: int) -> Locator:
    """A sentence in the reader."""
    return page.locator(f'.s[data-i="{index}"]')


def parameters(where: Page | str) -> dict[str, str]:
    """The query parameters of a page, or of a link."""
    link = where if isinstance(where, str) else where.url
    return {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}


def assert_fits(page: Page) -> None:
    """That a loaded page does not scroll sideways."""
    page.wait_for_load_state("networkidle")
    for part in page.locator("html, [data-testid=stMain]").all():
        assert part.evaluate("part => part.scrollWidth - part.clientWidth") == 0


def set_color_scheme(page: Page, scheme: str) -> None:
    """Show the page light or dark."""
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", BACKGROUNDS[scheme])
    settled(page)


def assert_accessible(page: Page) -> None:
    """That axe finds nothing serious in a page as it stands, and no level of headings left out."""
    violations = Axe().run(page, options=_RULES).response["violations"]
    serious = [rule for rule in violations if rule["impact"] in SERIOUS or rule["id"] == "heading-order"]
    found = [(rule["id"], node["target"], node["html"]) for rule in serious for node in rule["nodes"]]
    assert not found, found
