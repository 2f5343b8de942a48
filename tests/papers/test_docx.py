"""DOCX: Word's parts, and zip files that are bombs."""

import io
import struct
import zipfile

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.docx import paper_of_docx
from evidencebench_core.papers.limits import Limits
from tests.papers.rendering import docx_of, outline

RUN = "<w:r><w:t>{}</w:t></w:r>"


def p(text: str, style: str = "", run: str = RUN) -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}{run.format(text)}</w:p>"


def zip_of(name: str, content: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return target.getvalue()


def test_styles_say_what_is_what() -> None:
    body = (
        p("Tea and sleep", "Title") + p("J. Doe") + p("Abstract", "Heading1") + p("Tea is hot. It cools.")
        + p("Methods", "Heading1") + p("Cups", "Heading2") + p("We drank.") + p("Figure 1. A cup.", "Cap")
        + f"<w:tbl><w:tr><w:tc>{p('no')}</w:tc></w:tr></w:tbl>" + p("References", "Heading1") + p("A. B.")
    )  # fmt: skip
    paper = paper_of_docx(docx_of(body))
    assert outline(paper) == [
        "# Tea and sleep", "> Tea is hot.", "> It cools.", "# Methods", "# Cups", "We drank.",
    ]  # fmt: skip
    assert dict(paper.left_out) == {"front matter": 1, "tables": 1, "references": 1}


def test_without_styles_bold_and_known_words_are_headings() -> None:
    bold = "<w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r>"
    not_bold = '<w:r><w:rPr><w:b w:val="0"/></w:rPr><w:t>{}</w:t></w:r>'
    body = (
        p("Tea and sleep", run=bold) + p("Abstract") + p("Tea is hot.") + p("Introduction") + p("Tea is old.")
        + p("Our cups", run=bold) + p("We drank", run=not_bold) + p("It was good.", run=bold)
    )  # fmt: skip
    assert outline(paper_of_docx(docx_of(body))) == [
        "# Tea and sleep", "> Tea is hot.", "# Introduction", "Tea is old.", "# Our cups", "We drank", "It was good.",
    ]  # fmt: skip


def test_runs_changes_fields_and_boxes() -> None:
    body = (
        "<w:p><w:r><w:t>Te</w:t></w:r><w:r><w:t xml:space='preserve'>a </w:t><w:tab/></w:r>"
        "<w:del><w:r><w:delText>never </w:delText></w:r></w:del><w:ins><w:r><w:t>is</w:t></w:r></w:ins>"
        "<w:r><w:instrText>ADDIN EN.CITE</w:instrText></w:r><w:hyperlink><w:r><w:t> hot</w:t></w:r></w:hyperlink>"
        "<w:r><w:footnoteReference/></w:r><w:r><w:t>.</w:t></w:r>"
        "<w:r><w:drawing><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></w:drawing></w:r></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>Non</w:t><w:noBreakHyphen/><w:t>smokers.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    paper = paper_of_docx(docx_of(body))
    assert paper.sentences == ("Tea is hot.", "Non-smokers.")
    assert dict(paper.left_out) == {"figures": 1, "footnotes": 1}


def test_a_bomb_is_not_inflated() -> None:
    bomb = docx_of(p("x"), {"word/styles.xml": b"<w>" + b" " * 30_000_000 + b"</w>"})
    assert len(bomb) < 200_000
    with pytest.raises(PaperError, match=r"grows beyond \d+ MiB when it is unpacked"):
        paper_of_docx(bomb)


def test_sizes_that_a_zip_claims_are_not_believed() -> None:
    honest = zip_of("word/document.xml", b" " * 5_000_000)
    lying = honest.replace(struct.pack("<I", 5_000_000), struct.pack("<I", 10))
    assert lying != honest
    with pytest.raises(PaperError, match=r"grows beyond|cannot be read|no well-formed"):
        paper_of_docx(lying, limits=Limits(max_inflated=1_000_000))


def locked(content: bytes) -> bytes:
    """With the flag of encryption on every part."""
    marked = bytearray(content)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = marked.find(signature)
        while position >= 0:
            marked[position + offset] |= 1
            position = marked.find(signature, position + 4)
    return bytes(marked)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04", "is no whole zip file"),
        (docx_of(p("x"))[:-60], "is no whole zip file"),
        (docx_of(""), "has no text to look for evidence in"),
        (zip_of("../../etc/passwd", b"x"), "is a zip file, but no DOCX"),
        (locked(docx_of(p("Tea is hot."))), "has a part that cannot be read"),
        (zip_of("word/document.xml", b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'), "declares an entity"),
    ],
)
def test_what_is_no_docx(content: bytes, message: str) -> None:
    with pytest.raises(PaperError, match=message):
        paper_of_docx(content)
