"""Files of the other formats, in the shape that their authors document, and wrong files of all kinds."""

import gzip
import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.formats import read_instances, released_record
from evidencebench_core.data.ingestion import ingest
from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, SettingError
from tests.data.conftest import content

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
    text = value if isinstance(value, (str, bytes)) else json.dumps(value)
    (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
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
    longer = RECORD | {"sentences": [*SENTENCES, "The end."]}
    same, other = instances(tmp_path, [RECORD, longer])
    assert plain.paper_id == same.paper_id != other.paper_id
    cells = f'hypothesis,sentences,evidence\nTea helps.,{"|".join(SENTENCES)},"[[1, 3], 4]"\n'
    for table in (cells, "\ufeff" + cells, cells.replace(",", "\t").replace("1\t 3]\t 4", "1, 3], 4")):
        assert instances(tmp_path, table, "mine.csv") == [plain]
    assert instances(tmp_path, gzip.compress(cells.encode()), "mine.csv") == [plain]
    (flat,) = instances(tmp_path, cells.replace('"[[1, 3], 4]"', "1 | 4"))
    assert flat.evidence.aspects[1].id == "mine-1_aspect_1"


def test_every_key(tmp_path: Path) -> None:
    extra = {
        "id": 7, "paper_id": "PMC1", "aspects": ["Pressure", "Harm"], "is_result": [True, False], "label": "SUPPORT",
        "sections": ["Abstract", "Abstract", "Methods", "Methods", "Results"],
        "paraphrases": {"plain": "It helps."}, "negation": "It does not.", "construction": {"by": "us"},
    }  # fmt: skip
    (instance,) = instances(tmp_path, [RECORD | extra])
    assert (instance.id, instance.paper_id, instance.negation) == ("7", "PMC1", "It does not.")
    kinds = "section_name abstract section_name normal_paragraph normal_paragraph"
    assert " ".join(instance.sentence_types) == kinds
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
        ({"sentences": None, "text": "Tea. It did.\n\nNobody cried.", "evidence": [2, 0]}, [(2,), (0,)]),
    ],
)
def test_evidence(tmp_path: Path, changes: dict[str, Any], expected: list[tuple[int, ...]]) -> None:
    (instance,) = instances(tmp_path, [RECORD | changes])
    assert covered(instance) == expected


# The documented example of MultiVerS, with a claim without evidence and one with rationales in two documents; a paper
# in the shape of QASPER's, of whose four questions one is answered by sentences.
SAMPLES = Path(__file__).with_name("samples")


def test_scifact(store: Store, tmp_path: Path) -> None:
    claims = SAMPLES / "claims_dev.jsonl"
    result = ingest(store, claims, "healthver")
    assert (result.dataset.n_instances, result.dataset.n_papers, result.dataset.sufficient) == (3, 2, True)
    assert dict(result.left_out) == {"claims without evidence": 1}
    assert store.ids("healthver") == ("1625_236", "3_236", "3_7")
    instance = store.get("healthver", "3_236")
    assert covered(instance) == [(0, 1), (2,)]
    assert (instance.paper_id, instance.is_sufficient, instance.kept["label"]) == ("236", True, "SUPPORT")
    assert set(instance.sentence_types) == {"abstract"}
    # Another corpus makes another dataset.
    assert ingest(store, claims, "other", corpus=SAMPLES / "corpus_of_three.jsonl").added
    assert not ingest(store, claims, "again").added
    shutil.copy(claims, tmp_path)
    with pytest.raises(DataError, match=r"corpus\.jsonl"):
        ingest(store, tmp_path / claims.name, "third")


def test_qasper(store: Store) -> None:
    result = ingest(store, SAMPLES / "qasper.json")
    instance = store.get("qasper", "q0")
    # 0 title, 1 abstract, 2 heading, 3 and 4 of the first paragraph, 5 and 6 of the second
    assert covered(instance) == [(4,), (5, 6)]
    assert instance.sentence_types[:4] == ("section_name", "abstract", "section_name", "normal_paragraph")
    assert (instance.paper_id, instance.hypothesis) == ("1911.10742", "Question 0?")
    assert instance.is_sufficient
    assert [*result.left_out.values()] == [3]


WRONG = tomllib.loads(Path(__file__).with_name("wrong_files.toml").read_text("utf-8"))["file"]


@pytest.mark.parametrize("file", WRONG, ids=range(len(WRONG)))
def test_wrong_files(store: Store, tmp_path: Path, file: dict[str, str]) -> None:
    path, before = tmp_path / "wrong.data", content(store)
    path.write_text(file["content"], "latin-1")
    with pytest.raises(DataError) as caught:
        ingest(store, path)
    message = str(caught.value)
    assert str(tmp_path) in caught.value.place
    assert file["problem"] in message
    assert file["remedy"] in caught.value.remedy
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
    with pytest.raises(SettingError, match="Corpus"):
        ingest(store, path, "other", corpus=path)
    with pytest.raises(DataError, match="--corpus"):
        ingest(store, path, "other", format="scifact")
