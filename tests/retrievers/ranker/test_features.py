import math

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencebench_core.retrievers.ranker.features import FEATURES, Features, cues_of, features_of
from tests.retrievers.queries import make_query

SENTENCES = (
    "Tea",
    "Tea lowers pressure.",
    "We drank water.",
    "Results",
    "Pressure fell (p < 0.05) by 3.5% [2].",
)
VECTORS = np.array([[1, 0], [0, 2], [1, 1], [0, 0], [3, 4], [-1, 0]], dtype=np.float32)


@pytest.fixture(scope="module")
def tiny() -> Features:
    return features_of(make_query(SENTENCES, "saasn", "Tea lowers pressure"), VECTORS)


def column(found: Features, name: str) -> NDArray[np.float32]:
    return found.rows[:, FEATURES.index(name)]


def test_bm25_by_hand(tiny: Features) -> None:
    # words (cut to six letters), n = 5 sentences of 1, 3, 3, 1 and 8 words (p, 0, 05, 3 and 5 are words):
    lengths = [1, 3, 3, 1, 9]
    assert column(tiny, "length").tolist() == lengths
    mean = sum(lengths) / 5
    # tea stands in two sentences, lowers in one, pressure in two
    idf = {k: math.log(1 + (5 - k + 0.5) / (k + 0.5)) for k in (1, 2)}
    norm = [1.5 * (0.25 + 0.75 * length / mean) for length in lengths]
    sums = [idf[2], 2 * idf[2] + idf[1], 0, 0, idf[2]]
    expected = [2.5 / (1 + n) * weight for n, weight in zip(norm, sums, strict=True)]
    assert column(tiny, "bm25") == pytest.approx(expected, rel=1e-5)
    assert column(tiny, "overlap") == pytest.approx([1 / 3, 1, 0, 0, 1 / 3])
    # "tea lowers" and "lowers pressure", both in the second sentence
    assert column(tiny, "word pairs").tolist() == [0, 1, 0, 0, 0]


def test_cosines_by_hand(tiny: Features) -> None:
    # hypothesis (1, 0): against (0, 2), (1, 1) / sqrt 2, zero, (3, 4) / 5, (-1, 0)
    cosine = [0, 1 / math.sqrt(2), 0, 0.6, -1]
    assert column(tiny, "cosine") == pytest.approx(cosine)
    assert column(tiny, "cosine before") == pytest.approx([0, *cosine[:-1]])
    assert column(tiny, "cosine after") == pytest.approx([*cosine[1:], 0])
    # a heading's own cosine until the next; sentences of the abstract have none
    assert column(tiny, "cosine of heading") == pytest.approx([0, 0, 0, 0.6, 0.6])
    assert tiny.similarities[1, 3] == pytest.approx(7 / (5 * math.sqrt(2)))


def test_places_by_hand(tiny: Features) -> None:
    assert column(tiny, "place in paper") == pytest.approx([0, 0.2, 0.4, 0.6, 0.8])
    assert column(tiny, "from abstract's start").tolist() == [-1, 0, 1, -1, -1]
    assert column(tiny, "from abstract's end").tolist() == [-1, 1, 0, -1, -1]
    assert column(tiny, "abstract length").tolist() == [2] * 5
    # sections: title | abstract | heading with what follows
    assert column(tiny, "from section's start").tolist() == [0, 0, 1, 0, 1]
    assert column(tiny, "section length").tolist() == [1, 2, 2, 2, 2]


def test_cues_and_surface_by_hand(tiny: Features) -> None:
    last = {name: column(tiny, name)[4] for name in ("test statistic", "percentage", "citation", "decimals")}
    assert last == {"test statistic": 1, "percentage": 1, "citation": 1, "decimals": 2}
    assert column(tiny, "first person").tolist() == [0, 0, 1, 0, 0]
    assert cues_of("associated") == ("association",)
    assert cues_of("tea") == ()
