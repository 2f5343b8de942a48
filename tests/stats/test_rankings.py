import pytest

from evidencebench_core.stats import overlap


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [((1, 2, 3), (3, 4), 1 / 3), ((1, 2), (2, 1), 1.0), ((1,), (2,), 0.0), ((), (2,), 0.0), ((), (), None)],
)
def test_overlap_is_the_share_of_the_longer_selection(
    a: tuple[int, ...], b: tuple[int, ...], share: float | None
) -> None:
    assert overlap(a, b) == share
