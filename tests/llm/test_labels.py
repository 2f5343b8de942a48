"""Labels of answers that people wrote by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.llm.labels import LabelRead, read_label

TWO, THREE = ("yes", "no"), ("yes", "no", "unknown")
YES, NO, UNKNOWN = "yes", "no", "unknown"

# (answer, labels, a label or a reason, rule)
TABLE = [
    ("**Yes**, because", TWO, YES, "first"),
    ("NO", TWO, NO, "first"),
    ("Answer: [No]", TWO, NO, "stated"),
    ("_Yes_", TWO, YES, "first"),
    ("Yes.The study shows benefit", TWO, YES, "first"),
    ("There was no difference, so the answer is yes", TWO, YES, "stated"),
    ("No significant effect was found. Answer: Yes", TWO, YES, "stated"),
    ("No, it does not", TWO, NO, "first"),
    ("No evidence supports this", TWO, "no_label", None),
    ("Yes/No", TWO, "ambiguous", None),
    ("Yes or no depends on dose", TWO, "ambiguous", None),
    ("It may be yes, it may be no.", TWO, "ambiguous", None),
    ("I cannot answer; there is no data.", TWO, "refusal", None),
    ("None of the trials", TWO, "no_label", None),
    ("-1", TWO, "no_label", None),
    ("", TWO, "empty", None),
    ("Ja.", TWO, "no_label", None),
    ("I don't know", THREE, UNKNOWN, "other words"),
    ("not relevant, so unknown.", THREE, UNKNOWN, "only"),
    ("There is not enough information to say yes", THREE, "ambiguous", None),
]
TABLE += [
    ("<think>It could be yes or no.</think>\nNo.", TWO, NO, "first"),
    ("<think>It is yes, I", TWO, "cut_off", None),
    ("Yes, but no effect on mortality was seen.", TWO, YES, "first"),
    ("1. Yes", TWO, YES, "first"),
    ("- no\n- the dose was low", TWO, NO, "first"),
    ("No the drug did not help", TWO, NO, "first"),
    ("No it's not", TWO, NO, "first"),
    ("No\n\nEvidence is thin", TWO, NO, "first"),
    ("No (p = 0.3)", TWO, NO, "first"),
    ("(no)", TWO, NO, "first"),
    ("No-one knows", TWO, "no_label", None),
    ("See table no. 5 of the trial", TWO, "no_label", None),
    ("Conclusion: no difference was found", TWO, "no_label", None),
    ("Please answer Yes or No.\nAnswer: No.", TWO, NO, "stated"),
    ("Answer: yes. On reflection, my final answer is: **no**", TWO, NO, "stated"),
    ('{"answer": "Yes"}', TWO, YES, "stated"),
    ("\\boxed{\\text{Yes}}", TWO, YES, "first"),
    ("<answer>no</answer>", TWO, NO, "stated"),
    ("I would say yes, as no harm was seen", TWO, YES, "only"),
    ("Answer (yes or no):", TWO, "ambiguous", None),
    ("Yes, no or unknown", THREE, "ambiguous", None),
    ("Unknown: the text is about tea.", THREE, UNKNOWN, "first"),
    ("The context does not provide enough information.", THREE, UNKNOWN, "other words"),
    ("It cannot be determined.", THREE, UNKNOWN, "other words"),
    ("It cannot be determined.", TWO, "no_label", None),
    ("Answer: no, there is not enough information", THREE, NO, "stated"),
    ("Y", TWO, "no_label", None),
    ("👍", TWO, "no_label", None),
    ("eyes and nose", TWO, "no_label", None),
    ("non-significant", TWO, "no_label", None),
    ("是的。", TWO, "no_label", None),
]


@pytest.mark.parametrize(("text", "labels", "result", "rule"), TABLE)
def test_answers_written_by_hand(text: str, labels: tuple[str, ...], result: str, rule: str | None) -> None:
    expected = LabelRead(result) if rule else LabelRead(None, result)  # type: ignore[arg-type]
    assert read_label(text, labels) == expected


@pytest.mark.parametrize(
    ("text", "said", "reason"),
    [
        ("", {"refusal": "I can't help with that."}, "refusal"),
        ("", {"finish_reason": "content_filter"}, "refusal"),
        ("", {"finish_reason": "length"}, "cut_off"),
        ("The trial had two arms, and", {"finish_reason": "length"}, "cut_off"),
        (" \n", {"finish_reason": "stop"}, "empty"),
    ],
)
def test_the_server_tells_why_there_is_no_label(text: str, said: dict[str, str], reason: str) -> None:
    assert read_label(text, TWO, **said).reason == reason


def test_a_label_counts_though_the_answer_was_cut_off() -> None:
    assert read_label("Yes, because the", TWO, finish_reason="length").label == YES


@given(st.text(alphabet=" yesno/.,:*[]()-\nanswer12", max_size=60), st.sampled_from([TWO, THREE]))
def test_any_text_gives_a_label_or_a_reason(text: str, labels: tuple[str, ...]) -> None:
    read = read_label(text, labels)
    assert (read.label is None) == (read.reason is not None)
    assert read.label is None or read.label in labels


def test_a_long_answer_is_read_in_linear_time() -> None:
    assert read_label("yes or no, " * 20_000, TWO).reason == "ambiguous"
    assert read_label("not so " * 20_000 + "yes,yes" * 10_000, THREE).label in (YES, None)
