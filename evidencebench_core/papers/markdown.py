"""Markdown to a `Paper`: the words of it, without its marks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html import unescape
from typing import Final

from evidencebench_core.papers.blocks import Block, clean_text
from evidencebench_core.papers.limits import DEFAULT_LIMITS, Limits
from evidencebench_core.papers.outline import paper_of_outline
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.plain_text import decoded_text

_ATX: Final = re.compile(r" {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*")
_SETEXT: Final = re.compile(r" {0,3}(=+|-+)\s*")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,}|\$\$)")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:\s*\1){2,}\s*")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?=\S)")
_TABLE: Final = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*")
_NOTE: Final = re.compile(r"\[\^[^\]]{1,40}\]:\s")
_LINK_TARGET: Final = re.compile(r" {0,3}\[[^\]^]{1,200}\]:\s+\S+")
_FRONT: Final = re.compile(r"title:\s*(.+)", re.IGNORECASE)
_TARGET: Final = r"\((?:[^()]|\([^()]{0,300}\)){0,2000}\)"  # of a link; brackets may stand in it once
# Applied in this order, each to the whole paragraph.
_INLINE: Final = (
    (re.compile(rf"!\[[^\]]{{0,500}}\](?:{_TARGET}|\[[^\]]{{0,200}}\])?"), " "),
    (re.compile(r"\[\^[^\]]{1,40}\]"), ""),
    (re.compile(rf"\[([^\]]{{1,500}})\]{_TARGET}"), r"\1"),
    (re.compile(r"\[([^\]]{2,500})\]\[[^\]]{0,200}\]"), r"\1"),
    (re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,2000})>"), r"\1"),
    (re.compile(r"<br\s*/?>", re.IGNORECASE), " "),
    (re.compile(r"</?[a-z][a-z0-9-]{0,20}(?:\s[^<>]{0,1000})?/?>", re.IGNORECASE), ""),
    (re.compile(r"(?<!\\)(\*{1,3}|(?<!\w)_{1,3}|~~)(?=\S)([^*_~]{1,2000}?\S|\S)\1(?!\w)"), r"\2"),
    (re.compile(r"(?<![\\`])(`{1,2})(?!`)(.{1,1000}?)(?<!`)\1(?!`)", re.DOTALL), r"\2"),
    (re.compile(r"(?<!\\)\^([^\s^]{1,40})\^"), r"\1"),
    (re.compile(r"(?<!\\)~([^\s~]{1,40})~"), r"\1"),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~^$-])"), r"\1"),
)


def looks_like_markdown(text: str) -> bool:
    """Whether plain text has headings of Markdown: one in its first line, or two anywhere."""
    lines = text.lstrip("\ufeff\n\r ").splitlines()
    headings = [re.match(r"#{1,6} \S", line) is not None for line in lines]
    return sum(headings) >= 2 or headings[:1] == [True]


def paper_of_markdown(content: bytes, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Paper:
    """The paper of a Markdown file; raw HTML loses its tags and is read as the words in it."""
    text, notes = decoded_text(content, name or "the Markdown file")
    reader = _Lines()
    title, lines = _front_matter(_without_comments(text).splitlines())
    reader.read(lines)
    return paper_of_outline(reader.pieces, "markdown", limits, title, reader.left_out, notes)


def _without_comments(text: str) -> str:
    before, *rest = text.split("<!--")
    kept = [piece.partition("-->")[2] if "-->" in piece else f"<!--{piece}" for piece in rest]
    return "".join([before, *kept])


def _front_matter(lines: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The title that a YAML head names, and the lines below it."""
    if not lines or lines[0].strip() != "---":
        return "", lines
    end = next((i for i, line in enumerate(lines[1:200], start=1) if line.strip() in {"---", "..."}), 0)
    titles = [match[1].strip(" \"'") for line in lines[1:end] if (match := _FRONT.match(line))]
    return (_plain(titles[0]) if titles else ""), lines[end + 1 :] if end else lines


class _Lines:
    """The pieces of a text, line by line."""

    def __init__(self) -> None:
        self.pieces: list[Block] = []
        self.left_out: Counter[str] = Counter()
        self.running: list[str] = []

    def flush(self) -> None:
        text = "\n".join(self.running)
        self.running = []
        if _NOTE.match(text):
            self.left_out["footnotes"] += 1
            return
        self.left_out["figures"] += len(re.findall(r"!\[[^\]]{0,500}\][(\[]", text))
        plain = _plain(text)
        if any(map(str.isalnum, plain)):
            self.pieces.append(Block("paragraph", plain))

    def heading(self, text: str, level: int) -> None:
        self.flush()
        self.pieces.append(Block("heading", _plain(text), level))

    def read(self, lines: Sequence[str]) -> None:
        skipping, in_table = "", False
        for line in lines:
            fence = _FENCE.match(line)
            if skipping:
                if fence and fence[1][:2] == skipping[:2]:
                    skipping = ""
                continue
            if in_table and "|" in line:
                continue
            in_table = False
            if fence:
                self.flush()
                self.left_out["formulas" if fence[1] == "$$" else "code"] += 1
                closed = fence[1] == "$$" and line.strip().endswith("$$") and len(line.strip()) > 3
                skipping = "" if closed else fence[1]
            elif _TABLE.fullmatch(line) and self.running and "|" in self.running[-1]:
                self.running.pop()
                self.flush()
                self.left_out["tables"] += 1
                in_table = True
            else:
                self.line(line)
        self.flush()

    def line(self, line: str) -> None:
        atx = _ATX.fullmatch(line)
        setext = _SETEXT.fullmatch(line)
        if atx:
            self.heading(atx[2] or "", len(atx[1]))
        elif setext and len(self.running) == 1:
            text = self.running.pop()
            self.heading(text, 1 if setext[1][0] == "=" else 2)
        elif not line.strip() or _RULE.fullmatch(line) or _LINK_TARGET.match(line):
            self.flush()
        else:
            item = _ITEM.match(line)
            if item or _NOTE.match(line):
                self.flush()
            self.running.append(re.sub(r"^\s*(?:>\s?)+", "", line[item.end() :] if item else line))


def _plain(text: str) -> str:
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return clean_text(unescape(text))
