"""Annotations in the store: one JSON a paper and annotator, undo and redo over its states."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations, Revision
from evidencebench_core.data.store import open_store

EMPTY = Annotation("Ada", "Tea helps.", 10)
ONE = EMPTY.add_aspect("One")
TWO = ONE.add_aspect("Two").decide(["model:m\tx\t3"])
OTHER = ONE.add_aspect("Other")


@pytest.fixture
def annotations(tmp_path: Path) -> Annotations:
    return Annotations(open_store(tmp_path / "store.sqlite"))


def test_undo_and_redo_walk_to_both_ends(annotations: Annotations) -> None:
    nothing = Revision(None, 0, can_undo=False, can_redo=False)
    assert annotations.undo("own:1", "Ada") == annotations.redo("own:1", "Ada") == nothing
    for annotation in (ONE, TWO):
        annotations.save("own:1", annotation)
    states = [annotations.undo("own:1", "Ada").annotation for _ in range(3)]
    assert states == [ONE, None, None]
    assert annotations.annotators("own:1") == annotations.papers() == ()
    states = [annotations.redo("own:1", "Ada").annotation for _ in range(3)]
    assert states == [ONE, TWO, TWO]
    latest = annotations.latest("own:1", "Ada")
    assert (latest.annotation, latest.can_undo, latest.can_redo) == (TWO, True, False)
    # A save after an undo ends the other way.
    annotations.undo("own:1", "Ada")
    saved = annotations.save("own:1", OTHER)
    assert (saved.annotation, saved.can_redo) == (OTHER, False)
    assert annotations.save("own:1", OTHER) == saved  # the same again is no new state
    assert annotations.undo("own:1", "Ada").annotation == ONE


def test_the_oldest_states_make_room(annotations: Annotations) -> None:
    for index in range(150):
        annotations.edit("own:1", EMPTY, partial(Annotation.set_hypothesis, hypothesis=f"H{index}"))
    states = annotations.states("own:1", "Ada")
    assert [state.hypothesis for state in states] == [f"H{index}" for index in range(50, 150)]


def test_annotators_and_papers_stay_apart(annotations: Annotations) -> None:
    annotations.save("own:1", ONE)
    annotations.save("own:1", Annotation("Bob", "Tea helps.", 10))
    annotations.save("instance:ab:x", TWO)
    assert annotations.annotators("own:1") == ("Ada", "Bob")
    assert annotations.papers() == ("instance:ab:x", "own:1")
    assert annotations.undo("own:1", "Bob").annotation is None
    assert [annotations.get(paper, "Ada") for paper in ("own:1", "instance:ab:x")] == [ONE, TWO]


def test_edits_at_the_same_time_all_stand(annotations: Annotations) -> None:
    def mark(index: int) -> None:
        annotations.edit("own:1", ONE, lambda annotation: annotation.mark("aspect_0", [index]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(mark, range(10)))
    assert annotations.get("own:1", "Ada") == ONE.mark("aspect_0", range(10))
