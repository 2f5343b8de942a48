"""Evidence Inference as instances: a folder of ours by hand, and the 200 papers."""

from pathlib import Path

import pytest

from evidencebench_core.annotation.evidence_inference import TrialCounts, sentences_of_quote, trial_instances
from evidencebench_core.data import Instance
from evidencebench_core.data.quotes import QuoteFinder, sentences_in
from evidencebench_core.errors import DataError
from tests.annotation.trials_folder import ANSWERS, PROMPTS, answer, trials_folder
from tests.conftest import real_file


def instances(folder: Path) -> tuple[list[Instance], TrialCounts]:
    counts = TrialCounts()
    return list(trial_instances(folder, "ei", counts)), counts


def test_the_instance_of_a_comparison(tmp_path: Path) -> None:
    (instance,), counts = instances(trials_folder(tmp_path))
    # Sentences: 0 title, 1 abstract, 2 heading, 3 pressure, 4 heart rate, 5 weight, 6 headache, 7 nobody left.
    assert instance.sentences[3] == "Tea lowered blood pressure by 5 mmHg."
    assert instance.hypothesis == "tea, compared with water, changes Blood pressure, heart rate or headache"
    # Of "did not change. Weight fell in both groups" 12 letters are in sentence 4 (of 20), 22 in 5: both.
    assert [(a.sentence_indices, a.is_result, a.text) for a in instance.evidence.aspects] == [
        ((3, 4), True, "Compared with water, tea significantly decreased Blood pressure"),
        ((4, 5), True, "Compared with water, Tea made no significant difference to heart rate"),
    ]
    assert instance.evidence.aspects[0].id == "ei_pmc_101_0_aspect_0"
    assert (instance.is_sufficient, instance.evidence.optimal) == (True, 1)
    assert instance.construction["paper_licence"] == "CC BY"
    assert instance.construction["coverage"] == {"n_aspects": 3, "n_covered": 2}
    assert (counts.n_prompts, counts.n_quotes, counts.n_quotes_found) == (7, 5, 4)
    assert counts.left_out == {"no open licence": 1, "no full text": 1, "fewer than 2 outcomes covered": 1}
    assert "PMC103 is not in" in counts.unread[0]
    (tmp_path / "annotations_merged.csv").write_bytes((tmp_path / "v2_annotations.csv").read_bytes())
    assert instances(tmp_path)[1].n_quotes == 5  # the same answers again


def test_what_is_outvoted_or_cannot_be_used_is_counted_and_the_others_go_on(tmp_path: Path) -> None:
    prompts = [("12x", 101, "a", "b", "c"), (41, "../../etc/passwd", "a", "b", "c"), (42, 101, "", "b", "c")]
    wrong = [answer(99, "x"), answer(11, "y", label="=cmd()"), answer(11, "z", label="invalid prompt")]
    outvoted = answer(11, "Nobody left the study", doctor=3, label="significantly increased")
    folder = trials_folder(tmp_path, [*PROMPTS, *prompts], [*ANSWERS, *wrong, outvoted])
    (instance,), counts = instances(folder)
    assert instance.evidence.aspects[0].sentence_indices == (3, 4)
    assert counts.n_other_answer == 1
    assert counts.left_out.items() >= {
        ("prompts without numbers and texts", 3), ("answers with an unknown label", 1), ("answers to no prompt", 1)
    }  # fmt: skip


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    answers = trials_folder(tmp_path) / "v2_annotations.csv"
    for content in (b"PromptID\n11\n", b"\x00\xff" * 10, None):
        answers.unlink() if content is None else answers.write_bytes(content)
        with pytest.raises(DataError):
            instances(tmp_path)


def test_sentences_in_by_hand() -> None:
    # 15 of 20 of the first, yes; of the second 9 of 39, and 9 of the 25 of the span, no.
    assert sentences_in([(0, 20), (21, 60)], (5, 30)) == (0,)
    assert sentences_in([(0, 10), (10, 20)], (5, 15)) == (0, 1)
    assert sentences_in([(0, 100), (100, 110)], (90, 104)) == (0,)


def test_a_label_that_was_copied_with_a_quote_is_in_nobodys_way() -> None:
    finder = QuoteFinder(["Nothing here.", "Pain fell (p = 0.523; Fig. 7).", "Weight rose."])
    assert sentences_of_quote(finder, "Pain fell (p = 0.523; Fig. 7).Fig. 7") == (1,)
    assert [finder.find(quote) for quote in ("PAIN-FELL p 0.523", "Pain rose", "")] == [(1,), (), ()]


@pytest.mark.slow
@pytest.mark.realdata
def test_two_hundred_papers() -> None:
    """Counted apart, with other code: rows, quotes in the text, comparisons."""
    made, counts = instances(real_file("evidence_inference/prompts.csv").parent)
    assert (counts.n_prompts, counts.n_quotes, counts.n_quotes_found) == (518, 940, 901)
    assert (counts.n_kept, dict(counts.left_out)) == (127, {"fewer than 2 outcomes covered": 127})
    assert counts.licences == {"CC BY": 199}
    assert not counts.unread
    n_aspects = sum(len(instance.evidence.aspects) for instance in made)
    assert (n_aspects, sum(instance.evidence.optimal for instance in made)) == (376, 328)
