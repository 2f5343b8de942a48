"""Where the real data is, and what its absence means."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from evidencebench_core.data.store import Store
from tests.factories import store_with, tiny_dataset

# Machines that run this differ in speed, and no example is slow enough to matter.
# In CI the examples are the same in every run: a change never fails for another one's luck.
settings.register_profile("patient", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=25)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "patient"))

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("EVIDENCEBENCH_TEST_DATA") or ROOT.parent / "shared" / "data")


class ByFile(LoadFileScheduling):
    """A worker has all tests of a file, and all of the browser's, which share an app."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if nodeid.startswith("tests/browser/") else str(super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    first = {"frozen": 0, "browser": 1}
    items.sort(key=lambda item: (first.get(item.path.parent.name, 2), item.path not in slow))


@pytest.fixture(autouse=True)
def _private_places(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the store, the cache or the trained ranker of whoever runs it."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("EVIDENCEBENCH_STORE", str(home / "store.sqlite"))
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", str(home / "cache"))
    monkeypatch.setenv("EVIDENCEBENCH_RANKER", str(home / "ranker"))


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """A store of its own, with the ``DATASET`` of the test's file or else the six instances of ``tiny_dataset``."""
    return store_with(getattr(request.module, "DATASET", tiny_dataset()), tmp_path)


@pytest.fixture
def hashing_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are close that share words; in place of the embedding model, which takes seconds to load."""
    import numpy as np

    from evidencebench_core.retrievers import encoding
    from tests.retrievers.conftest import hashed_vectors

    def encode(model: str, texts: Sequence[str], role: str = "") -> Any:
        vectors = [hashed_vectors(model, text.lower().split() or [""]).sum(axis=0) for text in texts]
        return np.tile(np.stack(vectors), 12)

    monkeypatch.setattr(encoding, "encode", encode)


def real_file(relative: str) -> Path:
    """A file of the real data; without it the test is skipped, in CI it fails."""
    path = DATA / relative
    if not path.is_file():
        message = f"{path} is not there; set EVIDENCEBENCH_TEST_DATA to the folder with the real data"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def train_path() -> Path:
    """The real train set, 96 instances."""
    return real_file("evidencebench/evidencebench_train_set.json")


@pytest.fixture(scope="session")
def train_raw(train_path: Path) -> dict[str, dict[str, Any]]:
    """The real train set as decoded JSON. Copy before you change it."""
    raw: dict[str, dict[str, Any]] = json.loads(train_path.read_text(encoding="utf-8"))
    return raw
