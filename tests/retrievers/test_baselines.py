from collections.abc import Sequence

import pytest

from evidencebench_core.data.model import Aspect, EvidenceSet
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.retrievers.base import ranking_by_score
from tests.retrievers.queries import make_query

PAPER = tuple(f"Sentence {number}." for number in range(6))


def order_of(
    sentences: Sequence[str] = PAPER, hypothesis: str = "h", seed: int = 0, **rest: object
) -> list[int]:
    query = make_query(sentences, hypothesis=hypothesis, **rest)
    return list(make_retriever("random", {"seed": seed}).retrieve(query).ranking)


def test_the_random_order_never_changes() -> None:
    # From a script of its own: sha256 of b"0", then NUL length NUL text for each text, as seed of
    # random.Random, whose random() Python keeps the same in all versions; highest draw first.
    assert order_of() == order_of(focus="results", budget=2) == [5, 0, 3, 4, 2, 1]


def test_seed_hypothesis_and_paper_all_matter() -> None:
    several = [
        {tuple(order_of(seed=seed)) for seed in range(20)},
        {tuple(order_of(hypothesis=f"h{number}")) for number in range(20)},
        {tuple(order_of(sentences=(*PAPER[:5], f"Other {number}."))) for number in range(20)},
    ]
    assert all(len(orders) > 10 for orders in several)
    # So does where one text ends and the next begins.
    pairs = [((f"{n} ab", "c", *PAPER), (f"{n} a", "bc", *PAPER)) for n in range(5)]
    assert any(order_of(one) != order_of(other) for one, other in pairs)


def test_lead_reads_on_and_abstract_tail_reads_the_abstract_backwards_then_the_rest() -> None:
    lead = make_retriever("lead").retrieve(make_query("abcd", "saan", budget=2))
    assert (lead.ranking, lead.scores, lead.selection) == ((0, 1, 2, 3), (4.0, 3.0, 2.0, 1.0), (0, 1))
    # Abstract sentences are 1, 2 and 4, wherever they stand; the rest in order is 0, 3, 5.
    retrieval = make_retriever("abstract-tail").retrieve(make_query("abcdef", "saasan", budget=4))
    assert (retrieval.ranking, retrieval.selection) == ((4, 2, 1, 0, 3, 5), (4, 2, 1, 0))


def test_a_negative_budget_and_no_score_are_errors() -> None:
    with pytest.raises(RetrieverError, match="Budget cannot be -1"):
        make_retriever("lead").retrieve(make_query("abc", budget=-1))
    with pytest.raises(RetrieverError, match="Sentence 1 has no score"):
        ranking_by_score([0.0, float("nan")])


# Sentence 4 covers A1, A2, A3; sentence 1 covers A4; sentence 2 covers A1 and A4; 0 covers A3.
# All four need two sentences: {4, 1} or {4, 2}. The one result aspect A4 needs one: 1 or 2.
GOLD = EvidenceSet(
    n_sentences=6,
    aspects=(
        Aspect("p", (2, 4), False, "A1"),
        Aspect("q", (4,), False, "A2"),
        Aspect("r", (0, 4), False, "A3"),
        Aspect("s", (1, 2), True, "A4"),
    ),
    optimal=2,
    results_optimal=1,
)


def test_the_oracle_selects_what_is_needed_and_no_more() -> None:
    for focus, n_by_budget in (("all", {0: 0, 1: 1, 2: 2, 10: 2, None: 2}), ("results", {5: 1, None: 1})):
        for budget, n_picks in n_by_budget.items():
            query = make_query("abcdef", focus=focus, budget=budget)
            picks = make_retriever("oracle", gold=GOLD).retrieve(query).selection
            assert len(picks) == n_picks
            n_covered = sum(not cover.isdisjoint(picks) for cover in GOLD.covers(query.focus))
            assert n_covered == (1 if focus == "results" else {0: 0, 1: 3, 2: 4}[n_picks])


def test_selection_then_other_covering_sentences_then_the_rest() -> None:
    retrieval = make_retriever("oracle", gold=GOLD).retrieve(make_query("abcdef", budget=2))
    assert retrieval.selection[0] == 4  # adds three aspects, the other pick one
    second = retrieval.selection[1]
    others = sorted({0, 1, 2} - {second})
    assert retrieval.ranking == (4, second, *others, 3, 5)
    assert retrieval.scores == (2.0, 2.0, 1.0, 1.0, 0.0, 0.0)
    # Without result aspects nothing is selected for results.
    gold = EvidenceSet(3, (Aspect("p", (1,), False, "A1"),), 1, None)
    retrieval = make_retriever("oracle", gold=gold).retrieve(make_query("abc", focus="results"))
    assert (retrieval.selection, retrieval.ranking) == ((), (0, 1, 2))


def test_it_needs_gold() -> None:
    with pytest.raises(SettingError):
        make_retriever("oracle")
