"""Constructions taken from one store to another, and under another name."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.construction import BuildInput
from evidencebench_core.construction.decisions import Decision, add_decisions
from evidencebench_core.construction.pipeline import construction
from evidencebench_core.construction.raters import marked_build
from evidencebench_core.construction.review import Review, accepted
from evidencebench_core.construction.store import add_builds, constructions, rename_construction
from evidencebench_core.data.repair import faults
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import DataError, StoreError
from evidencebench_core.export.portable import export_file
from evidencebench_core.export.portable_import import import_file
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.annotation import Annotation, MarkedAspect
from evidencebench_core.papers.annotations import Annotations
from evidencebench_core.papers.own import OwnPapers
from tests.construction.scripted_model import paper_text
from tests.construction.test_pipeline import Lab


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store.sqlite")


@pytest.fixture
def lab(store: Store, tmp_path: Path) -> Lab:
    return made_lab(store, tmp_path)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("exported")
    lab = made_lab(open_store(folder / "store.sqlite"), folder)
    export_file(lab.store, folder / "mine.jsonl.gz")
    return (folder / "mine.jsonl.gz").read_bytes()


def made_lab(store: Store, folder: Path) -> Lab:
    """Three builds that are kept, one of them of a paper of the reader's own, and decisions of two."""
    lab = Lab(store, folder)
    lab.add("a")
    lab.add("b")
    own = OwnPapers(store).save(read_paper(paper_text("own").encode(), "mine.txt"), "mine.txt", "H.")
    add_builds(store, "lab", [BuildInput("own", own.key, "Tea is good, says own.", "Tea is good.")])
    made = lab.run()
    add_decisions(store, "lab", accepted(Review(made.state("a"), ()), "ann"))
    add_decisions(store, "lab", [Decision("b", "build", "reject", "bob")])
    return lab


@pytest.fixture
def other(tmp_path: Path) -> Store:
    return open_store(tmp_path / "other.sqlite")


def seen(store: Store, name: str) -> list[tuple[Any, ...]]:
    made = construction(store, name)
    return [
        (
            one.state.id,
            one.state.position,
            one.state.covers(),
            one.state.aspects,
            one.decisions,
            one.open_items,
        )
        for one in made.reviews()
    ]


def test_they_come_whole_and_once(lab: Lab, other: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    counts = export_file(lab.store, path)
    assert (counts["construction"], counts["build"], counts["paper"]) == (1, 3, 1)
    assert str(tmp_path) not in gzip.decompress(path.read_bytes()).decode()  # no folders of this machine
    OwnPapers(other).save(read_paper(b"Another paper. It has text.", "another.txt"), "another", "H.")
    assert import_file(other, path) == {kind: (n, n) for kind, n in counts.items()}
    assert seen(other, "lab") == seen(lab.store, "lab")
    paper = construction(other, "lab").state("own").input.paper
    assert OwnPapers(other).paper(int(paper.removeprefix("own:"))).sentences[-1].endswith("of own it.")
    assert faults(other) == []
    assert {new for new, _ in import_file(other, path).values()} == {0}
    assert seen(other, "lab") == seen(lab.store, "lab")
    assert construction(other, "lab").costs()["alignment"].calls == 0
    here = Lab(other, tmp_path)
    here.run()
    assert here.n_calls == 0  # nothing is asked again


def test_beside_another_of_its_name_it_gets_a_number_and_what_is_there_stays(
    lab: Lab, other: Store, tmp_path: Path
) -> None:
    path = tmp_path / "mine.jsonl.gz"
    export_file(lab.store, path)
    (tmp_path / "theirs").mkdir()
    theirs = Lab(other, tmp_path / "theirs")
    theirs.add("a", {"blood": (2,)})
    with other.write() as db:
        db.execute("UPDATE constructions SET added_at = '2020-01-01T00:00:00+00:00'")
    theirs.run()
    before = seen(other, "lab")
    for _ in range(2):
        import_file(other, path)
        assert seen(other, "lab") == before
        assert seen(other, "lab 2") == seen(lab.store, "lab")
    assert [one.name for one in constructions(other)] == ["lab", "lab 2"]
    add_decisions(lab.store, "lab", [Decision("b", "build", "accept", "bob")])
    export_file(lab.store, path, overwrite=True)
    assert import_file(other, path)["decision"][0] == 1
    assert construction(other, "lab 2").state("b").position.status == "kept"


def test_a_construction_gets_another_name_and_nothing_is_asked_again(lab: Lab) -> None:
    before = seen(lab.store, "lab")
    construction(lab.store, "lab").funnel()
    remembered = construction(lab.store, "lab").positions()
    add_builds(lab.store, "taken", [BuildInput("a", "p", "S.")])
    marked = Annotation("ann", "H.", 40, (MarkedAspect("aspect_0", "Tea", False, (2,)),), 1)
    Annotations(lab.store).save(marked_build(lab.store, "lab", "a").key, marked)
    for wrong in ("taken", "two\nlines", ""):
        with pytest.raises(StoreError):
            rename_construction(lab.store, "lab", wrong)
    renamed = rename_construction(lab.store, "lab", "new name")
    assert renamed.name == "new name"
    assert (
        Annotations(lab.store).latest(marked_build(lab.store, "new name", "a").key, "ann").annotation
        == marked
    )
    assert seen(lab.store, "new name") == before
    made = construction(lab.store, "new name")
    assert made.positions() == remembered
    assert len(remembered) == 3
    assert not [plan for _, plan in made.plans()]
    assert faults(lab.store) == []


def change(of: str, **values: object) -> Callable[[list[dict[str, Any]]], None]:
    def changed(lines: list[dict[str, Any]]) -> None:
        next(line for line in lines if of in line)[of].update(values)

    return changed


@pytest.mark.parametrize(
    "changed",
    [
        change("construction", name="two\nlines"),
        change("construction", settings=[["{}", "2026-01-01"]]),
        change("construction", settings=[["[]", 7]]),
        change("pool", sentences=["Another."]),
        change("pool", sentence_types=["evil"]),
        change("read_paper", pool="0" * 64),
        change("read_paper", reason="evil"),
        change("read_paper", licence="evil"),
        change("build", body={"id": "a", "paper": "p"}),
        change("build", body={"id": "a", "paper": "p", "summary": "S.", "evil": 1}),
        change("build", construction="none"),
        change("decision", item="../../etc"),
        change("decision", verdict="evil"),
        change("decision", by=" "),
    ],
)
def test_what_could_not_have_been_made_here_is_refused_whole(
    exported: bytes, other: Store, tmp_path: Path, changed: Callable[[list[dict[str, Any]]], None]
) -> None:
    path = tmp_path / "mine.jsonl.gz"
    lines = [json.loads(line) for line in gzip.decompress(exported).splitlines()]
    changed(lines)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    with pytest.raises(DataError) as caught:
        import_file(other, path)
    assert len(str(caught.value)) < 600
    assert constructions(other) == ()
