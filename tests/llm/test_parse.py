"""Answers of models -> indices, reasons, labels, or why there are none."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.llm.parse import (
    after_thinking,
    index_list,
    no_answer_reason,
    read_answer,
    read_label,
)

MANNERS = tomllib.loads(Path(__file__).with_name("manners.toml").read_text("utf-8"))["answer"]
SHOWN = range(40)


@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner["family"])
def test_the_manners_of_models(manner: dict[str, Any]) -> None:
    first = manner.get("first", 0)
    answer = read_answer(manner["text"], range(first, first + 40), finish_reason=manner.get("finish_reason"))
    assert answer.kind == manner.get("kind", "selection")
    assert list(answer.indices) == manner.get("chosen", [])


@pytest.mark.parametrize(
    ("text", "indices"),
    [
        ('{"reasons": [{"index": 3, "reason": "effect"}], "indices": [3, "7"]}', (3, 7)),
        ('```json\n[{"index": 3}, {"index": 7}]\n```', (3, 7)),
        ("DECISION: 3, 5 and 7", (3, 5, 7)),
        ("DECISION:\n- 3\n- 7", (3, 7)),
        ("DECISION: [3], [7]", (3, 7)),
        ("DECISION: [9-12, 3, 3]", (9, 10, 11, 12, 3)),
        ("DECISION: [1]\nOn reflection:\nDECISION: [2]", (2,)),
        ("See [12] of the paper.\n\nI choose [3, 7].", (3, 7)),
    ],
)
def test_where_the_list_is(text: str, indices: tuple[int, ...]) -> None:
    assert read_answer(text, SHOWN).indices == indices


@pytest.mark.parametrize(
    ("text", "further", "kind"),
    [
        ("DECISION: none", {}, "empty"),
        ("DECISION: [77]", {}, "unknown"),
        ("DECISION: [index, index, ...]", {}, "no_list"),
        ("It is hard to say: 12 patients died (p < 0.05).", {}, "no_list"),
        ("", {"refusal": "No."}, "refusal"),
        ("", {"finish_reason": "content_filter"}, "refusal"),
        ("<think>DECISION: [1]", {}, "cut_off"),
    ],
)
def test_why_nothing_was_chosen(text: str, further: dict[str, Any], kind: str) -> None:
    answer = read_answer(text, SHOWN, **further)
    assert (answer.kind, answer.indices) == (kind, ())


def test_numbers_that_were_not_shown_are_counted() -> None:
    assert read_answer("DECISION: [3, 99, 38-41]", SHOWN).n_unknown == 1 + 2
    assert read_answer(f"DECISION: [{10**8}]", SHOWN).kind == "unknown"


def test_reasons_stand_on_lines_of_their_own() -> None:
    text = "3: the effect\n- **7**: its size\n9: not chosen\nDECISION: [3, 7, 8]"
    assert read_answer(text, SHOWN).reasons == {3: "the effect", 7: "its size"}
    thoughts = read_answer("DECISION: [8]", SHOWN, thoughts="8: found while thinking")
    assert thoughts.reasons == {8: "found while thinking"}
    assert read_answer("3, 5, 7", SHOWN).reasons == {}


def test_answers_to_other_prompts() -> None:
    assert after_thinking("<think>a</think>b") == "b"
    assert after_thinking("<think>a") is None
    assert no_answer_reason("Yes.") is None
    assert index_list("sentences 3 and S12, 9-10") == [range(3, 4), range(12, 13), range(9, 11)]
    assert index_list("see Smith 2020 et al.") is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("**Yes**, because", "yes"),
        ("1. Yes", "yes"),
        ("(no)", "no"),
        ("No\n\nEvidence is thin", "no"),
        ("No, it does not", "no"),
        ("Answer: [No]", "no"),
        ('{"answer": "Yes"}', "yes"),
        ("<answer>no</answer>", "no"),
        ("There was no difference, so the answer is yes", "yes"),
        ("No significant effect was found. Answer: Yes", "yes"),
        ("Please answer Yes or No.\nAnswer: No.", "no"),
        ("Answer: yes. On reflection, my final answer is: **no**", "no"),
        ("I would say yes, as no harm was seen", "yes"),
        ("<think>It could be yes or no.</think>\nNo.", "no"),
        ("Unknown: the text is about tea.", "unknown"),
        ("I don't know", "unknown"),
        ("The context does not provide enough information.", "unknown"),
        ("There is not enough information to say yes", None),
        ("Yes, no or unknown", None),
        ("Yes/No", None),
        ("No evidence supports this", None),
        ("See table no. 5 of the trial", None),
        ("<think>It is yes, I", None),
        ("", None),
    ],
)
def test_the_label_of_an_answer(text: str, label: str | None) -> None:
    assert read_label(text, ("yes", "no", "unknown")) == label
