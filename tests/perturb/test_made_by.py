from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.perturb import MadeBy

READ = MadeBy("gpt-x", "negation 1-abc", "2026-01-31T10:00:00+00:00", "Ana", "2026-02-01T09:00:00", True)
TEXT = st.text(max_size=500)


@pytest.mark.parametrize(
    ("made_by", "said"),
    [
        (MadeBy(), ""),
        (
            MadeBy("gpt-x", "negation 1-abc", "2026-01-31T10:00:00"),
            "gpt-x, negation 1-abc, 2026-01-31; not reviewed",
        ),
        (READ, "gpt-x, negation 1-abc, 2026-01-31; accepted and edited by Ana, 2026-02-01"),
        (MadeBy(reviewer="Ana"), "accepted by Ana"),
    ],
)
def test_in_words(made_by: MadeBy, said: str) -> None:
    assert str(made_by) == said


def test_who_has_to_read_it() -> None:
    assert MadeBy("gpt-x").needs_review
    assert not READ.needs_review
    assert not MadeBy(prompt="by hand").needs_review


@given(st.builds(MadeBy, TEXT, TEXT, TEXT, TEXT, TEXT, st.booleans()))
def test_there_and_back(made_by: MadeBy) -> None:
    assert MadeBy.from_dict(made_by.as_dict()) == made_by
    assert MadeBy.from_json(made_by.as_json()) == (made_by if made_by else MadeBy())


@pytest.mark.parametrize("said", [{"model": 3}, {"edited": "yes"}, {"unknown": "x"}, {}])
def test_what_it_does_not_know_is_passed_over(said: dict[str, object]) -> None:
    assert MadeBy.from_dict(said) == MadeBy()
