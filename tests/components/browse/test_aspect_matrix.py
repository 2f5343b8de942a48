"""The made-up example of rule 70, cell by cell."""

from __future__ import annotations

from components.browse.aspect_matrix import aspect_cell
from evidencebench_core.answers.brackets import CitedSentence
from evidencebench_core.answers.cited import CitedAnswer

COVERING = {"a1": (2, 5), "a2": (5,), "a3": (7, 8), "a4": (9,)}
CITED = ((2, 5), (7, 3), (), (11,), (5,))
LABELS = {
    (0, 2): "supports", (0, 5): "neutral", (1, 7): "supports", (1, 3): "supports", (3, 11): "contradicts",
    (4, 5): "supports", (2, 9): "supports",  # not cited: stated
}  # fmt: skip


def test_an_aspect_is_grounded_cited_stated_or_missed() -> None:
    answer = CitedAnswer("answer", tuple(CitedSentence("It fell.", cited) for cited in CITED))
    cells = {
        name: [aspect_cell(answer, LABELS, u, covering) for u in range(5)]  # type: ignore[arg-type]
        for name, covering in COVERING.items()
    }
    assert cells == {
        "a1": ["✓ grounded", None, None, None, "✓ grounded"],
        "a2": ["● cited", None, None, None, "✓ grounded"],
        "a3": [None, "✓ grounded", None, None, None],
        "a4": [None, None, "◐ stated", None, None],
    }
