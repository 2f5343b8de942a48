"""A made-up benchmark, and a model that has learnt from it."""

import pytest

from evidencebench_core.data.model import Instance
from evidencebench_core.retrievers.ranker import training
from evidencebench_core.retrievers.ranker.model import Ranker
from evidencebench_core.retrievers.ranker.training import Example, example_of, fit_ranker
from tests.retrievers.ranker.made_up import made, vectors_of


@pytest.fixture(scope="session")
def instances() -> tuple[Instance, ...]:
    """Twelve of ten papers."""
    return tuple(made(number, min(number, 9)) for number in range(12))


@pytest.fixture(scope="session")
def examples(instances: tuple[Instance, ...]) -> tuple[Example, ...]:
    """The same, to be learnt from."""
    return tuple(example_of(instance, vectors_of(instance)) for instance in instances)


@pytest.fixture(scope="session")
def model(examples: tuple[Example, ...]) -> Ranker:
    """Trained on them."""
    return fit_ranker(examples, "minilm")


@pytest.fixture
def few_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training of a moment."""
    monkeypatch.setattr(training, "N_EPOCHS", 1)
