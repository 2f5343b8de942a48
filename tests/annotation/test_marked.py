"""Papers that people mark, and the gold as one more annotator."""

import pytest

from evidencebench_core.annotation.marked import annotation_of, annotators_of, instance_key, marked_paper
from evidencebench_core.annotation.model import Annotation, annotated_instance
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import Store
from evidencebench_core.errors import PaperError, UnknownNameError
from tests.annotation.scripted_model import save_proposal


def test_the_gold_of_an_instance_is_an_annotator(store: Store) -> None:
    marked = marked_paper(store, instance_key(store.dataset("tiny"), "tiny_0"))
    annotations = Annotations(store)
    annotations.save(marked.key, Annotation("Zoe", "", 12).add_aspect("Mine"))
    save_proposal(store, marked.key, Annotation("model:m", "", 12).add_aspect("Proposed"))
    assert annotators_of(annotations, marked) == ("Zoe", "model:m", "gold")
    assert not marked.gold_has_words
    gold = annotation_of(annotations, marked, "gold")
    # raw_dataset: the spots of instance 0 are 0, 3, 5, 7; the aspects have no text, so their labels serve.
    assert [(a.text, a.sentences, a.is_result) for a in gold.aspects] == [
        ("A1", (0,), False), ("A2", (3, 5), True), ("A3", (5, 7), True),
    ]  # fmt: skip
    again = annotated_instance(marked.paper, gold, "again")
    assert again.evidence.covers("all") == store.get("tiny", "tiny_0").evidence.covers("all")
    begun = gold.without_marks("Ada").add_aspect("New")  # no id is given twice
    assert [a.id for a in begun.uncovered] == ["aspect_0", "aspect_1", "aspect_2", "aspect_3"]


def test_what_is_not_there_is_named(store: Store) -> None:
    dataset = store.dataset("tiny")
    for key in ("own:7", "own:x", "instance:abc:tiny_0", "nothing", "", instance_key(dataset, "tiny_77")):
        with pytest.raises(UnknownNameError):
            marked_paper(store, key)
    with pytest.raises(PaperError, match="Who has: gold"):
        annotation_of(Annotations(store), marked_paper(store, instance_key(dataset, "tiny_0")), "Ada")
