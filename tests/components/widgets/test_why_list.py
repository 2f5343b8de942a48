"""What the list of reasons is given to draw."""

from __future__ import annotations

import json

from components.widgets.why_list import whys_of
from evidencebench_core.retrievers import Retrieval

SENTENCES = ("Tea.", "Tea helps.", "Nobody slept.")
EXPLAINED = {
    "2": {
        "score": 2.0,
        "place": 3,
        "gain": 0.2,
        "repeated": 0.25,
        "groups": {"cue words": -0.3, "place": 0.5, "meaning shared": 1.5, "surface": 0.001, "new": 9.0},
        "features": [["cosine", 0.62, 1.5], ["citation", 2, -0.3], ["new", 1.0, 3.0], ["title", 0.1, 0.001]],
    }
}


def retrieval(selection: tuple[int, ...], explained: object = EXPLAINED) -> Retrieval:
    return Retrieval((), (), selection, 0.0, {"explanation": json.dumps(explained)})


def test_a_pick_has_its_number_reason_and_bars() -> None:
    (why,) = whys_of(retrieval((1, 2)), SENTENCES)
    assert (why["index"], why["number"], why["text"]) == (2, 2, "Nobody slept.")
    assert why["reason"] == "Close to the hypothesis in meaning."
    assert why["coverage"] == "Chosen for coverage: rank 3 by score alone, 25% already said by earlier picks."
    # the most first; what would be written as 0.00, and what has no words here, is not drawn
    assert [tuple(group.values()) for group in why["groups"]] == [
        ("Meaning shared with the hypothesis", 1.5, 1),
        ("Where it stands", 0.5, 5),
        ("Words that tell its purpose", -0.3, 8),
    ]
    features = [("Closeness in meaning", 1.5, "0.62"), ("Citations", -0.3, "2")]
    assert [tuple(feature.values()) for feature in why["features"]] == features


def test_only_so_many_and_only_sentences_that_are_there() -> None:
    assert whys_of(Retrieval((0,), (1.0,), (0,), 0.0), SENTENCES) == []  # explains nothing
    everything = {str(index): EXPLAINED["2"] for index in range(5)}
    assert [why["index"] for why in whys_of(retrieval((4, 2, 0), everything), SENTENCES)] == [2, 0]
    assert [why["index"] for why in whys_of(retrieval((1, 2, 0), everything), SENTENCES, limit=2)] == [1, 2]
