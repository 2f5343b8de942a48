"""Papers written out as the files that readers bring: JATS, BioC, text, Markdown, DOCX, in several layouts."""

import io
import random
import textwrap
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from xml.sax.saxutils import escape

from evidencebench_core.data import SentenceType
from evidencebench_core.papers import Paper
from evidencebench_core.papers.blocks import clean_text

Kind = Literal["heading", "abstract", "paragraph"]
KIND_OF: dict[str, Kind] = {
    "section_name": "heading",
    "abstract": "abstract",
    "normal_paragraph": "paragraph",
}
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
JATS_DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.3 20210610//EN"'
    ' "JATS-archivearticle1-3-mathml3.dtd">'
)
MARKS = {"section_name": "# ", "abstract": "> ", "normal_paragraph": ""}


def outline(paper: Paper) -> list[str]:
    """Sentences, headings with a hash, the abstract with an angle."""
    return [f"{MARKS[kind]}{text}" for text, kind in zip(paper.sentences, paper.sentence_types, strict=True)]


def of_type(paper: Paper, wanted: SentenceType) -> list[str]:
    """The sentences of one type."""
    return [text for text, kind in zip(paper.sentences, paper.sentence_types, strict=True) if kind == wanted]


@dataclass(frozen=True)
class Source:
    """A paper to write: its title, and blocks whose text is a list of sentences."""

    title: str
    blocks: tuple[tuple[Kind, tuple[str, ...]], ...]

    @property
    def pool(self) -> list[tuple[str, str]]:
        """(kind, text) of every sentence, the title first."""
        head = [("heading", self.title)] if self.title else []
        return head + [(kind, text) for kind, sentences in self.blocks for text in sentences]


def source_of(raw: dict[str, Any], seed: int) -> Source:
    """A paper of the benchmark, its sentences put into paragraphs of 2 to 6 (the files do not say which)."""
    rng = random.Random(seed)  # noqa: S311 - layouts, no secrets
    kinds = map(KIND_OF.__getitem__, raw["sentence_types_in_candidate_pool"])
    cleaned = zip(kinds, map(clean_text, raw["paper_as_candidate_pool"]), strict=True)
    pool = [(kind, text) for kind, text in cleaned if any(map(str.isalnum, text))]
    title = pool[0][1] if pool[0][0] == "heading" else "Exposure and disease in a cohort of workers"
    while pool[0][0] == "heading" and any(kind == "abstract" for kind, _ in pool):
        pool = pool[1:]  # the title again, the journal
    blocks: list[tuple[Kind, tuple[str, ...]]] = []
    room = 0
    for kind, text in pool:
        if room and kind != "heading" and blocks[-1][0] == kind and not _is_label(text):
            blocks[-1] = (kind, (*blocks[-1][1], text))
            room -= 1
        else:
            blocks.append((kind, (text,)))
            room = 0 if _is_label(text) else rng.randint(1, 5)
    return Source(title, tuple(blocks))


def _is_label(text: str) -> bool:
    """A label of a structured abstract: "Background", "Methods:"."""
    return len(text.split()) <= 3 and not text.endswith(".")


def jats(source: Source, seed: int = 0, *, doctype: bool = True, back: bool = True) -> bytes:
    """An article with its abstract, sections (some nested), a table, a figure and references."""
    rng = random.Random(seed)  # noqa: S311 - layouts, no secrets
    abstract = [(kind, text) for kind, text in source.blocks if kind == "abstract"]
    body = [(kind, text) for kind, text in source.blocks if kind != "abstract"]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        JATS_DOCTYPE if doctype else "",
        '<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>',
        '<article-id pub-id-type="pmc">PMC1234567</article-id>',
        f"<title-group><article-title>{escape(source.title)}</article-title></title-group>",
        "<contrib-group><contrib><name><surname>Doe</surname></name></contrib></contrib-group>",
    ]
    if abstract:
        paragraphs = "".join(f"<p>{_decorated(text, rng)}</p>" for _, text in abstract)
        lines.append(f"<abstract><title>Abstract</title>{paragraphs}</abstract>")
    lines.append("</article-meta></front><body>")
    depth = 0
    for number, (kind, text) in enumerate(body):
        if kind == "heading":
            deeper = depth == 1 and rng.random() < 0.4
            lines += ["</sec>"] * (depth if not deeper else 0)
            depth = 2 if deeper else 1
            lines.append(f"<sec><title>{escape(text[0])}</title>")
        else:
            lines.append(f"<p>{_decorated(text, rng)}</p>")
            if number % 9 == 4:
                lines.append(
                    '<table-wrap id="t1"><label>Table 1</label><caption><p>Not text.</p></caption>'
                    "<table><tbody><tr><td>1.2</td></tr></tbody></table></table-wrap>"
                )
    lines += ["</sec>"] * depth
    lines.append("</body>")
    if back:
        lines.append(
            "<back><ack><p>We thank all.</p></ack><ref-list><ref><mixed-citation>A. B. 1999.</mixed-citation>"
            "</ref></ref-list></back>"
        )
    lines.append("</article>")
    return "\n".join(lines).encode()


def _decorated(sentences: Sequence[str], rng: random.Random) -> str:
    """Escaped text with emphasis on some words, wrapped as files are."""
    words = escape(" ".join(sentences)).split(" ")
    tags = [rng.choice(("italic", "bold", "sup")) if rng.random() < 0.05 else "" for _ in words]
    marked = [f"<{tag}>{word}</{tag}>" if tag else word for tag, word in zip(tags, words, strict=True)]
    return _wrapped(" ".join(marked), 100)


def _wrapped(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


def _parts(source: Source) -> Iterator[tuple[Kind, str]]:
    """Headings and paragraphs, with "Abstract" above the abstract and "Introduction" above text below it."""
    before: Kind | None = None
    for kind, sentences in source.blocks:
        if kind == "abstract" and before != "abstract":
            yield "heading", "Abstract"
        if kind == "paragraph" and before == "abstract":
            yield "heading", "Introduction"
        before = kind
        yield kind, " ".join(sentences)


def plain(source: Source, *, wrap: int | None = None, newline: str = "\n") -> bytes:
    """Text with blank lines between paragraphs, wrapped or not."""
    pieces = [source.title]
    for kind, text in _parts(source):
        pieces.append(_wrapped(text, wrap) if wrap and kind != "heading" else text)
    pieces.append("References\n1. A. B. A paper. 1999.\n2. C. D. Another one. 2001.")
    return "\n\n".join(pieces).replace("\n", newline).encode()


def markdown(source: Source) -> bytes:
    """Headings with hashes, the words of paragraphs escaped."""
    pieces = [f"# {_escaped(source.title)}"]
    pieces += [
        f"## {_escaped(text)}" if kind == "heading" else _escaped(text) for kind, text in _parts(source)
    ]
    pieces += ["| a | b |\n| --- | --- |\n| 1 | 2 |", "![A curve](curve.png)"]
    pieces.append("## References\n\n1. A. B. A paper.\n2. C. D. Another.")
    return "\n\n".join(pieces).encode()


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_{}[]#+-.!|<>~^$" else c for c in text.replace("&", "&amp;"))


def docx(source: Source) -> bytes:
    """A document with Word's heading styles, a table and a tracked deletion."""
    paragraphs = [_paragraph(source.title, "Title")]
    paragraphs += [_paragraph(text, "Heading1" if kind == "heading" else "") for kind, text in _parts(source)]
    paragraphs.append("<w:tbl><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc></w:tr></w:tbl>")
    paragraphs.append("<w:p><w:del><w:r><w:delText>Gone.</w:delText></w:r></w:del></w:p>")
    paragraphs += [_paragraph("References", "Heading1"), _paragraph("A. B. A paper.", "")]
    return docx_of("".join(paragraphs))


def _paragraph(text: str, style: str) -> str:
    halves = text[: len(text) // 2], text[len(text) // 2 :]
    runs = "".join(f'<w:r><w:t xml:space="preserve">{escape(half)}</w:t></w:r>' for half in halves)
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{runs}</w:p>' if style else f"<w:p>{runs}</w:p>"


def docx_of(body: str, extra: dict[str, bytes] | None = None) -> bytes:
    """A DOCX file with this body."""
    names = {"Heading1": "heading 1", "Heading2": "heading 2", "Title": "Title", "Cap": "caption"}
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{identity}"><w:name w:val="{name}"/></w:style>'
        for identity, name in names.items()
    )
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": f'<w:styles xmlns:w="{W}">{styles}</w:styles>',
        **(extra or {}),
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()
