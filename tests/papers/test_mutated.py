"""Real files cut, overwritten and mixed up: a paper or one clear line, never an internal error."""

import random

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import Paper, read, read_paper
from evidencebench_core.papers.limits import Limits
from tests.conftest import real_file
from tests.papers import rendering
from tests.papers.pdf.gold import gold_of
from tests.papers.pdf.layouts import LAYOUTS
from tests.papers.pdf.typesetting import typeset
from tests.papers.test_read import SOURCE

pytestmark = pytest.mark.slow

_JATS = ("PMC5828200.nxml", "e-67-o1363.nxml", "biorxiv-2022.03.15.484463.xml")
_PDFS = ("acl_N18-3011.pdf", "clinical_science_2014_126_305.pdf")
# What no reader foresees is a fault of ours: these words are in the message of `read_here` for it.
_UNFORESEEN = "was not foreseen"


def mutated(content: bytes, seed: int) -> bytes:
    """A few changes of one kind."""
    rng, made = random.Random(seed), bytearray(content)  # noqa: S311 - no secrets
    match rng.randrange(5):
        case 0:
            del made[rng.randrange(len(made)) :]
        case 1:
            for _ in range(rng.randint(1, 40)):
                made[rng.randrange(len(made))] = rng.randrange(256)
        case 2:
            start = rng.randrange(len(made))
            del made[start : start + rng.randint(1, 3000)]
        case 3:
            a, b = sorted(rng.randrange(len(made)) for _ in range(2))
            made[a:a] = made[b : b + 2000]
        case _:  # other numbers where there are numbers
            digits = [i for i, byte in enumerate(made[:200_000]) if 48 <= byte < 58]
            for i in rng.sample(digits, min(30, len(digits))):
                made[i] = 48 + rng.randrange(10)
    return bytes(made)


def outcome(content: bytes, name: str) -> str:
    """The paper's title, or the line that says why there is none."""
    try:
        return read_paper(content, name).title
    except PaperError as error:
        return str(error)


@pytest.mark.parametrize("kind", ["jats", "bioc_xml", "bioc_json", "docx", "markdown", "plain"])
def test_small_files_of_every_kind(kind: str) -> None:
    content = getattr(rendering, kind)(SOURCE)
    for seed in range(150):
        assert _UNFORESEEN not in outcome(mutated(content, seed), kind), seed


@pytest.mark.parametrize("name", _JATS)
def test_publishers_jats(name: str) -> None:
    content = real_file(f"real_papers/{name}").read_bytes()
    for seed in range(12):
        assert _UNFORESEEN not in outcome(mutated(content, seed), name), seed


@pytest.mark.parametrize("name", ["typeset", *_PDFS])
def test_pdfs(name: str) -> None:
    if name == "typeset":
        content = typeset(gold_of("pdf_two_columns").article, LAYOUTS[3])
    else:
        content = real_file(f"real_papers/{name}").read_bytes()
    for seed in range(12 if name == "typeset" else 5):
        assert _UNFORESEEN not in outcome(mutated(content, seed), name), seed


def test_a_fault_of_a_reader_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(content: bytes, name: str, limits: Limits) -> Paper:
        raise StopIteration

    monkeypatch.setattr(read, "_importer", lambda kind: broken)
    said = r"'tea.txt': could not be read: something in it was not foreseen"
    with pytest.raises(PaperError, match=said) as caught:
        read_paper(b"Tea is hot.", "tea.txt")
    assert "paste its text" in caught.value.remedy
