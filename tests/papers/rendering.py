"""Papers as lines to compare, short texts to read, and the DOCTYPE of JATS files."""

import tomllib
from pathlib import Path

from evidencebench_core.data import SentenceType
from evidencebench_core.papers import Paper

JATS_DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.3 20210610//EN"'
    ' "JATS-archivearticle1-3-mathml3.dtd">'
)
PHRASES = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text("utf-8"))
MARKS = {"section_name": "# ", "abstract": "> ", "normal_paragraph": ""}


def outline(paper: Paper) -> list[str]:
    """Sentences, headings with a hash, the abstract with an angle."""
    return [f"{MARKS[kind]}{text}" for text, kind in zip(paper.sentences, paper.sentence_types, strict=True)]


def of_type(paper: Paper, wanted: SentenceType) -> list[str]:
    """The sentences of one type."""
    return [text for text, kind in zip(paper.sentences, paper.sentence_types, strict=True) if kind == wanted]
