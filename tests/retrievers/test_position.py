from __future__ import annotations

from collections.abc import Callable

from evidencebench_core.retrievers import Query, make_retriever


def test_lead_is_the_order_of_the_paper(make_query: Callable[..., Query]) -> None:
    retrieval = make_retriever("lead").retrieve(make_query("abcd", "saan", budget=2))
    assert retrieval.ranking == (0, 1, 2, 3)
    assert retrieval.selection == (0, 1)


def test_abstract_tail_reads_the_abstract_backwards_then_the_rest(make_query: Callable[..., Query]) -> None:
    # Abstract sentences are 1, 2 and 4, wherever they stand; the rest in order is 0, 3, 5.
    retrieval = make_retriever("abstract-tail").retrieve(make_query("abcdef", "saasan", budget=4))
    assert retrieval.ranking == (4, 2, 1, 0, 3, 5)
    assert retrieval.selection == (4, 2, 1, 0)


def test_without_an_abstract_the_paper_is_read_from_the_top(make_query: Callable[..., Query]) -> None:
    assert make_retriever("abstract-tail").retrieve(make_query("abc", "snn")).ranking == (0, 1, 2)
