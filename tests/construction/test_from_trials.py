"""Evidence Inference as instances (rules 106 to 110): a folder of ours by hand, and the 200 papers."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.construction import TrialTally, provenance_line, read_trials, trial_instances
from evidencebench_core.data import check_instance
from evidencebench_core.data.parse import parse_instance
from evidencebench_core.errors import DataError
from tests.conftest import real_file
from tests.construction.trials_folder import ANSWERS, PROMPTS, answer, trials_folder


def made(folder: Path, **writing: bool) -> tuple[dict[str, dict[str, Any]], TrialTally]:
    tally = TrialTally()
    return dict(trial_instances(read_trials(folder), "ei", tally, **writing)), tally


def test_the_instance_of_a_comparison(tmp_path: Path) -> None:
    raws, tally = made(trials_folder(tmp_path))
    assert list(raws) == ["ei_pmc_101_0"]
    raw = raws["ei_pmc_101_0"]
    # Sentences: 0 title, 1 abstract, 2 heading, 3 pressure, 4 heart rate, 5 weight, 6 headache, 7 nobody left.
    assert raw["paper_as_candidate_pool"][3] == "Tea lowered blood pressure by 5 mmHg."
    assert raw["hypothesis"] == "tea, compared with water, changes Blood pressure, heart rate or headache"
    one, two = "ei_pmc_101_0_aspect_0", "ei_pmc_101_0_aspect_1"
    # Of "did not change. Weight fell in both groups" 12 letters are in sentence 4 (of 20), 22 in 5: both.
    assert raw["aspect2sentence_indices"] == {one: [3, 4], two: [4, 5]}
    assert raw["aspect_texts"][one] == "Compared with water, tea significantly decreased Blood pressure"
    assert raw["aspect_texts"][two] == "Compared with water, Tea made no significant difference to heart rate"
    assert raw["results_aspect_list_ids"] == raw["aspect_list_ids"] == [one, two]
    assert raw["evidence_retrieval_at_optimal_evaluation"]["one_selection_of_sentences"] == [4]
    said = raw["construction"]
    assert said["gold"] == "sufficient spans"
    assert said["paper_licence"] == "CC BY"
    assert said["coverage"]["n_aspects"] == 3
    assert [one["number"] for one in said["coverage"]["dropped"]] == [2]
    assert provenance_line(said) == (
        "Made from Evidence Inference; profile evidence-inference; paper under CC BY; 2 of 3 aspects covered."
    )
    instance = parse_instance("ei", raw)
    assert instance.is_sufficient
    assert instance.evidence.optimal == 1
    assert (tally.n_prompts, tally.n_quotes, tally.n_found) == (7, 5, 4)  # quotes of papers that were read
    assert tally.instances.as_dict() == {
        "in": 4,
        "kept": 1,
        "dropped": {"licence": 1, "no_full_text": 1, "too_few_aspects": 1},
    }
    assert "PMC103: is not in" in tally.unread[0]


def test_uncovered_aspects_and_full_selections_on_demand(tmp_path: Path) -> None:
    raws, _ = made(trials_folder(tmp_path), keep_uncovered=True, pad=True)
    raw = raws["ei_pmc_101_0"]
    assert raw["aspect2sentence_indices"]["ei_pmc_101_0_aspect_2"] == []
    assert raw["evidence_retrieval_at_10_evaluation"]["one_selection_of_sentences"] == list(range(8))
    assert raw["results_evidence_retrieval_at_5_evaluation"]["one_selection_of_sentences"] == [0, 1, 2, 3, 4]
    check_instance("ei", raw)


def test_lines_that_are_wrong_are_named_and_the_others_go_on(tmp_path: Path) -> None:
    prompts = [
        *PROMPTS,
        ("12x", 101, "a", "b", "c"),
        (41, "../../etc/passwd", "a", "b", "c"),
        (42, 101, "", "b", "c"),
    ]
    answers = [
        *ANSWERS,
        answer(99, "x"),
        answer(11, "y", label="=cmd()"),
        answer(11, "z", label="invalid prompt"),
    ]
    trials = read_trials(trials_folder(tmp_path, prompts, answers))
    assert list(trials.prompts) == [11, 12, 13, 14, 21, 22, 31]
    assert len(trials.problems) == 5
    assert "prompts_merged.csv, line 9" in trials.problems[0]
    assert "../../etc/passwd" in trials.problems[1]
    assert "prompt 99" in trials.problems[3]
    assert "=cmd()" in trials.problems[4]
    assert made(tmp_path)[1].instances.n_kept == 1


def test_a_second_file_adds_only_what_is_new(tmp_path: Path) -> None:
    folder = trials_folder(tmp_path)
    (folder / "annotations_merged.csv").write_bytes((folder / "v2_annotations.csv").read_bytes())
    assert made(folder)[1].n_quotes == 5


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("prompts_merged.csv", None, "has no prompts_merged.csv or prompts.csv"),
        ("v2_annotations.csv", None, "has no v2_annotations.csv or annotations_merged.csv"),
        ("v2_annotations.csv", b"PromptID\n11\n", "has no column 'Valid Label'"),
        ("v2_annotations.csv", b"\x00\xff" * 10, "has no"),
    ],
)
def test_a_folder_of_something_else(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    folder = trials_folder(tmp_path)
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_trials(folder)


@pytest.mark.realdata
def test_two_hundred_papers() -> None:
    """Counted apart, with other code: rows, quotes in the text, sentences a quote, comparisons."""
    folder = real_file("evidence_inference/prompts.csv").parent
    raws, tally = made(folder)
    assert (tally.n_prompts, tally.n_quotes, tally.n_found) == (518, 940, 901)
    assert tally.sentences == Counter({1: 783, 2: 98, 3: 12, 4: 6, 5: 2, 0: 0})
    assert (tally.instances.n_kept, tally.instances.dropped) == (127, {"too_few_aspects": 127})
    assert tally.licences == {"CC BY": 199}
    assert not tally.unread
    optimal = [raw["evidence_retrieval_at_optimal_evaluation"]["optimal"] for raw in raws.values()]
    aspects = [len(raw["aspect_list_ids"]) for raw in raws.values()]
    assert (sum(aspects), sum(optimal)) == (376, 328)
    for instance_id, raw in raws.items():
        assert parse_instance(instance_id, raw).is_sufficient
