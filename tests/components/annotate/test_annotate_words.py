"""What the page says of an annotation: the rows of its aspects, what is missing, the figures of agreement."""

from __future__ import annotations

import pytest

from components.annotate.aspects import aspect_rows
from components.annotate.comparing import figure_columns, figure_rows
from components.annotate.desk import missing
from components.widgets.table import Chip
from evidencebench_core.annotation.agreement import TwoAnnotations, agreement_report
from evidencebench_core.annotation.model import Annotation, MarkedAspect

ASPECTS = (MarkedAspect("aspect_3", "Dose *of* tea", True, (4, 5)), MarkedAspect("aspect_0", "Harm"))
TWO = Annotation("Ada", "Tea helps.", 10, ASPECTS, 4)
SENTENCES = [f"Sentence {index}." for index in range(10)]


def test_a_row_an_aspect_with_its_sentences() -> None:
    first, second = aspect_rows(TWO, SENTENCES)
    assert first.cells == (
        (Chip("aspect:aspect_3", "A1", 0, "Dose *of* tea", True),),
        "Dose *of* tea (result)",
        (Chip("sentence:4", "4", None, "Sentence 4."), Chip("sentence:5", "5", None, "Sentence 5.")),
    )
    assert (second.id, second.cells[2]) == ("aspect_0", None)


def test_what_is_missing() -> None:
    assert missing(Annotation("Ada", " ", 10)) == "It still lacks a hypothesis and a study aspect."
    assert missing(Annotation("Ada", "Tea.", 10, ASPECTS[:1])) == ""


@pytest.mark.parametrize(
    ("aspects", "n_columns", "accuracy"),
    # Ada marked 4 and 5, another 1: 7 of 10 sentences alike, and no mark of both.
    [(ASPECTS, 6, "100.0%"), ((MarkedAspect("aspect_0", "Other", sentences=(1,)),), 3, "70.0%")],
)
def test_every_row_of_figures_has_a_cell_a_column(
    aspects: tuple[MarkedAspect, ...], n_columns: int, accuracy: str
) -> None:
    pair = TwoAnnotations("Tea", SENTENCES, TWO, Annotation("Ben", "Tea.", 10, aspects))
    agreement = agreement_report([pair], 50).tables["agreement"]
    rows = {row.cells[0]: row.cells for row in figure_rows(agreement)}
    assert {len(figure_columns(agreement)), *map(len, rows.values())} == {n_columns}
    assert rows["Exact accuracy"][1] == accuracy
    if n_columns == 8:  # the figures of the paper stand as they are printed
        assert rows["Cohen's kappa"][4:6] == ("65.4 ± 6.6", "63.9 ± 5.6")
