"""What alignment takes: example 103, and the figures of rules 33, 34, 58 and 64 to 66."""

import pytest

from evidencebench_core.construction import coverage_drop
from evidencebench_core.construction.cost import alignment_cost, build_calls, judgements_needed
from evidencebench_core.construction.windows import windows


def test_by_hand() -> None:
    cost = alignment_cost(168, 9)
    assert (cost.calls, cost.prompt_tokens) == (306, 316_611)
    mean = alignment_cost(168, 9.5)
    assert mean.prompt_tokens == pytest.approx(334_200, abs=50)
    assert mean.cached_tokens == pytest.approx(42_404)
    assert mean.prompt_tokens / mean.cached_tokens == pytest.approx(7.9, abs=0.05)
    assert build_calls(168, 9.5) == 330
    assert build_calls(168, 9.5, "summary") == 326
    all_papers = mean.times(107_461)
    assert all_papers.calls == pytest.approx(34.7e6, abs=0.05e6)
    assert all_papers.calls / 86_400 == pytest.approx(402, abs=1)
    assert all_papers.prompt_tokens == pytest.approx(35.9e9, abs=0.05e9)
    assert all_papers.dollars(0.15, 0.6) == pytest.approx(7_470, abs=10)
    for n in (1, 4, 5, 6, 23):
        assert alignment_cost(n, 1).calls == len(windows(n))
    aspects, pairs = judgements_needed(3)
    assert (aspects, pairs) == (pytest.approx(560, abs=3), pytest.approx(91_000, abs=300))


@pytest.mark.parametrize(
    ("covered", "aspects", "reason"),
    [
        *((a, n, None) for a, n in ((7, 10), (14, 20), (21, 30), (4, 5), (2, 2))),
        *((a, n, "coverage") for a, n in ((6, 10), (2, 3), (13, 19), (0, 4))),
        (0, 0, "no_aspects"),
        (1, 1, "too_few_aspects"),
    ],
)
def test_coverage_is_compared_in_whole_numbers(covered: int, aspects: int, reason: str | None) -> None:
    assert coverage_drop(covered, aspects) == reason
