from collections.abc import Sequence

from evidencebench_core.retrievers import make_retriever
from tests.retrievers.queries import make_query

PAPER = tuple(f"Sentence {number}." for number in range(6))


def _order(
    sentences: Sequence[str] = PAPER, hypothesis: str = "h", seed: int = 0, **rest: object
) -> list[int]:
    query = make_query(sentences, hypothesis=hypothesis, **rest)
    return list(make_retriever("random", {"seed": seed}).retrieve(query).ranking)


def test_the_order_never_changes() -> None:
    # From a script of its own: sha256 of b"0", then NUL length NUL text for each text, as seed of
    # random.Random, whose random() Python keeps the same in all versions; highest draw first.
    assert _order() == _order(focus="results", budget=2) == [5, 0, 3, 4, 2, 1]


def test_seed_hypothesis_and_paper_all_matter() -> None:
    several = [
        {tuple(_order(seed=seed)) for seed in range(20)},
        {tuple(_order(hypothesis=f"h{number}")) for number in range(20)},
        {tuple(_order(sentences=(*PAPER[:5], f"Other {number}."))) for number in range(20)},
    ]
    assert all(len(orders) > 10 for orders in several)
    # So does where one text ends and the next begins.
    pairs = [((f"{n} ab", "c", *PAPER), (f"{n} a", "bc", *PAPER)) for n in range(5)]
    assert any(_order(one) != _order(other) for one, other in pairs)


def test_lead_reads_on_and_abstract_tail_reads_the_abstract_backwards_then_the_rest() -> None:
    lead = make_retriever("lead").retrieve(make_query("abcd", "saan", budget=2))
    assert (lead.ranking, lead.selection) == ((0, 1, 2, 3), (0, 1))
    # Abstract sentences are 1, 2 and 4, wherever they stand; the rest in order is 0, 3, 5.
    retrieval = make_retriever("abstract-tail").retrieve(make_query("abcdef", "saasan", budget=4))
    assert (retrieval.ranking, retrieval.selection) == ((4, 2, 1, 0, 3, 5), (4, 2, 1, 0))
    assert make_retriever("abstract-tail").retrieve(make_query("abc", "snn")).ranking == (0, 1, 2)
