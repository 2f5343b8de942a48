"""Alignment by a server that aligns by a known rule: every outcome of rule 12, and the instance that comes of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.construction import Alignment, alignment, alignment_figures, covers_of, windows
from evidencebench_core.construction.align import window_look
from evidencebench_core.data import ingest
from evidencebench_core.data.store import Store
from evidencebench_core.errors import BudgetReachedError, SettingError
from evidencebench_core.llm import LLM, Answer, AnswerCache, Budget, Connection, Limits
from evidencebench_core.llm.conversation import result_of
from evidencebench_core.runs import execute, request_settings
from evidencebench_core.runs.engines.batch import BatchEngine
from tests.construction.trials_folder import trials_folder
from tests.factories import raw_dataset, written
from tests.llm.server import Step, answering, reply, scripted

N = 23
GOLD = {"blood": (3, 7, 19), "weight": (0, 22)}


@pytest.fixture
def dataset(store: Store, tmp_path: Path) -> Store:
    """A paper of 23 sentences; a sentence covers an aspect if it holds the aspect's word."""
    ((name, raw),) = raw_dataset(1).items()
    words = {index: word for word, indices in GOLD.items() for index in indices}
    sentences = [f"Alpha{i} beta{i} gamma{i} {words.get(i, 'nothing')} of it." for i in range(N)]
    covering = {word: list(indices) for word, indices in GOLD.items()}
    inverse = {str(i): [word for word in GOLD if i in GOLD[word]] for i in range(N)}
    at = {"one_selection_of_sentences": [0, 3], "covered_aspects": list(GOLD)}
    raw = {
        **raw,
        "hypothesis": "Tea is good.",
        "paper_as_candidate_pool": sentences,
        "sentence_types_in_candidate_pool": ["normal_paragraph"] * N,
        "aspect_list_ids": list(GOLD),
        "results_aspect_list_ids": None,
        "aspect2sentence_indices": covering,
        "sentence_index2aspects": inverse,
        "evidence_retrieval_at_optimal_evaluation": {"optimal": 2, **at},
        "evidence_retrieval_at_10_evaluation": at,
        "results_evidence_retrieval_at_optimal_evaluation": None,
        "results_evidence_retrieval_at_5_evaluation": None,
        "aspect_texts": {"blood": "It is about blood", "weight": "It is about weight"},
    }
    ingest(store, written({name: raw}, tmp_path / "made.json"))
    return store


class Look:
    """What one request shows."""

    def __init__(self, sent: dict[str, Any]) -> None:
        text = next(one["content"] for one in sent["messages"] if one["role"] == "user")
        self.lines = dict(re.findall(r"^(\d+): (.*)$", text.partition("<sentences>")[2], re.MULTILINE))
        self.word = text.partition("<aspect>")[2].split()[3]
        self.first = int(next(iter(self.lines)))
        self.again = len(sent["messages"]) > 2
        self.max_tokens = sent.get("max_tokens")
        self.chosen = [int(index) for index, line in self.lines.items() if f" {self.word} " in line]

    def answer(self, shift: int = 0, echo: bool = True) -> str:
        lines = [
            f"{index - shift}: {' '.join(self.lines[str(index)].split()[:5])} - it says so"
            for index in self.chosen
            if echo
        ]
        return "\n".join([*lines, f"DECISION: {[index - shift for index in self.chosen]}"])


def aligned(
    store: Store, step: Callable[[Look], Step], profile: Any = "paper", **more: Any
) -> tuple[Alignment, int]:
    with scripted(answering(lambda sent: step(Look(sent)))) as server:
        llm = LLM(
            Connection(server.url, "s"),
            AnswerCache(store),
            more.pop("budget", None),
            Limits(first_wait=0.001),
        )
        made = alignment(store, "made", "m", profile)
        *_, _ = execute(made.plan(llm, **more))
        return made, len(server.requests)


def yes(made: Alignment) -> list[tuple[int, ...]]:
    return [looks.covering() for looks in made.looks().values()]


def test_the_looks_equal_the_rule(dataset: Store) -> None:
    made, n_calls = aligned(dataset, lambda look: reply(look.answer()))
    assert n_calls == 2 * len(windows(N)) == 10
    assert yes(made) == list(GOLD.values())
    assert covers_of(list(made.looks().values())) == tuple(map(frozenset, GOLD.values()))
    found = alignment_figures(made.looks(), complete=True, n_resamples=200)
    assert (found.n_judged, found.n_doubly_judged, found.cells) == (2, 2, (5, 0, 0, 2 * N - 5))
    assert (found.hit.value, found.reach.value, found.marks.value) == (1.0, 1.0, 2.5)
    assert found.repeat["kappa"] == 1.0
    assert aligned(dataset, lambda look: reply(look.answer()))[1] == 0  # nothing is asked twice
    careful, n_calls = aligned(dataset, lambda look: reply(look.answer()), "careful")
    assert n_calls == 12  # the first five once more; another server, so no answer is at hand
    assert yes(careful) == list(GOLD.values())


def test_a_model_that_counts_within_the_window(dataset: Store) -> None:
    made, _ = aligned(dataset, lambda look: reply(look.answer(shift=look.first)))
    assert yes(made) == list(GOLD.values())
    assert sum(one["n_mended"] for one in made.outcomes()) > 0


@pytest.mark.parametrize(
    "bad",
    ["Sentence 3, surely.", "DECISION: [99]", "3: Never said in this paper - so\nDECISION: [3]", ""],
)
def test_what_cannot_be_read_is_asked_once_more(dataset: Store, bad: str) -> None:
    made, n_calls = aligned(dataset, lambda look: reply(look.answer() if look.again else bad))
    assert yes(made) == list(GOLD.values())
    assert n_calls == 20
    assert all(len(one["keys"]) == 2 for one in made.outcomes())


def test_a_refusal_is_a_missing_look_and_asked_again_only_on_demand(dataset: Store) -> None:
    def refusing(look: Look) -> Step:
        return reply("I'm sorry, I can't." if look.first == 0 and look.word == "blood" else look.answer())

    made, n_calls = aligned(dataset, refusing)
    blood, weight = made.looks().values()
    assert (n_calls, blood.unjudged, weight.is_judged) == (10, (0, 1, 2, 3, 4), True)
    with pytest.raises(SettingError, match="5 sentences without a look"):
        covers_of([blood, weight])
    found = alignment_figures(made.looks(), complete=True, n_resamples=50)
    assert (found.n_judged, found.n_missing) == (1, 10)
    assert aligned(dataset, lambda look: reply(look.answer()))[1] == 0
    made, n_calls = aligned(dataset, lambda look: reply(look.answer()), retry_lost=True)
    assert (n_calls, yes(made)) == (1, list(GOLD.values()))


def test_an_answer_that_was_cut_off_gets_twice_the_room(dataset: Store) -> None:
    def short(look: Look) -> Step:
        return reply(look.answer()) if look.max_tokens == 800 else reply("4: Alpha", finish_reason="length")

    made, n_calls = aligned(dataset, short)
    assert (n_calls, yes(made)) == (20, list(GOLD.values()))


def test_a_cap_is_reached_and_raised(dataset: Store) -> None:
    with pytest.raises(BudgetReachedError):
        aligned(dataset, lambda look: reply(look.answer()), budget=Budget(calls=4))
    made, n_calls = aligned(dataset, lambda look: reply(look.answer()))
    assert (n_calls, yes(made)) == (6, list(GOLD.values()))  # exactly the calls that were lacking


ONE = tuple(f"Alpha{i} beta{i} gamma{i} of it." for i in range(20))


@pytest.mark.parametrize(
    ("said", "yes", "n_unknown"),
    [
        ("DECISION: [6, 16]", (6,), 1),  # in the paper, not in the window
        ("DECISION: [6, 99]", (6,), 1),  # in neither
        ("DECISION: [-6]", None, 1),
        ("Counting from 1: sentence 7.\n7: Alpha6 beta6 gamma6 of it - so\nDECISION: [7]", (6,), 0),
        ("1: Alpha6 beta6 gamma6 of it - so\nDECISION: [1]", (6,), 0),  # counted within the window
        ("DECISION: [13-16]", (13, 14), 2),
        ("DECISION: [6]\nOr rather:\nDECISION: [7]", (7,), 0),
        ("The seventh one says so.", None, 0),
        ("", None, 0),
        ("la " * 3_500_000, None, 0),
        ("DECISION: [2]", None, 1),  # the number of the aspect
        ("DECISION: [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]", tuple(range(5, 15)), 0),
        ('{"decision": [6, 7]}', (6, 7), 0),
        ("Die Aussage steht in Satz 6.\nDECISION: [6]", (6,), 0),
        ("6: Alpha6 beta6 gamma6 of it - dit\nD\u00c9CISION : rien", None, 0),
    ],
)
def test_answers_of_every_kind(said: str, yes: tuple[int, ...] | None, n_unknown: int) -> None:
    """Edge case 86, for the window [5, 15) of 20 sentences; `None`: no look, and asked once more."""
    sent: list[Any] = []

    def answer(ask: Any) -> Answer:
        sent.append(ask.request)
        return Answer(said, "stop")

    settings = {"model": "m", "profile": "paper", **request_settings({}, 400)}
    look = result_of(window_look(settings, "It fell.", "A summary.", ONE, (5, 15)), answer)
    assert look["failed"] is (yes is None)
    assert (tuple(look["yes"]), look["n_unknown"]) == (yes or (), n_unknown)
    assert len(sent) == (2 if yes is None else 1)
    assert len(look["text"]) <= 20_000
    assert all(len(str(one.body())) < 30_000 for one in sent)


def test_batches_out_and_in_equal_local(dataset: Store, tmp_path: Path) -> None:
    import json

    from tests.llm.server import completion

    made = alignment(dataset, "made", "m")
    llm = LLM(Connection("http://127.0.0.1:9/v1", "s"), AnswerCache(dataset))
    engine = BatchEngine(out=tmp_path / "out", into=())
    *_, _ = execute(made.plan(llm), engine)
    requests = [json.loads(line) for path in engine.written for line in path.read_text().splitlines()]
    assert len(requests) == 10
    results = tmp_path / "results.jsonl"
    results.write_text(
        "\n".join(
            json.dumps(
                {
                    "custom_id": one["custom_id"],
                    "response": {"status_code": 200, "body": completion(Look(one["body"]).answer())},
                }
            )
            for one in reversed(requests)
        )
    )
    *_, _ = execute(made.plan(llm), BatchEngine(out=None, into=(results,)))
    assert yes(made) == list(GOLD.values())


def test_the_released_files_have_no_texts(store: Store, tmp_path: Path) -> None:
    raws = raw_dataset(2)
    for raw in raws.values():
        raw.pop("aspect_texts", None)
    ingest(store, written(raws, tmp_path / "made.json"))
    with pytest.raises(SettingError, match="ids alone"):
        alignment(store, "made", "m")
    with pytest.raises(SettingError, match="profile"):
        alignment(store, "made", "m", "none")  # type: ignore[arg-type]


def test_swapped_outcomes_are_of_other_papers(store: Store, tmp_path: Path) -> None:
    from evidencebench_core.construction import TrialTally, read_trials, trial_instances

    folder = trials_folder(tmp_path / "annotations")
    text = (folder / "xml_files" / "PMC101.nxml").read_text()
    (folder / "xml_files" / "PMC102.nxml").write_text(text.replace(">101<", ">102<"))
    raws = dict(trial_instances(read_trials(folder), "ei", TrialTally()))
    ingest(store, written(raws, tmp_path / "made.json"))
    plain, swapped = alignment(store, "made", "m"), alignment(store, "made", "m", swapped=1)
    assert plain.spec.id != swapped.spec.id
    assert len(plain.aspects) == len(swapped.aspects) == 4
    of_101 = {"Blood pressure", "heart rate", "headache"}
    for before, after in zip(plain.aspects, swapped.aspects, strict=True):
        assert before.key != after.key
        if after.paper_id == "pmc_102":
            assert any(after.text.endswith(one) for one in of_101)
        assert after.text in after.summary
