"""Both readers on answers that people wrote by hand; the table is rule 65 of RAmBLA's specification."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.llm.labels import LabelRead, official_label, read_label
from tests.conftest import real_file

TWO, THREE = ("yes", "no"), ("yes", "no", "unknown")
YES, NO, UNKNOWN = "yes", "no", "unknown"

# (answer, labels, official, ours: a label or a reason, rule)
TABLE = [
    ("**Yes**, because", TWO, YES, YES, "first"),
    ("NO", TWO, NO, NO, "first"),
    ("Answer: [No]", TWO, NO, NO, "stated"),
    ("_Yes_", TWO, None, YES, "first"),
    ("Yes.The study shows benefit", TWO, None, YES, "first"),
    ("There was no difference, so the answer is yes", TWO, NO, YES, "stated"),
    ("No significant effect was found. Answer: Yes", TWO, NO, YES, "stated"),
    ("No, it does not", TWO, NO, NO, "first"),
    ("No evidence supports this", TWO, NO, "no_label", None),
    ("Yes/No", TWO, YES, "ambiguous", None),
    ("Yes or no depends on dose", TWO, YES, "ambiguous", None),
    ("It may be yes, it may be no.", TWO, YES, "ambiguous", None),
    ("I cannot answer; there is no data.", TWO, NO, "refusal", None),
    ("None of the trials", TWO, None, "no_label", None),
    ("-1", TWO, None, "no_label", None),
    ("", TWO, None, "empty", None),
    ("Ja.", TWO, None, "other_language", None),
    ("I don't know", THREE, None, UNKNOWN, "other words"),
    ("not relevant, so unknown.", THREE, UNKNOWN, UNKNOWN, "only"),
    ("There is not enough information to say yes", THREE, YES, "ambiguous", None),
]
# Ours alone: rules 9 and 50, and what models write beside them.
OURS = [
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
    ("是的。", TWO, "other_language", None),
]


@pytest.mark.parametrize(("text", "labels", "official", "ours", "rule"), TABLE)
def test_the_table_of_the_specification(
    text: str, labels: tuple[str, ...], official: str | None, ours: str, rule: str | None
) -> None:
    assert official_label(text, labels) == official
    assert read_label(text, labels) == _expected(ours, rule)


@pytest.mark.parametrize(("text", "labels", "ours", "rule"), OURS)
def test_other_manners(text: str, labels: tuple[str, ...], ours: str, rule: str | None) -> None:
    assert read_label(text, labels) == _expected(ours, rule)


def _expected(ours: str, rule: str | None) -> LabelRead:
    return LabelRead(ours, rule) if rule else LabelRead(None, reason=ours)  # type: ignore[arg-type]


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
    assert (read.label is None) == (read.reason is not None) == (read.rule is None)
    assert read.label is None or read.label in labels


def test_a_long_answer_is_read_in_linear_time() -> None:
    assert read_label("yes or no, " * 20_000, TWO).reason == "ambiguous"
    assert read_label("not so " * 20_000 + "yes,yes" * 10_000, THREE).label in (YES, None)


@pytest.mark.realdata
def test_what_the_official_reader_makes_of_the_gold_conclusions() -> None:
    """Rule 8: a label in 69 of the 890, always "no", 20 of them with gold yes."""
    items = json.loads(real_file("pubmedqa/ori_pqal.json").read_text(encoding="utf-8")).values()
    read = [
        (official_label(item["LONG_ANSWER"], TWO), item["final_decision"])
        for item in items
        if item["final_decision"] != "maybe"
    ]
    labelled = [(label, gold) for label, gold in read if label]
    assert (len(read), len(labelled), {label for label, _ in labelled}) == (890, 69, {"no"})
    assert sum(gold == "yes" for _, gold in labelled) == 20
