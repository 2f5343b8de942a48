"""Agreement of two annotators as a report: levels, counts, what is left out."""

import pytest

from evidencebench_core.analyses.report import Report, records
from evidencebench_core.annotation.agreement import AnnotatedPaper, agreement_report
from evidencebench_core.annotation.model import Annotation
from tests.annotation.test_differences import ADA, BEN, annotation

SENTENCES = [f"Sentence {index}." for index in range(10)]


def rows(report: Report, level: str, table: str = "agreement") -> dict[str, dict]:
    return {row["measure"]: row for row in records(report.tables[table]) if row["level"] == level}


def compared(*annotations: Annotation) -> AnnotatedPaper:
    return AnnotatedPaper("Tea", SENTENCES, *annotations)


def test_by_aspect_and_by_sentence() -> None:
    report = agreement_report([compared(ADA, BEN)])
    # Design and Dose stand in both: 20 judgements. Both 2 (2 and 4), only Ada 1 (1), only Ben 1 (5).
    by_aspect = rows(report, "aspect and sentence")
    assert by_aspect["exact accuracy"]["value"] == pytest.approx(18 / 20)
    assert by_aspect["binary F1"]["value"] == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))
    assert {(row["n_judgements"], row["n_groups"]) for row in by_aspect.values()} == {(20, 2)}
    # Any aspect: Ada 1 2 4 7, Ben 2 4 5 9. Both 2, only Ada 2, only Ben 2, neither 4.
    by_sentence = rows(report, "sentence")
    assert by_sentence["exact accuracy"]["value"] == pytest.approx(0.6)
    assert by_sentence["binary F1"]["value"] == pytest.approx(0.5)
    assert by_sentence["exact accuracy"]["low"] is None
    assert "2 aspects in both" in report.notes[0]
    assert "1 of Ada alone and 1 of Ben alone" in report.notes[1]
    listed = [(row["sentence"], row["marked_by"]) for row in records(report.tables["disagreements"])]
    assert listed == [(1, "Ada"), (5, "Ben"), (-1, "Ada"), (-1, "Ben")]


def test_without_a_shared_aspect_only_sentences_are_compared_and_that_is_said() -> None:
    report = agreement_report([compared(ADA, annotation("Ben", {"Other": (2,)}))])
    assert rows(report, "aspect and sentence") == {}
    assert rows(report, "sentence")["exact accuracy"]["value"] == pytest.approx(0.7)  # 1, 4, 7 by Ada only
    assert "share no aspect" in report.notes[0]


def test_of_three_each_pair_and_all_are_compared_and_people_with_models() -> None:
    # Over 10 sentences: Ada and Ben mark 1 and 2, the model 2 and 3; in the second paper the model marks as they do.
    people = [annotation(who, {"Dose": (1, 2)}) for who in ("Ada", "Ben")]
    models = [annotation("model:m", {"Dose": marks}) for marks in ((2, 3), (1, 2))]
    report = agreement_report([compared(*people, model) for model in models], ["model:m"])
    table = report.tables["agreement"].set_index(["level", "a", "b", "measure"])["value"]
    level = "aspect and sentence"
    assert table[level, "Ada", "Ben", "binary F1"] == 1
    assert table[level, "Ada", "model:m", "exact accuracy"] == pytest.approx(18 / 20)
    # 60 ratings, 12 yes; sentences 1 and 3 of the first paper have 2 of 1 label and 1 of the other: each adds
    # 4 / 2 = 2 differing pairs. 1 - 59 * 4 / (3600 - 144 - 2304).
    assert table[level, "all", "", "Krippendorff's alpha"] == pytest.approx(1 - 59 * 4 / 1152)
    assert set(report.tables["agreement"]["n_groups"]) == {2}  # the papers are drawn
    assert report.tables["agreement"]["low"].notna().any()
    row = rows(report, level, "difference")["exact accuracy"]
    assert (row["people"], row["with_models"], row["n"]) == (1, pytest.approx(0.9), 2)
    assert row["difference"] == pytest.approx(0.1)
    assert row["p"] == 1  # of one paper that differs either sign is as likely
    assert [row["marked_by"] for row in records(report.tables["disagreements"])] == ["Ada, Ben", "model:m"]
