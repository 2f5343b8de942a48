"""PubMedQA-L and items of the real train set; figures are those of independent code on the raw file."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pytest
from sklearn.metrics import f1_score

from evidencebench_core.data import Store
from evidencebench_core.reliability.from_evidencebench import evidence_items, ingest_evidence
from evidencebench_core.reliability.items import ItemSet, item_set, new_item_set
from evidencebench_core.reliability.read_items import read_items
from evidencebench_core.reliability.score import TaskScore
from evidencebench_core.reliability.tasks import probes_of, reliability_task
from tests.conftest import real_file
from tests.reliability.asking import scored, scripted_answer
from tests.reliability.scripted_models import overlap

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


@pytest.fixture(scope="module")
def pubmedqa() -> ItemSet:
    kind, items = read_items(real_file("pubmedqa/ori_pqal.json"))
    return new_item_set("pubmedqa", items, kind)


def by_rule(items: ItemSet, task: str, model: str) -> TaskScore:
    return scored(items, task, scripted_answer(items, task, model), model=model)


def test_one_that_always_says_yes(pubmedqa: ItemSet) -> None:
    assert Counter(item.answer for item in pubmedqa.items) == {"yes": 552, "no": 338, "maybe": 110}
    baseline = by_rule(pubmedqa, "baseline", "always-yes")
    assert baseline.value.text(decimals=1) == "47.5% (43.5 to 51.4)"
    # The exact interval, of the binomial with 552 of 890, is 0.4364 to 0.5143.
    assert (baseline.value.low, baseline.value.high) == pytest.approx((0.4364, 0.5143), abs=0.002)
    assert (baseline.value.n, baseline.left_out) == (890, {"the answer is maybe": 110})
    assert baseline.constants == pytest.approx({"yes": 0.4748, "no": 0.2091}, abs=5e-5)


def test_one_that_counts_words(pubmedqa: ItemSet) -> None:
    raw = json.loads(real_file("pubmedqa/ori_pqal.json").read_text("utf-8")).values()
    rows = [
        (row["final_decision"], overlap(row["QUESTION"], "\n\n".join(row["CONTEXTS"])))
        for row in raw
        if row["final_decision"] != "maybe"
    ]
    gold, read = zip(*((answer, "yes" if share >= 0.5 else "no") for answer, share in rows), strict=True)
    expected = f1_score(gold, read, labels=["yes", "no"], average="weighted", zero_division=0)
    assert 0 < read.count("no") < 890
    assert by_rule(pubmedqa, "baseline", "word-overlap").value.value == pytest.approx(expected)
    # Without a context no word is there: the constant no.
    assert by_rule(pubmedqa, "knowledge", "word-overlap").value.value == pytest.approx(0.2091, abs=5e-5)
    mirror = by_rule(pubmedqa, "unknown", "word-overlap").variants.set_index("variant")["value"]["mirror"]
    assert mirror == pytest.approx(sum(share < 0.2 for _, share in rows) / 890)


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
