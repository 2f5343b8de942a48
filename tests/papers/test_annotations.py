"""Annotations in the store: revisions, undo, redo, several annotators."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.annotation import (
    Annotation,
    add_aspect,
    mark,
    move,
    remove_aspect,
    rename,
    set_hypothesis,
    set_result,
)
from evidencebench_core.papers.annotations import Annotations, Revision

EMPTY = Annotation("Ada", "Tea helps.", 10)
ONE = add_aspect(EMPTY, "One")
TWO = add_aspect(ONE, "Two")
OTHER = add_aspect(ONE, "Other")


@pytest.fixture
def annotations(tmp_path: Path) -> Annotations:
    return Annotations(open_store(tmp_path / "store.sqlite"))


def test_undo_and_redo_walk_to_both_ends(annotations: Annotations) -> None:
    nothing = Revision(None, 0, can_undo=False, can_redo=False)
    assert annotations.undo("own:1", "Ada") == annotations.redo("own:1", "Ada") == nothing
    for annotation in (ONE, TWO):
        annotations.save("own:1", annotation)
    walked = [annotations.undo("own:1", "Ada").annotation for _ in range(3)]
    assert walked == [ONE, None, None]
    assert annotations.annotators("own:1") == ()
    walked = [annotations.redo("own:1", "Ada").annotation for _ in range(3)]
    assert walked == [ONE, TWO, TWO]
    latest = annotations.latest("own:1", "Ada")
    assert (latest.annotation, latest.can_undo, latest.can_redo) == (TWO, True, False)


def test_a_save_after_an_undo_goes_its_own_way(annotations: Annotations) -> None:
    for annotation in (ONE, TWO):
        annotations.save("own:1", annotation)
    annotations.undo("own:1", "Ada")
    saved = annotations.save("own:1", OTHER)
    assert (saved.annotation, saved.number, saved.can_redo) == (OTHER, 3, False)
    assert annotations.undo("own:1", "Ada").annotation == ONE
    again = annotations.save("own:1", ONE)
    assert (again.number, again.can_redo) == (1, True)  # the same again is no revision
    assert annotations.redo("own:1", "Ada").annotation == OTHER  # the way last taken, not TWO


def test_annotators_and_papers_stay_apart(annotations: Annotations) -> None:
    annotations.save("own:1", ONE)
    annotations.save("own:1", Annotation(" Bob ", "Tea helps.", 10))
    annotations.save("instance:ab:x", TWO)
    assert annotations.annotators("own:1") == ("Ada", "Bob")
    assert annotations.papers() == ("instance:ab:x", "own:1")
    assert annotations.undo("own:1", "Bob").annotation is None
    assert annotations.latest("own:1", "Ada").annotation == ONE
    assert annotations.latest("instance:ab:x", "Ada").annotation == TWO


def test_annotators_need_a_name(annotations: Annotations) -> None:
    for name, message in ((" \n", "has no name"), ("x" * 201, "has a name of 201 characters")):
        with pytest.raises(PaperError, match=f"annotator: {message}"):
            annotations.save("own:1", Annotation(name, "Tea helps.", 10))


def test_savers_at_the_same_time_lose_nothing(annotations: Annotations) -> None:
    store: Store = annotations.store
    texts = [f"Aspect {number}" for number in range(12)]
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda text: Annotations(store).save("own:1", add_aspect(EMPTY, text)), texts))
    seen = []
    revision = annotations.latest("own:1", "Ada")
    while revision.annotation is not None:
        seen.append(revision.annotation.aspects[0].text)
        revision = annotations.undo("own:1", "Ada")
    assert sorted(seen) == sorted(texts)


EDITOR = """
import sys
from pathlib import Path
from evidencebench_core.data import open_store
from evidencebench_core.papers.annotation import Annotation, mark
from evidencebench_core.papers.annotations import Annotations
annotations = Annotations(open_store(Path(sys.argv[1])))
print(flush=True)
sys.stdin.readline()
for index in map(int, sys.argv[2:]):
    blank = Annotation("Ada", "Tea helps.", 100)
    annotations.edit("own:1", blank, lambda a: mark(a, "aspect_0", [index]), seen=1)
"""


def test_edits_of_two_processes_at_once_all_stand(annotations: Annotations) -> None:
    annotations.save("own:1", add_aspect(Annotation("Ada", "Tea helps.", 100), "One"))
    windows = [
        subprocess.Popen(
            [sys.executable, "-c", EDITOR, str(annotations.store.path), *map(str, range(first, 80, 2))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for first in (0, 1)
    ]
    for window in windows:
        assert window.stdout is not None
        window.stdout.readline()
    for window in windows:
        window.communicate("\n", timeout=60)
    assert [window.returncode for window in windows] == [0, 0]
    standing = annotations.latest("own:1", "Ada").annotation
    assert standing is not None
    assert standing.aspects[0].sentences == tuple(range(80))


@pytest.mark.parametrize(
    ("elsewhere", "here", "place"),
    [
        (lambda a: mark(a, "aspect_0", [3]), lambda a: mark(a, "aspect_1", [3]), "sentence 3"),
        (lambda a: rename(a, "aspect_1", "B"), lambda a: rename(a, "aspect_1", "C"), "aspect A2"),
        (lambda a: set_hypothesis(a, "B."), lambda a: set_hypothesis(a, "C."), "hypothesis"),
        (lambda a: mark(a, "aspect_0", [3]), lambda a: remove_aspect(a, "aspect_0"), "sentence 3"),
        (lambda a: move(a, "aspect_1", 0), lambda a: move(a, "aspect_0", 2), ""),
        (lambda a: mark(a, "aspect_0", [3]), lambda a: mark(a, "aspect_0", [4]), ""),
        (lambda a: add_aspect(a, "B"), lambda a: add_aspect(a, "C"), ""),
        (lambda a: rename(a, "aspect_0", "B"), lambda a: set_result(a, "aspect_1", is_result=True), ""),
    ],
)
def test_what_was_changed_elsewhere_stays_and_the_same_part_is_refused(
    annotations: Annotations,
    elsewhere: Callable[[Annotation], Annotation],
    here: Callable[[Annotation], Annotation],
    place: str,
) -> None:
    seen = annotations.save("own:1", TWO).number
    theirs = annotations.edit("own:1", EMPTY, elsewhere, seen).annotation
    assert theirs is not None
    if place:
        with pytest.raises(PaperError, match=f"^{place}: was changed in another window meanwhile"):
            annotations.edit("own:1", EMPTY, here, seen)
        assert annotations.latest("own:1", "Ada").annotation == theirs
        with pytest.raises(PaperError, match=r"^annotation: was changed in another window"):
            annotations.undo("own:1", "Ada", seen)
    else:
        assert annotations.edit("own:1", EMPTY, here, seen).annotation == here(theirs)
