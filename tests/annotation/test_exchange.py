"""Marks from one store to another, and what a file may not do."""

import json
from pathlib import Path

import pytest

from evidencebench_core.annotation.exchange import import_marks, marks_json
from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import Store, open_store
from evidencebench_core.errors import PaperError
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.own import OwnPapers
from tests.factories import store_with, tiny_dataset


def kept(store: Store, *texts: bytes) -> tuple[str, str]:
    """The keys of the last of these papers, whose number is another one in every store, and of an instance."""
    papers = [OwnPapers(store).save(read_paper(text, "tea.md"), "Tea", "Tea helps.") for text in texts]
    return papers[-1].key, instance_key(store.dataset("tiny"), "tiny_1")


def test_marks_go_to_the_same_papers_elsewhere(
    store: Store, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    there = store_with(tiny_dataset(), tmp_path_factory.mktemp("there"))
    tea = b"# Tea\n\nTea was drunk. It helped."
    keys = {store: kept(store, tea), there: kept(there, b"Something else.", b"And more.", tea)}
    on_tea = Annotation("Ada", "Tea helps.", 3).add_aspect("Gone").add_aspect("Effect", True, [2])
    on_tea = on_tea.remove_aspect("aspect_0").decide(["Ben\teffect\t2"])
    on_tiny = Annotation("Ada", "", 12).add_aspect("Dose", sentences=[4, 1])
    for key, annotation in zip(keys[store], (on_tea, on_tiny), strict=True):
        Annotations(store).save(key, annotation)
    path = tmp_path / "marks.json"
    path.write_bytes(marks_json(store))
    assert [row[1:] for row in import_marks(there, path)] == [("Ada", "added")] * 2
    annotations = Annotations(there)
    assert [annotations.get(key, "Ada") for key in keys[there]] == [on_tiny, on_tea][::-1]
    assert {outcome for *_, outcome in import_marks(there, path)} == {"as it was"}
    annotations.save(keys[there][0], on_tea.mark("aspect_1", [1]))
    assert [outcome for *_, outcome in import_marks(there, path)] == ["as it was", "replaced"]
    assert annotations.undo(keys[there][0], "Ada").annotation == on_tea.mark("aspect_1", [1])
    nowhere = open_store(tmp_path / "empty.sqlite")
    assert all("left out" in outcome for *_, outcome in import_marks(nowhere, path))
    with pytest.raises(PaperError):
        marks_json(store, "Ben")


@pytest.mark.parametrize(
    "change",
    [
        {"annotator": "gold"}, {"annotator": "model:m"}, {"n_sentences": 11},
        {"n_made": 0}, {"aspects": [{"id": "aspect_0", "text": " ", "sentences": [1]}]},
        {"aspects": [{"id": "aspect_0", "text": "Dose", "sentences": [12]}]},
        {"aspects": [{"id": "aspect_0", "text": "Dose"}] * 2},
        {"n_made": 10**12, "aspects": [{"id": "x", "text": "D"}]},
    ],
)  # fmt: skip
def test_what_no_edit_could_make_stays_out(store: Store, tmp_path: Path, change: dict[str, object]) -> None:
    key, path = instance_key(store.dataset("tiny"), "tiny_1"), tmp_path / "marks.json"
    annotation = Annotation("Ada", "", 12).add_aspect("Dose").as_dict() | change
    path.write_text(json.dumps([{"paper": key, "name": "x", "annotation": annotation}]))
    ((*_, outcome),) = import_marks(store, path)
    assert outcome.startswith("left out")
    assert Annotations(store).papers() == ()


def test_what_is_no_file_of_marks_is_refused(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "marks.json"
    for content in ("", "[1]", '[{"paper": 1}]'):
        path.write_text(content)
        with pytest.raises(PaperError):
            list(import_marks(store, path))
