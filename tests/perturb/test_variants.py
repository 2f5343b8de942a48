from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest, open_store, schema
from evidencebench_core.errors import DataError
from evidencebench_core.perturb import (
    MadeBy,
    hypothesis_variants,
    keep_variants,
    kept_variants,
    variant_origins,
    variants_document,
    variants_file,
    variants_from,
)
from evidencebench_core.perturb.variants_file import write_variants
from tests.factories import raw_instance, written


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two instances, the first of which brings wordings of its own."""
    store = open_store(tmp_path / "store.sqlite")
    dataset = {
        "a": raw_instance(
            8,
            {"x": [4]},
            hypothesis_paraphrases={"plain": "From the data."},
            hypothesis_negation="Not from the data.",
        ),
        "b": raw_instance(9, {"x": [4]}),
    }
    ingest(store, written(dataset, tmp_path / "two.json"), name="two")
    return store


def file_of(content: object, folder: Path) -> Path:
    path = folder / "variants.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_file_is_read_by_variant_and_instance(tmp_path: Path) -> None:
    content = {
        "a": {"paraphrases": {"plain": " One \n two. "}, "negation": "No."},
        "b": {"negation": "Nor b."},
    }
    assert variants_from(file_of(content, tmp_path)) == {
        "paraphrase:plain": {"a": "One two."},
        "negation": {"a": "No.", "b": "Nor b."},
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "not an object"),
        ("{}", "not an object with instances"),
        ("{", "is not JSON"),
        ('{"a": {"negation": NaN}}', "NaN"),
        ('{"a": {"negation": "x"}, "a": {"negation": "y"}}', "more than once"),
        ({"a": []}, "not an object with paraphrases"),
        ({"a": {}}, "not an object with paraphrases"),
        ({"a": {"negations": "x"}}, "has the key 'negations'"),
        ({"a": {"negation": 3}}, "is 3, not a text"),
        ({"a": {"negation": "  "}}, "not a text"),
        ({"a": {"negation": None}}, "not a text"),
        ({"a": {"paraphrases": ["x"]}}, "paraphrases"),
        ({"a": {"paraphrases": {"": "x"}}}, "has the name"),
        ({"a": {"paraphrases": {"p": 1}}}, "paraphrase 'p'"),
        ({"a": {"negation": "x" * 5001}}, "5,001 characters"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(content: object, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        variants_from(file_of(content, tmp_path))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        variants_from(tmp_path / "nowhere.json")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="not UTF-8"):
        variants_from(tmp_path / "binary")


def test_those_of_the_data_are_there_from_the_start(store: Store) -> None:
    assert hypothesis_variants(store, "two") == {
        "paraphrase:plain": {"a": "From the data."},
        "negation": {"a": "Not from the data."},
    }


def test_added_ones_are_merged_and_go_before_those_of_the_data(store: Store) -> None:
    wordings = {"paraphrase:plain": {"a": "Added.", "b": "Added b."}, "paraphrase:odd": {"b": "Odd."}}
    assert keep_variants(store, "two", wordings, "a file") == 3
    assert keep_variants(store, "two", {"paraphrase:odd": {"b": "Odder."}}, "another") == 1
    assert hypothesis_variants(store, "two") == {
        "paraphrase:odd": {"b": "Odder."},
        "paraphrase:plain": {"a": "Added.", "b": "Added b."},
        "negation": {"a": "Not from the data."},
    }
    assert list(hypothesis_variants(store, "two"))[-1] == "negation"


def test_unknown_instances_are_refused_and_nothing_is_kept(store: Store) -> None:
    with pytest.raises(DataError, match="1 instances that dataset 'two' does not have, such as 'c'"):
        keep_variants(store, "two", {"negation": {"a": "x", "c": "y"}}, "a file")
    assert hypothesis_variants(store, "two")["negation"] == {"a": "Not from the data."}


MADE = MadeBy("gpt-x", "negation 1-abc", "2026-01-31", "Ana", "2026-02-01", edited=True)


def test_what_is_written_is_read_back_with_its_makers(store: Store, tmp_path: Path) -> None:
    wordings = {"negation": {"b": "No b."}, "paraphrase:gpt-x": {"a": "A.", "b": "B."}}
    made_by = {"negation": {"b": MADE}, "paraphrase:gpt-x": {"a": MadeBy("gpt-x")}}
    path = tmp_path / "v.json"
    write_variants(path, variants_document(wordings, made_by))
    file = variants_file(path)
    assert (file.wordings, file.made_by, file.n_unreviewed) == (wordings, made_by, 1)
    keep_variants(store, "two", file.wordings, "v.json", file.made_by)
    assert kept_variants(store, "two") == wordings
    origins = variant_origins(store, "two")
    assert (origins["negation"]["b"].made_by, str(origins["negation"]["b"])) == (MADE, str(MADE))
    assert not origins["paraphrase:gpt-x"]["b"].made_by
    assert str(origins["paraphrase:gpt-x"]["b"]) == "v.json"


@pytest.mark.parametrize("said", ["gpt-x", 3, [], {"negation": "gpt-x"}, {"negation": {"model": 7}}, None])
def test_a_maker_that_is_none_is_passed_over(said: object, tmp_path: Path) -> None:
    assert variants_file(file_of({"a": {"negation": "x", "made_by": said}}, tmp_path)).made_by == {}


def test_the_first_files_named_the_model_once_an_instance(tmp_path: Path) -> None:
    said = {"model": "gpt-x", "paraphrase": "paraphrase 1-abc", "negation": "negation 1-def"}
    file = variants_file(
        file_of({"a": {"negation": "x", "paraphrases": {"p": "y"}, "made_by": said}}, tmp_path)
    )
    assert file.made_by == {
        "negation": {"a": MadeBy("gpt-x", "negation 1-def")},
        "paraphrase:p": {"a": MadeBy("gpt-x", "paraphrase 1-abc")},
    }


def test_wordings_of_an_older_store_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.sqlite"
    with monkeypatch.context() as patch:  # before drafts, and before it was known who made a wording
        patch.setattr(schema, "_MIGRATIONS", schema._MIGRATIONS[:4])
        patch.setattr(schema, "VERSION", 4)
        old = open_store(path)
        ingest(old, written({"a": raw_instance(8, {"x": [4]})}, tmp_path / "old.json"), name="old")
        with old.write() as db:
            db.execute("INSERT INTO hypothesis_variants VALUES (1, 'a', 'negation', 'No.', 'v.json', '2026')")
    store = open_store(path)
    assert hypothesis_variants(store, "old") == {"negation": {"a": "No."}}
    origin = variant_origins(store, "old")["negation"]["a"]
    assert (origin.source, origin.made_by) == ("v.json", MadeBy())
