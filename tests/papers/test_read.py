"""Which kind a file is, whatever it is called, and what is said of files that are no papers."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import PaperKind, kind_of
from evidencebench_core.papers.read import paper_of_file
from tests.papers.rendering import JATS_DOCTYPE

JATS = (
    f"{JATS_DOCTYPE}<article><front><article-meta><title-group><article-title>Tea</article-title></title-group>"
    "<abstract><p>It is hot.</p></abstract></article-meta></front><body><sec><title>Methods</title><p>We drank.</p>"
    "</sec></body></article>"
).encode()
FILES: dict[PaperKind, bytes] = {
    "jats": JATS,
    "markdown": b"# Tea\n\n## Abstract\n\nIt is hot.\n\n## Methods\n\nWe drank.",
    "text": b"Tea\n\nAbstract\n\nIt is hot.\n\nMethods\n\nWe drank.",
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", ["", "../../etc/passwd", "paper.pdf", "x" * 5000, "a\x00b"])
def test_content_tells_the_kind_and_names_mean_nothing(kind: PaperKind, name: str) -> None:
    paper = paper_of_file(FILES[kind], name)
    assert paper.kind == kind_of(FILES[kind], name) == kind
    assert paper.sentences == ("Tea", "It is hot.", "Methods", "We drank.")


def test_text_that_looks_like_something_else() -> None:
    assert paper_of_file(b"Tea is *hot*.", "tea.md").sentences == ("Tea is hot.",)
    assert paper_of_file(b"Tea is *hot*.", "tea.txt").sentences == ("Tea is *hot*.",)
    assert kind_of(b"[12] Tea is hot.") == "text"
    assert kind_of(b"<5 cups of tea a day were drunk.") == "text"
    assert kind_of("\ufeffTea is hot.".encode()) == "text"
    assert kind_of("<a/>".encode("utf-16")) == "jats"
    assert [kind_of(text) for text in (b"# Tea\n\nIt.", b"Tea\n\n## A\n\n## B")] == ["markdown"] * 2
    assert kind_of(b"Tea\n\n#1 is hot.\n\n# of cups") == "text"
    for xml in (b"<?xml version='1.0'?>\n<!-- a --><TEI xmlns='x'>", b"<tei:TEI xmlns:tei='x'>"):
        assert kind_of(xml, "a.html.xml") == "tei"
    for page in (b"\n<!DOCTYPE HTML>", b"<?xml version='1.0'?><!-- saved -->\n<html xmlns='x'>"):
        assert kind_of(page, "paper.nxml") == "html"
    assert (kind_of(b"<article><p>", "a.htm"), kind_of(b"<article><p>", "a.xml")) == ("html", "jats")


def test_encodings() -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        read = paper_of_file("Größe, a heading\n\nThe size was 5 µm.".encode(encoding))
        assert read.sentences[1] == "The size was 5 µm."
    windows = paper_of_file("The size was 5 µm – or 6. It “grew”.".encode("cp1252"))
    assert (windows.sentences, windows.title) == (("The size was 5 µm – or 6.", "It “grew”."), "")
    assert len(windows.notes) == 3  # on the encoding, on the title and on the abstract


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b" \n", b"\x01\x02\x03\x04" * 50, bytes(range(256)) * 20),
        *(gzip.compress(b"Tea" * 100, mtime=0), b"\x89PNG\r\n\x00\x00\x00\x00\x00\x00"),
        b"\xd0\xcf\x11\xe0" + b"\x00" * 600,  # an old Word file
        b"<!DOCTYPE html><html><body><h1>Sign in</h1><p>Enable JavaScript to read on.</p></body></html>",
        *(b"<!DOCTYPE html><!-- nothing -->", b"<html>" + b"<div>" * 5_000 + b"Tea"),
        *(b"<TEI><text><body><div>" * 300, b"<svg><text>Tea</text></svg>", b"<article"),
        *(b'<!DOCTYPE a [<!ENTITY x "y">]><article>&x;</article>', b"<article>" + b"<sec>" * 5_000),
    ],
)
def test_files_that_are_no_papers(content: bytes) -> None:
    with pytest.raises(PaperError) as caught:
        paper_of_file(content, "folder/file.bin")
    assert caught.value.place == "'file.bin'"
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


BEGINNINGS = [b"", b"<article>", b"<html><p>" + b"Tea. " * 30, b"<TEI>", b"PK\x03\x04", b"# ", JATS[:200]]


@given(st.binary(max_size=300), st.sampled_from(BEGINNINGS))
def test_any_bytes_give_a_paper_or_one_line(content: bytes, begin: bytes) -> None:
    try:
        paper = paper_of_file(begin + content, "")
    except PaperError:
        return
    assert len(paper.sentences) == len(paper.sentence_types) > 0
    json.dumps(paper.as_dict()).encode()
