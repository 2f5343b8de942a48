"""Files of answers: ours and MedAESQA's; what is wrong in them is named with its place."""

import json
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.answers.model import AnswerSet, Assessment
from evidencebench_core.answers.read import SAMPLE, counts, read_answers
from evidencebench_core.answers.store import ANSWER_SETS, Mark, add_answers, add_mark, marks, stored_answers
from evidencebench_core.data import open_store
from evidencebench_core.errors import DataError
from evidencebench_core.runs import RunStore
from tests.answers.judging import judge_run
from tests.answers.medaesqa import main_file

QUESTION = {"kind": "question", "question_id": "q1", "question": "Does tea help?", "nuggets": ["tea helps"]}
DOCUMENT = {"kind": "document", "document_id": "0012", "title": "Tea", "text": "Tea helped."}
SENTENCE = {
    "id": "1", "text": "Tea helps [12].", "citations": ["12", " 0012", "PAPER#17"], "relevance": " Required",
    "assessments": [
        {"document": "12", "relation": "Supporting", "excerpt": "Tea helped."},
        {"document": "12", "relation": "neutral"},
    ],
}  # fmt: skip
ANSWER = {"kind": "answer", "question_id": "q1", "system": "M1", "answer": "Tea helps [12]."}
CLUSTERS = {"question_id": "q1", "setting": "required", "name": "ST", "clusters": {"0": ["M1-1"]}}
WHOLE = [QUESTION, DOCUMENT, {**ANSWER, "sentences": [SENTENCE]}, {"kind": "clusters", **CLUSTERS}]


def read(folder: Path, value: list[Any], name: str = "answers.jsonl") -> AnswerSet:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, value)) if name.endswith("l") else json.dumps(value))
    return read_answers([path])


def test_our_format(tmp_path: Path) -> None:
    answers = read(tmp_path, WHOLE)
    (sentence,) = answers.answer["q1", "M1"].sentences
    assert sentence.citations == ("12", "PAPER#17")
    assert sentence.relevance == "required"
    assert sentence.assessments[0] == Assessment(document="12", relation="supports", excerpt="Tea helped.")
    assert sentence.relations("12") == ("supports", "neutral")
    assert sentence.claim == "Tea helps."
    assert answers.document["12"].whole == "Tea Tea helped."
    assert answers.question["q1"].nuggets == ("tea helps",)
    assert answers.clusters[0].metric == "recall R (ST)"
    assert read(tmp_path, WHOLE, "answers.json") == answers
    found = counts(answers)
    assert (found["documents cited and not given"], found["assessments"], found["citations"]) == (1, 2, 2)


def test_the_smallest_file_and_lists_of_citations(tmp_path: Path) -> None:
    line = {"kind": "answer", "question_id": 7, "system": "a/b", "more": 1}
    answers = read(tmp_path, [line | {"answer": "Tea lowers pressure [11, 12]. It is hot. [13]"}])
    answer = answers.answer["7", "a/b"]
    assert [sentence.text for sentence in answer.sentences] == ["Tea lowers pressure.", "It is hot."]
    assert [sentence.citations for sentence in answer.sentences] == [("11", "12"), ("13",)]
    assert (answer.accurate, answers.question["7"].nuggets) == (None, ())
    texts = [{"text": "Tea [1]."}, {"text": "Tea [1].", "citations": []}, {"text": "[2].", "citations": [3]}]
    first, second, third = read(tmp_path, [{**ANSWER, "sentences": texts}]).answer["q1", "M1"].sentences
    assert (first.citations, second.citations, third.citations) == (("1",), (), ("3",))  # lists win


def test_medaesqas_main_file(tmp_path: Path) -> None:
    in_file = counts(read(tmp_path, main_file(), "medaesqa_v1.json"))
    wanted = {"questions": 1, "systems": 9, "answers": 9, "sentences": 44, "sentences with a label": 39}
    assert in_file.items() >= {**wanted, "citations": 47, "assessments": 49}.items()


def test_files_of_biogen(tmp_path: Path) -> None:
    """Runs of tasks A and B, gold nuggets and abstracts, which make one set."""
    responses = [{"text": "Tea helps.", "citations": [12, "13"]}, {"text": "It is hot [14]."}]
    task_b = {"metadata": {"team_id": "t", "run_id": "r1", "topic_id": "116"}, "responses": responses}
    sentence = {
        "text": "Tea helps.", "supported_citations": [12, 15], "contradicted_citations": [16],
        "supported_citations_labels": {"12": "Supports", "15": "Not relevant"},
    }  # fmt: skip
    task_a = {"meta_data": {"qa_id": "116", "question": "Does tea help?"}, "answer": [sentence]}
    files = {
        "run.jsonl": task_b, "task_a.json": [task_a], "nuggets.json": {"116": ["tea helps", "it is hot"]},
        "abstracts.json": {"12": {"title": "Tea", "abstract": "Tea helped."}},
    }  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    answers = read_answers([tmp_path / name for name in files])
    assert answers.question["116"].question == "Does tea help?"
    assert answers.question["116"].nuggets == ("tea helps", "it is hot")
    assert answers.document["12"].whole == "Tea Tea helped."
    first, second = answers.answer["116", "r1"].sentences
    (labelled,) = answers.answer["116", "task_a"].sentences
    (against,) = answers.answer["116", "task_a (contradicting)"].sentences
    cited = [sentence.citations for sentence in (first, second, labelled, against)]
    assert cited == [("12", "13"), ("14",), ("12", "15"), ("16",)]
    assert [given.relation for given in labelled.assessments] == ["supports", "not relevant"]


OTHER = {"text": "x", "assessments": [{"document": "1", "relation": "good"}]}
BAD: list[tuple[list[Any], str]] = [
    ([{**ANSWER, "kind": "reply"}], r"line 1, kind is 'reply'\. Kinds are: question"),
    ([{**ANSWER, "kind": {}}], "line 1, kind is {}"),
    ([QUESTION, {**QUESTION, "nuggets": ["coffee"]}], "line 2 is a second question 'q1'"),
    ([ANSWER, {**ANSWER, "answer": "Else."}], r"line 2 is a second answer \('q1', 'M1'\)"),
    ([{**ANSWER, "sentences": [SENTENCE, SENTENCE]}], "line 1 .* two sentences have one id"),
    ([{**ANSWER, "sentences": [{**SENTENCE, "relevance": "vital"}]}], r"sentences\.0\.relevance is 'vital'"),
    ([{**ANSWER, "sentences": [OTHER]}], r"assessments\.0\.relation is 'good': .*'supports', 'contradicts'"),
    ([{**ANSWER, "sentences": [{**SENTENCE, "citations": ["9"]}]}], "'12', which the sentence does not cite"),
    ([{**ANSWER, "system": ""}], "line 1, system is ''"),
]


@pytest.mark.parametrize(("lines", "message"), BAD)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, lines: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, lines)


@pytest.mark.parametrize("content", ["3", '{"kind": "answer"', '{"q": 1}', '["x"]', '{"q": {"a": 1}}'])
def test_no_file_of_answers(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(DataError, match=r"a\.json"):
        read_answers([path])


def test_a_set_in_the_store(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    answers = read_answers([SAMPLE])
    info = add_answers(store, " tea\n", answers, "tea.jsonl")
    assert (info.name, info.counts["answers"], info.source) == ("tea", 18, "tea.jsonl")
    assert stored_answers(store, "tea") == answers
    assert add_answers(store, "again", answers) == info
    assert ANSWER_SETS.rename(store, "tea", "leaves").sha256 == info.sha256
    for unit, label in (("u", "supports"), ("v", "neutral"), ("u", "neutral"), ("v", "")):
        add_mark(store, info.sha256, Mark(unit, label, "Ana"))
    assert marks(store, info.sha256) == {"u": Mark("u", "neutral", "Ana")}
    judge_run(store, info.sha256, {"u": "supports"})
    ANSWER_SETS.delete(store, "leaves")
    assert (ANSWER_SETS.all(store), marks(store, info.sha256), RunStore(store).runs_of()) == ((), {}, ())
