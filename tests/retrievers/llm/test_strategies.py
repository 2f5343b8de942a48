"""Each strategy step by step: what was shown, under which numbers, and what became of the answers."""

import json
from functools import partial
from pathlib import Path

import pytest

from evidencebench_core.data import open_store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm.answers import Answer
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.retrievers.llm.retriever import calls_in, reasons_in
from evidencebench_core.retrievers.llm.strategies import overlapping_slices, section_indices
from tests.retrievers.llm.stand_in import Said, StandIn, asked, in_turn
from tests.retrievers.queries import KINDS, make_query

PAPER = ["Title", "We asked.", "We found.", "Methods", "Two groups.", "Results", "It fell.", "By 5 mmHg."]
TYPES = "saasnsnn"  # sections: (1, 2), (0,), (3, 4), (5, 6, 7)
QUERY = make_query(PAPER, TYPES, budget=2)
RESULTS = make_query(PAPER, TYPES, focus="results", budget=2)
LONG = [f"{index}" + "x" * 3999 for index in range(10)]  # 1,000 tokens each: well beyond 6,000
REFUSED = Answer("", "stop", refusal="I will not.")
CUT_OFF = Answer("First, the", "length")
made = partial(make_retriever, "llm", store=open_store("unopened"))


def test_cot_shows_the_whole_paper_from_zero() -> None:
    said = Answer("6: the effect\nDECISION: [6, 2]", "stop", None, 100, 10, 0.5, model="m-2026")
    client = in_turn(said)
    answer = asked(client, QUERY)
    assert client.shown == [[f"{index}: {text}" for index, text in enumerate(PAPER)]]
    assert "Tea lowers blood pressure." in client.prompts[0]
    assert "no more than 2 of the sentences" in client.prompts[0]
    assert answer.selection == answer.ranking == (6, 2)
    assert (answer.scores, answer.seconds) == ((2.0, 1.0), 0.5)
    assert (answer.details["outcome"], answer.details["strategy"]) == ("selection", "cot")
    assert json.dumps(dict(answer.details))
    assert answer.details["reasons"] == ["the effect", ""]
    assert reasons_in(answer) == {6: "the effect"}
    (call,) = calls_in(answer)
    assert (call.step, call.kind, call.answer) == ("whole paper", "selection", said)


def test_auto_takes_the_strategy_of_the_task() -> None:
    for focus, budget, strategy, prompt in (
        ("all", 4, "cot", "cot"),
        ("results", None, "unconstrained", "unconstrained-results"),
        ("all", None, "unconstrained", "unconstrained"),
        ("results", 4, "result-section", "result-section"),
    ):
        client = StandIn(lambda _: "DECISION: []")
        answer = asked(client, make_query(PAPER, TYPES, focus=focus, budget=budget))
        assert answer.details["strategy"] == strategy
        assert calls_in(answer)[0].prompt.split()[0] == prompt


def test_each_is_numbered_from_one_and_the_last_step_chooses() -> None:
    client = in_turn(
        "DECISION: [2]",  # abstract: We asked. 1, We found. 2  -> 2
        "DECISION: []",  # the title
        "DECISION: [1, 2]",  # Methods 1, Two groups. 2 -> 3, 4
        "1: finding\n3: size\nDECISION: [3, 2]",  # Results 1, It fell. 2, By 5 mmHg. 3 -> 7, 6
        "3: best\nDECISION: [5, 3]",  # 2, 3, 4, 6, 7 are 1 to 5 -> 7, 4
    )
    answer = asked(client, QUERY, strategy="section")
    assert client.shown == [
        ["1: We asked.", "2: We found."],
        ["1: Title"],
        ["1: Methods", "2: Two groups."],
        ["1: Results", "2: It fell.", "3: By 5 mmHg."],
        ["1: We found.", "2: Methods", "3: Two groups.", "4: It fell.", "5: By 5 mmHg."],
    ]
    assert all("no more than 2 of the sentences" in prompt for prompt in client.prompts)
    assert answer.selection == (7, 4)
    # The last step gave a reason for its 3, which is sentence 4; that for 7 is from its section.
    assert reasons_in(answer) == {7: "size", 4: "best"}
    steps = [*(f"section {number} of 4" for number in range(1, 5)), "final choice"]
    assert [call.step for call in calls_in(answer)] == steps
    assert answer.details["outcome"] == "selection"


@pytest.mark.parametrize(
    ("paper", "budget", "decisions", "candidates", "selection"),
    [
        # asked even if no more was found than is allowed
        (PAPER[:3], 3, ("[2]", "[1]"), ["1: We asked."], (1,)),
        # As text "10" stands before "9": sentence 9 is the first candidate all the same.
        ([f"S{i}." for i in range(12)], 2, ("[11, 10]", "[1]"), ["1: S9.", "2: S10."], (9,)),
        # a section that gives too many is not asked again: the last step chooses from all
        (["A.", "B.", "C."], 1, ("[1, 2, 3]", "[2]"), ["1: A.", "2: B.", "3: C."], (1,)),
        # [0, 3) [2, 5) [4, 7) [6, 10): sentence 2, found in two slices, is one candidate
        (LONG, 3, ("[3]", "[1]", "[]", "[]", "[1]"), [f"1: {LONG[2]}"], (2,)),
    ],
)
def test_the_last_step(
    paper: list[str], budget: int, decisions: tuple[str, ...], candidates: list[str], selection: object
) -> None:
    client = in_turn(*(f"DECISION: {decision}" for decision in decisions))
    answer = asked(client, make_query(paper, budget=budget), strategy="section")
    assert client.shown[-1] == candidates
    assert answer.selection == selection


@pytest.mark.parametrize("lost", ["Hard to say.", REFUSED, CUT_OFF])
def test_a_lost_section_is_reported(lost: Said) -> None:
    client = in_turn("DECISION: [1]", lost, "DECISION: []", "DECISION: [9]", "DECISION: [1]")
    answer = asked(client, QUERY, strategy="section")
    # "chose nothing" and "not shown" lose nothing that could be had; no list, a refusal and a cut do.
    assert (answer.selection, answer.details["outcome"]) == ((1,), "selection partly some-unknown")
    # Where nothing was found there is no last step, and "chose nothing" would say too much.
    client = in_turn("DECISION: []", "DECISION: []", "Hard to say.", "DECISION: [9]")
    answer = asked(client, QUERY, strategy="section")
    assert (answer.selection, answer.details["outcome"]) == ((), "no_list some-unknown")


def test_unconstrained_names_no_limit_and_never_asks_for_fewer() -> None:
    client = in_turn("DECISION: [0-7]")
    answer = asked(client, RESULTS, strategy="unconstrained")
    assert "no more than" not in client.prompts[0]
    assert answer.selection == tuple(range(8))
    assert answer.details["outcome"] == "selection over"


def test_too_many_are_asked_for_once_more() -> None:
    client = in_turn("1: why\n4: what\nDECISION: [1, 4, 6]", "DECISION: [4, 6]")
    answer = asked(client, QUERY)
    assert answer.selection == (4, 6)
    assert answer.details["outcome"] == "selection regenerated"
    assert reasons_in(answer) == {4: "what"}  # only the first answer had reasons
    first, second = (call.body["messages"] for call in client.asked)
    # user / assistant / user, behind the same beginning
    assert second[: len(first)] == first
    assert [message["role"] for message in second[-2:]] == ["assistant", "user"]
    assert second[-2]["content"] == "1: why\n4: what\nDECISION: [1, 4, 6]"
    assert "You have chosen 3 sentences, and no more than 2 are allowed" in second[-1]["content"]


def test_a_second_answer_that_does_not_help() -> None:
    for second, selection, kind in (
        ("DECISION: [1, 4, 6, 7]", (1, 4, 6, 7), "selection"),  # still too many: not again
        ("I am not sure.", (1, 4, 6), "no_list"),
    ):
        answer = asked(in_turn("DECISION: [1, 4, 6]", second), QUERY)
        assert answer.selection == selection
        assert answer.details["outcome"].startswith("selection over")
        assert [call.kind for call in calls_in(answer)] == ["selection", kind]


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({"temperature": "none"}, {"max_tokens": 1_024}),
        (
            {"max_tokens": 9, "reasoning_effort": "b"},
            {"max_tokens": 9, "temperature": 0.0, "reasoning_effort": "b"},
        ),
        ({"reasoning_effort": "a", "temperature": None}, {"max_tokens": 16_384, "reasoning_effort": "a"}),
        ({"extra_body": {"top": {"p": 1}}}, {"max_tokens": 1_024, "temperature": 0.0, "top": {"p": 1}}),
    ],
)
def test_what_is_sent(settings: dict[str, object], sent: dict[str, object]) -> None:
    client = in_turn("DECISION: [1]")
    asked(client, QUERY, **settings)
    body = client.asked[0].body
    assert body == {"model": "m", "messages": body["messages"], **sent}


def test_a_folder_of_prompts(tmp_path: Path) -> None:
    own = {"model": "m", "prompts": str(tmp_path)}
    for folder in tmp_path, tmp_path / "gone":
        with pytest.raises(SettingError, match=rf"has none of its prompts in prompts='{folder}'.*cot\.txt"):
            made(own | {"prompts": str(folder)})
    for body in ("Choose from\n$sentences", "For $hypothesis", "$hypothesis $sentences $aspect"):
        (tmp_path / "cot.txt").write_text(f"=== user ===\n{body}")
        with pytest.raises(SettingError, match="cannot stand"):
            made(own)
    for name, body in ("cot", "Theirs: $hypothesis $sentences"), ("regenerate", "Fewer!"):
        (tmp_path / f"{name}.txt").write_text(f"=== user ===\n{body}")
    theirs, ours = (set(made(s).basis["prompts"].split(", ")) for s in (own, {"model": "m"}))
    assert {text.split()[0] for text in theirs ^ ours} == {"cot", "regenerate"}  # the others are ours
    client = in_turn("DECISION: [1, 2, 3]", "DECISION: [1]")
    asked(client, QUERY, prompts=str(tmp_path))
    assert (client.prompts[0][:11], client.prompts[1]) == ("Theirs: Tea", "Fewer!")


def test_the_cost_of_a_call_is_that_of_the_batch_it_was_part_of() -> None:
    # 100 tokens of prompt at $2.50 and 40 of answer at $10 a million; half of it in a batch
    client = in_turn(Answer("DECISION: [0]", "stop", None, 100, 40, batch=True))
    (call,) = calls_in(asked(client, make_query(["a", "b"], focus="all", budget=1), model="gpt-4o"))
    assert call.cost == pytest.approx(0.00065 / 2)


@pytest.mark.parametrize(
    ("types", "sections"),
    [
        # Title heading 0, abstract 1-2, heading 3 with 4-5, heading 6 with 7: the abstract comes first and
        # heading 0 is a section of one.
        ("saasnnsn", [(1, 2), (0,), (3, 4, 5), (6, 7)]),
        # Abstract sentences are collected wherever they stand; those around them keep their section.
        ("nansna", [(1, 5), (0, 2), (3, 4)]),
        # Text before the first heading is a section of its own.
        ("nnsn", [(0, 1), (2, 3)]),
        ("", []),
    ],
)
def test_sections(types: str, sections: list[tuple[int, ...]]) -> None:
    assert section_indices([KINDS[letter] for letter in types]) == tuple(sections)


@pytest.mark.parametrize(
    ("n", "bounds"),
    [
        # .325 * 40 = 13, .225 * 40 = 9, .55 * 40 = 22, .45 * 40 = 18, .775 * 40 = 31, .675 * 40 = 27
        (40, [(0, 13), (9, 22), (18, 31), (27, 40)]),
        (10, [(0, 3), (2, 5), (4, 7), (6, 10)]),  # [0, 3.25) [2.25, 5.5) [4.5, 7.75) [6.75, 10), rounded down
        # .55 * 180 = 99.00000000000001 in floats, and exactly 11 * 180 / 20 = 99
        (180, [(0, 58), (40, 99), (81, 139), (121, 180)]),
        (0, []),
        (2, [(0, 1), (1, 2)]),  # [0, 0) [0, 1) [0, 1) [1, 2): the third is the second again
    ],
)
def test_slices(n: int, bounds: list[tuple[int, int]]) -> None:
    assert overlapping_slices(range(100, 100 + n)) == tuple(
        tuple(range(100 + low, 100 + high)) for low, high in bounds
    )
