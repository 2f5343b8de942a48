"""Gold as arrays says what the evidence sets say."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data import ingest
from evidencebench_core.data.gold import Gold
from evidencebench_core.data.model import Aspect, EvidenceSet
from evidencebench_core.data.store import Store
from tests.factories import raw_instance, tiny_dataset, written

COVERS = st.sets(st.integers(0, 8)).map(lambda cover: tuple(sorted(cover)))
PAPERS = st.lists(st.lists(st.tuples(COVERS, st.booleans()), max_size=4), min_size=1, max_size=5)


def evidence_set(aspects: list[tuple[tuple[int, ...], bool]]) -> EvidenceSet:
    made = tuple(Aspect(f"a{n}", *values, f"A{n + 1}") for n, values in enumerate(aspects))
    return EvidenceSet(9, made, len(made), 1 if any(aspect.is_result for aspect in made) else None)


@given(PAPERS, st.data())
def test_of_any_evidence_sets(papers: list[list[tuple[tuple[int, ...], bool]]], data: st.DataObject) -> None:
    sets = [(f"i{n}", evidence_set(aspects)) for n, aspects in enumerate(papers)]
    whole, rows = Gold.of(sets), range(len(sets))
    picks = [data.draw(st.sets(st.integers(0, 8))) for _ in rows]
    chosen = np.array([data.draw(st.booleans()) for _ in rows])
    pairs = np.array([(row, pick) for row in rows for pick in picks[row]], dtype=np.int64).reshape(-1, 2)
    for focus in ("all", "results"):
        gold, covers = whole.focused(focus), [one.covers(focus) for _, one in sets]
        flat = [cover for its in covers for cover in its]
        assert [gold.covers(row) for row in rows] == covers
        assert gold.per_instance().tolist() == list(map(len, covers))
        assert gold.per_instance(gold.n_covering > 0).tolist() == [sum(map(bool, its)) for its in covers]
        assert gold.n_covering.tolist() == list(map(len, flat))
        assert gold.optimal_for(focus).tolist() == [
            -1 if one.optimal_for(focus) is None else one.optimal_for(focus) for _, one in sets
        ]
        found = [not cover.isdisjoint(picks[row]) for row in rows for cover in covers[row]]
        assert gold.found(*pairs.T).tolist() == found
        part = gold.part(chosen, np.ones(len(flat), dtype=bool))
        assert part.ids == tuple(name for (name, _), kept in zip(sets, chosen, strict=True) if kept)
        assert [part.covers(row) for row in range(len(part.ids))] == [
            covers[row] for row in rows if chosen[row]
        ]


def test_of_a_store(store: Store) -> None:
    gold, sets = store.gold("tiny"), dict(store.evidence_sets("tiny"))
    assert gold.ids == tuple(sets) == tuple(tiny_dataset())
    assert gold.paper_ids == tuple(f"paper_{n}" for n in range(6))
    assert [gold.covers(row) for row in range(6)] == [one.covers("all") for one in sets.values()]
    assert gold.offset.tolist() == [0, 12, 24, 36, 48, 60]
    assert store.gold("tiny") is gold
    ids, texts = store.aspect_names("tiny")
    assert ids == ["method", "outcome", "harm"] * 6
    assert texts == [None] * 18
    assert gold.focused("results").number.tolist() == [1, 2] * 5
    assert (store.largest("tiny", "n_sentences"), store.largest("tiny", "n_aspects")) == (12, 3)


def test_texts_of_aspects_where_some_have_one(empty: Store, tmp_path: Path) -> None:
    texts = raw_instance(4, {"x": [1], "y": [2]}) | {"aspect_texts": {"y": "Why."}}
    ingest(empty, written({"a": raw_instance(4, {"z": [0]}), "b": texts}, tmp_path / "some.json"))
    assert empty.aspect_names("some") == (["z", "x", "y"], [None, None, "Why."])
    assert [aspect.text for aspect in dict(empty.evidence_sets("some"))["b"].aspects] == [None, "Why."]
