import pytest

from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import make_retriever, read_settings
from tests.retrievers.queries import make_query


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    # lead: a 1, b 2, c 3, d 4. abstract-tail (abstract: b, c) gives c, b, a, d: a 3, b 2, c 1, d 4.
    # With k = 1: a 1/2 + 1/4 = 0.75, b 1/3 + 1/3 = 0.667, c 1/4 + 1/2 = 0.75, d 1/5 + 1/5 = 0.4; a and c tie.
    hybrid = make_retriever("hybrid", {"of": "lead,abstract-tail", "k": 1})
    retrieval = hybrid.retrieve(make_query("abcd", "naan", budget=3))
    assert retrieval.ranking == (0, 2, 1, 3)
    assert retrieval.scores == pytest.approx([0.75, 0.75, 2 / 3, 0.4])
    assert retrieval.selection == (0, 2, 1)


@pytest.mark.parametrize("of", ["lead,bm25", ("bm25", "lead")])
def test_members_get_their_settings_whatever_their_order(of: object) -> None:
    settings = read_settings("hybrid", {"of": of, "bm25.k1": "1.2"}).values()
    assert settings == {"of": ("bm25", "lead"), "k": 60.0, "bm25.k1": 1.2, "bm25.b": 0.75}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"of": "bm25"}, "of is bm25. Name two or more different retrievers."),
        ({"of": "bm25,oracle"}, "oracle cannot be one of its members"),
        ({"of": "bm25,rerank"}, "rerank cannot be one of its members"),
        ({"of": "bm25,dens"}, "there is none called 'dens'. Did you mean 'dense'?"),
        ({"of": "bm25,lead", "dense.model": "x"}, "setting for 'dense', which is not one of its members"),
        ({"bm25.k2": 1}, "retriever bm25: there is no setting 'k2'. Did you mean 'k1'?"),
        ({"bm25.k1": "x"}, "retriever bm25: k1 cannot be 'x'"),
        ({"k": 0}, "k cannot be 0. Give a number from 1"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_settings("hybrid", settings)
    assert message in str(caught.value)
