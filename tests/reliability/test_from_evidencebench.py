"""Items made of the real train set."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from evidencebench_core.data import Store
from evidencebench_core.perturb import add_wordings, read_wordings
from evidencebench_core.reliability.from_evidencebench import evidence_items, ingest_evidence
from evidencebench_core.reliability.items import ItemSet, item_set
from evidencebench_core.reliability.probes import Probes, probes_of
from evidencebench_core.reliability.tasks import reliability_task
from tests.conftest import real_file

pytestmark = pytest.mark.realdata


@pytest.fixture
def evidence(train_store: Store) -> ItemSet:
    path = real_file("evidencebench/hypothesis_variants_train.json")
    add_wordings(train_store, "train", read_wordings(path), path.name)
    return item_set(train_store, ingest_evidence(train_store, "train").name)


def test_items_of_the_train_set(train_store: Store, evidence: ItemSet) -> None:
    instances = {instance.id: instance for instance in train_store.iter("train")}
    gold = {
        name: {one for aspect in instance.evidence.covers("all") for one in aspect}
        for name, instance in instances.items()
    }
    counts = [(len(gold[name]), len(instance.sentences)) for name, instance in instances.items()]
    assert (sum(n for n, _ in counts), sum(n for _, n in counts)) == (2029, 16225)
    assert sum(2 * min(5, n, n_all - n) for n, n_all in counts) == 940  # before headings are left out
    assert evidence.kind == "evidence"
    per_instance: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for item in evidence.items:
        name, _, index = item.id.rpartition("/")
        instance, place = instances[name], int(index)
        assert item.context == (instance.sentences[place],)
        assert instance.sentence_types[place] != "section_name"
        assert item.answer == ("yes" if place in gold[name] else "no")
        assert item.group == instance.paper_id
        assert item.question == instance.hypothesis
        assert item.text in item.passage
        per_instance[name][item.answer] += 1
    assert all(counts["yes"] == counts["no"] <= 5 for counts in per_instance.values())
    assert len(evidence.items) == 940
    assert evidence_items(train_store, "train") == evidence.items
    assert evidence_items(train_store, "train", seed=1) != evidence.items
    assert evidence_items(train_store, "train", limit=3) == evidence.items[: sum(
        sum(per_instance[name].values()) for name in list(instances)[:3])]  # fmt: skip


def test_tasks_on_them(evidence: ItemSet) -> None:
    group = {item.id: item.group for item in evidence.items}

    def probes(task: str, **settings: object) -> Probes:
        return probes_of(evidence, reliability_task(task), settings)

    assert len(probes("baseline").probes) == len(evidence.items)
    for probe in probes("few-shot", orders="NY,YN").probes:
        assert all(group[one] != probe.group for one in probe.details["examples"])
    shown = probes("distraction")
    assert set(shown.left_out.values()) == {"a neighbour of the sentence covers a study aspect"}
    assert {probe.gold for probe in shown.probes} == {"yes", "no"}
    for probe in shown.probes:
        assert all(group[one] != probe.group for one in probe.details["distractors"])
    for probe in probes("unknown").probes:
        if probe.variant == "shuffled":
            assert group[probe.details["context_of"]] != probe.group
    negated, paraphrased = probes("negation").probes, probes("paraphrase").probes
    assert all(
        probe.expected == probe.gold for probe in negated
    )  # a negated hypothesis has the same evidence
    assert len(negated) == len(evidence.items)
    assert len(paraphrased) == 4 * len(evidence.items)
