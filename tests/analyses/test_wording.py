"""Reports on wording, on six small instances."""

from pathlib import Path

import pytest

from evidencebench_core.analyses.variant_runs import Setup, answers_of, n_unanswered, run_variants
from evidencebench_core.analyses.wording import (
    WORDING_REPORTS,
    WORDING_VARIANTS,
    negation_report,
    one_after_the_other,
    one_below_the_other,
    paraphrase_report,
    spelling_report,
)
from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.perturb import Wording, add_wordings
from evidencebench_core.runs import execute, plan, score_run
from evidencebench_core.tasks import task_named
from tests.factories import store_with, tiny_dataset

ASKED = Setup("tiny", "bm25", {}, task_named("result-er@5"))
WORDINGS = {
    "paraphrase:one": {f"tiny_{n}": "Salt and sleep." for n in range(6)},
    "paraphrase:two": {f"tiny_{n}": "Water, diet." for n in range(4)},
    "negation": {"tiny_0": "Tea raises pressure.", "tiny_1": "Tea raises pressure."},
}


@pytest.fixture
def bare(tmp_path: Path) -> Store:
    return store_with(tiny_dataset(), tmp_path)


@pytest.fixture
def store(bare: Store) -> Store:
    wordings = {name: {one: Wording(text) for one, text in texts.items()} for name, texts in WORDINGS.items()}
    add_wordings(bare, "tiny", wordings, "by hand")
    return bare


def asked_all(store: Store, question: str, asked: Setup = ASKED) -> None:
    for _ in run_variants(store, asked, (None, *WORDING_VARIANTS[question](store, "tiny"))):
        pass


def test_what_is_missing_is_counted_run_and_then_there(store: Store) -> None:
    variants = (None, *WORDING_VARIANTS["paraphrases"](store, "tiny"))
    # tiny_4 has no result aspects: 5 originals, 5 of the first, 4 of the second.
    assert n_unanswered(store, ASKED, variants) == 14
    steps = list(run_variants(store, ASKED, variants))
    assert (steps[0].done, steps[-1].done, steps[-1].total) == (0, 14, 14)
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert n_unanswered(store, ASKED, variants) == 0


def test_a_cancel_stops_and_a_second_call_goes_on(store: Store) -> None:
    variants = (None, *WORDING_VARIANTS["paraphrases"](store, "tiny"))
    stopped = iter([False] * 3 + [True] * 100)
    done = list(run_variants(store, ASKED, variants, lambda: next(stopped)))[-1].done
    assert 0 < done < 14
    assert n_unanswered(store, ASKED, variants) == 14 - done
    asked_all(store, "paraphrases")
    assert n_unanswered(store, ASKED, variants) == 0


def test_only_the_first_instances_are_asked_the_same_in_every_wording(store: Store) -> None:
    variants = (None, *WORDING_VARIANTS["paraphrases"](store, "tiny"))
    # Five instances, of which the second paraphrase has four: of the first two each wording has two.
    assert n_unanswered(store, ASKED, variants, limit=2) == 6
    last = list(run_variants(store, ASKED, variants, limit=2))[-1]
    assert (last.done, last.total) == (6, 6)
    assert n_unanswered(store, ASKED, variants, limit=2) == 0
    assert n_unanswered(store, ASKED, variants) == 14 - 6


def test_recalls_are_those_of_the_score(store: Store) -> None:
    *_, last = execute(plan(store, "tiny", "bm25", tasks=(ASKED.task,)))
    answers = answers_of(store, ASKED, None)
    assert ASKED.run_id(store, None) == last.run_id
    assert answers.frame["recall"].to_dict() == pytest.approx(
        dict(score_run(store, last.run_id, ASKED.task).per_instance)
    )


def test_paraphrases(store: Store) -> None:
    before = paraphrase_report(store, ASKED).tables["paraphrases"]  # everything is missing, not zero
    assert list(before["n"]) == [0, 0, 0]
    assert list(before["n_missing"])[:2] == [5, 4]
    assert before["recall"].isna().all()
    asked_all(store, "paraphrases")
    report = paraphrase_report(store, ASKED)
    table = report.tables["paraphrases"]
    assert list(table["wording"]) == ["paraphrase:one", "paraphrase:two", "mean of the paraphrases"]
    assert list(table["n"]) == [5, 4, 4]
    assert list(table["n_left_out"]) == [0, 1, 1]
    assert list(report.tables["spread"]["n"]) == [4]
    assert set(report.as_dict()["tables"]) == {"paraphrases", "spread", "instances", "published"}


def test_negation_by_hand_and_by_rule(store: Store) -> None:
    asked_all(store, "negation")
    report = negation_report(store, ASKED)
    table = report.tables["negation"]
    # "Tea lowers blood pressure in cohort N." is negated by rule in all five.
    assert list(table["wording"]) == ["negation", "negation:rules"]
    assert list(table["n"]) == [2, 5]
    assert list(table["n_left_out"]) == [3, 0]
    assert any("refutes" in note for note in report.notes)
    assert list(negation_report(store, ASKED, by_rules=False).tables["negation"]["wording"]) == ["negation"]


def test_spelling_is_capped_and_says_so(store: Store) -> None:
    asked_all(store, "spelling")
    table = spelling_report(store, ASKED).tables["spelling"]
    assert list(table["errors"]) == [0, 1, 3, 10, 20, 50]
    # The hypotheses have seven words.
    assert list(table["n_capped"]) == [0, 0, 0, 5, 5, 5]
    assert list(table["mean_errors"]) == [0, 1, 3, 7, 7, 7]
    assert table["difference"][0] == 0
    two = spelling_report(store, ASKED, (0, 1), seeds=(0, 1)).tables["spelling"]
    assert list(two["n"]) == [5, 0]  # the second seed was never asked


def test_a_retriever_that_does_not_read_the_hypothesis_does_not_move(store: Store) -> None:
    asked = Setup("tiny", "lead", {}, ASKED.task)
    asked_all(store, "paraphrases", asked)
    table = paraphrase_report(store, asked).tables["paraphrases"]
    assert list(table["difference"]) == [0, 0, 0]
    assert list(table["overlap"])[:2] == [1, 1]


def test_several_runs_and_several_questions_make_one_report(store: Store) -> None:
    setups = (ASKED, Setup("tiny", "lead", {}, ASKED.task))
    for setup in setups:
        asked_all(store, "paraphrases", setup)
    paraphrases = one_below_the_other(setups, [paraphrase_report(store, setup) for setup in setups])
    assert paraphrases.title == "Paraphrases of the hypothesis: bm25, lead on tiny, Result-ER@5"
    assert list(paraphrases.tables["spread"]["run"]) == ["bm25", "lead"]
    assert len(paraphrases.tables["paraphrases"]) == 2 * 3
    assert "run" not in paraphrases.tables["published"]
    negation = one_below_the_other([ASKED], [negation_report(store, ASKED)])
    both = one_after_the_other([paraphrases, negation])
    assert list(both.tables)[-1] == "published"
    assert set(both.tables["published"]["source"]) == {"Appendix F", "Section 5.2"}
    assert len(set(both.notes)) == len(both.notes)
    assert one_after_the_other([negation]) is negation


def test_without_wordings_it_says_what_to_do(bare: Store) -> None:
    assert list(negation_report(bare, ASKED).tables["negation"]["wording"]) == ["negation:rules"]
    with pytest.raises(SettingError, match="--variants FILE"):
        negation_report(bare, ASKED, by_rules=False)
    with pytest.raises(SettingError, match="--variants FILE"):
        WORDING_REPORTS["paraphrases"](bare, ASKED)
