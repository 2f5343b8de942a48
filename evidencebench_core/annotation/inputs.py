"""The papers that a model is to annotate: read, and kept in the store, so that proposals have a place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evidencebench_core.annotation.model import MAX_ASPECT
from evidencebench_core.annotation.propose import MAX_ASPECTS, ProposalInput
from evidencebench_core.data.files import file_content, json_lines
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, EvidenceBenchError
from evidencebench_core.papers.find import ReadPaper, paper_at, paper_files
from evidencebench_core.papers.own import OwnPapers

_LARGEST: Final = 64 << 20  # bytes
_REMEDY: Final = 'Give objects with "paper", and "summary", "hypothesis" or "aspects" if you like.'


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    paper: str = Field(min_length=1, max_length=4096)
    summary: str = Field(default="", max_length=100_000)
    hypothesis: str = Field(default="", max_length=2_000)
    aspects: list[Annotated[str, Field(min_length=1, max_length=MAX_ASPECT)]] = Field(
        default=[], max_length=MAX_ASPECTS
    )


def proposal_inputs(store: Store, source: Path) -> tuple[list[ProposalInput], list[str]]:
    """The papers of a file, a folder or JSON lines, each kept in the store, and why others could not be read.

    A line's ``paper`` is a file beside the lines, or a PMC id, PubMed id or DOI.
    """
    inputs: dict[str, ProposalInput] = {}
    problems: list[str] = []
    for line in _lines(source):
        try:
            read = paper_at(line.paper)
            given = ProposalInput(_kept(store, read), line.summary, line.hypothesis, tuple(line.aspects))
            inputs[given.unit()] = given
        except EvidenceBenchError as error:
            problems.append(str(error))
    return list(inputs.values()), problems


def _lines(source: Path) -> list[_Line]:
    if source.is_dir():
        return [_Line(paper=file) for file in paper_files(source)]
    if source.suffix.lower() not in (".jsonl", ".ndjson"):
        return [_Line(paper=str(source))]
    lines = []
    for number, value in json_lines(source, file_content(source, _LARGEST, _REMEDY), _REMEDY):
        try:
            line = _Line.model_validate(value)
        except ValidationError as error:
            first: Any = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "line"
            raise DataError(
                f"{source}, line {number}, {place}", f"is wrong: {first['msg']}", _REMEDY
            ) from error
        beside = source.parent / line.paper
        lines.append(line.model_copy(update={"paper": str(beside)}) if beside.is_file() else line)
    return lines


def _kept(store: Store, read: ReadPaper) -> str:
    """The key of a paper in the store, where it is kept once."""
    papers = OwnPapers(store)
    for own in papers.all():
        if own.paper_id == read.paper.paper_id and own.n_sentences == len(read.paper.sentences):
            return own.key
    return papers.save(read.paper, read.paper.title or read.name).key
