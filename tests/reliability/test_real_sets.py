"""PubMedQA-L and items of the real train set; figures are those of independent code on the raw file."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from evidencebench_core.data import ingest, open_store
from evidencebench_core.reliability.from_evidencebench import evidence_items, ingest_evidence
from evidencebench_core.reliability.items import ItemSet, item_set, new_item_set
from evidencebench_core.reliability.read_items import read_items
from evidencebench_core.reliability.tasks import probes_of, reliability_task
from tests.conftest import real_file
from tests.reliability.asking import scored

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def pubmedqa() -> ItemSet:
    kind, items = read_items(real_file("pubmedqa/ori_pqal.json"))
    return new_item_set("pubmedqa", items, kind)


def test_one_that_always_says_yes(pubmedqa: ItemSet) -> None:
    assert Counter(item.answer for item in pubmedqa.items) == {"yes": 552, "no": 338, "maybe": 110}
    baseline = scored(pubmedqa, "baseline", lambda _: "Yes.")
    assert baseline.value.text(decimals=1) == "47.5% (43.5 to 51.4)"
    # The exact interval, of the binomial with 552 of 890, is 0.4364 to 0.5143.
    assert (baseline.value.low, baseline.value.high) == pytest.approx((0.4364, 0.5143), abs=0.002)
    assert (baseline.value.n, baseline.left_out) == (890, {"the answer is maybe": 110})
    assert baseline.constants == pytest.approx({"yes": 0.4748, "no": 0.2091}, abs=5e-5)


def test_items_of_the_train_set(train_path: Path) -> None:
    store = open_store()
    ingest(store, train_path, "train")
    evidence = item_set(store, ingest_evidence(store, "train").name)
    instances = {instance.id: instance for instance in store.iter("train")}
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
    assert evidence_items(store, "train") == evidence.items
    assert evidence_items(store, "train", seed=1) != evidence.items
    distraction = probes_of(evidence, reliability_task("distraction"), {})
    assert set(distraction.left_out.values()) == {"a neighbour of the sentence covers a study aspect"}
