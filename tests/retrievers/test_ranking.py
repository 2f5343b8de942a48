import pytest

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.ranking import retrieval_by_score, retrieval_in_order
from tests.retrievers.queries import make_query


def test_equal_scores_keep_the_order_of_the_paper() -> None:
    retrieval = retrieval_by_score(make_query("abcde", budget=3), [0.5, 2.0, 0.5, 2.0, -1.0])
    assert retrieval.ranking == (1, 3, 0, 2, 4)
    assert retrieval.scores == (2.0, 2.0, 0.5, 0.5, -1.0)
    assert retrieval.selection == (1, 3, 0)
    retrieval = retrieval_in_order(make_query("abc", budget=1), [2, 0, 1])
    assert (retrieval.ranking, retrieval.scores, retrieval.selection) == ((2, 0, 1), (3.0, 2.0, 1.0), (2,))


def test_no_score_and_a_negative_budget_are_errors() -> None:
    with pytest.raises(RetrieverError, match="sentence 1: has no score"):
        retrieval_by_score(make_query("ab"), [0.0, float("nan")])
    with pytest.raises(RetrieverError, match="budget: is -1"):
        retrieval_in_order(make_query("abc", budget=-1), [0, 1, 2])
