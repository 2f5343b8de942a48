"""Who gets in, in a browser: the printed link, the cookie that stays, and links of other sites."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.serving import served_app
from tests.serving import serving

TOKEN = "correct-horse-battery"  # noqa: S105 - made up


def test_the_printed_link_lets_in_and_the_cookie_stays(page: Page, tmp_path: Path) -> None:
    with served_app(tmp_path, EVIDENCEBENCH_TOKEN=TOKEN) as at:
        address = at.replace("127.0.0.1", "localhost")
        link = f"<a href='{address}/runs'>a colleague's link</a>".encode()
        with serving(lambda _: (200, {"Content-Type": "text/html"}, link)) as elsewhere:
            page.goto(elsewhere)
            page.get_by_role("link").click()
            expect(page.get_by_text("Open the link that was printed")).to_be_visible()
            page.goto(f"{address}/annotate?q=tea&token={TOKEN}")
            expect(page.get_by_role("heading", name="Mark evidence")).to_be_visible()  # the websocket is open
            assert page.url == f"{address}/annotate?q=tea"
            (cookie,) = [kept for kept in page.context.cookies() if kept.get("value") == TOKEN]
            assert (cookie.get("httpOnly"), cookie.get("sameSite")) == (True, "Strict")
            page.goto(elsewhere)
            page.get_by_role("link").click()  # the strict cookie comes at the second try
            expect(page.get_by_role("button", name="Load a dataset")).to_be_visible()
