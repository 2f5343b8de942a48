"""Evidence sets that several metric tests use."""

import pytest


@pytest.fixture
def tempting() -> list[frozenset[int]]:
    """Six aspects for which greedy takes 3 sentences where 2 suffice.

    Sentence 0 covers aspects 1, 2, 3, 4 and tempts; 1 covers 0, 1, 2; 2 covers 3, 4, 5.
    """
    return [
        frozenset({1}),
        frozenset({0, 1}),
        frozenset({0, 1}),
        frozenset({0, 2}),
        frozenset({0, 2}),
        frozenset({2}),
    ]
