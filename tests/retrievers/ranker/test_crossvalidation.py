from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from evidencebench_core.data.model import Instance
from evidencebench_core.retrievers.base import Retrieval, query_of
from evidencebench_core.retrievers.ranker.crossvalidation import (
    ABLATIONS,
    Ablation,
    fit_rankers,
    held_out_picks,
    held_out_retrievals,
    refits,
)
from evidencebench_core.retrievers.ranker.examples import Example, example_of, folds_by_paper
from evidencebench_core.retrievers.ranker.features import GROUPS
from evidencebench_core.retrievers.ranker.model import RankerModel, Selecting
from evidencebench_core.retrievers.ranker.retriever import scored_paper
from evidencebench_core.tasks import task_named
from tests.retrievers.ranker.made_up import ENCODER, QUICK, vectors_of

TASKS = [task_named(name) for name in ("er@optimal", "er@10", "result-er@5")]
FITS = Generator[int, None, list[RankerModel]]


def ended(fits: FITS) -> list[RankerModel]:
    while True:
        try:
            next(fits)
        except StopIteration as end:
            models: list[RankerModel] = end.value
            return models


def fold_fits(examples: Sequence[Example], n_folds: int) -> tuple[list[int], FITS]:
    folds = folds_by_paper([one.paper_id for one in examples], n_folds)
    samples = [
        [one for one, where in zip(examples, folds, strict=True) if where != fold] for fold in range(n_folds)
    ]
    return folds, fit_rankers(samples, ENCODER, QUICK)


def answers(examples: Sequence[Example], instances: Sequence[Instance]) -> list[dict[str, Retrieval]]:
    folds, fits = fold_fits(examples, 2)
    models = ended(fits)
    return [
        held_out_retrievals(models[fold], one, vectors_of(one), TASKS)
        for fold, one in zip(folds, instances, strict=True)
    ]


def test_the_gold_of_a_fold_changes_nothing_in_it(
    examples: Sequence[Example], instances: Sequence[Instance]
) -> None:
    folds, _ = fold_fits(examples, 2)
    honest = answers(examples, instances)
    other = [
        replace(one, evidence=instances[(place + 3) % 12].evidence) if folds[place] == 0 else one
        for place, one in enumerate(instances)
    ]
    disturbed = answers([example_of(one, vectors_of(one)) for one in other], instances)
    changed = 0
    for fold, before, after in zip(folds, honest, disturbed, strict=True):
        if fold == 0:
            assert all(before[name].ranking == after[name].ranking for name in before)
            assert all(before[name].scores == after[name].scores for name in before)
        else:
            changed += any(before[name].scores != after[name].scores for name in before)
    assert changed  # the other fold has learnt from what was disturbed


def test_each_is_answered_for_the_tasks_it_has(model: RankerModel, instances: Sequence[Instance]) -> None:
    without_results, whole = (
        held_out_retrievals(model, one, vectors_of(one), TASKS) for one in (instances[4], instances[1])
    )
    assert set(without_results) == {"er@optimal", "er@10"}
    assert set(whole) == {"er@optimal", "er@10", "result-er@5"}
    assert len(whole["er@10"].selection) == 10
    assert sorted(whole["er@10"].ranking) == list(range(40))
    picks = held_out_picks(model, instances[1], vectors_of(instances[1]), TASKS)
    assert picks == {name: one.selection for name, one in whole.items()}


def test_each_fold_is_fitted_without_its_papers(examples: Sequence[Example]) -> None:
    folds, fits = fold_fits(examples, 3)
    for fold, model in enumerate(ended(fits)):
        inside = {one.paper_id for one, where in zip(examples, folds, strict=True) if where == fold}
        assert not inside & set(model.trained_on.paper_ids)
        assert inside | set(model.trained_on.paper_ids) == {one.paper_id for one in examples}


def test_closing_gives_up_what_is_being_fitted(
    examples: Sequence[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    import lightgbm

    fitted: list[int] = []
    train = lightgbm.train
    monkeypatch.setattr(lightgbm, "train", lambda *words: (fitted.append(1), train(*words))[1])
    _, fits = fold_fits(examples, 5)
    assert next(fits) in range(6)
    fits.close()
    # each of five folds has three sums of trees for two focuses
    assert len(fitted) < 30


def test_without_selection_step_the_best_scores_are_picked(
    model: RankerModel, instances: Sequence[Instance]
) -> None:
    instance, vectors = instances[1], vectors_of(instances[1])
    off = next(one for one in ABLATIONS if one.name == "without selection step")
    picks = held_out_picks(off.of(model), instance, vectors, TASKS)["er@10"]
    scores = scored_paper(model, query_of(instance, "all", None), vectors).scored.scores
    assert list(picks) == np.argsort(-scores, kind="stable")[:10].tolist()
    flat = Ablation("", selecting=Selecting(0.0, 1e6, 0.0)).of(model)  # with no sharpness all are alike
    assert list(held_out_picks(flat, instance, vectors, TASKS)["er@10"]) == list(range(10))


def test_a_member_without_weight_does_not_count(model: RankerModel, instances: Sequence[Instance]) -> None:
    instance, vectors = instances[1], vectors_of(instances[1])
    alone = {name: 0.0 for name in model.focuses["all"].weights if name != "features"}
    only = Ablation("", weights=alone, selecting=Selecting(closeness=1e6, reach=0)).of(model)
    rows = scored_paper(model, query_of(instance, "all", None), vectors).features.rows
    linear = model.focuses["all"].features.scores(rows)
    expected = np.argsort(-linear, kind="stable")[:10].tolist()
    assert list(held_out_picks(only, instance, vectors, TASKS)["er@10"]) == expected


def test_every_part_has_its_ablation() -> None:
    names = {one.name for one in ABLATIONS}
    assert {f"without {group}" for group in GROUPS} <= names
    assert len(names) == len(ABLATIONS)
    assert refits() == len(GROUPS) + 1  # and the topics of the embedding
