"""Cross-validation is honest: a fold is fitted without its papers, and its gold changes nothing in it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.ranker import training
from evidencebench_core.retrievers.ranker.model import Ranker
from evidencebench_core.retrievers.ranker.training import Example
from evidencebench_core.runs import RankerTraining, RunStore, Step, train_ranker
from tests.factories import raw_dataset, store_with, written


@pytest.fixture(autouse=True)
def one_epoch(hashing_encoder: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "N_EPOCHS", 1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return store_with(raw_dataset(8), tmp_path)


def trained(store: Store, folder: Path, **options: int) -> RankerTraining:
    return train_ranker(store, ["tiny"], out=folder, **options)


def test_each_fold_is_fitted_without_its_papers_whatever_dataset_has_them(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the papers of tiny, and four more
    ingest(store, written(raw_dataset(12), tmp_path / "more.json"), "more")
    fitted: list[Counter[str]] = []
    fit = training.fit_ranker

    def record(examples: Sequence[Example], encoder: str, seed: int = 0) -> Ranker:
        fitted.append(Counter(example.instance.id for example in examples))
        return fit(examples, encoder, seed)

    monkeypatch.setattr("evidencebench_core.runs.ranker_training.fit_ranker", record)
    done = train_ranker(store, ["tiny", "more"], out=tmp_path / "model", folds=4)
    *folds, whole = fitted
    assert done.n_instances == len(whole) == 12
    assert sum(whole.values()) == 20
    assert [len(fold) for fold in folds] == [10] * 4
    asked = [set(whole) - set(fold) for fold in folds]
    assert set().union(*asked) == set(store.ids("tiny"))
    assert done.run_id
    assert set(RunStore(store).retrievals(done.run_id, "er@10")) == set(store.ids("tiny"))


@pytest.mark.parametrize("options", [{"folds": 1}, {"seed": -1}])
def test_what_cannot_be_asked(store: Store, tmp_path: Path, options: dict[str, int]) -> None:
    with pytest.raises(SettingError):
        trained(store, tmp_path / "model", **options)
    assert not (tmp_path / "model").exists()


def test_giving_up_leaves_nothing(store: Store, tmp_path: Path) -> None:
    def report(step: Step) -> None:
        if "Cross-validating" in step.text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_ranker(store, ["tiny"], out=tmp_path / "model", folds=2, report=report)
    assert not (tmp_path / "model").exists()
    assert RunStore(store).runs("tiny") == ()


@pytest.mark.slow
def test_other_folds_and_seeds_are_other_runs(store: Store, tmp_path: Path) -> None:
    options = ({"folds": 2}, {"folds": 4}, {"folds": 2, "seed": 1}, {"folds": 2})
    *others, again = [trained(store, tmp_path / "model", **chosen) for chosen in options]
    assert len({done.run_id for done in others}) == 3
    assert again.run_id == others[0].run_id
