"""Wordings beside a dataset, in files, and who made them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data import Store
from evidencebench_core.errors import DataError, SettingError
from evidencebench_core.perturb import (
    MadeBy,
    Wording,
    add_wordings,
    added_wordings,
    hypothesis_variants,
    read_wordings,
    write_wordings,
)
from evidencebench_core.perturb.wordings import wording_problem
from tests.factories import raw_instance, store_with


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two instances, the first of which brings wordings of its own."""
    own = {"hypothesis_paraphrases": {"plain": "From the data."}, "hypothesis_negation": "Not from the data."}
    dataset = {"a": raw_instance(8, {"x": [4]}, **own), "b": raw_instance(9, {"x": [4]})}
    return store_with(dataset, tmp_path, "two")


def file_of(content: object, folder: Path) -> Path:
    path = folder / "variants.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_file_is_read_by_variant_and_instance(tmp_path: Path) -> None:
    content = {
        "a": {"paraphrases": {"plain": " One \n two. "}, "negation": "No."},
        "b": {"negation": "Nor b."},
    }
    assert read_wordings(file_of(content, tmp_path)) == {
        "paraphrase:plain": {"a": Wording("One two.")},
        "negation": {"a": Wording("No."), "b": Wording("Nor b.")},
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
        read_wordings(file_of(content, tmp_path))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="cannot be read"):
        read_wordings(tmp_path / "nowhere.json")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="not UTF-8"):
        read_wordings(tmp_path / "binary")


def test_added_ones_are_merged_and_go_before_those_of_the_data(store: Store) -> None:
    own = {"paraphrase:plain": {"a": "From the data."}, "negation": {"a": "Not from the data."}}
    assert hypothesis_variants(store, "two") == own
    with pytest.raises(DataError, match="1 instances that dataset 'two' does not have, such as 'c'"):
        add_wordings(store, "two", {"negation": {"a": Wording("x"), "c": Wording("y")}}, "a file")
    assert hypothesis_variants(store, "two") == own
    plain = {"a": Wording("Added."), "b": Wording("Added b.")}
    wordings = {"paraphrase:plain": plain, "paraphrase:odd": {"b": Wording("Odd.")}}
    assert add_wordings(store, "two", wordings, "a file") == 3
    assert add_wordings(store, "two", {"paraphrase:odd": {"b": Wording("Odder.")}}, "another") == 1
    assert hypothesis_variants(store, "two") == {
        "paraphrase:odd": {"b": "Odder."},
        "paraphrase:plain": {"a": "Added.", "b": "Added b."},
        "negation": {"a": "Not from the data."},
    }
    assert list(hypothesis_variants(store, "two"))[-1] == "negation"


MADE = MadeBy("gpt-x", "negation 1-abc", "2026-01-31", "Ana", "2026-02-01", edited=True)


def test_what_is_written_is_read_back_with_its_makers(store: Store, tmp_path: Path) -> None:
    paraphrases = {"a": Wording("A.", MadeBy("gpt-x")), "b": Wording("B.")}
    wordings = {"negation": {"b": Wording("No b.", MADE)}, "paraphrase:gpt-x": paraphrases}
    path = tmp_path / "v.json"
    assert write_wordings(path, wordings) == 3
    assert read_wordings(path) == wordings
    add_wordings(store, "two", read_wordings(path), "v.json")
    added = added_wordings(store, "two")
    assert {name: set(by_id) for name, by_id in added.items()} == {
        "negation": {"b"},
        "paraphrase:gpt-x": {"a", "b"},
    }
    assert (added["negation"]["b"].made_by, added["negation"]["b"].origin) == (MADE, str(MADE))
    assert added["paraphrase:gpt-x"]["b"] == Wording("B.", source="v.json")
    assert added["paraphrase:gpt-x"]["b"].origin == "v.json"
    (tmp_path / "folder").mkdir()
    with pytest.raises(SettingError, match="cannot be written"):
        write_wordings(tmp_path / "folder", wordings)
    assert {path.suffix for path in tmp_path.iterdir()} <= {
        "",
        ".json",
        ".llm-claims",
        ".sqlite",
        ".sqlite-wal",
        ".sqlite-shm",
    }


@pytest.mark.parametrize("said", ["gpt-x", 3, [], {"negation": "gpt-x"}, {"negation": {"model": 7}}, None])
def test_a_maker_that_is_none_is_passed_over(said: object, tmp_path: Path) -> None:
    assert read_wordings(file_of({"a": {"negation": "x", "made_by": said}}, tmp_path)) == {
        "negation": {"a": Wording("x")}
    }


def test_the_first_files_named_the_model_once_an_instance(tmp_path: Path) -> None:
    said = {"model": "gpt-x", "paraphrase": "paraphrase 1-abc", "negation": "negation 1-def"}
    path = file_of({"a": {"negation": "x", "paraphrases": {"p": "y"}, "made_by": said}}, tmp_path)
    assert read_wordings(path) == {
        "negation": {"a": Wording("x", MadeBy("gpt-x", "negation 1-def"))},
        "paraphrase:p": {"a": Wording("y", MadeBy("gpt-x", "paraphrase 1-abc"))},
    }


@pytest.mark.parametrize(
    ("made_by", "said"),
    [
        (MadeBy(), ""),
        (MadeBy("gpt-x", "p 1-abc", "2026-01-31T10:00:00"), "gpt-x, p 1-abc, 2026-01-31; not reviewed"),
        (MADE, "gpt-x, negation 1-abc, 2026-01-31; accepted and edited by Ana, 2026-02-01"),
        (MadeBy(reviewer="Ana"), "accepted by Ana"),
    ],
)
def test_in_words(made_by: MadeBy, said: str) -> None:
    assert str(made_by) == said
    assert made_by.needs_review == said.endswith("not reviewed")


@given(st.builds(MadeBy, *[st.text(max_size=500)] * 5, st.booleans()))
def test_there_and_back(made_by: MadeBy) -> None:
    assert MadeBy.from_dict(made_by.as_dict()) == made_by
    assert MadeBy.from_json(made_by.as_json()) == (made_by if made_by else MadeBy())
    for unknown in ({"model": 3}, {"edited": "yes"}, {"unknown": "x"}, {}):
        assert MadeBy.from_dict(unknown) == MadeBy()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no line HYPOTHESIS"),
        ("Tea  helps.", "is the original"),
        ("tea helps", "is the original"),
        ("x" * 5_001, "5,001 characters"),
        ("Tea \u202ehelps", "cannot be printed"),  # turns what follows round
        ("Tea \ud800", "cannot be printed"),  # half of a surrogate pair: no store takes it
        ("Coffee helps.", ""),
    ],
)
def test_what_speaks_against_a_wording(text: str, problem: str) -> None:
    found = wording_problem("Tea helps.", text)
    assert problem in found
    assert bool(found) == bool(problem)
