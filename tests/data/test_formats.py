"""Files of the other formats, in the shape that their authors document, and wrong files of all kinds."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.formats import read_instances, released_record
from evidencebench_core.data.ingestion import ingest
from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, SettingError
from tests.data.conftest import content
from tests.factories import raw_dataset, raw_instance

SENTENCES = [
    "Abstract",
    "Tea lowered blood pressure.",
    "Methods",
    "We weighed 40 adults.",
    "Nobody was harmed.",
]
RECORD: dict[str, Any] = {"hypothesis": "Tea helps.", "sentences": SENTENCES, "evidence": [[1, 3], 4]}


def instances(folder: Path, value: object, name: str = "mine.json") -> list[Instance]:
    """Those of a file: of JSON, of lines where it is a list of texts, or of a text."""
    if isinstance(value, bytes):
        (folder / name).write_bytes(value)
    else:
        (folder / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return list(read_instances(folder / name))


def covered(instance: Instance) -> list[tuple[int, ...]]:
    return [aspect.sentence_indices for aspect in instance.evidence.aspects]


def test_a_record_in_every_spelling_is_the_same_instance(tmp_path: Path) -> None:
    (plain,) = instances(tmp_path, [RECORD])
    assert (plain.id, plain.hypothesis, plain.sentences) == ("mine-1", "Tea helps.", tuple(SENTENCES))
    assert covered(plain) == [(1, 3), (4,)]
    assert plain.evidence.optimal == 2
    assert instances(tmp_path, json.dumps(RECORD, indent=1)) == [plain]
    assert instances(tmp_path, f"{json.dumps(RECORD)}\n{json.dumps(RECORD)}\n")[0] == plain
    assert instances(tmp_path, {"mine-1": RECORD}) == [plain]
    cells = f'hypothesis,sentences,evidence\nTea helps.,{"|".join(SENTENCES)},"[[1, 3], 4]"\n'
    for table in (cells, "\ufeff" + cells, cells.replace(",", "\t").replace("1\t 3]\t 4", "1, 3], 4")):
        assert instances(tmp_path, table, "mine.csv") == [plain]
    assert instances(tmp_path, gzip.compress(cells.encode()), "mine.csv") == [plain]
    assert (
        instances(tmp_path, cells.replace('"[[1, 3], 4]"', "1 | 4"))[0].evidence.aspects[1].id
        == "mine-1_aspect_1"
    )


def test_every_key(tmp_path: Path) -> None:
    extra = {
        "id": 7, "paper_id": "PMC1", "aspects": ["Pressure", "Harm"], "is_result": [True, False], "label": "SUPPORT",
        "sections": ["Abstract", "Abstract", "Methods", "Methods", "Results"],
        "paraphrases": {"plain": "It helps."}, "negation": "It does not.", "construction": {"by": "us"},
    }  # fmt: skip
    (instance,) = instances(tmp_path, [RECORD | extra])
    assert (instance.id, instance.paper_id, instance.negation) == ("7", "PMC1", "It does not.")
    assert instance.sentence_types == (
        "section_name", "abstract", "section_name", "normal_paragraph", "normal_paragraph"
    )  # fmt: skip
    assert instance.sections == ("Abstract", "Abstract", "Methods", "Methods", "Results")
    assert [(a.text, a.is_result) for a in instance.evidence.aspects] == [("Pressure", True), ("Harm", False)]
    assert (instance.evidence.optimal, instance.evidence.results_optimal) == (2, 1)
    assert (dict(instance.kept), dict(instance.construction)) == ({"label": "SUPPORT"}, {"by": "us"})
    # Written in the released format and read again it is the same, sections included.
    record = released_record(instance)
    assert record["label"] == "SUPPORT"
    (again,) = instances(tmp_path, {"7": record})
    assert released_record(again) == record
    assert (again.sections, again.evidence) == (instance.sections, instance.evidence)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"evidence": [1, 4]}, [(1,), (4,)]),  # an aspect each
        ({"evidence": [1, 4], "aspects": ["Pressure"]}, [(1, 4)]),  # one aspect that any of them covers
        ({"evidence": [1, 4], "aspects": ["Pressure", "Harm"]}, [(1,), (4,)]),
        ({"evidence": [[4, 1]], "aspects": ["Both"]}, [(1, 4)]),
        ({"evidence": ["TEA lowered  blood pressure", ["nobody was harmed.", 3]]}, [(1,), (3, 4)]),
        ({"evidence": ["We weighed 40 adults. Nobody was harmed."]}, [(3, 4)]),
        (
            {"sentences": None, "text": "Tea helped. It did.\n\nNobody cried.", "evidence": [2, 0]},
            [(2,), (0,)],
        ),
    ],
)
def test_what_evidence_means(
    tmp_path: Path, changes: dict[str, Any], expected: list[tuple[int, ...]]
) -> None:
    (instance,) = instances(tmp_path, [RECORD | changes])
    assert covered(instance) == expected


def test_papers_of_the_same_text_are_one_paper(tmp_path: Path) -> None:
    first, second, other = instances(
        tmp_path, [RECORD, RECORD, RECORD | {"sentences": [*SENTENCES, "The end."]}]
    )
    assert first.paper_id == second.paper_id != other.paper_id


# The documented example of MultiVerS, with a claim that has no evidence and one with two rationales in two documents.
CLAIMS = [
    {"id": 1625, "claim": "Dogs can transmit it.", "doc_ids": [236],
     "evidence": {"236": [{"sentences": [1], "label": "CONTRADICT"}]}},
    {"id": 2, "claim": "Cats cannot.", "cited_doc_ids": [236], "evidence": {}},
    {"id": 3, "claim": "Masks help.", "cited_doc_ids": [236, 7], "evidence": {
        "236": [{"sentences": [0, 1], "label": "SUPPORT"}, {"sentences": [2], "label": "SUPPORT"}],
        "7": [{"sentences": [0], "label": "SUPPORT"}]}},
]  # fmt: skip
CORPUS = [
    {
        "doc_id": 236,
        "title": "Animals",
        "abstract": ["It was seen in dogs.", "Not in humans.", "Masks helped."],
    },
    {"doc_id": 7, "title": "Masks", "abstract": ["They help."], "structured": False},
]


def lines(records: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, records))


def test_scifact(store: Store, tmp_path: Path) -> None:
    (tmp_path / "claims_dev.jsonl").write_text(lines(CLAIMS))
    (tmp_path / "corpus.jsonl").write_text(lines(CORPUS))
    result = ingest(store, tmp_path / "claims_dev.jsonl", "healthver")
    assert (result.dataset.n_instances, result.dataset.n_papers, result.dataset.sufficient) == (3, 2, True)
    assert dict(result.left_out) == {"claims without evidence": 1}
    assert store.ids("healthver") == ("1625_236", "3_236", "3_7")
    instance = store.get("healthver", "3_236")
    assert covered(instance) == [(0, 1), (2,)]
    assert (instance.paper_id, instance.is_sufficient, instance.kept["label"]) == ("236", True, "SUPPORT")
    assert set(instance.sentence_types) == {"abstract"}
    # Another corpus makes another dataset, and so does another format.
    (tmp_path / "theirs.jsonl").write_text(lines([*CORPUS, {"doc_id": 8, "abstract": ["More."]}]))
    other = ingest(store, tmp_path / "claims_dev.jsonl", "other", corpus=tmp_path / "theirs.jsonl")
    assert other.added
    assert not ingest(store, tmp_path / "claims_dev.jsonl", "again").added
    (tmp_path / "corpus.jsonl").unlink()
    with pytest.raises(DataError, match=r"corpus\.jsonl"):
        ingest(store, tmp_path / "claims_dev.jsonl", "third")


def test_qasper(store: Store, tmp_path: Path) -> None:
    def question(
        number: int, evidence: list[str], highlights: list[str] | None = None, **more: Any
    ) -> dict[str, Any]:
        answer = {"evidence": evidence, "highlighted_evidence": highlights or [], **more}
        return {
            "question": f"Question {number}?",
            "question_id": f"q{number}",
            "answers": [{"answer": answer}],
        }

    two, long = "We use BERT. It has two heads.", "The corpus is small. Nobody knows why."
    both = question(0, [two], ["It has two heads."])
    both["answers"].append(
        {"answer": {"evidence": [long, two], "highlighted_evidence": []}}
    )  # another annotator
    paper = {
        "title": "On heads", "abstract": "Heads matter.",
        "full_text": [{"section_name": "Model", "paragraphs": [two, ""]}, {"section_name": None, "paragraphs": [long]}],
        "qas": [both, question(1, ["FLOAT SELECTED: Table 1: Heads."]), question(2, [], unanswerable=True),
                question(3, ["Of another paper."])],
    }  # fmt: skip
    (tmp_path / "qasper.json").write_text(json.dumps({"1911.10742": paper}))
    result = ingest(store, tmp_path / "qasper.json")
    instance = store.get("qasper", "q0")
    # 0 title, 1 abstract, 2 heading, 3 and 4 of the first paragraph, 5 and 6 of the second
    assert covered(instance) == [(4,), (5, 6)]
    assert instance.sentence_types[:4] == ("section_name", "abstract", "section_name", "normal_paragraph")
    assert (instance.paper_id, instance.hypothesis, instance.is_sufficient) == (
        "1911.10742",
        "Question 0?",
        True,
    )
    assert sorted(result.left_out.values()) == [1, 1, 1]
    assert any("tables" in reason for reason in result.left_out)


GOOD = raw_instance(10, {"a": [4, 2], "b": [4], "c": [9]}, ("b",))
LINE = json.dumps(RECORD)


def without(*keys: str, **more: object) -> str:
    return json.dumps([{key: value for key, value in RECORD.items() if key not in keys} | more])


def released(**changes: object) -> str:
    record = GOOD | changes
    return json.dumps({"x": {key: value for key, value in record.items() if value is not ...}})


WRONG: list[tuple[str | bytes, str, str]] = [  # content, and what the message says: place or problem, remedy
    ("hypothesis,sentence\nTea helps.,It did.\n", "line 2: has no evidence", "sentences"),
    ("hypothesis\tevidence\nTea helps.\t1\n", "line 2: has no sentences and no text", "text to split"),
    ('hypothesis,sentences,evidence\nTea.,a|b,"[0"\n', "line 2, evidence: is '[0', not JSON", "|"),
    ("hypothesis,sentences,evidence\nTea.,a|b,0,more\n", "line 2: has more cells", "quotation marks"),
    ("hypothesis,sentences,evidence\nTea.,a|b,no such\n", "line 2, evidence[0]: quotes 'no such'", "word for word"),
    (b"PK\x03\x04" + bytes(100), "Excel workbook", "CSV"),
    (b"PAR1" + bytes(100), "Parquet", "CSV"),
    (f"{LINE}\n{without('evidence')[1:-1]}", "record 2: has no evidence", "Every record has hypothesis and evidence"),
    (f"{LINE}\nnonsense", "after record 1: is not JSON", "JSON lines"),
    (without("hypothesis", "evidence"), "record 1: has no hypothesis and evidence", "Every record"),
    (without("evidence", evidenc=[1]), "has no evidence", "Did you mean 'evidence' by 'evidenc'"),
    (without(papr_id="p1"), "record 1", "Did you mean 'paper_id' by 'papr_id'"),
    (without(id=1.5), "record 1, id: is 1.5", "a text"),
    (without(is_result="yes"), "record 1, is_result: is 'yes'", "true or false"),
    (without(evidence=[]), "record 1, evidence", "at least 1"),
    (without(evidence=[[]]), "record 1, evidence[0]: is empty", "cover the aspect"),
    (without(evidence=[1, 9]), "record 1, evidence[1]: holds sentence index 9", "0 to 4"),
    (without(evidence=[1.5]), "record 1, evidence[0]: is 1.5", "index of a sentence"),
    (without(sections=["Methods"]), "record 1, sections: has 1 entries", "for each sentence"),
    (without(aspects=["a", "b", "c"]), "record 1, aspects: has 3 entries for 2", "for each aspect"),
    (without(sentence_types=["Abstract"] * 5), "sentence_types[0]: is 'Abstract'", "'section_name', 'abstract' or"),
    (without("sentences", sentences="one text"), "record 1, sentences: is 'one text'", "a list"),
    (lines(CLAIMS), "corpus.jsonl is not there", "--corpus"),
    (lines(CORPUS), "corpus.jsonl is not there", "--corpus"),
    (json.dumps({"x": {"hypothesis": "Tea.", "aspect_list_ids": ["a"]}}),
     "instance 'x': has no paper_as_candidate_pool and aspect2sentence_indices", "Every record"),
    (released(paper_id=..., papr_id="p"), "instance 'x'", "Did you mean 'paper_id' by 'papr_id'"),
    (released(paper_id=3), "instance 'x', paper_id: is 3", "a text"),
    (released(hypothesis=" "), "instance 'x', hypothesis: is ' '", "not blank"),
    (released(results_aspect_list_ids=["z"]), "names aspect 'z'", "aspect_list_ids"),
    (released(sentence_index2aspects={"0": ["a"]}), "sentence_index2aspects.0", "inverse"),
    (json.dumps([GOOD]), "record 1: has the id None", "an id"),
    ("", "holds no instance", "JSON"),
    ("{}", "begins with {}", "docs/data.md"),
    (json.dumps(raw_dataset(2))[:-40], "cut off", "JSON"),
    (json.dumps({"x": 12}), "begins with {'x': 12}", "JSON"),
    ("Dear all, the paper is attached.".replace(",", ""), "neither JSON nor a table", "CSV"),
    (b'{"x": {"hypothesis": "caf' + b"\xe9" + b'"}}', "bytes in UTF8", "UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "problem", "remedy"), WRONG, ids=range(len(WRONG)))
def test_wrong_files(store: Store, tmp_path: Path, file: str | bytes, problem: str, remedy: str) -> None:
    path, before = tmp_path / "wrong.data", content(store)
    path.write_bytes(file if isinstance(file, bytes) else file.encode())
    with pytest.raises(DataError) as caught:
        ingest(store, path)
    message = str(caught.value)
    assert str(tmp_path) in caught.value.place
    assert problem in message
    assert remedy in caught.value.remedy
    assert "\n" not in message
    assert "Input should" not in message
    assert "b'" not in message
    assert content(store) == before


def test_formats_by_name(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([RECORD]))
    assert ingest(store, path, format="simple").added
    with pytest.raises(SettingError, match="Did you mean 'simple'"):
        ingest(store, path, "other", format="simpl")
    with pytest.raises(SettingError, match="corpus"):
        ingest(store, path, "other", corpus=path)
    with pytest.raises(DataError, match="corpus"):
        ingest(store, path, "other", format="scifact")
