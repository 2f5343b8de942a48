"""Nothing that Streamlit's Markdown would act on survives `literal`."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from components.markdown import literal

LETTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Zs", "Zl", "Zp"))
ACTED_ON = "https://a.b/c HTTP://a.b www.a.b me@a.b -> <- <-> -- >= <= ~= :streamlit:"


@given(st.text(alphabet=LETTERS, min_size=1))
def test_a_markdown_reader_shows_the_text_letter_by_letter(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(literal(text))
    (paragraph,) = [token for token in tokens if token.type == "inline"]
    assert paragraph.children is not None
    assert {child.type for child in paragraph.children} <= {"text", "text_special"}
    assert "".join(child.content for child in paragraph.children).replace("\u2060", "") == text
    assert set(string.punctuation).isdisjoint(re.sub(r"\\.", "", literal(text)))  # for what Streamlit adds


def test_lines_become_one_long_texts_are_cut_and_nothing_turns_the_page_round() -> None:
    assert literal("a\n\n# b\tc") == "a \\# b c"
    assert (literal("abcdef", limit=4), literal("abcd", limit=4)) == ("abc…", "abcd")
    assert literal("\u202eRTL\u202c") == r"\[U\+202E\]RTL\[U\+202C\]"
    assert literal("שלום") == "שלום"


@pytest.mark.parametrize("part", ACTED_ON.split())
def test_what_is_acted_on_after_escapes_is_broken_by_what_nobody_sees(part: str) -> None:
    for text in (part, f"p {part} 5", f"p\u00a0{part}\u00a05"):
        assert "\u2060" in literal(text)
        assert literal(text).replace("\u2060", "").replace("\\", "") == text
    assert "\u2060" not in literal("a->b p>=5 well-known - x")
