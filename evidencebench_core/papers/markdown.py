"""Markdown to blocks: by markdown-it-py; the words of it, without its marks."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from evidencebench_core.papers.blocks import Block, RawPaper, clean_text
from evidencebench_core.papers.plain_text import decoded_text

if TYPE_CHECKING:
    from markdown_it.token import Token

_HEAD: Final = re.compile(r"---[ \t]*\n(.{0,10000}?\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)  # in YAML
_TITLE: Final = re.compile(r"^title:[ \t]*(\S.*)", re.IGNORECASE | re.MULTILINE)
_NOTE: Final = re.compile(r"\[\^[^\]]{1,40}\]:?")
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,1000}>|<!--.*?-->", re.DOTALL)
_SCRIPT: Final = re.compile(r"(?<!\\)(?:\^([^\s^]{1,40})\^|~([^\s~]{1,40})~)")  # Pandoc: x^2^, H~2~O
_FORMULA: Final = re.compile(r"\$\$.*?\$\$", re.DOTALL)


def looks_like_markdown(text: str) -> bool:
    """Whether plain text has headings of Markdown: one in its first line, or two anywhere."""
    lines = text.lstrip("\ufeff\n\r ").splitlines()
    headings = [re.match(r"#{1,6} \S", line) is not None for line in lines]
    return sum(headings) >= 2 or headings[:1] == [True]


def read_markdown(content: bytes, place: str) -> RawPaper:
    """Headings and paragraphs; raw HTML loses its tags, tables, code and display formulas are left out."""
    from markdown_it import MarkdownIt

    text, notes = decoded_text(content, place)
    head = _HEAD.match(text)
    stated_title = _TITLE.search(head[0]) if head else None
    text, n_formulas = _FORMULA.subn("\n", text[head.end() :] if head else text)
    left_out = Counter({"formulas": n_formulas})
    blocks: list[Block] = []
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    title = _printed_text(parser.parseInline(stated_title[1].strip(" \"'"))[0]) if stated_title else ""
    level, table = 0, False
    for token in parser.parse(text):
        if token.type in ("table_open", "table_close"):
            table = token.type == "table_open"
            left_out["tables"] += table
        elif token.type in ("fence", "code_block"):
            left_out["code"] += 1
        elif token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "html_block":
            blocks.append(Block("paragraph", _TAG.sub(" ", token.content)))
        elif token.type == "inline" and not table:
            if token.content.startswith("[^") and _NOTE.match(token.content):
                left_out["footnotes"] += 1
            else:
                left_out["figures"] += sum(child.type == "image" for child in token.children or ())
                blocks.append(Block("heading" if level else "paragraph", _printed_text(token), level))
            level = 0
    return RawPaper(blocks, title, left_out, list(notes))


def _printed_text(token: Token) -> str:
    """The text of an inline token: links by their words, code by its letters, tags and marks gone."""
    pieces = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak", "image"):
            pieces.append(" ")
        elif child.type == "html_inline":
            pieces.append(" " if child.content.lower().startswith("<br") else "")
        else:
            pieces.append(child.content)
    text = _NOTE.sub("", "".join(pieces))
    return clean_text(_SCRIPT.sub(lambda match: match[1] or match[2], text))
