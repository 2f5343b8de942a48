"""What the page says of an annotation: progress, what is missing, the figures of agreement."""

from __future__ import annotations

from components.annotate.aspects import aspect_rows, progress_line
from components.annotate.comparing import figure_columns, figure_rows
from components.annotate.desk import missing
from components.widgets.table import Chip
from evidencebench_core.analyses.agreement import TwoAnnotations, agreement_report
from evidencebench_core.papers.annotation import Annotation, MarkedAspect

TWO = Annotation(
    "Ada",
    "Tea helps.",
    10,
    (MarkedAspect("aspect_3", "Dose *of* tea", True, (4, 5)), MarkedAspect("aspect_0", "Harm")),
    4,
)
SENTENCES = [f"Sentence {index}." for index in range(10)]


def test_progress_names_what_has_no_sentence() -> None:
    labels = {"aspect_3": "A1", "aspect_0": "A2"}
    assert progress_line(TWO, labels) == (
        "1 of 2 aspects have a sentence; 2 of 10 sentences marked. Without one: A2 (Harm)."
    )


def test_a_row_an_aspect_with_its_sentences() -> None:
    rows = aspect_rows(TWO, SENTENCES)
    assert [row.id for row in rows] == ["aspect_3", "aspect_0"]
    chip, text, marks = rows[0].cells
    assert chip == (Chip("aspect:aspect_3", "A1", 0, "Dose *of* tea", True),)
    assert text == "Dose *of* tea (result)"
    assert marks == (
        Chip("sentence:4", "4", None, "Sentence 4."),
        Chip("sentence:5", "5", None, "Sentence 5."),
    )
    assert rows[1].cells[2] is None


def test_what_is_missing() -> None:
    assert missing(TWO) == "It still lacks a sentence for 1 aspect."
    assert missing(Annotation("Ada", " ", 10)) == "It still lacks a hypothesis and a study aspect."
    assert missing(Annotation("Ada", "Tea.", 10, TWO.aspects[:1])) == ""


def test_every_row_of_figures_has_a_cell_a_column() -> None:
    other = Annotation("Ben", "Tea.", 10, (MarkedAspect("aspect_0", "Other", sentences=(1,)),))
    for b, n_columns in ((Annotation("Ben", "Tea.", 10, TWO.aspects), 8), (other, 3)):
        agreement = agreement_report([TwoAnnotations("Tea", SENTENCES, TWO, b)], 50).tables["agreement"]
        columns, rows = figure_columns(agreement), figure_rows(agreement)
        assert len(columns) == n_columns
        assert len(rows) == 4
        assert {len(row.cells) for row in rows} == {n_columns}
    # Ada marked 4 and 5, Ben 1: 7 of 10 sentences alike, and no mark of both.
    assert [row.cells[:2] for row in rows[:2]] == [("Exact accuracy", "70.0%"), ("Binary F1", "0.0%")]


def test_the_figures_of_the_paper_stand_as_they_are_printed() -> None:
    same = agreement_report([TwoAnnotations("Tea", SENTENCES, TWO, TWO)], 50).tables["agreement"]
    by_measure = {row.cells[0]: row.cells for row in figure_rows(same)}
    assert by_measure["Cohen's kappa"][4:6] == ("65.4 ± 6.6", "63.9 ± 5.6")
    assert by_measure["Exact accuracy"][1:3] == ("100.0%", "100.0 to 100.0")
