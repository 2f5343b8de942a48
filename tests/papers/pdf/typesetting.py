"""A small typesetter on reportlab: papers in the layouts that journals have.

What a real producer does is done here: no spaces in justified lines (words are placed), hyphens at line
ends, ligatures, running headers, floats within the flow and across columns, notes at a column's foot.
"""

import io
import re
from dataclasses import dataclass, field
from typing import Any

from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tests.papers.pdf.layouts import Article, Layout, Section

Word = tuple[str, str]  # its text and its superscript
_GUTTER = 18.0
_ROMAN, _BOLD, _ITALIC = "Times-Roman", "Times-Bold", "Times-Italic"
_PIECE = re.compile(r"\[\^([^\]]+)\]")
_SYLLABLE = re.compile(r"(?<=[aeiouy][bcdfghklmnprstvwz])(?=[bcdfghklmnprstvwz][aeiouy])")


@dataclass
class _Setter:
    layout: Layout
    canvas: Canvas
    page: int = 0
    column: int = 0
    y: float = 0.0
    top: float = 0.0
    line_number: int = 0
    reserved: dict[int, float] = field(default_factory=dict)

    @property
    def page_width(self) -> float:
        return self.layout.page[0] - 2 * self.layout.margin

    @property
    def width(self) -> float:
        return (self.page_width - (self.layout.columns - 1) * _GUTTER) / self.layout.columns

    @property
    def x(self) -> float:
        return self.layout.margin + self.column * (self.width + _GUTTER)

    @property
    def foot(self) -> float:
        return self.layout.margin + 18 + (self.reserved.get(self.column, 0.0) if self.page == 1 else 0.0)

    def begin_page(self) -> None:
        if self.page:
            self.canvas.showPage()
        self.page += 1
        layout, canvas, (width, height) = self.layout, self.canvas, self.layout.page
        if layout.header and (self.page > 1 or not layout.masthead):
            canvas.setFont(_ITALIC, layout.size - 2)
            text = layout.header.split(" | ")[-1] if self.page % 2 else layout.header
            canvas.drawString(layout.margin, height - 34, text)
            if not layout.footer:
                canvas.drawRightString(width - layout.margin, height - 34, str(self.page + 100))
        if layout.footer:
            canvas.setFont(_ROMAN, layout.size - 2)
            canvas.drawString(layout.margin, 30, layout.footer)
            canvas.drawCentredString(width / 2, 42, f"Page {self.page} of 12")
        elif not layout.header:
            canvas.setFont(_ROMAN, layout.size - 2)
            canvas.drawCentredString(width / 2, 30, str(self.page))
        self.column = 0
        self.top = self.y = height - layout.margin

    def advance(self, leading: float) -> None:
        """Go down a line, into the next column or page if need be."""
        if self.y - leading < self.foot:
            if self.column + 1 < self.layout.columns:
                self.column += 1
                self.y = self.top
            else:
                self.begin_page()
        self.y -= leading

    def float_room(self, need: float) -> None:
        """Go to the next column or page if a float would not fit."""
        if self.y - need < self.foot:
            self.y = 0.0
            self.advance(0.0)

    def lines_of(self, text: str, font: str, size: float, width: float, first: float) -> list[list[Word]]:
        """Words broken into lines."""
        found: list[list[Word]] = [[]]
        room = width - first
        for word in _words(text):
            rest = word
            while True:
                space = stringWidth(" ", font, size) if found[-1] else 0.0
                need = space + _width(rest, font, size)
                if need <= room:
                    found[-1].append(rest)
                    room -= need
                    break
                head, tail = self.broken(rest, font, size, room - space)
                if head:
                    found[-1].append((head, ""))
                    rest = (tail, rest[1])
                if not found[-1]:
                    found[-1].append(rest)
                    break
                found.append([])
                room = width
        return [line for line in found if line]

    def broken(self, word: Word, font: str, size: float, room: float) -> tuple[str, str]:
        """A word broken at a syllable or after its own hyphen, as far as it fits."""
        text = word[0]
        if self.layout.ragged:
            return "", ""
        places = [m.start() for m in _SYLLABLE.finditer(text)] if text.isalpha() and text.islower() else []
        options = [(text[:i] + "-", text[i:]) for i in places if 2 < i < len(text) - 2]
        options += [(text[: m.end()], text[m.end() :]) for m in re.finditer(r"(?<=\w)-(?=\w)", text)]
        fitting = [option for option in options if stringWidth(option[0], font, size) <= room]
        return max(fitting, key=lambda option: len(option[0]), default=("", ""))

    def paragraph(
        self, text: str, font: str = _ROMAN, size: float = 0.0, *,
        leading: float = 0.0, first: float = 0.0, hang: float = 0.0, wide: bool = False,
    ) -> None:  # fmt: skip
        layout = self.layout
        size = size or layout.size
        leading = leading or layout.leading * size / layout.size
        width = self.page_width if wide else self.width
        run_in = re.match(r"\*\*(.+?)\*\*\s*", text)
        bold = len(run_in[1].split()) if run_in else 0
        text = f"{run_in[1]} {text[run_in.end() :]}" if run_in else text
        lines = self.lines_of(text, font, size, width - hang, first - hang if hang else first)
        count = 0
        for number, line in enumerate(lines):
            self.advance(leading)
            left = self.x + (first if number == 0 else hang)
            room = width - (first if number == 0 else hang)
            fonts = [_BOLD if count + i < bold else font for i in range(len(line))]
            count += len(line)
            self.draw(line, left, room, fonts, size, last=number == len(lines) - 1)
            if layout.line_numbers:
                self.line_number += 1
                self.canvas.setFont(_ROMAN, size - 3)
                self.canvas.drawRightString(layout.margin - 14, self.y, str(self.line_number))

    def draw(
        self, line: list[Word], x: float, room: float, fonts: list[str], size: float, last: bool
    ) -> None:
        """One line: words placed one by one."""
        natural = sum(_width(w, f, size) for w, f in zip(line, fonts, strict=True))
        space = stringWidth(" ", fonts[0], size)
        if not self.layout.ragged and not last and len(line) > 1:
            space = min((room - natural) / (len(line) - 1), 4 * space)
        for (word, raised), font in zip(line, fonts, strict=True):
            self.canvas.setFont(font, size)
            self.canvas.drawString(x, self.y, word)
            x += stringWidth(word, font, size)
            if raised:
                self.canvas.setFont(font, size * 0.65)
                self.canvas.drawString(x, self.y + 0.35 * size, raised)
                x += stringWidth(raised, font, size * 0.65)
            x += space

    def heading(self, section: Section, number: int) -> None:
        layout, text = self.layout, section.heading
        if layout.headings == "numbered" and not text[:1].isdigit():
            text = f"{number}. {text}"
        if self.y - 3.5 * layout.leading < self.foot:
            self.y = 0.0
        if self.y < self.top:
            self.y -= 0.8 * layout.leading
        self.paragraph(text, _ITALIC if section.level > 1 else _BOLD)
        self.y -= 0.2 * layout.leading

    def figure(self) -> None:
        layout = self.layout
        self.float_room(120 + 3 * layout.leading)
        self.y -= 0.6 * layout.leading
        top = self.y
        self.canvas.rect(self.x + 20, top - 100, self.width - 40, 95)
        self.canvas.setFont("Helvetica", 6.5)
        for i, label in enumerate(("0", "20", "40", "60", "80", "100")):
            self.canvas.drawRightString(self.x + 17, top - 100 + 18 * i, label)
            self.canvas.drawString(self.x + 25 + i * (self.width - 60) / 5, top - 109, str(i))
        self.canvas.drawString(self.x + self.width / 2 - 30, top - 117, "Time (years)")
        self.canvas.drawString(self.x + self.width - 70, top - 20, "Treated, n = 52")
        self.y = top - 120
        caption = "Figure 1. Survival by arm. Shaded areas are 95% intervals of the estimates in each arm."
        self.paragraph(caption, size=layout.size - 1.5)
        self.y -= 1.2 * layout.leading

    def table(self) -> None:
        """A table in the column, or above all columns of a fresh page."""
        layout = self.layout
        wide = layout.table == "wide" and layout.columns > 1
        rows = [("Variable", "Cases", "Controls", "P value")]
        rows += [(f"Factor {chr(65 + i)} (%)", f"{40 + i}.2", f"{37 + i}.9", f"0.0{i}") for i in range(7)]
        small = layout.size - 1.5
        if wide:
            self.begin_page()
        else:
            self.float_room(12 * layout.leading)
        self.y -= 0.8 * layout.leading
        width = self.page_width if wide else self.width
        caption = "Table 1. Characteristics of the cases and the controls at baseline, by factor."
        self.paragraph(caption, _BOLD, small, wide=wide)
        ruled = layout.table != "plain"
        self.y -= 4
        for i, row in enumerate(rows):
            if ruled and i in (0, 1):
                self.canvas.line(self.x, self.y - 2, self.x + width, self.y - 2)
            self.y -= small * 1.3
            self.canvas.setFont(_ROMAN, small)
            for j, cell in enumerate(row):
                self.canvas.drawString(self.x + j * width / 4, self.y - 2, cell)
        if ruled:
            self.canvas.line(self.x, self.y - 5, self.x + width, self.y - 5)
        self.y -= 6
        self.paragraph("Values are means. P values are of t tests.", size=small - 1, wide=wide)
        self.y -= 1.2 * layout.leading
        if wide:
            self.top = self.y


def _words(text: str) -> list[Word]:
    return [(_PIECE.sub("", word), "".join(_PIECE.findall(word)[:1])) for word in text.split()]


def _width(word: Word, font: str, size: float) -> float:
    return stringWidth(word[0], font, size) + (stringWidth(word[1], font, size * 0.65) if word[1] else 0.0)


def typeset(article: Article, layout: Layout) -> bytes:
    """The PDF of an article."""
    target = io.BytesIO()
    setter = _Setter(layout, Canvas(target, pagesize=layout.page, pageCompression=1, invariant=1))
    if layout.stated_title:
        setter.canvas.setTitle(article.title)
    if layout.footnote:
        setter.reserved[0] = 4 * layout.leading
    setter.begin_page()
    _front(setter, article)
    n = len(article.sections)
    figure_at, table_at = max(1, n // 3) if layout.figure else 0, max(2, 2 * n // 3) if layout.table else 0
    for number, section in enumerate(article.sections, 1):
        setter.heading(section, number)
        for i, paragraph in enumerate(section.paragraphs or ("",)):
            setter.paragraph(paragraph, first=layout.indent if i else 0.0)
            if number == figure_at and i == 0:
                setter.figure()
            if number == table_at and i == min(1, max(0, len(section.paragraphs) - 1)):
                setter.table()
    _references(setter, article)
    setter.canvas.save()
    return target.getvalue()


def _front(setter: _Setter, article: Article) -> None:
    layout = setter.layout
    if layout.masthead:
        setter.paragraph(layout.masthead, _ITALIC, 8, wide=True)
        setter.y -= 10
    setter.paragraph(article.title, _BOLD, 16, leading=19, wide=True)
    setter.y -= 6
    setter.paragraph("Ann B. Author[^1] and Carl D. Writer[^2,*]", size=11, wide=True)
    affiliations = "1 Department of Medicine, University of Somewhere, 2 Institute of Things"
    setter.paragraph(affiliations, size=8, wide=True)
    setter.y -= 10
    abstract: dict[str, Any] = {"wide": True, "size": layout.abstract_size}
    if layout.abstract in ("heading", "apart"):
        setter.paragraph("Abstract", _BOLD, wide=True)
    for part in article.abstract:
        text = " ".join(part.paragraphs)
        if layout.abstract == "apart" and part.heading:
            setter.paragraph(part.heading, _BOLD, **abstract)
        elif part.heading:
            text = f"**{part.heading}:** {text}"
        setter.paragraph(text, _BOLD if layout.abstract == "unnamed" else _ROMAN, **abstract)
    if layout.abstract != "unnamed":
        setter.paragraph("Key words: evidence; retrieval; hypothesis", _ITALIC, **abstract)
    setter.y -= 14
    setter.top = setter.y
    if layout.footnote:
        y = layout.margin + 18 + 2.2 * layout.leading
        setter.canvas.line(setter.x, y + 10, setter.x + 60, y + 10)
        setter.canvas.setFont(_ROMAN, 7.5)
        setter.canvas.drawString(setter.x, y, layout.footnote)
        setter.canvas.drawString(setter.x, y - 9, "E-mail: author@example.org")


def _references(setter: _Setter, article: Article) -> None:
    layout = setter.layout
    setter.heading(Section("References", ()), 99 if layout.headings == "numbered" else 0)
    for n in range(1, article.references + 1):
        entry = f"Author A{n}, Writer B, Person C. A study of the effects of something on something else, part {n}."
        entry += f" J Things {1980 + n}; {n}:101-{110 + n}."
        numbered = layout.reference_style == "numbered"
        text = f"{n}. {entry}" if numbered else entry
        setter.paragraph(text, size=layout.size - 1.5, hang=0.0 if numbered else 12.0)
