"""Mean Aspect Recall on the 96 train instances against figures known beforehand, within 0.2 points."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evidencebench_core.data.model import Focus, Instance
from evidencebench_core.metrics import aspect_recall
from evidencebench_core.retrievers import make_retriever, query_of

pytestmark = pytest.mark.realdata

TASKS: tuple[tuple[Focus, int | None], ...] = (("all", None), ("all", 10), ("results", None), ("results", 5))


def _recalls(train: tuple[Instance, ...], name: str, settings: dict[str, object]) -> list[tuple[int, float]]:
    """For ER@Optimal, ER@10, Result-ER@Optimal, Result-ER@5: instances scored, mean in percent."""
    rows = []
    for focus, fixed in TASKS:
        recalls = []
        for instance in train:
            budget = fixed or instance.evidence.optimal_for(focus)
            if instance.evidence.focused(focus):
                query = query_of(instance, focus, budget)
                selection = make_retriever(name, settings, instance.evidence).retrieve(query).selection
                recalls.append(aspect_recall(selection, instance.evidence.covers(focus)))
        known = [recall for recall in recalls if recall is not None]
        rows.append((len(known), 100 * sum(known) / len(known)))
    return rows


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bm25", (14.5, 38.3, 6.7, 21.3)),
        ("abstract-tail", (28.4, 62.7, 15.7, 49.5)),
        ("oracle", (100.0, 99.82, 100.0, 99.59)),
    ],
)
def test_known_figures(train: tuple[Instance, ...], name: str, expected: tuple[float, ...]) -> None:
    rows = _recalls(train, name, {})
    assert [n_scored for n_scored, _ in rows] == [96, 96, 95, 95]
    assert [mean for _, mean in rows] == pytest.approx(expected, abs=0.2)


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One embedding cache for the module: the papers are encoded once (a minute on two cores)."""
    with pytest.MonkeyPatch.context() as patch:
        folder = str(tmp_path_factory.mktemp("embeddings"))
        patch.setenv("EVIDENCEBENCH_CACHE", folder)
        yield folder


@pytest.mark.model
def test_known_figures_of_dense_and_its_speed_from_the_cache(
    train: tuple[Instance, ...], shared_cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", shared_cache)  # tests/conftest.py sets one for every test
    rows = _recalls(train, "dense", {})
    assert [n_scored for n_scored, _ in rows] == [96, 96, 95, 95]
    assert [mean for _, mean in rows] == pytest.approx((17.5, 41.1, 11.6, 30.9), abs=0.2)
    dense = make_retriever("dense")
    seconds = sorted(dense.retrieve(query_of(instance, "all", 10)).seconds for instance in train)
    assert seconds[len(seconds) // 2] < 0.1
    fused = _recalls(train, "hybrid", {"of": "bm25,dense"})
    assert all(mean > bm25_mean for (_, mean), bm25_mean in zip(fused, (14.5, 38.3, 6.7, 21.3), strict=True))
