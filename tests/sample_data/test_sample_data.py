"""The six synthetic papers that ship with the app."""

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest

from evidencebench_core.data import KEYS, Instance, parse_instance
from evidencebench_core.data.model import SentenceType

FOLDER = Path(__file__).resolve().parents[2] / "sample_data"
RAW: dict[str, dict[str, Any]] = json.loads((FOLDER / "sample_data.json").read_text(encoding="utf-8"))
RESULT_FIELDS = tuple(key for key in KEYS if key.startswith("results_"))
NAMES = (
    "sample_cohort",
    "sample_case_control",
    "sample_trial",
    "sample_animal",
    "sample_in_vitro",
    "sample_exposure",
)
each_paper = pytest.mark.parametrize("name", NAMES)


def paper(name: str) -> Instance:
    return parse_instance(name, RAW[name])


def middle(instance: Instance) -> set[int]:
    """Sentences a reader of the abstract, the beginning and the end does not see."""
    last = len(instance.sentences) - 10
    return {
        index
        for index, kind in enumerate(instance.sentence_types)
        if 10 <= index < last and kind != "abstract"
    }


def test_six_papers_of_six_designs() -> None:
    assert tuple(RAW) == NAMES
    assert len({raw["study_design"] for raw in RAW.values()}) == 6
    assert len({raw["paper_id"] for raw in RAW.values()}) == 6


@each_paper
def test_the_released_keys_come_first_and_in_their_order(name: str) -> None:
    assert tuple(RAW[name])[: len(KEYS)] == KEYS


@each_paper
def test_marked_as_synthetic(name: str) -> None:
    assert RAW[name]["synthetic"] is True
    assert paper(name).synthetic


@each_paper
def test_sentences(name: str) -> None:
    instance = paper(name)
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


def test_one_paper_is_without_results() -> None:
    nulls = {name: [field for field in RESULT_FIELDS if RAW[name][field] is None] for name in NAMES}
    assert [name for name, fields in nulls.items() if fields] == ["sample_exposure"]
    assert nulls["sample_exposure"] == list(RESULT_FIELDS)


@each_paper
def test_about_half_of_the_aspects_are_results_where_there_are_any(name: str) -> None:
    aspects = paper(name).evidence.aspects
    results = sum(aspect.is_result for aspect in aspects)
    assert results == 0 or 0.4 <= results / len(aspects) <= 0.6


@each_paper
def test_some_aspects_are_hard_to_find_and_some_are_everywhere(name: str) -> None:
    instance = paper(name)
    covers = [set(aspect.sentence_indices) for aspect in instance.evidence.aspects]
    assert sum(cover <= middle(instance) for cover in covers) >= 2
    assert sum(len(cover) >= 3 for cover in covers) >= 2
    assert any(len(cover) == 1 for cover in covers)


@each_paper
def test_the_hypothesis_in_other_words(name: str) -> None:
    instance = paper(name)
    assert list(instance.paraphrases) == ["lexical", "syntactic", "formal", "plain"]
    assert instance.negation
    versions = [instance.hypothesis, *instance.paraphrases.values(), instance.negation]
    assert all(versions)
    assert len(set(versions)) == 6


def build_module() -> ModuleType:
    """``sample_data/build.py``, which is a script and in no package."""
    spec = importlib.util.spec_from_file_location("sample_data_build", FOLDER / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_file_is_what_the_script_makes_of_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = build_module()
    target = tmp_path / "sample_data.json"
    monkeypatch.setattr(build, "TARGET", target)
    build.main()
    assert target.read_bytes() == (FOLDER / "sample_data.json").read_bytes()
    assert sorted(path.stem for path in (FOLDER / "sources").iterdir()) == sorted(build.ORDER)
