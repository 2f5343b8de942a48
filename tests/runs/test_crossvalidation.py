from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import pytest

from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.ranker.examples import Example, example_of, folds_by_paper
from evidencebench_core.retrievers.ranker.model import RankerModel
from evidencebench_core.retrievers.ranker.retriever import retrieval_of
from evidencebench_core.retrievers.ranker.training import fit_ranker
from evidencebench_core.runs.crossvalidation import Learnt, fit, scored_tasks
from evidencebench_core.runs.step import Step, drive
from tests.retrievers.ranker.made_up import ENCODER, QUICK, made, vectors_of

INSTANCES = tuple(made(number, min(number, 9)) for number in range(12))


@pytest.fixture(scope="module")
def examples() -> tuple[Example, ...]:
    return tuple(example_of(instance, vectors_of(instance)) for instance in INSTANCES)


def learnt_from(examples: Sequence[Example], n_folds: int) -> Learnt:
    folds = folds_by_paper([one.paper_id for one in examples], n_folds)
    fold_of = {one.instance_id: fold for one, fold in zip(examples, folds, strict=True)}
    store: Store = open_store()
    return Learnt(store, None, examples, ENCODER, fold_of)  # type: ignore[arg-type]


def answers(model: RankerModel, instance: Instance) -> dict[str, Retrieval]:
    scored = scored_tasks(model, instance, vectors_of(instance))
    return {task.name: retrieval_of(model, paper, query) for task, query, paper in scored}


def held_out(examples: Sequence[Example]) -> dict[str, dict[str, Retrieval]]:
    learnt = learnt_from(examples, 2)
    models = drive(fit(learnt, QUICK), lambda _: None)
    return {one.id: answers(models[learnt.fold_of[one.id]], one) for one in INSTANCES}


def test_the_gold_of_a_fold_changes_nothing_in_it(examples: Sequence[Example]) -> None:
    fold_of = learnt_from(examples, 2).fold_of
    other = [
        replace(one, evidence=INSTANCES[(place + 3) % 12].evidence) if fold_of[one.id] == 0 else one
        for place, one in enumerate(INSTANCES)
    ]
    honest, disturbed = held_out(examples), held_out([example_of(one, vectors_of(one)) for one in other])
    changed = 0
    for name, before in honest.items():
        same = all(
            (one.ranking, one.scores) == (disturbed[name][task].ranking, disturbed[name][task].scores)
            for task, one in before.items()
        )
        assert same or fold_of[name] == 1
        changed += not same
    assert changed  # the other fold has learnt from what was disturbed


def test_each_fold_is_fitted_without_its_papers(examples: Sequence[Example]) -> None:
    learnt = learnt_from(examples, 3)
    *models, whole = drive(fit(learnt, QUICK, everything=True), lambda _: None)
    papers = {one.paper_id for one in examples}
    for fold, model in enumerate(models):
        inside = {one.paper_id for one in examples if learnt.fold_of[one.instance_id] == fold}
        assert set(model.trained_on.paper_ids) == papers - inside
    assert set(whole.trained_on.paper_ids) == papers


def test_each_is_answered_for_the_tasks_it_has(examples: Sequence[Example]) -> None:
    model = fit_ranker(examples, ENCODER, QUICK)
    without_results, whole = answers(model, INSTANCES[4]), answers(model, INSTANCES[1])
    assert set(without_results) == {"er@optimal", "er@10"}
    assert set(whole) == {"er@optimal", "er@10", "result-er@optimal", "result-er@5"}
    assert len(whole["er@10"].selection) == 10
    assert sorted(whole["er@10"].ranking) == list(range(40))


def test_closing_gives_up_what_is_being_fitted(
    examples: Sequence[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    import lightgbm

    fitted: list[int] = []
    train = lightgbm.train
    monkeypatch.setattr(lightgbm, "train", lambda *words: (fitted.append(1), train(*words))[1])
    fits: Generator[Step, None, list[RankerModel]] = fit(learnt_from(examples, 5), QUICK)
    assert next(fits).total == 5
    next(fits)
    fits.close()
    # each of five folds has three sums of trees for two focuses
    assert len(fitted) < 30
