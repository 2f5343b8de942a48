"""The six synthetic papers that ship with the app."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from evidencebench_core.data import KEYS, instance_from

FOLDER = Path(__file__).resolve().parents[2] / "sample_data"
RAW = json.loads((FOLDER / "sample_data.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RAW)
def test_a_paper_is_whole(name: str) -> None:
    instance = instance_from(name, RAW[name])
    assert tuple(RAW[name])[: len(KEYS)] == KEYS
    assert RAW[name]["synthetic"] is instance.synthetic is True
    # A heading may come again; a sentence of the text may not.
    text = zip(instance.sentences, instance.sentence_types, strict=True)
    assert max(Counter(sentence for sentence, kind in text if kind != "section_name").values()) == 1
    aspects = instance.evidence.aspects
    assert len({aspect.text for aspect in aspects} - {None, ""}) == len(aspects)
    assert any(aspect.is_result for aspect in aspects) == (name != "sample_exposure")  # which has no results
    assert list(instance.paraphrases) == ["lexical", "syntactic", "formal", "plain"]
    versions = {instance.hypothesis, *instance.paraphrases.values(), instance.negation}
    assert len(versions - {None, ""}) == 6


def test_the_file_is_what_the_script_makes_of_the_sources(tmp_path: Path) -> None:
    """The script is in no package: it runs from a copy of the folder."""
    folder = shutil.copytree(FOLDER, tmp_path / "sample_data")
    (folder / "sample_data.json").unlink()
    subprocess.run([sys.executable, folder / "build.py"], check=True)
    assert (folder / "sample_data.json").read_bytes() == (FOLDER / "sample_data.json").read_bytes()
    assert {f"sample_{path.stem}" for path in (FOLDER / "sources").iterdir()} == set(RAW)
