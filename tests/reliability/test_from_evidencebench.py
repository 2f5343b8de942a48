"""Items made of the real train set."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from evidencebench_core.data import Store
from evidencebench_core.reliability.from_evidencebench import evidence_items, ingest_evidence
from evidencebench_core.reliability.items import item_set
from evidencebench_core.reliability.tasks import probes_of, reliability_task

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


def test_items_of_the_train_set(train_store: Store) -> None:
    evidence = item_set(train_store, ingest_evidence(train_store, "train").name)
    instances = {instance.id: instance for instance in train_store.iter("train")}
    per_instance: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
    for item in evidence.items:
        name, _, index = item.id.rpartition("/")
        instance, place = instances[name], int(index)
        gold = frozenset().union(*instance.evidence.covers("all"))
        assert item.context == (instance.sentences[place],)
        assert instance.sentence_types[place] != "section_name"
        assert item.answer == ("yes" if place in gold else "no")
        assert (item.group, item.question) == (instance.paper_id, instance.hypothesis)
        assert item.text in item.passage
        per_instance[name][item.answer] += 1
    assert all(counts["yes"] == counts["no"] <= 5 for counts in per_instance.values())
    assert (evidence.kind, len(evidence.items)) == ("evidence", 940)
    assert evidence_items(train_store, "train") == evidence.items
    assert evidence_items(train_store, "train", seed=1) != evidence.items
    distraction = probes_of(evidence, reliability_task("distraction"), {})
    assert set(distraction.left_out.values()) == {"a neighbour of the sentence covers a study aspect"}
    group = {item.id: item.group for item in evidence.items}
    for probe in distraction.probes:
        assert all(group[other] != probe.item.group for other in probe.details["distractors"])
