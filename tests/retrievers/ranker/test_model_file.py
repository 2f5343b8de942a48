import hashlib
import json
import os
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evidencebench_core.data.model import Instance
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers.base import query_of
from evidencebench_core.retrievers.ranker import model_file
from evidencebench_core.retrievers.ranker.model import RankerModel
from evidencebench_core.retrievers.ranker.model_file import (
    default_model_path,
    default_retriever,
    read_model,
    trained_model,
    write_model,
)
from tests.retrievers.ranker.made_up import ranked_by_model, small_model, vectors_of


@pytest.fixture(scope="module")
def fresh(model: RankerModel, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Any]:
    """Gives a new copy of a model's document each time."""
    path = tmp_path_factory.mktemp("model") / "model.json"
    write_model(replace(model, notes={"cross_validated": None}), path)
    text = path.read_text(encoding="utf-8")
    return lambda: json.loads(text)


def test_what_is_written_is_read_back(
    model: RankerModel, instances: tuple[Instance, ...], tmp_path: Path
) -> None:
    path = tmp_path / "new folder" / "model.json"
    digest = write_model(model, path)
    again, found = read_model(path)
    assert found == digest == hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    assert again.trained_on == model.trained_on
    assert again.notes == model.notes
    assert write_model(again, tmp_path / "again.json") == digest
    for focus in ("all", "results"):
        query = query_of(instances[0], focus, 7)  # type: ignore[arg-type]
        before, after = (ranked_by_model(one, query, vectors_of(instances[0])) for one in (model, again))
        assert (before.ranking, before.scores) == (after.ranking, after.scores)


def test_a_failed_write_leaves_what_was_there(
    model: RankerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    path.write_text("older")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_model(model, path)
    assert [one.name for one in tmp_path.iterdir()] == ["model.json"]
    assert path.read_text() == "older"


def test_places(model: RankerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="cannot be written"):
        write_model(model, tmp_path / "file" / "model.json")
    with pytest.raises(RetrieverError, match="structure"):
        read_model(tmp_path / "none.json")
    monkeypatch.setenv("EVIDENCEBENCH_RANKER", str(tmp_path / "mine.json"))
    assert default_model_path() == tmp_path / "mine.json"
    monkeypatch.delenv("EVIDENCEBENCH_RANKER")
    assert default_model_path().name == "ranker.json"


def test_structure_until_a_model_of_this_version_is_trained() -> None:
    path = default_model_path()
    assert (trained_model(), default_retriever()) == (None, "structure")
    path.write_text('{"format": "evidencebench-ranker 1"}')
    assert default_retriever() == "structure"
    with pytest.raises(RetrieverError, match=r"another version .*'evidencebench-ranker 1'.* train-ranker"):
        read_model(path)
    digest = write_model(small_model(), path)
    assert default_retriever() == "evidence-ranker"
    assert trained_model() == read_model(path) == (read_model(path)[0], digest)


@pytest.mark.parametrize("text", ["", "[", "[]", "null", "NaN", "[" * 100_000, "{}", '"x"', "\udcff"])
def test_what_is_no_model(text: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(RetrieverError, match="train-ranker"):
        read_model(path)


@pytest.mark.parametrize(
    "content", ['"hunter2"', '["hunter2"]', '{"format": "hunter2"}', '{"key": "hunter2"}']
)
def test_of_another_file_nothing_is_told(content: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(RetrieverError, match="is no trained ranker") as caught:
        read_model(path)
    assert "hunter2" not in str(caught.value)


def test_numbers_of_the_selection(fresh: Callable[[], Any], tmp_path: Path) -> None:
    for value in (10**400, -1, float("nan"), float("inf"), True, "1", None):
        changed = fresh()
        changed["selecting"]["reach"] = value
        (tmp_path / "model.json").write_text(json.dumps(changed))
        with pytest.raises(RetrieverError, match="reach"):
            read_model(tmp_path / "model.json")


def test_only_regular_files_are_read_and_only_so_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(RetrieverError, match="not a regular file"):
            read_model(path)
    for name in ("x" * 100_000, "a\0b"):
        with pytest.raises(RetrieverError, match="cannot be read") as caught:
            read_model(tmp_path / name)
        assert len(str(caught.value)) < 600
    monkeypatch.setattr(model_file, "_LARGEST", 1000)
    with pytest.raises(RetrieverError, match="not JSON"):  # a file without a size, and with more than that
        read_model(Path("/proc/self/maps"))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("focuses", "all", "weights"), 0),
        (("focuses", "all", "weights"), 5e-324),
        (("focuses", "x" * 100_000), {}),
        (("focuses", "all", "trees", "x" * 100_000), 1),
        (("focuses", "all", "weights", "x" * 100_000), "y" * 100_000),
        (("trained_on", "dataset"), ["x" * 100_000]),
        (("format",), "x" * 100_000),
    ],
)
def test_weights_of_nothing_and_long_names_are_one_line(
    fresh: Callable[[], Any], tmp_path: Path, place: tuple[str, ...], value: Any
) -> None:
    changed = parent = fresh()
    for key in place[:-1]:
        parent = parent[key]
    was = parent.get(place[-1])
    parent[place[-1]] = dict.fromkeys(was, value) if isinstance(was, dict) else value
    path = tmp_path / "model.json"
    path.write_text(json.dumps(changed))
    with pytest.raises(RetrieverError) as caught:
        read_model(path)
    assert len(str(caught.value)) < 600


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Places in a document: all keys, and the first places of lists."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    return [path, *(found for key, child in children for found in paths_of(child, (*path, key)))]


ODD = st.sampled_from(
    [None, 10**400, -(2**63), 2**31, float("nan"), float("inf"), -float("inf"), 1e308, [], {}]
)
VALUES = (
    ODD
    | st.booleans()
    | st.integers(-5, 5)
    | st.text(max_size=5)
    | st.lists(st.floats(), min_size=1, max_size=3)
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@example(number=111, value=10**400, removed=False)
@given(number=st.integers(0, 10**6), value=VALUES, removed=st.booleans())
def test_a_changed_file_is_refused_or_is_a_model(
    fresh: Callable[[], Any], tmp_path: Path, number: int, value: object, removed: bool
) -> None:
    changed = fresh()
    places = paths_of(changed)[1:]
    place = places[number % len(places)]
    parent = changed
    for key in place[:-1]:
        parent = parent[key]
    if removed:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    path = tmp_path / f"{uuid.uuid4()}.json"
    path.write_text(json.dumps(changed), encoding="utf-8")
    try:
        model, _ = read_model(path)
    except RetrieverError as error:
        assert str(path) in str(error)  # noqa: PT017 - either outcome is right
        return
    assert set(model.focuses) >= {"all"}
