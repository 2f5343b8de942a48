"""Labels of answers that people wrote by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.llm.labels import LabelRead, read_label, stated_label

TWO, THREE = ("yes", "no"), ("yes", "no", "unknown")

# an answer, and its label or the reason why there is none
OF_TWO = [
    ("**Yes**, because", "yes"),
    ("Answer: [No]", "no"),
    ("Yes.The study shows benefit", "yes"),
    ("There was no difference, so the answer is yes", "yes"),
    ("No significant effect was found. Answer: Yes", "yes"),
    ("No, it does not", "no"),
    ("No evidence supports this", "no_label"),
    ("Yes/No", "ambiguous"),
    ("Yes or no depends on dose", "ambiguous"),
    ("I cannot answer; there is no data.", "refusal"),
    ("None of the trials", "no_label"),
    ("-1", "no_label"),
    ("", "empty"),
    ("Ja.", "no_label"),
    ("<think>It could be yes or no.</think>\nNo.", "no"),
    ("<think>It is yes, I", "cut_off"),
    ("Yes, but no effect on mortality was seen.", "yes"),
    ("1. Yes", "yes"),
    ("- no\n- the dose was low", "no"),
    ("No the drug did not help", "no_label"),
    ("No\n\nEvidence is thin", "no"),
    ("(no)", "no"),
    ("No-one knows", "no_label"),
    ("See table no. 5 of the trial", "no_label"),
    ("Conclusion: no difference was found", "no_label"),
    ("Please answer Yes or No.\nAnswer: No.", "no"),
    ("Answer: yes. On reflection, my final answer is: **no**", "no"),
    ('{"answer": "Yes"}', "yes"),
    ("<answer>no</answer>", "no"),
    ("I would say yes, as no harm was seen", "yes"),
    ("Answer (yes or no):", "ambiguous"),
    ("It cannot be determined.", "no_label"),
    ("👍", "no_label"),
    ("non-significant", "no_label"),
    ("是的。", "no_label"),
]
OF_THREE = [
    ("I don't know", "unknown"),
    ("not relevant, so unknown.", "unknown"),
    ("There is not enough information to say yes", "ambiguous"),
    ("Yes, no or unknown", "ambiguous"),
    ("Unknown: the text is about tea.", "unknown"),
    ("The context does not provide enough information.", "unknown"),
    ("It cannot be determined.", "unknown"),
    ("Answer: no, there is not enough information", "no"),
]


def read(text: str, labels: tuple[str, ...], **said: str) -> str | None:
    label, reason = read_label(text, labels, **said)
    assert (label is None) == (reason is not None)
    return label or reason


@pytest.mark.parametrize(("text", "expected"), OF_TWO)
def test_one_of_two_labels(text: str, expected: str) -> None:
    assert read(text, TWO) == expected


@pytest.mark.parametrize(("text", "expected"), OF_THREE)
def test_one_of_three_labels(text: str, expected: str) -> None:
    assert read(text, THREE) == expected


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("", {"refusal": "I can't help with that."}, "refusal"),
        ("", {"finish_reason": "content_filter"}, "refusal"),
        ("", {"finish_reason": "length"}, "cut_off"),
        ("The trial had two arms, and", {"finish_reason": "length"}, "cut_off"),
        ("Yes, because the", {"finish_reason": "length"}, "yes"),
        (" \n", {"finish_reason": "stop"}, "empty"),
    ],
)
def test_the_server_tells_why_there_is_no_label(text: str, said: dict[str, str], expected: str) -> None:
    assert read(text, TWO, **said) == expected


@given(st.text(alphabet=" yesno/.,:*[]()-\nanswer12", max_size=60), st.sampled_from([TWO, THREE]))
def test_any_text_gives_a_label_or_a_reason(text: str, labels: tuple[str, ...]) -> None:
    assert read(text, labels)


def test_a_long_answer_is_read_in_linear_time() -> None:
    assert read("yes or no, " * 20_000, TWO) == "ambiguous"
    assert read("not so " * 20_000 + "yes,yes" * 10_000, THREE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It says so.\n**LABEL: Supported**", LabelRead("full")),
        ("LABEL: none\nOn reflection:\nLABEL: supported.", LabelRead("full")),
        ("Supported", LabelRead("full")),
        ("The claim is supported.", LabelRead(None, "no_label")),
        ("<think>LABEL: supported", LabelRead(None, "cut_off")),
        ("", LabelRead(None, "empty")),
    ],
)
def test_a_label_on_a_line_of_its_own(text: str, expected: LabelRead) -> None:
    assert stated_label(text, {"supported": "full", "none": "not"}) == expected
