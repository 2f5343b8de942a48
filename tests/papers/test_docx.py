"""DOCX: styles, bold headings, and what Word keeps beside the text."""

import io
import zipfile

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.read import paper_of_file
from tests.papers.rendering import outline


def saved(document: object) -> bytes:
    stream = io.BytesIO()
    document.save(stream)  # type: ignore[attr-defined]
    return stream.getvalue()


def read(document: object) -> Paper:
    return paper_of_file(saved(document), "tea.docx")


def test_styles_say_what_is_what() -> None:
    document = docx.Document()
    for style, text in (
        ("Title", "Tea"), ("Normal", "A. B."), ("Heading 1", "Abstract"), ("Normal", "Tea is hot. It was."),
        ("Heading 1", "Methods"), ("Heading 2", "Cups"), ("Normal", "We drank."), ("Caption", "Figure 1. A cup."),
        ("Heading 1", "References"), ("Normal", "A. B."),
    ):  # fmt: skip
        document.add_paragraph(text, style)
    document.add_table(1, 1).cell(0, 0).text = "no"
    paper = read(document)
    assert outline(paper) == ["# Tea", "> Tea is hot.", "> It was.", "# Methods", "# Cups", "We drank."]
    assert dict(paper.left_out) == {"front matter": 1, "tables": 1, "references": 1}


def test_without_styles_bold_and_known_words_are_headings() -> None:
    document = docx.Document()
    for text, bold in (
        ("Tea and sleep", True), ("Abstract", None), ("Tea is hot.", None), ("Introduction", None),
        ("Tea is old.", None), ("Our cups", True), ("We drank", False), ("It was good.", True),
    ):  # fmt: skip
        document.add_paragraph().add_run(text).bold = bold
    assert outline(read(document)) == [
        "# Tea and sleep", "> Tea is hot.", "# Introduction", "Tea is old.", "# Our cups", "We drank", "It was good.",
    ]  # fmt: skip


def test_runs_changes_fields_and_boxes() -> None:
    document = docx.Document()
    for xml in (
        "<w:r><w:t>Te</w:t></w:r><w:r><w:t xml:space='preserve'>a </w:t><w:tab/></w:r>"
        "<w:del><w:r><w:delText>never </w:delText></w:r></w:del><w:ins><w:r><w:t>is</w:t></w:r></w:ins>"
        "<w:r><w:instrText>ADDIN EN.CITE</w:instrText></w:r><w:hyperlink><w:r><w:t> hot</w:t></w:r></w:hyperlink>"
        "<w:r><w:footnoteReference/></w:r><w:r><w:t>.</w:t></w:r>"
        "<w:r><w:drawing><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></w:drawing></w:r>",
        "<w:r><w:t>Non</w:t><w:noBreakHyphen/><w:t>smokers.</w:t></w:r>",
    ):
        document.element.body.insert(0, parse_xml(f"<w:p {nsdecls('w')}>{xml}</w:p>"))
    paper = read(document)
    assert sorted(paper.sentences) == ["Non-smokers.", "Tea is hot."]
    assert dict(paper.left_out) == {"figures": 1, "footnotes": 1}


def test_what_is_no_docx() -> None:
    stream, empty = io.BytesIO(), saved(docx.Document())
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("../../etc/passwd", b"x")
    for content in (b"PK\x03\x04", stream.getvalue(), empty[:-60], empty):
        with pytest.raises(PaperError):
            paper_of_file(content, "tea.docx")
