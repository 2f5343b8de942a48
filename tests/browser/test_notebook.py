"""The reader where no app is: in the frame that a notebook gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from evidencebench_core.export.reader import PaperView, show
from tests.browser.reader_views import HOSTILE, hostile_view, instance_of, several_view


def notebook(page: Page, view: PaperView, folder: Path) -> list[str]:
    """Open a page whose only content is the reader; what it asks for, and what anything in it says."""
    drawn = show(instance_of(view), {one.name: one.picks for one in view.systems})
    (folder / "cell.html").write_text(f"<meta charset=utf-8>{drawn._repr_html_()}", "utf-8")
    heard: list[str] = []
    page.on("request", lambda request: heard.append(request.url))
    page.on("console", lambda message: heard.append(message.text))
    page.goto((folder / "cell.html").as_uri())
    return heard


def test_a_click_changes_the_system_and_keys_walk_the_evidence(page: Page, tmp_path: Path) -> None:
    notebook(page, several_view(), tmp_path)
    frame = page.frame_locator("iframe")
    row = frame.locator(".s")
    # A picks 3, 6, 4 and so covers A1 and A2; B picks 7, 10, 3
    assert row.evaluate_all("rows => rows.map(row => row.dataset.mark)")[3:8] == [
        *("both", "both", "none", "picked", "missed")
    ]
    frame.get_by_role("button", name="dense").click()
    expect(row.nth(7)).to_have_attribute("data-mark", "both")
    expect(row.nth(6)).to_have_attribute("data-mark", "none")
    row.nth(7).click()
    expect(row.nth(7)).to_have_attribute("aria-current", "true")
    page.keyboard.press("j")
    expect(row.nth(8)).to_be_focused()
    frame.locator(".strip .chip").nth(2).click()
    expect(row.nth(10)).to_have_class(r"s type-p on")


def test_a_hostile_paper_is_text_in_the_dark_too(new_page: Callable[..., Page], tmp_path: Path) -> None:
    page = new_page(color_scheme="dark")
    heard = notebook(page, hostile_view(), tmp_path)
    frame = page.frame_locator("iframe")
    expect(frame.locator(".s")).to_have_count(len(HOSTILE))
    expect(frame.locator(".hypothesis")).to_contain_text("</script><script>window.hacked = 1</script>")
    expect(frame.locator(".reader.several.dark")).to_be_visible()
    assert [one.evaluate("window.hacked") for one in page.frames] == [None, None]
    assert frame.locator("img, h1, .s script").count() == 0
    assert [words for words in heard if not words.startswith(("file:", "about:"))] == []
