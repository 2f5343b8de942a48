"""How a choice of retrievers is written in a link."""

from __future__ import annotations

import pytest

from components.app.choices import Choice, choices_from, choices_text
from evidencebench_core.errors import SettingError


@pytest.mark.parametrize(
    "choices",
    [
        (),
        (Choice("bm25"),),
        (Choice("bm25", {"k1": 1.2, "b": 0.5}), Choice("lead"), Choice("random", {"seed": 3})),
        (Choice("hybrid", {"of": ("abstract-tail", "bm25")}),),
    ],
)
def test_a_choice_comes_back_from_its_link(choices: tuple[Choice, ...]) -> None:
    assert [(c.name, dict(c.settings)) for c in choices_from(choices_text(choices))] == [
        (c.name, dict(c.settings)) for c in choices
    ]


def test_defaults_are_not_written_and_more_than_three_are_cut() -> None:
    assert choices_from("bm25;k1=1.5")[0] == Choice("bm25", {})
    assert len(choices_from("bm25~lead~random~oracle")) == 3


def test_the_label_names_what_differs() -> None:
    assert Choice("hybrid", {"of": ("bm25", "lead"), "k": 10.0}).label == "hybrid of=bm25,lead k=10.0"


@pytest.mark.parametrize("link", ["bm26", "bm25;k3=1", "bm25;k1=many", "bm25;k1"])
def test_a_link_with_unknown_names_is_refused(link: str) -> None:
    with pytest.raises(SettingError):
        choices_from(link)
