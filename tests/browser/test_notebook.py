"""The reader where no app is: in the frame that a notebook gets."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from evidencebench_core.export.reader import show
from tests.browser.reader_views import HOSTILE, hostile_view, instance_of


def test_a_hostile_paper_is_text_and_keys_and_clicks_work(
    new_page: Callable[..., Page], tmp_path: Path
) -> None:
    view = hostile_view()
    drawn = show(instance_of(view), {one.name: one.picks for one in view.systems})
    (tmp_path / "cell.html").write_text(f"<meta charset=utf-8>{drawn._repr_html_()}", "utf-8")
    page = new_page(color_scheme="dark")
    heard: list[str] = []  # what it asks for, and what anything in it says
    page.on("request", lambda request: heard.append(request.url))
    page.on("console", lambda message: heard.append(message.text))
    page.goto((tmp_path / "cell.html").as_uri())

    frame = page.frame_locator("iframe")
    row = frame.locator(".s")
    expect(row).to_have_count(len(HOSTILE))
    expect(frame.locator(".hypothesis")).to_contain_text("</script><script>window.hacked = 1</script>")
    expect(frame.locator(".reader.several.dark")).to_be_visible()
    # A picks 1, 3, 4 and so covers both aspects; B picks 4, 5, 8
    expect(row.nth(1)).to_have_attribute("data-mark", "both")
    frame.get_by_role("button", name="dense").click()
    expect(row.nth(5)).to_have_attribute("data-mark", "both")
    expect(row.nth(1)).to_have_attribute("data-mark", "gold")
    row.nth(1).click()
    expect(row.nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("j")
    expect(row.nth(2)).to_be_focused()
    assert [one.evaluate("window.hacked") for one in page.frames] == [None, None]
    assert frame.locator("img, h1, .s script").count() == 0
    assert [words for words in heard if not words.startswith(("file:", "about:"))] == []
