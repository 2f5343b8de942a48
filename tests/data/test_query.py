"""Whatever is typed is a query, and it means what it says."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.query import Filter, fts_terms
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from tests.factories import raw_instance, store_with, written


@pytest.mark.parametrize(
    ("typed", "expression"),
    [
        ("", ""),
        ("lung", '"lung"*'),
        ("lung canc", '"lung" AND "canc"*'),
        ('"lung cancer"', '"lung cancer"'),
        ('smoking "lung cancer" ris', '"smoking" AND "lung cancer" AND "ris"*'),
        ('"lung canc', '"lung canc"'),  # a quote that is still open
        ("IL-6", '"IL-6"*'),
        ("a OR NOT b", '"a" AND "OR" AND "NOT" AND "b"*'),
        ("hypothesis:x ^y (z)", '"hypothesis:x" AND "^y" AND "(z)"*'),
        ('"', ""),
        ("- * ()", ""),
        ('$\\alpha$ "', '"$\\alpha$"'),
        ("a\x00b", '"a" AND "b"*'),
        ("half\ud800", '"half?"*'),
    ],
)
def test_terms(typed: str, expression: str) -> None:
    assert " AND ".join(fts_terms(typed)) == expression


@pytest.fixture(scope="module")
def words() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:")
    db.execute(
        "CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'unicode61 remove_diacritics 2')"
    )
    db.execute("INSERT INTO words VALUES ('lung cancer and tea')")
    yield db
    db.close()


SYNTAX = st.text(alphabet="ab\"'*:^()+-{}\\ \x00é\u0301中\u200dANDORNEAR", max_size=20)


@given(typed=st.text(max_size=20) | SYNTAX)
def test_nothing_that_is_typed_is_a_syntax_error(words: sqlite3.Connection, typed: str) -> None:
    if expression := " AND ".join(fts_terms(typed)):
        words.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)).fetchall()


@pytest.fixture
def papers(empty: Store, tmp_path: Path) -> Store:
    """Four instances; ``c`` and ``d`` share a paper. Ends: the first 10 and last 10 of a paper."""
    long = [f"Filler {n}." for n in range(40)]
    dataset = {
        # 40 sentences: 10 to 29 are the middle, so one aspect of two is covered at the ends: 0.5
        "a": raw_instance(long, {"x": [9], "y": [10, 29]}, ("x",), hypothesis="Smoking causes lung cancer."),
        "b": raw_instance(
            [*long[:38], "The naïve β-blocker arm died.", "line one\nline two"],
            {"x": [20], "y": [11], "z": [12]},
            hypothesis="lungs and cancers, <b>IL-6</b>",
            paper_id="paper_1",
        ),
        "c": raw_instance(3, {"x": [0]}, ("x",), hypothesis="Cancer of the lung."),
        "d": raw_instance(3, {"x": [1], "y": [2]}, ("y",), hypothesis="apples"),
    }
    ingest(empty, written(dataset, tmp_path / "papers.json"))
    return empty


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (Filter(), "abcd"),
        (Filter(descending=True), "dcba"),
        (Filter(hypothesis="lung"), "abc"),
        (Filter(hypothesis="lung "), "ac"),
        (Filter(hypothesis='"lung cancer"'), "a"),
        (Filter(hypothesis='"cancer lung"'), ""),
        (Filter(hypothesis="il-6"), "b"),
        (Filter(sentences="naive blocker"), "b"),
        (Filter(sentences="nline"), ""),  # the line break before "line" is no letter n
        (Filter(sentences="tea pressure"), "cd"),
        (Filter(sentences="tea", hypothesis="apples"), "d"),
        (Filter(ranges={"n_sentences": (4, None)}), "ab"),
        (Filter(ranges={"n_sentences": (None, 3), "n_aspects": (2, 2)}), "d"),
        (Filter(ranges={"results_optimal": (0, 9)}), "acd"),  # "b" has none
        (Filter(ranges={"ends_coverage": (0.5, 0.5)}), "a"),
        (Filter(ranges={"ends_coverage": (None, 0.2)}), "b"),
        (Filter(sort="n_aspects"), "cadb"),
        (Filter(sort="n_aspects", descending=True), "badc"),
        (Filter(sort="results_optimal"), "acdb"),
        (Filter(sort="hypothesis"), "dcba"),
        (Filter(sort="hypothesis", hypothesis="lung", descending=True), "abc"),
        (Filter(sort="ends_coverage"), "bacd"),
    ],
)
def test_matching(papers: Store, wanted: Filter, ids: str) -> None:
    assert "".join(papers.matching("papers", wanted)) == ids


def test_ties_keep_the_order_of_the_file_however_it_is_sorted(tmp_path: Path) -> None:
    same = {
        name: raw_instance(3, {"x": [0]}, hypothesis=text) for name, text in zip("badc", "tTuU", strict=True)
    }
    store = store_with(same, tmp_path)
    for sort in ("hypothesis", "n_aspects"):
        assert "".join(store.matching("tiny", Filter(sort=sort))) == "badc"
    assert "".join(store.matching("tiny", Filter(sort="hypothesis", descending=True))) == "dcba"


def test_unknown_names(papers: Store) -> None:
    with pytest.raises(SettingError, match=r"sort 'n_sentence': is unknown. Did you mean 'n_sentences'"):
        papers.matching("papers", Filter(sort="n_sentence"))
    with pytest.raises(SettingError, match="range '1=1; --': is unknown"):
        papers.matching("papers", Filter(ranges={"1=1; --": (0, 1)}))
