"""Wordings beside a dataset and in files, and runs over them."""

import json
from pathlib import Path

import pytest

from evidencebench_core.data import Store
from evidencebench_core.errors import DataError, SettingError
from evidencebench_core.perturb import (
    Wording,
    add_wordings,
    added_wordings,
    hypothesis_variants,
    read_wordings,
    variant_named,
)
from evidencebench_core.runs import RunStore, Variant, plan, run
from tests.factories import raw_instance, store_with, tiny_dataset


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two instances, the first of which brings wordings of its own."""
    own = {"hypothesis_paraphrases": {"plain": "From the data."}, "hypothesis_negation": "Not from the data."}
    dataset = {"a": raw_instance(8, {"x": [4]}, **own), "b": raw_instance(9, {"x": [4]})}
    return store_with(dataset, tmp_path, "two")


def file_of(content: object, folder: Path) -> Path:
    path = folder / "wordings.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_file_is_read_by_instance(tmp_path: Path) -> None:
    paraphrases, made_by = {"x": " One \n two. ", "y z": "Três."}, {"negation": "gpt-x"}
    own = {"paraphrases": paraphrases, "negation": "No.", "made_by": made_by}
    content = {"a": own, "b": {"negation": "Nor b."}}
    wordings = read_wordings(file_of(content, tmp_path))
    assert wordings == (
        Wording("a", "paraphrase:x", "One two."),
        Wording("a", "paraphrase:y z", "Três."),
        Wording("a", "negation", "No.", "gpt-x"),
        Wording("b", "negation", "Nor b."),
    )


@pytest.mark.parametrize(
    "content",
    [
        "[]", "{}", "{", '{"a": {"negation": NaN}}', '{"a": {"negation": "x"}, "a": {"negation": "y"}}',
        {"a": []}, {"a": {}}, {"a": {"negations": "x"}}, {"a": {"negation": 3}}, {"a": {"negation": " "}},
        {"a": {"paraphrases": []}}, {"a": {"paraphrases": {"": "x"}}}, {"a": {"negation": "x" * 5_001}},
        {"a": {"paraphrases": {"\u202e": "x"}}},
    ],
)  # fmt: skip
def test_another_file_is_refused_in_one_line(tmp_path: Path, content: object) -> None:
    path = file_of(content, tmp_path)
    with pytest.raises(DataError) as caught:
        read_wordings(path)
    assert caught.value.place.startswith(str(path))
    assert "\n" not in str(caught.value)


def test_added_wordings_stand_over_those_of_the_data(store: Store) -> None:
    assert hypothesis_variants(store, "two") == {
        "paraphrase:plain": {"a": "From the data."},
        "negation": {"a": "Not from the data."},
    }
    added = [Wording("b", "negation", "Not b."), Wording("a", "paraphrase:plain", "Mine.", "Ana")]
    assert add_wordings(store, "two", added, "file.json") == 2
    assert hypothesis_variants(store, "two") == {
        "paraphrase:plain": {"a": "Mine."},
        "negation": {"a": "Not from the data.", "b": "Not b."},
    }
    assert [wording.made_by for wording in added_wordings(store, "two")] == ["file.json", "Ana"]


def test_strangers_are_refused_and_nothing_is_kept(store: Store) -> None:
    with pytest.raises(DataError) as caught:
        add_wordings(store, "two", [Wording("a", "negation", "x"), Wording("z", "negation", "y")], "f.json")
    assert caught.value.place == "f.json"
    assert added_wordings(store, "two") == ()


def test_the_retriever_is_asked_the_other_hypothesis_where_there_is_one(tmp_path: Path) -> None:
    store = store_with(tiny_dataset(), tmp_path)
    variant = Variant("negation", {"tiny_1": "Salt.", "tiny_4": "Water."})
    assert plan(store, "tiny", "bm25", variant=variant).left_out == 4
    original, other = run(store, "tiny", "bm25"), run(store, "tiny", "bm25", variant=variant)
    assert (other.variant, other.answered) == ("negation", {"": 2})
    assert RunStore(store).selections(other, "er@10").keys() == {"tiny_1", "tiny_4"}
    scores = [RunStore(store).retrievals(info, "er@10")["tiny_1"].scores for info in (original, other)]
    assert scores[0] != scores[1]
    assert run(store, "tiny", "bm25", variant=variant) == other


def test_variants_by_name(tmp_path: Path) -> None:
    raw = raw_instance(8, {"x": [4]}, hypothesis="Tea causes sleep.", hypothesis_negation="No sleep.")
    store = store_with({"a": raw}, tmp_path, "one")
    assert dict(variant_named(store, "one", "negation").hypotheses or {}) == {"a": "No sleep."}
    names = ("spelling:n=2", "spelling:n=2,seed=0", "spelling:n=2,seed=1")
    spelt, same, other = (variant_named(store, "one", name) for name in names)
    assert (spelt.name, spelt.digest) == ("spelling:n=2,seed=0", same.digest)
    assert spelt.digest != other.digest
    for name in ("paraphrase:odd", "spelling:n=0", "spelling:n=x", ""):
        with pytest.raises(SettingError):
            variant_named(store, "one", name)
