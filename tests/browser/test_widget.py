"""The reader as a notebook's widget: in a plain page, with a model as small as anywidget's."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data.model import Instance
from evidencebench_core.export.reader import Drawing, show
from evidencebench_core.words import visible
from tests.browser.reader_views import HOSTILE, hostile_paper, short_paper, short_view
from tests.browser.settling import BACKGROUNDS, sentence

_RENDER = """async ([script, state]) => {
  const heard = [];
  window.change = (place) => { state.place = place; heard.forEach((act) => act()); };
  window.place = () => state.place;
  const model = {
    get: (name) => state[name],
    set: (name, value) => window.change(value),
    save_changes() {},
    on: (name, act) => heard.push(act),
  };
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  (await import(url)).default.render({ model, el: document.querySelector("#cell") });
}"""


@pytest.fixture
def rendered(page: Page) -> Callable[..., Drawing]:
    def rendered(instance: Instance, picks: Any) -> Drawing:
        drawing = show(instance, picks, height=500)
        assert drawing.widget is not None
        page.set_content('<div id="cell" style="font: 30px monospace"></div>')
        page.evaluate(
            _RENDER, [drawing.widget._esm, {"views": drawing.widget.views, "place": drawing.widget.place}]
        )
        return drawing

    return rendered


@pytest.mark.flow
def test_clicks_come_back_and_systems_need_no_python(page: Page, rendered: Callable[..., Drawing]) -> None:
    systems = {system.name: system.picks for system in short_view().systems}
    drawing = rendered(short_paper(), systems)
    assert drawing.widget is not None
    expect(page.locator(".reader")).to_have_css("height", "500px")

    def comes_back(*place: str | int | None) -> None:
        drawing.widget.place = page.evaluate("place()")
        index, aspect, system = drawing.selected
        assert (index, aspect and aspect.label, system) == place

    page.keyboard.press("j")
    page.keyboard.press("?")
    comes_back(None, None, "bm25")  # keys are the notebook's
    expect(page.get_by_role("dialog")).to_have_count(0)
    sentence(page, 7).click()
    page.locator('.strip .chip[data-a="1"]').click()
    comes_back(7, "A2", "bm25")
    expect(sentence(page, 7)).to_have_attribute("data-mark", "missed")
    page.get_by_role("button", name="dense").click()
    expect(sentence(page, 7)).to_have_attribute("data-mark", "both")
    comes_back(7, "A2", "dense")
    page.keyboard.press("Escape")  # the reader has the focus now
    comes_back(None, None, "dense")
    page.evaluate("change({ active: 0, selected: 10, aspect: null })")  # Python's
    expect(page.locator(".selected")).to_have_attribute("data-i", "10")
    expect(sentence(page, 7)).to_have_attribute("data-mark", "missed")


@pytest.mark.flow
def test_hostile_text_is_only_text_and_styles_stay(page: Page, rendered: Callable[..., Drawing]) -> None:
    rendered(hostile_paper(), None)
    texts = "all => all.map((one) => one.textContent)"
    assert page.locator(".s .t > span:first-child").evaluate_all(texts) == list(map(visible, HOSTILE))
    assert page.evaluate("window.hacked") is None
    assert page.locator("script, img, h1, a").count() == 0
    expect(page.locator("body")).to_have_css("display", "block")
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".reader")).to_have_css("background-color", BACKGROUNDS["dark"])
    # JupyterLab's theme comes first
    page.evaluate("document.body.style.setProperty('--jp-layout-color0', 'white')")
    expect(page.locator(".reader")).to_have_css("background-color", BACKGROUNDS["light"])
