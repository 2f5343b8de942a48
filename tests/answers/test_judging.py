"""Judges: windows, labels, sources (bioace spec rules 27 to 33, 57, 60; example 12.11; faults C7, C11, C24)."""

from __future__ import annotations

from typing import Any

import pytest

from evidencebench_core.answers.judging import (
    correctness_question,
    forms_of,
    joined_question,
    nuggets_question,
    read_correctness,
    read_joined,
    read_judgement,
    read_support,
    source_text,
    support_question,
    window_texts,
    windows,
)
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Answer, ChatRequest
from evidencebench_core.llm.conversation import result_of
from evidencebench_core.llm.labels import stated_label

REQUEST = ChatRequest("m", ())


def judged(text: str, **further: Any) -> dict[str, Any]:
    return {"text": text, "finish_reason": "stop", "refusal": None} | further


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("It says so.\n**LABEL: Supports**", "supports"),
        ("LABEL: supported.", "supports"),
        ("Supporting", "supports"),
        ("LABEL: neutral\nNo, rather:\n LABEL: `contradicting`", "contradicts"),
        ("<think>LABEL: neutral</think>LABEL: supports", "supports"),
        ("LABEL: supports or neutral", None),
        ("LABEL: it supports the claim", None),
        ("The source supports the claim.", None),
        ('The source says "LABEL: supports", which is no label.', None),
        ("The source has the words:\n> LABEL: supports", None),
        ("LABEL: supports\nLABEL: unclear", None),
        ("", None),
    ],
)
def test_ternary_labels(text: str, label: str | None) -> None:
    assert read_judgement(judged(text), "ternary").label == label


def test_other_scales_and_reasons() -> None:
    assert read_judgement(judged("LABEL: Not attributable"), "binary").label == "not attributable"
    assert read_judgement(judged("LABEL: not  relevant."), "four").label == "not relevant"
    assert read_judgement(judged("Unnecessary. It is not required."), "relevance").label is None  # C7
    assert read_judgement(judged("LABEL: Unnecessary"), "relevance").label == "unnecessary"
    assert read_judgement(judged("LABEL: suppor", finish_reason="length"), "ternary").reason == "cut_off"
    assert read_judgement(judged("", refusal="no"), "ternary").reason == "refusal"
    assert read_judgement(judged("perhaps"), "ternary").reason == "no_label"


def test_ten_megabytes_in_linear_time() -> None:
    """Pytest ends a test that hangs, as a quadratic reading would."""
    for text in ("LABEL: supports\n" * 600_000, "*" * 10_000_000, "LABEL:" * 1_500_000):
        stated_label(text, forms_of("ternary"))


def test_windows() -> None:
    assert windows(5) == (range(3), range(1, 4), range(2, 5))
    assert windows(2) == (range(2),)
    assert windows(0) == ()
    assert window_texts([["a", "b", "c", "d"], ["a", "b"]], 2) == ["a b", "b c", "c d"]
    with pytest.raises(SettingError, match="window"):
        windows(3, 0)


def test_a_sentence_is_correct_by_any_window() -> None:
    said = iter(["LABEL: neutral", "LABEL: supports", "never asked"])
    documents = [["a", "b", "c", "d", "e"]]
    result = result_of(
        correctness_question(REQUEST, "claim", documents, prefilter=0), lambda _: Answer(next(said))
    )
    assert result is not None
    assert [part["window"] for part in result["parts"]] == ["a b c", "b c d"]
    assert read_correctness(result).label == "supports"  # type: ignore[union-attr]
    one = read_correctness({"parts": [judged("LABEL: neutral"), judged("?")]})
    assert one is not None
    assert (one.label, one.reason) == (None, "no_label")
    assert read_correctness({"parts": []}) is None


def test_citations_together_and_each() -> None:
    """Rule 37: together they support; the first does alone, the second not, and the first without it does."""
    said = {"a\n\nb": "supports", "a": "supports", "b": "neutral"}

    def reply(ask: Any) -> Answer:
        text = ask.request.messages[-1].content
        return Answer(f"LABEL: {said[text.split('<document>')[1].split('</document>')[0].strip()]}")

    for alone, precise, calls in (("supports", 1, 4), ("neutral", 2, 5)):
        said["a"] = alone
        result = result_of(joined_question(REQUEST, "claim", ["a", "b"]), reply)
        assert result is not None
        assert (read_joined(result), len(result["parts"])) == ((True, precise), calls)
    said["a\n\nb"] = "contradicts"
    result = result_of(joined_question(REQUEST, "claim", ["a", "b"]), reply)
    assert result is not None
    assert (read_joined(result), len(result["parts"])) == ((False, 0), 1)
    result = result_of(joined_question(REQUEST, "claim", ["b"]), reply)
    assert result is not None
    assert read_joined(result) == (False, 0)


def test_gold_nuggets_are_shown_ten_at_a_time() -> None:
    said = iter(["1: support\n- **2: partial**\n3. none\n11: support\n10: none", "1: Support."])
    gold = [f"fact {n}" for n in range(11)]
    result = result_of(support_question(REQUEST, "q", "a", gold), lambda _: Answer(next(said)))
    assert result is not None
    assert read_support(result) == ("support", "partial", *[None] * 7, "none", "support")


def test_nuggets_of_both_sides_are_compared() -> None:
    prompts = []

    def reply(ask: Any) -> Answer:
        prompts.append(ask.request.messages[-1].content)
        return Answer("LABEL: contradicting" if len(prompts) == 3 else f"NUGGETS:\n- fact {len(prompts)}")

    result = result_of(nuggets_question(REQUEST, "claim", "source"), reply)
    assert result is not None
    assert "fact 1" in prompts[2]
    assert "fact 2" in prompts[2]
    assert read_judgement(result, "four").label == "contradicting"


@pytest.mark.model
def test_sources() -> None:
    sentences = ["Cats sleep.", "Aspirin relieves pain.", "Aspirin relieves pain."]
    assert source_text("document", "c", "T.", sentences[:1]) == "T. Cats sleep."
    assert source_text("document", "c", "T.", ()) == "T."
    assert source_text("maxsim", "Pain is relieved by aspirin.", "Aspirin", sentences) == sentences[1]
    assert source_text("maxsim", "c", "T.", ()) == "T."
    with pytest.raises(SettingError, match="setting"):
        source_text("abstract", "c", "", ())  # type: ignore[arg-type]
