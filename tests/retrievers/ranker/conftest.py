"""A made-up benchmark, and a model that has learnt from it."""

import pytest

from evidencebench_core.data.model import Instance
from evidencebench_core.retrievers.ranker.examples import Example, example_of
from evidencebench_core.retrievers.ranker.model import RankerModel
from evidencebench_core.retrievers.ranker.training import fit_ranker
from tests.retrievers.ranker.made_up import ENCODER, QUICK, made, vectors_of


@pytest.fixture(scope="session")
def instances() -> tuple[Instance, ...]:
    """Twelve of ten papers."""
    return tuple(made(number, min(number, 9)) for number in range(12))


@pytest.fixture(scope="session")
def examples(instances: tuple[Instance, ...]) -> tuple[Example, ...]:
    """The same, to be learnt from."""
    return tuple(example_of(instance, vectors_of(instance)) for instance in instances)


@pytest.fixture(scope="session")
def model(examples: tuple[Example, ...]) -> RankerModel:
    """Trained on them, with few trees."""
    return fit_ranker(examples, ENCODER, QUICK)
