"""Which kind a file is, whatever it is called, and what is said of files that are no papers."""

import gzip
import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import Limits, PaperKind, kind_of, read_paper
from tests.papers import rendering
from tests.papers.rendering import Source

SOURCE = Source(
    "Tea and sleep",
    (
        ("abstract", ("Tea is hot.", "It cools.")),
        ("heading", ("Methods",)),
        ("paragraph", ("We drank (Fig. 2).", "It was good.")),
    ),
)
FILES = {
    "jats": rendering.jats(SOURCE),
    "docx": rendering.docx(SOURCE),
    "markdown": rendering.markdown(SOURCE),
    "text": rendering.plain(SOURCE),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", ["", "../../etc/passwd", "paper.pdf", "x" * 5000, "a\x00b"])
def test_content_tells_the_kind_and_names_mean_nothing(kind: str, name: str) -> None:
    assert kind_of(FILES[kind], name) == kind
    paper = read_paper(FILES[kind], name)
    assert paper.kind == kind
    assert paper.sentences == tuple(text for _, text in SOURCE.pool)
    assert paper.sentences == read_paper(FILES[kind], name, paper.kind).sentences


def test_text_that_looks_like_something_else() -> None:
    assert read_paper(b"Tea is *hot*.", "tea.md").sentences == ("Tea is hot.",)
    assert read_paper(b"Tea is *hot*.", "tea.txt").sentences == ("Tea is *hot*.",)
    assert kind_of(b"[12] Tea is hot.") == "text"
    assert kind_of(b"<5 cups of tea a day were drunk.") == "text"
    assert kind_of("\ufeffTea is hot.".encode()) == "text"
    assert kind_of("<a/>".encode("utf-16")) == "jats"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xd0\xcf\x11\xe0" + b"\x00" * 600, r"is an old Word or Office file"),
        (rb"{\rtf1 Tea}", "is RTF"),
        (gzip.compress(b"Tea", mtime=0), "is compressed by gzip"),
        (b"\x89PNG\r\n", "is a picture"),
        (b"\x7fELF\x02", "is a program"),
        (b"<!DOCTYPE html><html><body>Tea</body></html>", "is a web page"),
        (b'<?xml version="1.0"?>\n<!-- x --><html xmlns="x"><p>Tea</p></html>', "is a web page"),
        (b"<svg><text>Tea</text></svg>", "is XML of another kind"),
        (b"<article", "is no well-formed XML"),
        (b"PK\x03\x04", "is no whole zip file"),
        (bytes(range(256)) * 20, "is no text"),
    ],
)
def test_files_that_are_no_papers(content: bytes, message: str) -> None:
    with pytest.raises(PaperError, match=f"^'file.bin': {message}") as caught:
        read_paper(content, "folder/file.bin")
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


def test_bounds_on_size_and_on_kinds() -> None:
    with pytest.raises(PaperError, match=r"has 0\.0 MiB, and at most 0\.0 MiB are read"):
        read_paper(b"Tea is hot.", limits=Limits(max_bytes=5))
    with pytest.raises(PaperError, match=r"cannot be read as 'scroll'. Kinds are: jats, pdf"):
        read_paper(b"Tea is hot.", kind="scroll")  # type: ignore[arg-type]
    with pytest.raises(PaperError, match="is no well-formed XML"):
        read_paper(b"Tea is hot.", kind="jats")


BEGINNINGS = [b"", b"<article>", b"{", b"PK\x03\x04", b"# "]


@given(st.binary(max_size=300), st.sampled_from(BEGINNINGS))
def test_any_bytes_give_a_paper_or_one_line(content: bytes, begin: bytes) -> None:
    try:
        paper = read_paper(begin + content)
    except PaperError:
        return
    assert len(paper.sentences) == len(paper.sentence_types) > 0
    json.dumps(paper.as_dict()).encode()


JUNK = [
    b"<sec>", b"</p>", b"<list>", b"<alternatives><mo/></alternatives>", b"null", b'"text": 3', b"[", b"\x00", b"\xff",
]  # fmt: skip


DAMAGES = st.tuples(st.floats(0, 1), st.integers(0, 300), st.sampled_from([b"", *JUNK]))
KINDS = st.sampled_from([None, *get_args(PaperKind)])


@given(st.sampled_from(list(FILES.values())), st.lists(DAMAGES, min_size=1, max_size=5), KINDS)
def test_damaged_files_give_a_paper_or_one_line(
    content: bytes, damages: list[tuple[float, int, bytes]], kind: PaperKind | None
) -> None:
    for where, n_lost, junk in damages:
        start = int(where * len(content))
        content = content[:start] + junk + content[start + n_lost :]
    try:
        paper = read_paper(content, kind=None if kind == "pdf" else kind)
    except PaperError:
        return
    json.dumps(paper.as_dict()).encode()
