"""Evidence Inference as instances: a folder of ours by hand, and the 200 papers."""

from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.annotation.evidence_inference import (
    TrialCounts,
    sentences_of_quote,
    trial_instances,
)
from evidencebench_core.annotation.provenance import provenance_line
from evidencebench_core.data.formats import instance_from, released_record
from evidencebench_core.data.quotes import QuoteFinder, sentences_in
from evidencebench_core.errors import DataError
from tests.annotation.trials_folder import ANSWERS, PROMPTS, answer, trials_folder
from tests.conftest import real_file


def records(folder: Path) -> tuple[dict[str, dict[str, Any]], TrialCounts]:
    counts = TrialCounts()
    instances = trial_instances(folder, "ei", counts)
    return {instance.id: released_record(instance) for instance in instances}, counts


def test_the_instance_of_a_comparison(tmp_path: Path) -> None:
    raws, counts = records(trials_folder(tmp_path))
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
    assert raw["construction"]["gold"] == "sufficient spans"
    assert raw["construction"]["paper_licence"] == "CC BY"
    assert provenance_line(raw["construction"]) == (
        "Made from Evidence Inference; paper under CC BY; 2 of 3 aspects covered."
    )
    instance = instance_from("ei", raw)
    assert (instance.is_sufficient, instance.evidence.optimal) == (True, 1)
    assert (counts.n_prompts, counts.n_quotes, counts.n_quotes_found) == (7, 5, 4)
    assert counts.left_out == {"no open licence": 1, "no full text": 1, "fewer than 2 outcomes covered": 1}
    assert "PMC103: is not in" in counts.unread[0]
    (tmp_path / "annotations_merged.csv").write_bytes((tmp_path / "v2_annotations.csv").read_bytes())
    assert records(tmp_path)[1].n_quotes == 5  # the same answers again


def test_a_quote_for_the_answer_that_is_outvoted_is_no_gold(tmp_path: Path) -> None:
    other = answer(11, "Nobody left the study", doctor=3, label="significantly increased")
    raws, counts = records(trials_folder(tmp_path, answers=(*ANSWERS, other)))
    assert raws["ei_pmc_101_0"]["aspect2sentence_indices"]["ei_pmc_101_0_aspect_0"] == [3, 4]
    assert counts.n_other_answer == 1


def test_lines_that_are_wrong_are_counted_and_the_others_go_on(tmp_path: Path) -> None:
    prompts = [*PROMPTS, ("12x", 101, "a", "b", "c"), (41, "../../etc/passwd", "a", "b", "c")]
    wrong = [answer(99, "x"), answer(11, "y", label="=cmd()"), answer(11, "z", label="invalid prompt")]
    trials_folder(tmp_path, [*prompts, (42, 101, "", "b", "c")], [*ANSWERS, *wrong])
    _, counts = records(tmp_path)
    assert counts.n_kept == 1
    assert counts.left_out.items() >= {
        ("prompts without numbers and texts", 3), ("answers with an unknown label", 1), ("answers to no prompt", 1)
    }  # fmt: skip


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    answers = trials_folder(tmp_path) / "v2_annotations.csv"
    for content in (b"PromptID\n11\n", b"\x00\xff" * 10):
        answers.write_bytes(content)
        with pytest.raises(DataError):
            records(tmp_path)
    answers.unlink()
    with pytest.raises(DataError):
        records(tmp_path)


def test_sentences_in_by_hand() -> None:
    # 15 of 20 of the first, yes; of the second 9 of 39, and 9 of the 25 of the span, no.
    assert sentences_in([(0, 20), (21, 60)], (5, 30)) == (0,)
    assert sentences_in([(0, 10), (10, 20)], (5, 15)) == (0, 1)
    assert sentences_in([(0, 100), (100, 110)], (90, 104)) == (0,)


def test_a_label_that_was_copied_with_a_quote_is_in_nobodys_way() -> None:
    finder = QuoteFinder(["Nothing here.", "Pain fell (p = 0.523; Fig. 7).", "Weight rose."])
    assert sentences_of_quote(finder, "Pain fell (p = 0.523; Fig. 7).Fig. 7") == (1,)
    assert finder.find("Pain fell (p = 0.523; Fig. 7).") == (1,)
    assert finder.find("PAIN-FELL p 0.523") == (1,)
    assert finder.find("Pain rose") == ()
    assert finder.find("") == ()


@pytest.mark.slow
@pytest.mark.realdata
def test_two_hundred_papers() -> None:
    """Counted apart, with other code: rows, quotes in the text, comparisons."""
    raws, counts = records(real_file("evidence_inference/prompts.csv").parent)
    assert (counts.n_prompts, counts.n_quotes, counts.n_quotes_found) == (518, 940, 901)
    assert (counts.n_kept, dict(counts.left_out)) == (127, {"fewer than 2 outcomes covered": 127})
    assert counts.licences == {"CC BY": 199}
    assert not counts.unread
    optimal = [raw["evidence_retrieval_at_optimal_evaluation"]["optimal"] for raw in raws.values()]
    aspects = [len(raw["aspect_list_ids"]) for raw in raws.values()]
    assert (sum(aspects), sum(optimal)) == (376, 328)
    for instance_id, raw in raws.items():
        assert instance_from(instance_id, raw).is_sufficient
