"""Papers that are open in the app: in memory until their reader keeps them, in the store, or our samples."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from components import resources
from components.resources import cached
from evidencebench_core.analyses.sample import SAMPLE
from evidencebench_core.data import read_instances
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.papers import PageImage, Paper
from evidencebench_core.papers import page_image as drawn_page
from evidencebench_core.papers.find import ReadPaper
from evidencebench_core.papers.own import OwnPaper

MAX_PAPERS: Final = 50  # of one question
_MAX_OPEN: Final = 64  # papers in memory; the oldest makes room
_SYNTHETIC: Final = "The paper is synthetic: it was invented for this tool, and reports nothing real."


@dataclass(frozen=True, slots=True)
class OpenPaper:
    """A paper with what the app knows about it."""

    ref: str  # in the address: "open-..." in memory, digits in the store, else a sample
    paper: Paper
    name: str  # for people: the file's name, or the name it was kept under. Never a path
    hypothesis: str = ""  # the one that it came with
    origin: Literal["memory", "kept", "sample"] = "memory"
    given: str = ""  # the argument of `evidencebench find` that reads the same
    pdf: bytes = field(default=b"", repr=False)  # the file, where it is a PDF in memory
    pdf_kept: bool = False

    @property
    def title(self) -> str:
        return self.paper.title or self.name

    @property
    def has_pages(self) -> bool:
        return bool(self.pdf) or self.pdf_kept

    @property
    def cache_key(self) -> tuple[str, int]:
        return self.ref, hash(self.paper.sentences)

    @property
    def read(self) -> ReadPaper:
        return ReadPaper(self.paper, self.title, self.name)


def new_ref() -> str:
    return f"open-{secrets.token_hex(8)}"


@cached()
def open_papers() -> dict[str, OpenPaper]:
    """The papers that are open and not kept, by ref; for all sessions of the server, so a ref is a secret."""
    return {}


def put_open(papers: dict[str, OpenPaper], opened: OpenPaper) -> None:
    papers[opened.ref] = opened
    for ref in list(papers)[:-_MAX_OPEN]:
        papers.pop(ref, None)


@cached()
def sample_papers() -> Mapping[str, OpenPaper]:
    """Our sample papers by instance id, with their hypotheses and without gold."""
    papers = {}
    for instance in read_instances(SAMPLE):
        paper = Paper(
            paper_id=instance.paper_id,
            title=instance.sentences[0] if instance.sentence_types[0] == "section_name" else "",
            sentences=instance.sentences,
            sentence_types=instance.sentence_types,
            kind="text",
            left_out={},
            notes=(_SYNTHETIC,),
        )
        name = f"Sample: {instance.kept.get('study_design', instance.id)}"
        papers[instance.id] = OpenPaper(instance.id, paper, name, instance.hypothesis, "sample")
    return papers


@cached(entries=128)
def _kept_paper(own: OwnPaper) -> OpenPaper:
    paper = resources.own_papers().paper(own.id)
    return OpenPaper(str(own.id), paper, own.name, own.hypothesis, "kept", pdf_kept=own.pdf_bytes > 0)


@cached()
def page_image(opened: OpenPaper, page: int, scale: float) -> PageImage:
    """A page of a paper that has pages, from 1."""
    return drawn_page(pdf_of(opened), page, scale, opened.name)


def pdf_of(opened: OpenPaper) -> bytes:
    """The file of a paper that has pages; else nothing."""
    return opened.pdf or (resources.own_papers().pdf(int(opened.ref)) if opened.pdf_kept else b"")


def named_papers(refs: str) -> list[OpenPaper]:
    """The papers that are still there of ``kept``, or of refs with commas between them."""
    names = refs.split(",") if refs != "kept" else [str(own.id) for own in resources.own_papers().all()]
    papers = [_named_paper(ref) for ref in dict.fromkeys(names[:MAX_PAPERS])]
    return [opened for opened in papers if opened is not None]


def _named_paper(ref: str) -> OpenPaper | None:
    if ref in sample_papers():
        return sample_papers()[ref]
    if ref.isascii() and ref.isdigit() and len(ref) < 15:
        try:
            return _kept_paper(resources.own_papers().get(int(ref)))
        except EvidenceBenchError:
            return None
    return open_papers().get(ref)
