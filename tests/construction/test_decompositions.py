"""Two decompositions of one summary: matched by words or by a person, and the marks that follow (rule 52)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evidencebench_core.construction import BuildState
from evidencebench_core.construction.decompositions import (
    decomposition_figures,
    matched_aspects,
    pair_rows,
    pairs_of,
    word_f1,
)
from evidencebench_core.errors import DataError
from tests.construction.test_quality import build


def split(*aspects: str, **covers: frozenset[int]) -> BuildState:
    """The build by hand with other aspects, covered as is said of ``c0``, ``c1`` and on."""
    of = {int(name[1:]): indices for name, indices in covers.items()}
    made = build(covers={**dict.fromkeys(range(len(aspects)), frozenset[int]()), **of})
    return replace(made, input=replace(made.input, aspects=aspects))


ONE = split(
    "Tea lowers blood pressure", "None of 40 drinkers slept", c0=frozenset({3, 7}), c1=frozenset({20})
)
OTHER = split(
    "No drinker slept",
    "Blood pressure is lower with tea",
    "Tea is warm",
    c1=frozenset({3}),
    c2=frozenset({9}),
)


def test_by_hand() -> None:
    # {tea, lowers, blood, pressure} and {blood, pressure, lower, tea} share 3 of 4 and 4
    assert word_f1(ONE.aspects[0].text, OTHER.aspects[1].text) == 0.75
    assert word_f1("the", "of") == 0
    assert matched_aspects(ONE, OTHER) == {0: 1}
    found = decomposition_figures([(ONE, OTHER)], n_resamples=9)
    assert (found.n_builds, found.n_first, found.n_second, found.n_matched) == (1, 2, 3, 1)
    assert found.aspects.value == 2 / 5
    assert found.marks.value == 2 / 3  # {3, 7} and {3}
    assert found.evidence.value == 2 / 5  # {3, 7, 20} and {3, 9}
    same = decomposition_figures([(ONE, ONE)], n_resamples=9)
    assert (same.aspects.value, same.marks.value, same.evidence.value) == (1, 1, 1)


def test_what_cannot_be_compared() -> None:
    assert ONE.pool is not None
    read_otherwise = replace(OTHER, pool=replace(ONE.pool, sha256="1" * 64))
    found = decomposition_figures([(ONE, read_otherwise)], n_resamples=9)
    assert (found.aspects.value, found.marks.value, found.evidence.value) == (2 / 5, None, None)
    unlooked = decomposition_figures([(ONE, replace(OTHER, aligned={}))], n_resamples=9)
    assert (unlooked.marks.value, unlooked.evidence.value) == (None, None)
    of_another = replace(OTHER, input=replace(OTHER.input, summary="Another."))
    assert decomposition_figures([(ONE, of_another)]).n_other == 1
    assert decomposition_figures([]).aspects.value is None


def test_a_person_matches() -> None:
    rows = list(pair_rows([(ONE, OTHER)]))
    assert [(row["a"], row["b"]) for row in rows] == [("0", "1"), ("1", ""), ("", "0"), ("", "2")]
    rows[1]["b"] = "0"
    pairs = pairs_of(rows, [(ONE, OTHER)])
    assert pairs == {"a": {0: 1, 1: 0}}
    assert decomposition_figures([(ONE, OTHER)], pairs, n_resamples=9).aspects.value == 4 / 5
    for wrong in ({"b": "7"}, {"b": "x"}, {"b": "1"}):
        with pytest.raises(DataError, match="row 3: matches"):
            pairs_of([rows[0], rows[1] | wrong], [(ONE, OTHER)])
    with pytest.raises(DataError, match="columns"):
        pairs_of([{"build": "a"}], [(ONE, OTHER)])
