"""Papers in memory."""

from __future__ import annotations

from dataclasses import replace

from components.paper.opened import OpenPaper, OpenPapers, new_ref, of_samples
from evidencebench_core.papers import Paper, read_paper
from tests.pages.conftest import SAMPLE


def paper(text: str = "One sentence. Another one.") -> Paper:
    return read_paper(text.encode(), "a.txt")


def test_the_digest_is_of_the_text() -> None:
    one, other = OpenPaper("a", paper(), "x"), OpenPaper("b", paper(), "y", "h")
    assert one.digest == other.digest
    assert replace(one, paper=paper("One sentence.")).digest != one.digest


def test_the_one_not_looked_at_for_longest_makes_room() -> None:
    papers = OpenPapers()
    for number in range(32):
        papers.put(OpenPaper(str(number), paper(), "x"))
    assert papers.get("0") is not None  # looked at, so that 1 is the oldest now
    papers.put(OpenPaper("32", paper(), "x"))
    assert papers.get("1") is None
    assert papers.get("0") is not None
    papers.drop("0")
    assert papers.get("0") is None
    papers.drop("never there")


def test_refs_are_long_and_differ() -> None:
    assert len({new_ref() for _ in range(100)}) == 100
    assert all(len(new_ref()) == len("open-") + 16 for _ in range(3))


def test_samples_have_no_gold_and_their_wordings() -> None:
    samples = of_samples(SAMPLE)
    trial = samples["sample_trial"]
    assert trial.instance(trial.hypothesis).evidence.aspects == ()
    assert "negation" in trial.wordings
    assert trial.name == "Sample: cluster-randomised controlled trial"
    assert "synthetic" in trial.paper.notes[0]
