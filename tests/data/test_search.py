"""Whatever is typed is a query, it means what it says, and the sentence that it meets is found."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data import Store, ingest
from evidencebench_core.data.search import best_sentence
from tests.factories import raw_instance, written

SYNTAX = st.text(alphabet="ab\"'*:^()+-{}\\ \x00é\u0301中\u200dANDORNEAR", max_size=20)


@given(typed=st.text(max_size=20) | SYNTAX)
def test_nothing_that_is_typed_is_a_syntax_error(typed: str) -> None:
    assert best_sentence(["a"], typed) in (0, None)


def test_matching(empty: Store, tmp_path: Path) -> None:
    long = [f"Filler {n}." for n in range(40)]
    paper = [*long[:38], "The naïve β-blocker arm died.", "line one\nline two"]
    dataset = {
        "b": raw_instance(paper, {"x": [20]}, hypothesis="lungs and cancers, <b>IL-6</b>"),
        "a": raw_instance(long, {"x": [9]}, hypothesis="Smoking causes lung cancer."),
        "c": raw_instance(3, {"x": [0]}, hypothesis="Cancer of the lung."),
        "d": raw_instance(3, {"x": [1]}, hypothesis="apples"),  # and the paper of "c"
    }
    ingest(empty, written(dataset, tmp_path / "papers.json"))
    cases = tomllib.loads(Path(__file__).with_name("queries.toml").read_text("utf-8"))["matching"]
    for hypothesis, sentences, ids in cases:
        assert "".join(empty.matching("papers", hypothesis, sentences)) == ids
    assert empty.matching("papers", "half\ud800") == ()


TEA = ("Tea", "We asked 90 women about tea and sleep.", "Green tea lowered pressure.", "Pressure, green tea.")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("pressure tea", 2),  # of two with both words the first
        ('"green tea" press', 2),  # a phrase, and the beginning of a word
        ("sleep pressure tea", 1),  # no sentence has all three: the first of those with two
        ("TÉA ", 0),
        (" -", None),
        ("zebra", None),
    ],
)
def test_the_sentence_with_most_of_the_words(words: str, sentence: int | None) -> None:
    assert best_sentence(TEA, words) == sentence
