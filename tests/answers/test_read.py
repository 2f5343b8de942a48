"""Files of answers: ours, MedAESQA's and those of BioACE's tasks (spec rules 44 to 51; faults C16, E4, E6)."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.answers.model import AnswerSet, Assessment
from evidencebench_core.answers.read import answer_set, counts, read_answers
from evidencebench_core.errors import DataError
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
ANSWER = {
    "kind": "answer",
    "question_id": "q1",
    "system": "M1",
    "answer": "Tea helps [12].",
    "accurate": True,
}
CLUSTERS = {
    "kind": "clusters", "question_id": "q1", "setting": "required", "name": "ST", "clusters": {"0": ["M1-1"]},
}  # fmt: skip
WHOLE = [QUESTION, DOCUMENT, {**ANSWER, "sentences": [SENTENCE]}, CLUSTERS]


def read(path: Path, value: object, name: str = "answers.jsonl", **options: Any) -> AnswerSet:
    """What is read from a file with these lines, or this JSON."""
    path = path / name
    path.write_text(
        "\n".join(map(json.dumps, value))
        if name.endswith("l") and isinstance(value, list)
        else json.dumps(value)
    )
    return answer_set(read_answers([path], **options))


def test_our_format(tmp_path: Path) -> None:
    answers = read(tmp_path, WHOLE)
    (sentence,) = answers.answers["q1", "M1"].sentences
    assert sentence.citations == ("12", "PAPER#17")
    assert sentence.relevance == "required"
    assert sentence.assessments[0] == Assessment("12", "supporting", "Tea helped.")
    assert sentence.relations("12") == ("supporting", "neutral")
    assert answers.documents["12"].title == "Tea"
    assert answers.questions["q1"].nuggets == ("tea helps",)
    assert answers.clusters[0].clusters == (frozenset({"M1-1"}),)
    assert read(tmp_path, list(reversed(WHOLE))).answers == answers.answers
    assert read(tmp_path, WHOLE, "answers.json") == answers
    found = counts(answers)
    assert (found["documents cited and not given"], found["assessments"], found["citations"]) == (1, 2, 2)


def test_the_smallest_file(tmp_path: Path) -> None:
    text = "Tea lowers pressure [11, 12]. It is hot. [13]"
    answers = read(
        tmp_path, [{"kind": "answer", "question_id": 7, "system": "a/b", "answer": text, "more": 1}]
    )
    answer = answers.answers["7", "a/b"]
    assert [(one.id, one.text, one.citations) for one in answer.sentences] == [
        ("1", "Tea lowers pressure.", ("11", "12")),
        ("2", "It is hot.", ("13",)),
    ]
    assert answer.id == "7/a%2Fb"
    assert (answer.accurate, answer.nuggets, answers.questions["7"].nuggets) == (None, None, None)
    trec = read(tmp_path, [{**ANSWER, "answer": text}], bracket="trec")
    assert trec.answers["q1", "M1"].sentences[1].citations == ()


def test_unknown_keys_and_the_split_stay_in_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({**ANSWER, "more": [1]}))
    ((place, line),) = read_answers([path])
    assert place == f"{path}, line 1"
    assert line["more"] == [1]
    assert line["sentences"] == [{"id": "1", "text": "Tea helps.", "citations": ["12"]}]


def test_a_list_of_citations_wins_over_brackets(tmp_path: Path) -> None:
    sentences = [
        {"text": "Tea [1]."},
        {"text": "Tea [1].", "citations": []},
        {"text": "Tea [2].", "citations": [3]},
    ]
    answer = read(tmp_path, [{**ANSWER, "sentences": sentences}]).answers["q1", "M1"]
    assert [one.citations for one in answer.sentences] == [("1",), (), ("3",)]


BAD: list[tuple[list[Any], str]] = [
    ([{**ANSWER, "kind": "reply"}], r"line 1, kind: is 'reply'\. Kinds are: question"),
    ([ANSWER, ANSWER], "line 2: is a second answer of 'M1' to question 'q1'"),
    ([{**ANSWER, "sentences": [SENTENCE, SENTENCE]}], "line 1, sentences: have the sentence id '1' twice"),
    (
        [{**ANSWER, "sentences": [{**SENTENCE, "relevance": "vital"}]}],
        r"sentences\[0\]\.relevance: is 'vital'",
    ),
    (
        [{**ANSWER, "sentences": [{"text": "x", "assessments": [{"document": "1", "relation": "good"}]}]}],
        r"assessments\[0\]\.relation: is 'good'\. Choices are: supporting, contradicting",
    ),
    (
        [{**ANSWER, "sentences": [{**SENTENCE, "citations": ["9"]}]}],
        "are of '12', which the sentence does not cite",
    ),
    (
        [*WHOLE[:3], {**CLUSTERS, "clusters": {"0": ["M1-2"]}}],
        "line 4, clusters: name 'M1-2', which no answer",
    ),
    ([{**CLUSTERS, "clusters": {"0": ["M1-2"], "1": ["M1-2"]}}], "have the answer sentence 'M1-2' twice"),
    ([{**CLUSTERS, "clusters": {"0": []}}], "is empty"),
    ([CLUSTERS, CLUSTERS], "a second time"),
    ([{**ANSWER, "system": ""}], "line 1, system: is ''"),
    ([{"kind": "answer", "question_id": "q1", "system": "M1"}], "line 1, answer: is missing"),
    ([{**ANSWER, "accurate": "perhaps"}], "accurate: is 'perhaps'"),
    ([{**ANSWER, "accurate": True, "nuggets": [1]}], r"nuggets\[0\]: is 1, not text"),
    ([QUESTION, {**QUESTION, "question": "Else?"}], "is 'Else\\?', and before 'Does tea help\\?'"),
    ([{**ANSWER, "answer": "\ud800"}], "cannot be kept"),
    ([["kind"]], "not an object"),
]


@pytest.mark.parametrize(("lines", "message"), BAD)
def test_what_is_wrong_is_named_with_line_field_and_value(
    tmp_path: Path, lines: list[Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, lines)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"3",
        b'{"kind": "answer"',
        b'{"a": {"b": 1}}',
        b'[{"x": 1}]',
        b"[" * 100_000,
        b'{"kind": "answer", "kind": "question"}',
        b"\xff\xfe",
        pickle.dumps({"kind": "answer"}),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DataError):
        read_answers([path])


@given(st.recursive(st.none() | st.booleans() | st.integers(0, 9) | st.text(max_size=3), lambda inner: (
    st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from([*ANSWER, *SENTENCE, "clusters", "metadata", "responses"]), inner)
)))  # fmt: skip
def test_nothing_but_a_data_error(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = tmp_path_factory.mktemp("hostile") / "x.json"
    for one in (value, [value], [{**ANSWER, "sentences": value}], [{**CLUSTERS, "clusters": value}]):
        path.write_text(json.dumps(one))
        try:
            read_answers([path])
        except DataError as error:
            assert str(path) in str(error)  # noqa: PT017


def test_medaesqa_and_its_clusters(tmp_path: Path) -> None:
    (tmp_path / "medaesqa_v1.json").write_text(json.dumps(main_file()))
    members = {"0": [{"answer_sentence_id": "M1-1"}], "1": [{"answer_sentence_id": "M8-2"}]}
    clusters = {"116": {"required_answer_sentences_cluster": members}}
    (tmp_path / "x_sim_cse_y.json").write_text(json.dumps(clusters))
    answers = answer_set(read_answers([tmp_path / "medaesqa_v1.json", tmp_path / "x_sim_cse_y.json"]))
    assert answers.clusters[0].name == "SimCSE"
    first = answers.answers["116", "M1"].sentences[0]
    assert (first.text, first.relevance, first.citations) == ("Sentence 1 [1001].", "required", ("1001",))
    assert answers.answers["116", "M1"].sentences[1].citations == ("1002", "1003", "1004")
    bad = main_file()
    bad[0]["machine_generated_answers"]["M2"]["answer_sentences"][2]["answer_sentence_relevance"] = "so so"
    with pytest.raises(DataError, match=r"question 116, M2, sentences\[2\]\.relevance: is 'so so'"):
        read(tmp_path, bad, "bad.json")
    bad[0]["machine_generated_answers"]["M2"]["is_answer_accurate"] = "maybe"
    with pytest.raises(DataError, match="M2, is_answer_accurate: is 'maybe'"):
        read(tmp_path, bad, "bad.json")


def test_files_of_the_two_tasks(tmp_path: Path) -> None:
    task_b = [{
        "metadata": {"topic_id": "116", "question": "Does tea help?", "answer": "Tea helps. It is hot."},
        "responses": [{"text": "Tea helps."}, {"text": "It is hot."}],
    }]  # fmt: skip
    nuggets = {"116": ["tea helps"]}
    (tmp_path / "gpt.json").write_text(json.dumps(task_b))
    (tmp_path / "nuggets.json").write_text(json.dumps(nuggets))
    abstracts = {"12": {"title": "Tea", "abstract": "Tea helped."}}
    (tmp_path / "abstracts.json").write_text(json.dumps(abstracts))
    names = ("gpt.json", "nuggets.json", "abstracts.json")
    answers = answer_set(read_answers([tmp_path / name for name in names]))
    assert [one.text for one in answers.answers["116", "gpt"].sentences] == ["Tea helps.", "It is hot."]
    assert answers.questions["116"].nuggets == ("tea helps",)
    assert answers.questions["116"].text == "Does tea help?"
    assert answers.documents["12"].text == "Tea helped."
    sentence = {
        "text": "Tea helps.", "supported_citations": [12, "0013"], "contradicted_citations": ["14"],
        "supported_citations_labels": {"12": "Supports", "13": "Neutral"},
    }  # fmt: skip
    task_a = read(tmp_path, [{"question": "Does tea help?", "answer": [sentence]}], "a.json", system="S")
    (found,) = task_a.answers["Does tea help?", "S"].sentences
    assert found.citations == ("12", "13", "14")
    assert (found.relations("12"), found.relations("14")) == (("supporting",), ())
    empty = read(tmp_path, [{"question": "Does tea help?", "answer": []}], "a.json", system="S")  # fault C16
    assert empty.answers["Does tea help?", "S"].sentences == ()
