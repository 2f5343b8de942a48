"""The reader's payload, and the same reader in a notebook."""

import json
import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.errors import SelectionError, SettingError
from evidencebench_core.export.reader import FOLDER, PaperView, System, paper_key, show, view_data
from evidencebench_core.retrievers import Retrieval
from tests.browser.reader_views import hostile_paper, hostile_view, short_paper, short_view, stress_view


def test_data_of_a_small_paper() -> None:
    data = view_data(replace(short_view(), selected=7, aspect=2), height=500)
    assert data["height"] == 500
    assert data["texts"][7] == "Women on night shifts had lower levels (p = 0.01)."
    assert data["types"] == "tahpphpppppp"
    # picks 3, 6, 4; A1 {3, 8}, A2 {4, 9} covered; A3 {10}, A4 {7} missed
    assert data["marks"] == "...bb.pmggm."
    assert [system["picks"] for system in data["systems"]] == [[3, 6, 4], [7, 10]]
    assert (data["active"], data["selected"], data["aspect"]) == (0, 7, 2)
    assert data["aspects"][2] == {
        "label": "A3", "text": "No difference in men", "result": True, "focus": True, "covered": False,
        "sentences": [10],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "marks", "covered"),
    [
        ({"active": None}, "...gg..gggg.", [None] * 4),  # gold, and nothing missed
        ({"aspects": (), "active": 1}, ".......p..p.", []),
        # dense picks 7 and 10, which cover both result aspects; 3, 4, 8, 9 cover others only
        ({"focus": "results", "active": 1}, ".......b..b.", [False, False, True, True]),
    ],
)
def test_marks(changes: dict[str, Any], marks: str, covered: list[bool | None]) -> None:
    data = view_data(replace(short_view(), **changes))
    assert data["marks"] == marks
    assert [aspect["covered"] for aspect in data["aspects"]] == covered


def test_positions_the_paper_does_not_have_are_none_and_picks_are_refused() -> None:
    for value in (-1, 12, None):
        data = view_data(replace(short_view(), selected=value, aspect=value, active=value))
        assert (data["selected"], data["aspect"], data["active"]) == (None, None, None)
    with pytest.raises(SelectionError, match="at most 3"):
        view_data(replace(short_view(), systems=(System("bm25", ()),) * 4))
    for picks in ([0, -1], [0, 12]):
        with pytest.raises(SelectionError):
            show(short_paper(), picks)


@pytest.mark.parametrize(
    ("texts", "headings", "types"),
    [
        (("A title", "The journal", "INTRODUCTION", "Words.", "Aims"), (0, 1, 2, 4), "tfhps"),
        (("A title", "Words.", "RESULTS", "Materials and methods", "2. Methods"), (0, 2, 3, 4), "tphhh"),
        (("A title", "Words.", "Statistical analysis", "2.1 Study population", ""), (0, 2, 3, 4), "tpsss"),
    ],
)
def test_types_of_headings(texts: tuple[str, ...], headings: tuple[int, ...], types: str) -> None:
    kinds = tuple("section_name" if index in headings else "normal_paragraph" for index in range(len(texts)))
    view = PaperView("p", texts, kinds)  # type: ignore[arg-type]
    assert view_data(view)["types"] == types


def test_data_is_json_one_letter_a_sentence_and_the_key_that_of_the_text() -> None:
    for view in (stress_view(), hostile_view()):
        data = view_data(view)
        assert json.loads(json.dumps(data)) == data
        assert len(data["texts"]) == len(data["types"]) == len(data["marks"]) == len(view.sentences)
    view = short_view()
    others = replace(view, sentences=(*view.sentences[:-1], "Changed.")), replace(view, paper="other")
    assert paper_key(replace(view, systems=(), selected=3)) == paper_key(view)
    assert len({*map(paper_key, others), paper_key(view)}) == 3


def test_show_holds_the_views_of_the_app_and_lets_no_text_out() -> None:
    view = hostile_view()
    drawn = show(hostile_paper(), {system.name: system.picks for system in view.systems}, height=500)
    markup = drawn._repr_html_()
    one_frame = [markup.removesuffix("</iframe>"), "</iframe>"]
    assert re.findall("<[^>]*>", markup) == one_frame
    assert 'sandbox="allow-scripts"' in markup
    assert "height:500px" in markup
    assert drawn.page.count("<script") == drawn.page.count("</script") == 2
    held = json.loads(re.findall(r'id="data">(.*?)</script>', drawn.page, re.DOTALL)[0])
    first, second = (view_data(replace(view, active=place, words=None)) for place in (0, 1))
    assert held[0] == first
    assert held[1] == {name: second[name] for name in ("active", "marks", "aspects")}
    assert "\u202e" not in drawn.title


def test_show_takes_a_retrieval_or_any_picks_or_none() -> None:
    paper = short_paper()
    assert '"marks": "...gg..gggg."' in show(paper).page
    alone = show(paper, Retrieval((3, 6, 4, 7), (4.0, 3.0, 2.0, 1.0), 3))
    assert '"marks": "...bb.pmggm."' in alone.page
    assert alone.page == show(paper, [3, 6, 4]).page
    assert '"marks": ".......b..b."' in show(paper, (7, 10), "result-er@5").page
    with pytest.raises(SettingError):
        show(paper, task="er@none")


def test_without_anywidget_a_drawing_is_the_frame_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    paper = short_paper()
    drawn = show(paper, {"bm25": [3]})
    assert drawn.selected == (None, None, "bm25")
    assert drawn._repr_mimebundle_()[0].keys() == {"text/plain", "application/vnd.jupyter.widget-view+json"}
    monkeypatch.delitem(sys.modules, "evidencebench_core.export.reader.widget")
    monkeypatch.setitem(sys.modules, "anywidget", None)
    alone = show(paper)
    assert alone._repr_mimebundle_() == {}
    assert alone._repr_html_().startswith("<iframe")
    with pytest.raises(SettingError):
        _ = alone.selected


def test_the_page_has_the_colours_of_the_apps_theme() -> None:
    root = Path(__file__).parents[2]
    theme = tomllib.loads((root / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
    light, dark = (FOLDER / "page.css").read_text("utf-8").split("@media")
    for part, name in ((light, "light"), (dark, "dark")):
        for key in ("background", "secondaryBackground", "text", "primary"):
            variable, colour = key.replace("B", "-b"), theme[name][f"{key}Color"].lower()
            assert re.search(rf"--st-{variable}-color: var\(--jp-[a-z0-9-]+, {colour}\);", part)
