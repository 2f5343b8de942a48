"""The words that were changed stand out, and whatever the words are, they stay words."""

from __future__ import annotations

from components.reliability.changes import changed_text


def test_what_was_taken_away_is_struck_and_what_was_added_is_marked() -> None:
    assert changed_text("Tea lowers IL-6.", "Tea lowers IL-6.") == ""
    assert changed_text("Tea lowers it", "Ten lowers it") == "~~Tea~~ :blue-background[**Ten**] lowers it"
    assert changed_text("a", "a b\n\nc") == "a :blue-background[**b**]\n\n:blue-background[**c**]"


def test_long_stretches_without_a_change_are_shortened() -> None:
    words = " ".join(f"w{n}" for n in range(100))
    text = changed_text(f"x {words}", f"y {words}")
    assert text.startswith("~~x~~ :blue-background[**y**] w0 w1")
    assert text.endswith("w11 …")
    assert "w99" in changed_text(f"x {words}", f"y {words}", whole=True)


def test_hostile_text_is_no_markup() -> None:
    text = changed_text("a", "**b** :red[c] <img src=x> $d$ [e](https://f)")
    assert "<img" not in text.replace("\\<", "")
    assert text.count(":blue-background[") == 1
    assert "https://" not in text
