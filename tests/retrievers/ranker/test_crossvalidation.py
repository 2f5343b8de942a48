from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from evidencebench_core.data.model import Instance
from evidencebench_core.retrievers.base import query_of
from evidencebench_core.retrievers.ranker.ablation import ABLATIONS, refits
from evidencebench_core.retrievers.ranker.crossvalidation import (
    HeldOut,
    fold_models,
    held_out,
    held_out_picks,
)
from evidencebench_core.retrievers.ranker.examples import (
    Example,
    example_of,
    folds_by_paper,
    unit_vectors,
)
from evidencebench_core.retrievers.ranker.features import GROUPS, features_of
from evidencebench_core.retrievers.ranker.model import RankerModel, Selecting
from evidencebench_core.tasks import task_named
from tests.retrievers.ranker.made_up import ENCODER, QUICK, vectors_of

TASKS = [task_named(name) for name in ("er@optimal", "er@10", "result-er@5")]


def answers(examples: Sequence[Example], instances: Sequence[Instance]) -> dict[str, HeldOut]:
    folds = folds_by_paper(examples, 2)
    fold_of = {one.instance_id: fold for one, fold in zip(examples, folds, strict=True)}
    models = fold_models(examples, folds, ENCODER, QUICK, lambda: None)
    papers = [(instance, vectors_of(instance)) for instance in instances]
    return {one.instance_id: one for one in held_out(models, fold_of, papers, TASKS)}


def test_the_gold_of_a_fold_changes_nothing_in_it(
    examples: Sequence[Example], instances: Sequence[Instance]
) -> None:
    folds = folds_by_paper(examples, 2)
    honest = answers(examples, instances)
    other = [
        replace(one, evidence=instances[(place + 3) % 12].evidence) if folds[place] == 0 else one
        for place, one in enumerate(instances)
    ]
    disturbed = answers([example_of(one, vectors_of(one)) for one in other], instances)
    changed = 0
    for place, instance in enumerate(instances):
        before, after = honest[instance.id].retrievals, disturbed[instance.id].retrievals
        if folds[place] == 0:
            assert all(before[name].ranking == after[name].ranking for name in before)
            assert all(before[name].scores == after[name].scores for name in before)
        else:
            changed += any(before[name].scores != after[name].scores for name in before)
    assert changed  # the other fold has learnt from what was disturbed


def test_each_is_answered_for_the_tasks_it_has(
    examples: Sequence[Example], instances: Sequence[Instance]
) -> None:
    found = answers(examples, instances)
    assert list(found) == [one.id for one in instances]
    without_results = instances[4]
    assert set(found[without_results.id].retrievals) == {"er@optimal", "er@10"}
    ten = found[instances[1].id].retrievals["er@10"]
    assert len(ten.selection) == 10
    assert sorted(ten.ranking) == list(range(40))
    assert set(found[instances[1].id].retrievals) == {"er@optimal", "er@10", "result-er@5"}


def test_each_fold_is_fitted_without_its_papers(examples: Sequence[Example]) -> None:
    folds = folds_by_paper(examples, 3)
    told: list[int] = []
    models = fold_models(examples, folds, ENCODER, QUICK, lambda: told.append(1))
    assert len(told) == 3
    for fold, model in models.items():
        inside = {one.paper_id for one, where in zip(examples, folds, strict=True) if where == fold}
        assert not inside & set(model.trained_on.paper_ids)
        assert inside | set(model.trained_on.paper_ids) == {one.paper_id for one in examples}


def test_an_interrupt_ends_the_folds(examples: Sequence[Example]) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fold_models(examples, folds_by_paper(examples, 5), ENCODER, QUICK, interrupt)


def test_without_selection_step_the_best_scores_are_picked(
    model: RankerModel, instances: Sequence[Instance]
) -> None:
    instance = instances[1]
    unit = unit_vectors(vectors_of(instance))
    features = features_of(query_of(instance, "all", None), unit)
    off = next(one for one in ABLATIONS if one.name == "without selection step")
    picks = held_out_picks(model, instance, features, unit, TASKS, None, off.selecting)["er@10"]
    ranked = held_out_picks(model, instance, features, unit, TASKS, None, Selecting(0.0, 1e6, 0.0))["er@10"]
    assert len(picks) == len(set(picks)) == 10
    from evidencebench_core.retrievers.ranker.retriever import scored_paper

    scores = scored_paper(model, "all", features, unit).scored.scores
    assert list(picks) == np.argsort(-scores, kind="stable")[:10].tolist()
    assert list(ranked) == list(range(10))  # with no sharpness all are alike


def test_a_member_without_weight_does_not_count(model: RankerModel, instances: Sequence[Instance]) -> None:
    instance = instances[1]
    unit = unit_vectors(vectors_of(instance))
    features = features_of(query_of(instance, "all", None), unit)
    alone = {name: 0.0 for name in model.focuses["all"].weights if name != "features"}
    found = held_out_picks(model, instance, features, unit, TASKS, alone, Selecting(closeness=1e6, reach=0))
    linear = model.focuses["all"].features.scores(features.rows)
    assert list(found["er@10"]) == np.argsort(-linear, kind="stable")[:10].tolist()


def test_every_part_has_its_ablation() -> None:
    names = {one.name for one in ABLATIONS}
    assert {f"without {group}" for group in GROUPS} <= names
    assert len(names) == len(ABLATIONS)
    assert refits() == len(GROUPS) + 1  # and the topics of the embedding
