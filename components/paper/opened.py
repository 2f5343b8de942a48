"""Papers that are being read in the app: in memory only, until their reader keeps them."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from components.app.reading import Reading
from evidencebench_core.data import Instance, iter_raw, parse_instance
from evidencebench_core.papers import Paper
from evidencebench_core.papers.own import OwnPaper
from evidencebench_core.tasks import task_named

OF_DATASET: Final = "dataset:"
"""How a ref of a paper in a dataset begins."""
_MOST: Final = 64  # papers in memory; the least recently used makes room
_MOST_BYTES: Final = 256 * 1024 * 1024  # of PDFs in memory
_SYNTHETIC: Final = "The paper is synthetic: it was invented for this tool, and reports nothing real."


@dataclass(frozen=True, slots=True)
class OpenPaper:
    """A paper with what the app knows about it."""

    ref: str
    """In the address: ``open-...`` in memory, digits in the store, else a sample."""
    paper: Paper
    name: str
    """For people: the file's name, the name it was kept under. Never a path."""
    hypothesis: str = ""
    """The one that it came with."""
    origin: Literal["memory", "kept", "sample"] = "memory"
    given: str = ""
    """The argument of ``evidencebench find`` that reads the same; empty where there is none."""
    wordings: Mapping[str, str] = field(default_factory=dict)
    """Other wordings of `hypothesis`, by name."""
    seconds: float | None = None
    """How long it took to read."""
    pdf: bytes = field(default=b"", repr=False)
    """The file, where it is a PDF in memory."""
    pdf_kept: bool = False
    """Whether it is in the store."""
    digest: str = field(init=False, default="")
    """Of the text and its types: the same paper has the same."""

    def __post_init__(self) -> None:
        text = json.dumps([self.paper.sentences, self.paper.sentence_types])
        object.__setattr__(self, "digest", hashlib.sha256(text.encode()).hexdigest())

    @property
    def title(self) -> str:
        """Of the paper; its name where none was recognised."""
        return self.paper.title or self.name

    @property
    def has_pages(self) -> bool:
        """Whether its pages can be shown."""
        return bool(self.pdf) or self.pdf_kept

    def instance(self, hypothesis: str) -> Instance:
        """The paper without gold, with a hypothesis; a placeholder where none was written yet."""
        return self.paper.instance(hypothesis or "No hypothesis yet", self.ref)

    def reading(self, hypothesis: str, budget: int) -> Reading | None:
        """The paper searched for so many sentences; ``None`` without a hypothesis."""
        if not hypothesis:
            return None
        return Reading(self.instance(hypothesis), hypothesis, task_named(f"er@{budget}"), self.digest)


class OpenPapers:
    """The papers in memory, by ref; for all sessions of the server, so a ref is a secret."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._papers: OrderedDict[str, OpenPaper] = OrderedDict()
        self._problems: OrderedDict[str, str] = OrderedDict()

    def put(self, opened: OpenPaper) -> None:
        """Add a paper, or replace the one of the same ref."""
        with self._lock:
            self._papers[opened.ref] = opened
            self._papers.move_to_end(opened.ref)
            while len(self._papers) > _MOST:
                self._papers.popitem(last=False)
            n_bytes = sum(len(paper.pdf) for paper in self._papers.values())
            for paper in list(self._papers.values()):  # the pages of the oldest go, their text stays
                if n_bytes > _MOST_BYTES and paper.pdf:
                    n_bytes -= len(paper.pdf)
                    self._papers[paper.ref] = replace(paper, pdf=b"")

    def put_problem(self, ref: str, problem: str) -> None:
        """Say why there is no paper of this ref."""
        with self._lock:
            self._problems[ref] = problem
            while len(self._problems) > _MOST:
                self._problems.popitem(last=False)

    def problem(self, ref: str) -> str:
        """Why there is no paper of this ref; empty where it is not known."""
        return self._problems.get(ref, "")

    def get(self, ref: str) -> OpenPaper | None:
        """The paper, if it is still there."""
        with self._lock:
            opened = self._papers.get(ref)
            if opened is not None:
                self._papers.move_to_end(ref)
            return opened

    def drop(self, ref: str) -> None:
        """Forget a paper."""
        with self._lock:
            self._papers.pop(ref, None)


def new_ref() -> str:
    """A ref that nobody can guess."""
    return f"open-{secrets.token_hex(8)}"


def of_kept(own: OwnPaper, paper: Paper) -> OpenPaper:
    """A paper of the store."""
    return OpenPaper(str(own.id), paper, own.name, own.hypothesis, "kept", pdf_kept=own.pdf_bytes > 0)


def of_samples(path: Path) -> dict[str, OpenPaper]:
    """The papers of a file of the benchmark's format, by instance id, with their hypotheses and without gold."""
    papers = {}
    for instance_id, raw in iter_raw(path):
        instance = parse_instance(instance_id, raw)
        design = raw.get("study_design") if isinstance(raw, Mapping) else None
        papers[instance_id] = of_instance(instance_id, instance, f"Sample: {design or instance_id}")
    return papers


def of_instance(ref: str, instance: Instance, name: str) -> OpenPaper:
    """The paper of an instance, with its hypotheses and without its gold."""
    paper = Paper(
        paper_id=instance.paper_id,
        title=instance.sentences[0] if instance.sentence_types[0] == "section_name" else "",
        sentences=instance.sentences,
        sentence_types=instance.sentence_types,
        kind="text",
        left_out=MappingProxyType({}),
        notes=(_SYNTHETIC,) if instance.synthetic else (),
    )
    negation = {"negation": instance.negation} if instance.negation else {}
    wordings = MappingProxyType({**instance.paraphrases, **negation})
    return OpenPaper(ref, paper, name, instance.hypothesis, "sample", wordings=wordings)
