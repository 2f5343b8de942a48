"""Items made of the real train set."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from sklearn.metrics import f1_score

from evidencebench_core.data import Store
from evidencebench_core.perturb import add_wordings, read_wordings
from evidencebench_core.reliability.from_evidencebench import evidence_items, ingest_evidence
from evidencebench_core.reliability.items import ItemSet, item_set
from evidencebench_core.reliability.probes import Probes, probes_of
from evidencebench_core.reliability.score import TaskRun, TaskScore, task_score
from evidencebench_core.reliability.tasks import ORDERS, reliability_task, task_settings
from tests.conftest import real_file
from tests.reliability.scripted_models import answer, overlap

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


class Sentence(NamedTuple):
    """What the raw files say of an item."""

    gold: str
    hypothesis: str
    text: str
    passage: str
    paraphrases: dict[str, str]
    negation: str


@pytest.fixture
def sentences(evidence: ItemSet, train_raw: dict[str, dict[str, Any]]) -> dict[str, Sentence]:
    """By item id; which sentences were drawn, the ids say."""
    written = json.loads(real_file("evidencebench/hypothesis_variants_train.json").read_text("utf-8"))
    found = {}
    for item in evidence.items:
        name, _, index = item.id.rpartition("/")
        raw, place = train_raw[name], int(index)
        pool, kinds = raw["paper_as_candidate_pool"], raw["sentence_types_in_candidate_pool"]
        prose = [one for one, kind in enumerate(kinds) if kind != "section_name"]
        around = [one for one in prose if one < place][-1:], [one for one in prose if one > place][:1]
        found[item.id] = Sentence(
            "yes" if raw["sentence_index2aspects"][index] else "no",
            raw["hypothesis"],
            pool[place],
            " ".join(pool[one] for one in (*around[0], place, *around[1])),
            written[name]["paraphrases"],
            written[name]["negation"],
        )
    return found


def scored(
    evidence: ItemSet, task: str, model: str = "word-overlap", baseline: TaskScore | None = None
) -> TaskScore:
    of = reliability_task(task)
    probes = probes_of(evidence, of)
    results = {one.id: {"text": answer(model, one.messages()[-1].content)} for one in probes.probes}
    return task_score(TaskRun(of, evidence, probes, results, "", model, task_settings(of)), baseline)


def by_words(told: Sequence[tuple[str, str, str]]) -> float:
    """Weighted F1, by scikit-learn, of yes where a quarter of the words are there, from (gold, hypothesis, text)."""
    read = ["yes" if overlap(question, text) >= 0.25 else "no" for _, question, text in told]
    assert len(set(read)) == 2
    return float(f1_score([gold for gold, _, _ in told], read, labels=["yes", "no"], average="weighted"))


def test_figures_of_other_words(evidence: ItemSet, sentences: dict[str, Sentence]) -> None:
    """T1, T2, T4 and T5 by independent code from the raw files."""
    baseline = scored(evidence, "baseline")
    assert baseline.value.value == pytest.approx(
        by_words([(one.gold, one.hypothesis, one.text) for one in sentences.values()])
    )
    low, high = baseline.value.ci95 or (1, 0)
    assert 0 < low < high < 1

    names = ("formal", "lexical", "plain", "syntactic")
    reworded = {
        name: [(one.gold, one.paraphrases[name], one.text) for one in sentences.values()] for name in names
    }
    paraphrase = scored(evidence, "paraphrase", baseline=baseline)
    assert paraphrase.value.value == pytest.approx(
        by_words([told for one in reworded.values() for told in one])
    )
    assert {name: one.f1_weighted.value for name, one in paraphrase.variants.items()} == {
        f"paraphrase:{name}": pytest.approx(by_words(told)) for name, told in reworded.items()
    }

    spelling, texts = scored(evidence, "spelling"), defaultdict[str, list[tuple[str, str, str]]](list)
    for read in spelling.reads:
        one, text = sentences[read.probe.item_id], read.probe.fields["context"]
        n_changed = sum(a != b for a, b in zip(text, one.text, strict=True))
        assert n_changed == read.probe.details["errors"] <= int(read.probe.variant)
        texts[read.probe.variant].append((one.gold, one.hypothesis, text))
    assert {name: one.f1_weighted.value for name, one in spelling.variants.items()} == {
        name: pytest.approx(by_words(texts[name])) for name in ("0", "1", "3", "10", "20", "50")
    }
    assert spelling.variants["50"].n_capped > 0  # few sentences have 50 words

    # A negated hypothesis has the same evidence: the gold label is the one expected, none is to turn round.
    negation = scored(evidence, "negation", baseline=baseline)
    assert negation.value.value == pytest.approx(
        by_words([(one.gold, one.negation, one.text) for one in sentences.values()])
    )
    same = [
        (overlap(one.negation, one.text) >= 0.25) == (overlap(one.hypothesis, one.text) >= 0.25)
        for one in sentences.values()
    ]
    assert (negation.followed, negation.n_scored) == (None, 940)
    assert negation.baseline is not None
    assert negation.baseline.consistency == pytest.approx(sum(same) / 940)
    stubborn = scored(evidence, "negation", "always-yes", scored(evidence, "baseline", "always-yes"))
    assert stubborn.baseline is not None
    assert (stubborn.baseline.consistency, stubborn.baseline.difference.value) == (1.0, 0.0)


def test_figures_of_other_texts(evidence: ItemSet, sentences: dict[str, Sentence]) -> None:
    """T3, T6 and T11 by independent code from the raw files."""
    few_shot = scored(evidence, "few-shot", "first-example")
    assert {name: one.share_of_yes.value for name, one in few_shot.variants.items()} == {
        order: float(order[0] == "Y") for order in ORDERS
    }

    distraction, shown = scored(evidence, "distraction"), defaultdict[str, list[tuple[str, str, str]]](list)
    for read in distraction.reads:
        one, place = sentences[read.probe.item_id], int(read.probe.variant)
        texts = [sentences[other].passage for other in read.probe.details["distractors"]]
        texts.insert(place, one.passage)
        assert len(texts) == 3
        shown[read.probe.variant].append((one.gold, one.hypothesis, " ".join(texts)))
    assert {name: one.f1_weighted.value for name, one in distraction.variants.items()} == {
        place: pytest.approx(by_words(shown[place])) for place in "012"
    }

    unknown, refrained = scored(evidence, "unknown"), Counter[str]()
    for read in unknown.reads:
        other = read.probe.details.get("context_of", read.probe.item_id)
        share = overlap(sentences[read.probe.item_id].hypothesis, sentences[other].passage)
        refrained[read.probe.variant] += share < 0.2
    assert {name: one.shares["unknown"] for name, one in unknown.variants.items()} == {
        name: pytest.approx(n / 940) for name, n in refrained.items()
    }
    assert unknown.refrain_gap is not None
    gap = (refrained["shuffled"] - refrained["mirror"]) / 940
    assert gap > 0
    assert unknown.refrain_gap.value == pytest.approx(gap)
