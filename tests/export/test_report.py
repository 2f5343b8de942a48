"""The one-file report: what it says, and that no text in it is ever markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data import parse_instance
from evidencebench_core.errors import SelectionError
from evidencebench_core.export import ReportInput, report_html
from evidencebench_core.export.report import pages
from evidencebench_core.export.report.pages import moment
from evidencebench_core.palette import DARK_PAGE, LIGHT_PAGE, MARKS
from evidencebench_core.papers import Doubt
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import task_named
from tests.contrast import contrast
from tests.export.reports import HOSTILE, NO_GOLD, report
from tests.factories import raw_instance

VOID = {"meta", "br", "img", "link", "input"}


class Skeleton(HTMLParser):
    """Tags with their attributes' names, and the texts between them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.comments: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def text_of(plain: bool = False, **changes: object) -> str:
    """What the report says."""
    return Skeleton(report_html(report(**changes), plain)).text


@pytest.mark.parametrize("plain", [False, True])
def test_hostile_texts_change_no_tag(plain: bool) -> None:
    harmless, hostile = (Skeleton(report_html(report(text), plain)) for text in ("", HOSTILE))
    assert hostile.tags == harmless.tags
    assert hostile.comments == harmless.comments == []
    assert not {tag for tag, _ in hostile.tags} & {"script", "img", "iframe", "link", "object", "form"}
    assert not any(name.startswith("on") for name, _ in hostile.attributes)
    assert all(str(value).startswith("#s") for name, value in hostile.attributes if name == "href")
    assert "<script>alert(1)</script>" in hostile.text  # to be read, as text
    page = report_html(report(), plain)
    assert page == report_html(report(), plain)
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|url\(|@import|src=", page)


def test_odd_characters_are_written_out() -> None:
    page = report_html(report(HOSTILE))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]", page)
    assert "[U+202E]evil[U+2066][U+FEFF]" in page
    assert "[U+0000][U+001B][31m" in page


@given(st.text(max_size=30))
def test_any_text_at_all(text: str) -> None:
    # Halves of surrogate pairs included: the page can always be written.
    page = report_html(report(text))
    page.encode()
    assert Skeleton(page).tags == Skeleton(report_html(report())).tags


def test_what_each_pick_adds_by_hand() -> None:
    # 5 covers x and y: 2 of 4 aspects. 2 covers x again. 4 covers nothing. z is missed, w has no sentence.
    text = text_of()
    for words in (
        "3 sentences picked, in this order",
        "adds A1, A2 · Aspect Recall so far 50.0% · place 1 of 4 in the ranking · score 0.9",
        "adds nothing new, repeats A1 · Aspect Recall so far 50.0% · place 2 of 4",
        "covers no study aspect · Aspect Recall so far 50.0% · place 4 of 4",
        "Each with the sentences that cover it. 2 of 4 are found: Aspect Recall 50.0%.",
        "A3 what z says 6 missed",
        "A4 what w says none missed",
        "A2 (result) what y says 5 pick 1",
        # the head, the settings and the details
        "Evidence in one paper · 21 November 2026, 10:48 UTC",
        "J. Tea · PMC1",
        "8 sentences of the paper were searched, 2 headings among them.",
        "Left out, and not searched: tables (2), figures (1).",  # no references met: not named
        "No abstract was recognised.",
        "no medical advice",
        *("evidencebench find 'a b.pdf'", "k1 1.5", "of a, b", "budget K = 3", "line one line two"),
    ):
        assert words in text


def test_context_and_marks_of_the_paper() -> None:
    page = report_html(report())
    context = [text for _, text in re.findall(r'<p class="context"( dir="auto")>([^<]+)</p>', page)]
    # 5 stands between 4 and 6; after 2 comes a heading, so only 1; 4 stands after a heading, so only 5.
    assert context == ["Salt rose.", "It hurt.", "Background.", "Pressure fell."]
    css = [names for names, _ in re.findall(r'<li class="([^"]+)" id="s(\d)"', page)]
    assert css == ["s heading", "s", "s both", "s heading", "s picked", "s both", "s missed", "s"]


def test_doubts_are_told_by_section() -> None:
    doubts = (Doubt("<b>Results", 4, "columns", "<i>Mixed.</i>"), Doubt("", None, "characters", "Odd."))
    page = report_html(report(doubts=doubts))
    assert "is doubtful in\n2 places. Check there" in page
    assert '<li dir="auto"><b>&lt;b&gt;Results, page 4</b>: &lt;i&gt;Mixed.&lt;/i&gt;</li>' in page
    assert "<b>before the first heading</b>: Odd." in page
    assert "doubtful" not in report_html(report())


def test_without_gold_there_are_places_and_reasons_and_no_scores() -> None:
    text = text_of(paper={"evidence": NO_GOLD})
    assert [words for words in ("Aspect Recall", "adds", "Study aspects") if words in text] == []
    assert "place 1 of 4 in the ranking · score 0.9" in text
    assert "It names the outcome." in text


def test_plain_words() -> None:
    text = text_of(plain=True)
    assert "The 3 sentences to read first" in text
    assert "It names the outcome." in text
    words = "Aspect Recall|aspect|ranking|score|ER@3|K =|retriever|bm25|PMC1|sentence 5"
    assert [word for word in words.split("|") if word in text] == []
    assert text.count("no medical advice") == 2


def test_details_are_cut_and_numbers_behind_reasons_left_out() -> None:
    page = report_html(report(retrieval=Retrieval((), (), (), 0, {"answer": "x" * 50_000, "blank": " "})))
    assert len(re.findall("x{1000,}…", page)) == 1
    assert "blank" not in page
    answer = Retrieval((5,), (0.9,), (5,), 0.25, {"explanation": '{"5": {}}', "backend": "onnx"})
    page = report_html(report(retrieval=answer))
    assert "<h3>explanation</h3>" not in page
    assert "<h3>backend</h3>" in page
    assert "<h3>explanation</h3>" in report_html(report(retrieval=answer, explanations={}))


def test_no_picks_repeated_ones_and_those_that_the_paper_does_not_have() -> None:
    text = text_of(retrieval=Retrieval((), (), ()), created_at="", left_out={})
    assert "0 sentences picked" in text
    assert "No sentence was picked." in text
    assert "Left out" not in text
    assert report_html(report(retrieval=Retrieval((5,), (1.0,), (5, 5)))).count('class="number"') == 1
    assert moment("yesterday") == "yesterday"
    with pytest.raises(SelectionError, match="sentence 8"):
        report(retrieval=Retrieval((), (), (8,)))
    with pytest.raises(SelectionError, match="ranking"):
        report(retrieval=Retrieval((-1,), (1.0,), ()))


def test_the_report_on_an_instance_follows_its_task() -> None:
    raw = raw_instance(["# The title", "> We found.", "More."], {"x": [1], "y": [2]}, ["y"], synthetic=True)
    answer, task = Retrieval((1,), (1.0,), (1,)), task_named("result-er@optimal")
    text = Skeleton(report_html(ReportInput(parse_instance("i", raw), answer, task))).text
    for words in ("The title", "task Result-ER@Optimal budget K = 1", "0 of 1 are found", "it was invented"):
        assert words in text
    assert "A1" not in text


def test_colours_are_those_of_the_app() -> None:
    css = Path(pages.__file__).with_name("report.css").read_text(encoding="utf-8")
    light, dark = css.split("prefers-color-scheme: dark")[:2]
    for scheme, page, is_dark in ((light, LIGHT_PAGE, False), (dark, DARK_PAGE, True)):
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", scheme))
        assert (
            colours.items()
            >= {"page": page, **{mark: hue.on(is_dark) for mark, hue in MARKS.items()}}.items()
        )
        assert all(contrast(colours[name], page) >= 4.5 for name in ("text", "quiet", "accent"))
