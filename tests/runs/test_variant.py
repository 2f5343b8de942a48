"""Runs over perturbed instances."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import (
    Progress,
    RunStore,
    Variant,
    digest_of,
    execute,
    plan,
    score_run,
    variant_named,
)
from evidencebench_core.runs.variant import (
    arranged_evidence,
    arranged_query,
    in_original_indices,
    wording_variant,
)
from tests.factories import raw_instance, written

TASK = "er@10"


def last_of(
    store: Store, variant: Variant | None, retriever: str = "bm25", limit: int | None = None
) -> Progress:
    *_, last = execute(plan(store, "tiny", retriever, tasks=(TASK,), variant=variant, limit=limit))
    return last


def reversed_papers() -> Variant:
    return Variant("order:reversed", "1", arrangement=lambda i: tuple(reversed(range(len(i.sentences)))))


def test_a_variant_has_a_name_and_a_digest_of_its_texts() -> None:
    assert digest_of("n", {"a": "x", "b": "y"}) == digest_of("n", {"b": "y", "a": "x"})
    assert digest_of("n", {"a": "x"}) != digest_of("n", {"a": "z"})
    for name, digest in (("", "1"), ("n", "")):
        with pytest.raises(SettingError):
            Variant(name, digest)


def test_instances_without_the_variant_are_left_out_and_counted(store: Store) -> None:
    variant = wording_variant("negation", {"tiny_1": "Salt.", "tiny_4": "Water."})
    last = last_of(store, variant)
    assert (last.done, last.total, last.left_out) == (2, 2, 4)
    assert RunStore(store).selections(last.run_id, TASK).keys() == {"tiny_1", "tiny_4"}
    again = last_of(store, variant)
    assert (again.run_id, again.done, again.left_out) == (last.run_id, 2, 4)


def answer_of(store: Store, run_id: str, instance_id: str) -> Retrieval:
    answer = RunStore(store).retrieval(run_id, TASK, instance_id)
    assert answer is not None
    return answer


def test_the_retriever_is_asked_the_other_hypothesis(store: Store) -> None:
    instance = store.get("tiny", "tiny_1")
    query = arranged_query(instance, "all", 3, "Salt.", None)
    assert (query.hypothesis, query.sentences, query.budget) == ("Salt.", instance.sentences, 3)
    variants = (None, wording_variant("w", {"tiny_1": "Salt and sleep."}))
    original, other = [answer_of(store, last_of(store, one).run_id, "tiny_1") for one in variants]
    assert original.scores != other.scores


def test_variants_stay_apart_from_the_originals(store: Store) -> None:
    plain, varied = last_of(store, None), last_of(store, wording_variant("negation", {"tiny_0": "Salt."}))
    runs = RunStore(store)
    assert [run.id for run in runs.runs("tiny")] == [plain.run_id]
    assert {run.id for run in runs.runs("tiny", variants=True)} == {plain.run_id, varied.run_id}
    run = runs.run(varied.run_id)
    assert (run.variant, run.label) == ("negation", "bm25 [negation]")
    assert (runs.run(plain.run_id).variant, runs.run(plain.run_id).label) == ("", "bm25")
    assert score_run(store, varied.run_id, TASK).n_scored == 1


def test_an_arrangement_is_mapped_back_to_the_sentences_it_names(store: Store) -> None:
    # lead picks what it reads first: in reversed papers of 12 the sentences 11, 10, ..., 2.
    last = last_of(store, reversed_papers(), "lead")
    answer = answer_of(store, last.run_id, "tiny_2")
    assert answer.selection == tuple(range(11, 1, -1))
    assert answer.ranking == tuple(range(11, -1, -1))


def test_a_retriever_blind_to_order_answers_the_same(store: Store) -> None:
    answers = [
        answer_of(store, last_of(store, variant).run_id, "tiny_0") for variant in (None, reversed_papers())
    ]
    original, turned = [dict(zip(one.ranking, one.scores, strict=True)) for one in answers]
    assert original == pytest.approx(turned)


def test_the_oracle_has_gold_moved_along(store: Store) -> None:
    assert score_run(store, last_of(store, reversed_papers(), "oracle").run_id, TASK).aspect_recall == 1.0
    # tiny_0: aspects at 0, at 3 and 5, and at 5 and 7. Without sentence 0 two of three can be covered.
    removed = Variant(
        "gone", "1", arrangement=lambda i: range(1, len(i.sentences)) if i.id == "tiny_0" else None
    )
    last = last_of(store, removed, "oracle")
    assert (last.done, last.total, last.left_out) == (1, 1, 5)
    recalls = score_run(store, last.run_id, TASK).per_instance
    assert recalls == {"tiny_0": pytest.approx(2 / 3)}
    evidence = arranged_evidence(store.get("tiny", "tiny_0").evidence, range(1, 12))
    assert [aspect.sentence_indices for aspect in evidence.aspects] == [(), (2, 4), (4, 6)]
    assert (evidence.n_sentences, evidence.optimal) == (11, store.get("tiny", "tiny_0").evidence.optimal)


@pytest.mark.parametrize("order", [(), (0, 0), (0, 99), (-1, 2)])
def test_an_order_that_is_none_is_refused(store: Store, order: tuple[int, ...]) -> None:
    with pytest.raises(SettingError, match="tiny_0"):
        last_of(store, Variant("bad", "1", arrangement=lambda _: order))


def test_indices_come_back_in_the_order_of_the_original() -> None:
    answer = Retrieval((2, 0), (1.0, 0.5), (2,))
    assert in_original_indices(answer, (7, 8, 9)) == Retrieval((9, 7), (1.0, 0.5), (9,))
    assert in_original_indices(answer, None) is answer


def test_variants_by_name(store: Store, tmp_path: Path) -> None:
    dataset = {
        "a": raw_instance(8, {"x": [4]}, hypothesis="Tea causes sleep.", hypothesis_negation="No sleep.")
    }
    ingest(store, written(dataset, tmp_path / "one.json"), name="one")
    assert dict(variant_named(store, "one", "negation").hypotheses or {}) == {"a": "No sleep."}
    by_rule = variant_named(store, "one", "negation:rules")
    assert dict(by_rule.hypotheses or {}) == {"a": "Tea does not cause sleep."}
    spelt = variant_named(store, "one", "spelling:n=2")
    assert (spelt.name, spelt.digest) == (
        "spelling:n=2,seed=0",
        variant_named(store, "one", "spelling:n=2,seed=0").digest,
    )
    assert spelt.digest != variant_named(store, "one", "spelling:n=2,seed=1").digest
    for name in ("paraphrase:odd", "spelling:n=0", "spelling:n=x", ""):
        with pytest.raises(SettingError, match=r"There are: negation, negation:rules|is the original"):
            variant_named(store, "one", name)
