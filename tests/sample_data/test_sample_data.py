"""The six synthetic papers that ship with the app."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from evidencebench_core.data import KEYS, Instance, parse_instance
from evidencebench_core.data.model import SentenceType

FOLDER = Path(__file__).resolve().parents[2] / "sample_data"
RAW: dict[str, dict[str, Any]] = json.loads((FOLDER / "sample_data.json").read_text(encoding="utf-8"))
RESULT_FIELDS = tuple(key for key in KEYS if key.startswith("results_"))
NAMES = tuple(
    f"sample_{design}" for design in ("cohort", "case_control", "trial", "animal", "in_vitro", "exposure")
)
each_paper = pytest.mark.parametrize("name", NAMES)


def paper(name: str) -> Instance:
    return parse_instance(name, RAW[name])


@each_paper
def test_keys_and_sentences(name: str) -> None:
    instance = paper(name)
    assert tuple(RAW[name])[: len(KEYS)] == KEYS
    assert RAW[name]["synthetic"] is instance.synthetic is True
    assert 70 <= len(instance.sentences) <= 160
    assert set(instance.sentence_types) == set(get_args(SentenceType))
    assert all(sentence == sentence.strip() != "" for sentence in instance.sentences)
    # A heading may come again; a sentence of the text may not.
    text = zip(instance.sentences, instance.sentence_types, strict=True)
    assert max(Counter(sentence for sentence, kind in text if kind != "section_name").values()) == 1


@each_paper
def test_every_aspect_has_a_text_and_evidence_that_is_no_heading(name: str) -> None:
    instance = paper(name)
    aspects = instance.evidence.aspects
    assert 5 <= len(aspects) <= 14
    for aspect in aspects:
        assert aspect.text
        assert aspect.sentence_indices
        kinds = {instance.sentence_types[index] for index in aspect.sentence_indices}
        assert "section_name" not in kinds, aspect
    assert len({aspect.text for aspect in aspects}) == len(aspects)
    share = sum(aspect.is_result for aspect in aspects) / len(aspects)
    assert 0.4 <= share <= 0.6 or name == "sample_exposure"


def test_one_paper_is_without_results() -> None:
    nulls = {name: [field for field in RESULT_FIELDS if RAW[name][field] is None] for name in NAMES}
    assert [name for name, fields in nulls.items() if fields] == ["sample_exposure"]
    assert nulls["sample_exposure"] == list(RESULT_FIELDS)


@each_paper
def test_the_hypothesis_in_other_words(name: str) -> None:
    instance = paper(name)
    assert list(instance.paraphrases) == ["lexical", "syntactic", "formal", "plain"]
    assert instance.negation
    versions = [instance.hypothesis, *instance.paraphrases.values(), instance.negation]
    assert all(versions)
    assert len(set(versions)) == 6


def test_the_file_is_what_the_script_makes_of_the_sources(tmp_path: Path) -> None:
    """The script is in no package: it runs from a copy of the folder."""
    folder = shutil.copytree(FOLDER, tmp_path / "sample_data")
    (folder / "sample_data.json").unlink()
    subprocess.run([sys.executable, folder / "build.py"], check=True)
    assert (folder / "sample_data.json").read_bytes() == (FOLDER / "sample_data.json").read_bytes()
    sources = {path.stem for path in (FOLDER / "sources").iterdir()}
    assert sources == {name.removeprefix("sample_") for name in NAMES}
