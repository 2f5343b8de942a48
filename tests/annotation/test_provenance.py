"""Which models made a gold, and whether a run's model is of their family."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from components.annotate.decisions import first_consensus
from evidencebench_core.annotation.differences import decide, differences
from evidencebench_core.annotation.export import exported_annotations
from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.provenance import GoldMakers, gold_makers, gold_models, model_family
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import Store
from evidencebench_core.data.formats import instance_from
from tests.factories import raw_instance, store_with


def test_families() -> None:
    models = {
        "openai/gpt-4o-mini": "gpt", "GPT4-0125": "gpt", "o3-mini": "gpt", "42": "42", "": "",
        "claude-3-opus": "claude", "meta-llama/Llama-3-8B": "llama", "Qwen/Qwen2.5-7B": "qwen", "olmo-2": "olmo",
    }  # fmt: skip
    assert {model: model_family(model) for model in models} == models


def test_the_models_behind_an_instance() -> None:
    instance = instance_from("x", raw_instance(3, {"a": [1]}))
    made = {"stages": [{"stage": "alignment", "model": "m"}, 3, {"stage": "results"}]}
    for changes, models in (
        ({}, ()),
        ({"construction": made}, ("m",)),
        ({"construction": {"stages": "m"}}, ()),
        ({"id": "evidencebench_train_id_1"}, ("GPT-4",)),
        ({"id": "evidencebench_100k_id_1"}, ("GPT-4o-mini",)),
    ):
        assert gold_models(replace(instance, **changes)) == models


def test_a_consensus_says_whose_it_is_and_what_is_open(store: Store) -> None:
    key, annotations = instance_key(store.dataset("tiny"), "tiny_0"), Annotations(store)
    # Of 12 sentences Ada marks 1 and 2, Ben 2 and 3: kappa (10/12 - 104/144) / (1 - 104/144) = 0.4.
    blank = Annotation("Ada", "Tea.", 12).decide(["model:m\tdose\t2", "Ben\tx\t1"])
    ada, ben = (
        replace(blank, annotator=who).add_aspect("Dose", sentences=[n, 2])
        for who, n in (("Ada", 1), ("Ben", 3))
    )
    annotations.save(key, ada)
    annotations.save(key, ben)
    consensus = first_consensus(ada, ben)
    annotations.save(key, decide(consensus, differences(ada, ben)[:1], keep=True))
    (instance,) = exported_annotations(store).instances.values()
    made = instance.construction
    assert made["consensus"] == {"of": ["Ada", "Ben"], "kappa": 0.4, "n_open": 1}
    assert consensus.decisions == {"model:m\tdose\t2"}  # so a model that was followed is named


def test_who_made_the_gold_of_a_dataset(tmp_path: Path) -> None:
    raws = {f"i{n}": raw_instance(3, {f"i{n}_aspect_0": [1]}) for n in range(4)}
    raws["i0"]["construction"] = {"stages": [{"model": "gpt-4o"}], "aspects": ["model"]}
    makers = gold_makers(store_with(raws, tmp_path), "tiny")
    assert makers == GoldMakers(("gpt-4o",), 0.25)
    run = SimpleNamespace(retriever="llm", settings={"model": "gpt-4o-mini"})
    proposed, family = makers.notes([run])  # type: ignore[list-item]
    assert "25%" in proposed
    assert "gpt-4o-mini" in family
    assert GoldMakers(("gpt-4o",), 0).notes() == ()
