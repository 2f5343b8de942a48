"""Answers as models give them, each with what its author chose, read by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.llm import parsed, parsed_aspects, parsed_hypothesis
from tests.llm import manners

SHOWN = range(30)  # indices 0 to 29, as in a prompt that counts from 0

SELECTIONS: list[tuple[str, tuple[int, ...]]] = [
    # as asked for, and nearly
    ("DECISION: [3, 7]", (3, 7)),
    ("I looked.\n\n3: effect\n7: size\n\nDECISION: [3, 7]", (3, 7)),
    ("DECISION: [7, 3]", (7, 3)),
    ("DECISION:[3,7]", (3, 7)),
    ("DECISION : [ 3 , 7 ]", (3, 7)),
    ("decision: [3, 7]", (3, 7)),
    ("Decision: [3, 7].", (3, 7)),
    ("DECISION\n[3, 7]", (3, 7)),
    ("DECISION:\n\n[3, 7]\n", (3, 7)),
    ("DECISION: [3, 7,]", (3, 7)),
    ("DECISION: [3,, 7]", (3, 7)),
    ("DECISION: [3; 7]", (3, 7)),
    ("DECISION: [3 7]", (3, 7)),
    ("DECISION: [\n  3,\n  7\n]", (3, 7)),
    ("DECISION: [\n  3\n  7\n]", (3, 7)),
    ("DECISION: [3, 7, 3]", (3, 7)),
    ("DECISION = [3, 7]", (3, 7)),
    ("DECISION: [+3, 07]", (3, 7)),
    ("The final decision is: [3, 7]", (3, 7)),
    ("DECISION: The sentences I choose are [3, 7].", (3, 7)),
    # fences, bold, LaTeX, tables
    ("**DECISION:** [3, 7]", (3, 7)),
    ("**DECISION: [3, 7]**", (3, 7)),
    ("DECISION: **[3, 7]**", (3, 7)),
    ("DECISION: [**3**, **7**]", (3, 7)),
    ("### DECISION:\n`[3, 7]`", (3, 7)),
    ("```\nDECISION: [3, 7]\n```", (3, 7)),
    ("DECISION:\n```json\n[3, 7]\n```", (3, 7)),
    ("```python\nDECISION: [\n 3,  7 ]\n```", (3, 7)),
    (r"DECISION: $\boxed{[3, 7]}$", (3, 7)),
    (r"DECISION: \[3, 7\]", (3, 7)),
    ("> DECISION: [3, 7]", (3, 7)),
    # ranges
    ("DECISION: [3-5, 7]", (3, 4, 5, 7)),
    ("DECISION: [3 - 5, 7]", (3, 4, 5, 7)),
    ("DECISION: [3–5]", (3, 4, 5)),
    ("DECISION: [3 to 5]", (3, 4, 5)),
    ('DECISION: ["3-5", "7"]', (3, 4, 5, 7)),
    ("DECISION: [3..5]", (3, 4, 5)),
    # words, quotes, floats, labels
    ("DECISION: [index 3, index 7]", (3, 7)),
    ("DECISION: [Index: 3, Index: 7]", (3, 7)),
    ("DECISION: [sentence 3, Sentence 7]", (3, 7)),
    ("DECISION: [#3, #7]", (3, 7)),
    ("DECISION: [S3, S7]", (3, 7)),
    ("DECISION: ['3', '7']", (3, 7)),
    ('DECISION: ["3", "7"]', (3, 7)),
    ("DECISION: [3.0, 7.0]", (3, 7)),
    ("DECISION: [three, seven, twenty-one]", (3, 7, 21)),
    ("DECISION: [3, and 7]", (3, 7)),
    ("DECISION: [3 and 7]", (3, 7)),
    ("DECISION: [3 (the effect, 12 mg), 7 (its size)]", (3, 7)),
    ('DECISION: ["3: dose of 12 mg, given 5 times", "7: n = 9"]', (3, 7)),
    # JSON
    ('{"DECISION": [3, 7]}', (3, 7)),
    ('```json\n{"reasoning": "x [9]", "decision": [3, 7]}\n```', (3, 7)),
    ('DECISION: [{"index": 3, "why": "12 mg [5]"}, {"index": 7, "why": "b"}]', (3, 7)),
    ('{"decision": {"indices": [3, 7]}}', (3, 7)),
    ("DECISION: [[3], [7]]", (3, 7)),
    ("DECISION: [[3, 7]]", (3, 7)),
    # several lists, prose around
    ("DECISION: [1, 2]\nWait, better:\nDECISION: [3, 7]", (3, 7)),
    ("DECISION: [3, 7]\n\nThese cover the effect. My decision rests on the trial [12].", (3, 7)),
    ("DECISION: [3, 7] (in order of weight; see also [9])", (3, 7)),
    ("DECISION: [3, 7]\nNote: sentence [9] is background.", (3, 7)),
    ("DECISION: [3, 7]\n\n[9]: left out on purpose", (3, 7)),
    ("DECISION: [3], [7]", (3, 7)),
    ("DECISION: [3] [7]", (3, 7)),
    ("I first thought of DECISION: [1]; no.\nDECISION: [3, 7]", (3, 7)),
    ("The form is DECISION: [index, index, ...].\nDECISION: [3, 7]", (3, 7)),
    ("DECISION: [3, 7]\nDECISION: [index, index, ...]", (3, 7)),
    ("<think>maybe DECISION: [1, 2]</think>DECISION: [3, 7]", (3, 7)),
    # no brackets
    ("DECISION: 3, 7", (3, 7)),
    ("DECISION: 3, 5 and 7.", (3, 5, 7)),
    ("DECISION: 3-5", (3, 4, 5)),
    ("DECISION:\n- 3\n- 7", (3, 7)),
    ("DECISION:\n3\n7\n\nThat is all 2 of them.", (3, 7)),
    ("DECISION: (3, 7)", (3, 7)),
    ("DECISION: {3, 7}", (3, 7)),
    ("DECISION: 3", (3,)),
    # the word forgotten, the list alone at the end
    ("[3, 7]", (3, 7)),
    ("I read [12] and [13].\n\n[3, 7]", (3, 7)),
    ("Final answer: [3, 7]", (3, 7)),
    ("Because of this.\n**Selected indices:** [3, 7]", (3, 7)),
    ("```json\n[3, 7]\n```", (3, 7)),
    # counting said outright
    ("DECISION (1-based): [4, 8]", (3, 7)),
    ("DECISION: [4, 8] (1-based)", (3, 7)),
    ("DECISION (0-based): [3, 7]", (3, 7)),
    # other languages, other type
    ("Entscheidung: [3, 7]", (3, 7)),
    ("DÉCISION : [3, 7]", (3, 7)),
    ("DECISIÓN: [3, 7]", (3, 7)),
    ("理由は次の通りです。\nDECISION：［3、7］", (3, 7)),
    ("决定：【3，7】", (3, 7)),
    ("Решение: [3, 7]", (3, 7)),
    ("DECISION: [３, ７]", (3, 7)),
    ("DECISION: [Satz 3, Satz 7]", (3, 7)),
    ("DECISION: [3 und 7]", (3, 7)),
    ("DECISION:\u00a0[3,\u00a07]\ufeff", (3, 7)),
    ("DECISION: [3, 7]\r\n", (3, 7)),
]

WITH_UNKNOWN: list[tuple[str, tuple[int, ...], int]] = [
    ("DECISION: [3, 99]", (3,), 1),
    ("DECISION: [3, -1]", (3,), 1),
    ("DECISION: [3, 3.5]", (3,), 1),
    ("DECISION: [3, 28-31]", (3, 28, 29), 2),
    ("DECISION: [3, 5-4]", (3,), 1),
    ("DECISION: [3, banana]", (3,), 1),
    ("DECISION: [0-999999999]", tuple(range(30)), 999_999_970),
    (f"DECISION: [3, {'9' * 5_000}]", (3,), 1),
    ("DECISION: [99, 100]", (), 2),
    ("DECISION: [-3]", (), 1),
    ('DECISION: [{"index": 3}, {"why": "none"}]', (3,), 1),
]

WITHOUT: list[tuple[str, str]] = [
    ("DECISION: []", "empty"),
    ("DECISION: [ ]", "empty"),
    ("**DECISION:** `[]`", "empty"),
    ("DECISION: none", "empty"),
    ("DECISION: [None]", "empty"),
    ("DECISION: none of the sentences.", "empty"),
    ("DECISION: N/A", "empty"),
    ("[]", "empty"),
    ("", "no_list"),
    ("Sentences 3 and 7 look good.", "no_list"),
    ("As Smith [3] says, so does Jones [7], tea helps.", "no_list"),
    ("It was shown in 12 patients [3, 7]. More is not known.", "no_list"),
    ("DECISION: [index, index, ...]", "no_list"),
    ("DECISION: see Smith et al. [Smith 2010]", "no_list"),
    ("DECISION: the effect of 12 mg in 7 patients", "no_list"),
    ("The indecision: [3, 7] was theirs, said he.", "no_list"),
    ("DECISION: [3, 7", "cut_off"),
    ("DECISION: [3,", "cut_off"),
    ("<think>DECISION: [3, 7] could be", "cut_off"),
    ("I'm sorry, but I can't help with that.", "refusal"),
    ("I’m sorry, I cannot give medical advice.", "refusal"),
    ("很抱歉，我无法完成。", "refusal"),
    ("As an AI I must not choose.", "refusal"),
]


@pytest.mark.parametrize(("text", "chosen"), [*SELECTIONS, *manners.SELECTIONS])
def test_selections(text: str, chosen: tuple[int, ...]) -> None:
    answer = parsed(text, SHOWN)
    assert (answer.kind, answer.indices, answer.n_unknown) == ("selection", chosen, 0)


@pytest.mark.parametrize(("text", "chosen", "n_unknown"), [*WITH_UNKNOWN, *manners.WITH_UNKNOWN])
def test_indices_that_were_not_shown(text: str, chosen: tuple[int, ...], n_unknown: int) -> None:
    answer = parsed(text, SHOWN)
    assert (answer.indices, answer.n_unknown) == (chosen, n_unknown)
    assert answer.kind == ("selection" if chosen else "unknown")


@pytest.mark.parametrize(("text", "kind"), [*WITHOUT, *manners.WITHOUT])
def test_no_selection(text: str, kind: str) -> None:
    answer = parsed(text, SHOWN)
    assert (answer.kind, answer.indices, answer.n_unknown) == (kind, (), 0)


def test_what_the_server_says_tells_why_there_is_no_list() -> None:
    assert parsed("3: the eff", SHOWN, finish_reason="length").kind == "cut_off"
    assert parsed("", SHOWN, finish_reason="content_filter").kind == "refusal"
    assert parsed("", SHOWN, refusal="No.").kind == "refusal"
    # a list that is whole counts, whatever the server says
    assert parsed("DECISION: [3]", SHOWN, finish_reason="length").kind == "selection"


def test_a_prompt_that_counts_from_one() -> None:
    shown = range(1, 11)
    assert parsed("DECISION: [0, 1, 10, 11]", shown).indices == (1, 10)
    assert parsed("DECISION (1-based): [1, 10]", shown).indices == (1, 10)
    said = parsed("0: the aim\nDECISION (0-based indices): [0, 9]", shown)
    assert (said.indices, said.shifted, said.reasoning_by_index) == ((1, 10), 1, {1: "the aim"})


def test_a_thousand_indices() -> None:
    numbers = list(range(0, 5_000, 2))
    assert parsed(f"DECISION: {numbers}", range(5_000)).indices == tuple(numbers)
    assert parsed(f"DECISION: {numbers}", frozenset(range(2_500))).n_unknown == 1_250


def test_reasons() -> None:
    text = (
        "Steps:\n1. First I read it.\n"
        "3: says that 12 mg worked\n- **Sentence 5**: its size\n[7] - the control\n"
        "8, 9: both name the cohort\nThe dose is in sentence 11, clearly.\n3: and for how long\n"
        "DECISION: [3, 5, 7, 8, 9, 11, 12, 1]"
    )
    answer = parsed(text, SHOWN)
    assert answer.reasoning_by_index == {
        3: "says that 12 mg worked\nand for how long",
        5: "its size",
        7: "the control",
        8: "both name the cohort",
        9: "both name the cohort",
        11: "The dose is in sentence 11, clearly.",
    }


def test_reasons_from_a_table_and_from_a_list_below_the_word() -> None:
    table = "| Index | Why |\n|---|---|\n| 3 | the effect |\n| 7 | its size |\n\nDECISION: [3, 7]"
    assert parsed(table, SHOWN).reasoning_by_index == {3: "the effect", 7: "its size"}
    bullets = "DECISION:\n- **Sentence 3**: the effect\n- Sentence 7 - its size"
    assert parsed(bullets, SHOWN).reasoning_by_index == {3: "the effect", 7: "its size"}


def test_thoughts_give_reasons_and_choose_nothing() -> None:
    thoughts = "3: the effect, I think\n7: small\nDECISION: [9]"
    answer = parsed("7: its size\nDECISION: [3, 7]", SHOWN, thoughts=thoughts)
    assert answer.indices == (3, 7)
    assert answer.reasoning_by_index == {3: "the effect, I think", 7: "its size"}
    assert parsed("", SHOWN, thoughts=thoughts).kind == "no_list"


@given(
    st.lists(st.integers(0, 60), max_size=40),
    st.sampled_from(
        ["DECISION: {}", "**Decision:** {}", "```\nDECISION:\n{}\n```", "x [9] y\nDECISION = {} done"]
    ),
    st.sampled_from([", ", ",", " , ", ";", ",\n", "、"]),
    st.sampled_from(["{}", '"{}"', "'{}'", "index {}", "**{}**", "{}.0", "#{}"]),
)
def test_any_list_in_any_form(chosen: list[int], frame: str, comma: str, form: str) -> None:
    text = frame.format("[" + comma.join(form.format(index) for index in chosen) + "]")
    answer = parsed(text, SHOWN)
    assert answer.indices == tuple(dict.fromkeys(index for index in chosen if index < 30))
    assert answer.n_unknown == sum(index >= 30 for index in chosen)


@given(
    st.text(alphabet=st.sampled_from("DECISION: []()\"'0123456789,-*`\n{}<think>/abc：［】"), max_size=300)
)
def test_nothing_is_invented(text: str) -> None:
    answer = parsed(text, SHOWN)
    assert set(answer.indices) <= set(SHOWN)
    assert len(set(answer.indices)) == len(answer.indices)
    assert (answer.kind == "selection") == bool(answer.indices)
    if not any(mark.isdigit() for mark in text):
        assert answer.kind != "selection"
    assert set(answer.reasoning_by_index) <= set(answer.indices)


@given(st.text(max_size=200))
def test_any_text_at_all(text: str) -> None:
    parsed(text, SHOWN)
    parsed_aspects(text)
    parsed_hypothesis(text)


def test_aspects() -> None:
    text = "Thinking.\nASPECTS:\n- dose of the drug\n2. **size of the effect**\n\n* harms\n- harms\nThat is all.\n- no"
    assert parsed_aspects(text) == ("dose of the drug", "size of the effect", "harms")
    assert parsed_aspects(text, limit=1) == ("dose of the drug",)
    assert parsed_aspects("- dose") == ()
    assert parsed_aspects("ASPECTS: none") == ()


@pytest.mark.parametrize(
    "text",
    [
        "## ASPECTS\n- dose\n- harm",
        "**ASPECTS**\n1. dose\n2. harm",
        "**ASPECTS:**\n1) **dose**\n2) harm",
        "Two aspects matter.\nASPECTS:\n\n* dose\n* harm\n\nDone.",
    ],
)
def test_aspects_under_a_heading(text: str) -> None:
    assert parsed_aspects(text) == ("dose", "harm")


@pytest.mark.parametrize(
    ("text", "hypothesis"),
    [
        ("HYPOTHESIS: Tea raises blood pressure.", "Tea raises blood pressure."),
        ('Old hypothesis: x.\n**HYPOTHESIS:** "Tea raises it."\nDone.', "Tea raises it."),
        ("<think>HYPOTHESIS: no</think>\nHYPOTHESIS:\nTea raises it.", "Tea raises it."),
        ("Tea raises it.", None),
        ("HYPOTHESIS:", None),
        ("<think>HYPOTHESIS: no", None),
    ],
)
def test_hypotheses(text: str, hypothesis: str | None) -> None:
    assert parsed_hypothesis(text) == hypothesis
