"""Published runs: whole in themselves, no text that may not be copied, a folder whole or not at all."""

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.export import site
from evidencebench_core.export.reader import System, view_data, view_of
from evidencebench_core.export.site import publish
from evidencebench_core.runs import RunStore
from tests.analyses.stores import complete_run
from tests.factories import raw_dataset, store_with

HOSTILE = "<img src=x onerror=alert(1)></script><script>"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Four instances, one with a name that is none for a file, one of a paper that may not be copied; two runs."""
    first, *others = raw_dataset(4).items()
    dataset = {"../\u202e<x>": first[1] | {"hypothesis": HOSTILE}} | dict(others)
    for name, licence in (("tiny_1", "CC BY-ND"), ("tiny_2", "public domain"), ("tiny_3", "CC BY 4.0")):
        dataset[name] |= {"construction": {"paper_licence": licence}}
    store = store_with(dataset, tmp_path_factory.mktemp("site"))
    for retriever in ("oracle", "lead"):
        complete_run(store, "tiny", retriever, tasks=("er@2", "result-er@5"))
    return store


@pytest.fixture
def runs(store: Store) -> list[str]:
    return [run.id for run in RunStore(store).runs("tiny")]


def drawn(page: Path) -> list[dict[str, Any]]:
    packed = re.findall(r'id="data">(.*?)</script>', page.read_text("utf-8"))
    return json.loads(zlib.decompress(b64decode(packed[0])))  # type: ignore[no-any-return]


def test_pages_are_the_apps_drawing_and_load_nothing(store: Store, runs: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "site"
    written = publish(store, runs, folder, ["er@2"])
    pages = sorted(folder.glob("papers/*.html"))
    assert [page.name for page in pages] == ["0-x.html", *(f"{n}-tiny-{n}.html" for n in (1, 2, 3))]
    assert (written.n_papers, written.n_unlicensed) == (4, 1)
    assert written.n_bytes == sum(file.stat().st_size for file in folder.rglob("*.*"))
    for page in (folder / "index.html", *pages):
        html = page.read_text("utf-8")
        assert "Content-Security-Policy" in html
        assert not re.search(r"\u202e|<img|<x>|<[^>]+\s(on\w+|style)=", html)
        named = re.findall(r'(?:src|href)="([^"#]+)', html)
        assert all((page.parent / name).is_file() for name in named), named
    instance = next(store.get_many("tiny", ["tiny_3"]))
    picks = [RunStore(store).selections(RunStore(store).run(run), "er@2")["tiny_3"] for run in runs]
    systems = [System(name, chosen) for name, chosen in zip(("oracle", "lead"), picks, strict=True)]
    assert drawn(pages[3])[0] == view_data(view_of(instance, systems=systems))
    script = (folder / "site.js").read_text("utf-8")
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)  # a module cannot be loaded from a file


def test_text_that_may_not_be_copied_is_nowhere(store: Store, runs: list[str], tmp_path: Path) -> None:
    assert publish(store, runs, tmp_path / "site").withheld == {"tiny_1": "CC BY-ND"}
    (page,) = (tmp_path / "site" / "papers").glob("*tiny-1.html")
    first, second = drawn(page)
    assert set(first["texts"]) == {""}
    assert set(second["marks"]) > {"m"}
    for file in (page, tmp_path / "site" / "index.html"):
        assert "In cohort 1." not in file.read_text("utf-8")


def test_a_folder_is_written_whole_or_not_at_all(store: Store, runs: list[str], tmp_path: Path) -> None:
    folder, foreign = tmp_path / "site", tmp_path / "notes"
    foreign.mkdir()
    (foreign / "index.html").write_text("mine")
    for place, problem in ((foreign, "something else"), (tmp_path / "no" / "site", "cannot be written")):
        with pytest.raises(SettingError, match=problem):
            publish(store, runs, place)
    with pytest.raises(UnknownNameError, match="er@9"):  # nobody has answered it
        publish(store, runs, folder, ["er@9"])
    publish(store, runs, folder)
    before = (folder / "index.html").read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "_packed", Mock(side_effect=OSError(28, "No space left on device")))
        with pytest.raises(SettingError, match="No space"):
            publish(store, runs[:1], folder)
    assert (folder / "index.html").read_bytes() == before
    publish(store, runs[:1], folder)
    assert (folder / "index.html").read_bytes() != before
    assert sorted(tmp_path.iterdir()) == [foreign, folder]
    assert (foreign / "index.html").read_text() == "mine"
