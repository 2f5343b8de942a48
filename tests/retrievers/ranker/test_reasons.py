"""Explanations in plain words."""

import numpy as np
import pytest

from evidencebench_core.data.sections import SECTION_CLASSES
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.ranker.features import FEATURES, TABLE
from evidencebench_core.retrievers.ranker.model import COLUMNS
from evidencebench_core.retrievers.ranker.reasons import (
    GROUP_REASONS,
    SAYS,
    explained_retrieval,
    reasons,
    why_texts,
)
from tests.retrievers.queries import make_query


def said(*features: tuple[str, float, float], **groups: float) -> tuple[str, ...]:
    """The reasons, given values and contributions of features, and contributions of what embeddings say."""
    values, adds = np.zeros(len(FEATURES), np.float32), np.zeros(len(COLUMNS))
    for name, value, share in features:
        values[FEATURES.index(name)], adds[FEATURES.index(name)] = value, share
    adds[len(FEATURES)] = groups.get("sentence", 0.0)
    adds[-1] = groups.get("neighbours", 0.0)
    return reasons(values, adds)


def alone(name: str, value: float, share: float = 1.0) -> tuple[str, ...]:
    """The reasons by one feature; another takes so much that its group adds nothing."""
    groups = {row["name"]: row["group"] for row in TABLE}
    other = next(feature for feature in FEATURES if feature != name and groups[feature] == groups[name])
    return said((name, value, share), (other, 0.0, -2.0))


def test_every_feature_and_group_has_its_words() -> None:
    assert set(GROUP_REASONS) == {*(row["group"] for row in TABLE), SAYS}
    assert {f"part: {part}" for part in SECTION_CLASSES} <= set(FEATURES)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("overlap", 0.6, "has half of the hypothesis's words or more"),
        ("bm25 rank", 0.05, ""),
        ("cosine", 0.49, ""),
        ("from abstract's end", 1, "the abstract's last sentence but one"),
        ("from abstract's end", -1, ""),  # not in the abstract
        ("place in paper", 0.9, "towards the end of the paper"),
        ("length standardised", -1.5, "short for this paper"),
        ("citation", 0, ""),
        ("numbers", 1, "has numbers in it"),  # which may be those of a name (THP-1) or a reference
    ],
)
def test_the_value_bears_the_words_out(name: str, value: float, words: str) -> None:
    assert alone(name, value) == ((words,) if words else ())
    assert alone(name, value, -1.0) == ()  # it took from the score


def test_the_weightiest_first_one_a_topic_three_at_most() -> None:
    features = (
        ("abstract", 1, 0.9),  # of the topic "where", as the next but one, which says more
        *(("cosine standardised", 2.1, 0.8), ("place in abstract", 0.8, 0.4)),
        *(("test statistic", 1, 0.3), ("percentage", 1, 0.2)),
    )
    expected = ("in the abstract's last third", "close to the hypothesis in meaning", "reports a test result")
    assert said(*features) == expected
    # the largest is 1.0, and 0.05 is a twentieth of it
    assert said(("cosine", 0.9, 1.0), ("finding", 1, 0.05)) == ("close to the hypothesis in meaning",)


def test_without_a_feature_the_group_that_added_most_is_named() -> None:
    part = ("part length", 40, 0.3)
    assert said(part, sentence=0.7) == ("says what evidence often says",)
    assert said(part, neighbours=0.9) == ("stands among sentences that bear on the hypothesis",)
    assert said(("part length", 40, -0.1)) == ()


def test_the_words_stand_in_the_retrieval_as_a_sentence_a_pick() -> None:
    values, adds = np.zeros((1, len(FEATURES)), np.float32), np.zeros((1, len(COLUMNS)))
    values[0, FEATURES.index("abstract")] = adds[0, FEATURES.index("abstract")] = 1
    query = make_query("abc", budget=1)
    retrieval = explained_retrieval(query, np.array([0.0, 2.0, 1.0]), (0, 1), values, adds)
    assert (retrieval.ranking, retrieval.selection, retrieval.scores) == ((0, 1, 2), (0,), (0.0, 2.0, 1.0))
    assert why_texts(retrieval) == {0: "In the abstract."}
    assert why_texts(Retrieval((), (), ())) == {}
