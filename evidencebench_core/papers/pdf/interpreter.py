"""A page's content stream, executed as far as text and rules need it (ISO 32000-1, 8 and 9)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from evidencebench_core.papers.pdf.drawing import Drawing
from evidencebench_core.papers.pdf.fonts import UNREADABLE_FONT, GlyphFont, glyph_font
from evidencebench_core.papers.pdf.matrix import IDENTITY, Matrix, product, shifted
from evidencebench_core.papers.pdf.operators import Operand, operators
from evidencebench_core.papers.pdf.page import Counts, Word

__all__ = ["FontCache", "Interpreter"]

FontCache = dict[tuple[int, int], GlyphFont]
"""Fonts by the object number and generation of their resource."""

# A gap that separates words, in ems. TeX has no spaces and shrinks them to 0.2; it kerns up to 0.1.
_WORD_GAP: Final = 0.13
_OVERLAP: Final = 0.3
_MOST_FORMS: Final = 500
_DEEPEST_FORM: Final = 8
_DEEPEST_STATE: Final = 200
_MOST_WORDS: Final = 6_000
_MOST_OPERATORS: Final = 400_000
_OFTEN: Final = 4096
_SOFT_HYPHEN: Final = "\xad"
_UNREADABLE: Final = "\ufffd"
# What the codes of TeX's fonts show (encodings OT1 and T1), for fonts that do not say.
_TEX: Final = {
    **dict(zip("\x0b\x0c\x0d\x0e\x0f", ("ff", "fi", "fl", "ffi", "ffl"), strict=True)),
    **dict(zip("\x1b\x1c\x1d\x1e\x1f", ("ff", "fi", "fl", "ffi", "ffl"), strict=True)),
    **dict(zip("\x10\x11\x15\x16", "“”–—", strict=True)),
    "\x7f": "•",
}


@dataclass(slots=True)
class _State:
    """The part of the graphics state that places text."""

    ctm: Matrix
    font: GlyphFont
    size: float = 0.0
    character_space: float = 0.0
    word_space: float = 0.0
    stretch: float = 1.0
    leading: float = 0.0
    rise: float = 0.0
    mode: float = 0.0


@dataclass(slots=True)
class Interpreter:
    """Collects the words and rules of one page.

    Parameters
    ----------
    base : Matrix
        From the page's coordinates to upright ones with the origin at the lower left.
    fonts : FontCache
        Shared by the pages of a file.
    spend : callable
        Told every few thousand operators how many there were; raises when that is too much.
    """

    base: Matrix
    fonts: FontCache
    spend: Callable[[int], None]
    words: list[Word] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    drawing: Drawing = field(default_factory=Drawing)
    _state: _State = field(init=False)
    _stack: list[_State] = field(default_factory=list)
    _floor: int = 0
    _marks: list[bool] = field(default_factory=list)
    _resources: Any = None
    _depth: int = 0
    _tm: Matrix = IDENTITY
    _line: Matrix = IDENTITY
    _space: bool = False
    _open: Word | None = None
    _n_forms: int = 0
    _n_operators: int = 0

    def __post_init__(self) -> None:
        self._state = _State(self.base, UNREADABLE_FONT)

    def run(self, stream: bytes, resources: Any) -> None:
        """Execute a content stream with its resources."""
        self._resources = resources
        for operator, operands in operators(stream):
            self._n_operators += 1
            if self._n_operators % _OFTEN == 0:
                self.spend(_OFTEN)
            if len(self.words) > _MOST_WORDS or self._n_operators > _MOST_OPERATORS:
                self.counts.is_cut = True
                break
            handler = _HANDLERS.get(operator)
            if handler is not None:
                try:
                    handler(self, operands)
                except (IndexError, TypeError, ValueError, AttributeError, KeyError, OverflowError):
                    continue  # an operator with the wrong operands does nothing

    def save(self, _: list[Operand]) -> None:
        """Operator q."""
        if len(self._stack) < _DEEPEST_STATE:
            self._stack.append(replace(self._state))

    def restore(self, _: list[Operand]) -> None:
        """Operator Q."""
        if len(self._stack) > self._floor:
            self._state = self._stack.pop()

    def transform(self, operands: list[Operand]) -> None:
        """Operator cm."""
        self._state.ctm = product(_matrix(operands), self._state.ctm)

    def begin_text(self, _: list[Operand]) -> None:
        """Operator BT."""
        self._tm = self._line = IDENTITY

    def set_font(self, operands: list[Operand]) -> None:
        """Operator Tf."""
        self._state.font = self._font(str(operands[0]))
        self._state.size = _number(operands[1])

    def place(self, operands: list[Operand]) -> None:
        """Operator Tm."""
        self._tm = self._line = _matrix(operands)

    def go_on(self, operands: list[Operand]) -> None:
        """Operator Td."""
        self._tm = self._line = shifted(self._line, _number(operands[0]), _number(operands[1]))

    def go_on_with_leading(self, operands: list[Operand]) -> None:
        """Operator TD."""
        self._state.leading = -_number(operands[1])
        self.go_on(operands)

    def next_line(self, _: list[Operand]) -> None:
        """Operator T*."""
        self._tm = self._line = shifted(self._line, 0.0, -self._state.leading)

    def show_string(self, operands: list[Operand]) -> None:
        """Operator Tj."""
        self.show([cast("bytes", operands[-1])])

    def show_pieces(self, operands: list[Operand]) -> None:
        """Operator TJ."""
        self.show(cast("list[float | bytes]", operands[-1]))

    def show_on_next_line(self, operands: list[Operand]) -> None:
        """Operators ' and "."""
        if len(operands) == 3:
            self._state.word_space, self._state.character_space = _number(operands[0]), _number(operands[1])
        self.next_line(operands)
        self.show_string(operands)

    def begin_mark(self, operands: list[Operand]) -> None:
        """Operators BMC and BDC: running headers and footers may be marked as such."""
        self._marks.append("Artifact" in operands[:1] and "Pagination" in operands)

    def end_mark(self, _: list[Operand]) -> None:
        """Operator EMC."""
        del self._marks[-1:]

    def show(self, pieces: Sequence[float | bytes]) -> None:
        """Show strings; numbers between them move the pen (thousandths of an em, backwards)."""
        state = self._state
        a, b, _, d, e, f = product(self._tm, state.ctm)
        upright = a > 0 and abs(b) < 0.05 * a and d > 0
        artifact = any(self._marks)
        em, y = d * state.size * state.font.scale, f + state.rise * d
        bold = state.font.bold or state.mode == 2
        x = 0.0
        for piece in pieces:
            if not isinstance(piece, bytes):
                x -= float(piece) * 0.001 * state.size * state.stretch
                continue
            if not state.font.readable:
                self.counts.unreadable += len(piece)
                self.counts.characters += len(piece)
            for text, width, is_space in state.font.glyphs(piece):
                drawn = width * state.size * state.stretch
                spaces = state.character_space + (state.word_space if is_space else 0.0)
                if upright and not artifact:
                    left = e + x * a
                    self._glyph(text, left, left + drawn * a, y, em, bold)
                elif not text.isspace():
                    self.counts.turned += not upright
                    self.counts.artifacts += artifact
                x += drawn + spaces * state.stretch
        self._tm = shifted(self._tm, x, 0.0)

    def _glyph(self, text: str, x0: float, x1: float, y: float, em: float, bold: bool) -> None:
        text = _TEX.get(text, text)
        if not text or text.isspace():
            self._space = True
            return
        self.counts.characters += 1
        if text == _SOFT_HYPHEN:
            text = "-"  # one that is drawn
        elif not text.isascii() or not text.isprintable() or len(text) > 2:
            text = self._readable(text)
        word, font = self._open, self._state.font
        if (
            word is not None
            and not self._space
            and -_OVERLAP * em < x0 - word.x1 < _WORD_GAP * em
            and abs(word.y - y) < 0.05 * em
            and word.font == font.name
            and abs(word.size - em) < 0.05 * em
        ):
            word.text += text
            word.x1 = x1
            return
        self._open = Word(text, x0, x1, y, em, font.name, bold, font.italic, self._space)
        self._space = False
        self.words.append(self._open)

    def _readable(self, text: str) -> str:
        """The text of a glyph, or the sign for what cannot be read."""
        unknown = text[0] == "/" and len(text) > 2  # pypdf gives the name of a glyph that it does not know
        if unknown or text == _UNREADABLE or unicodedata.category(text[0]) in ("Cc", "Co", "Cn", "Cs"):
            self.counts.unreadable += 1
            return _UNREADABLE
        return text

    def _font(self, name: str) -> GlyphFont:
        fonts = self._resources["/Font"].get_object()
        raw = fonts.raw_get(f"/{name}")
        key = (getattr(raw, "idnum", -1), getattr(raw, "generation", id(raw)))
        if key not in self.fonts:
            self.fonts[key] = glyph_font(raw.get_object())
        return self.fonts[key]

    def invoke(self, operands: list[Operand]) -> None:
        """Operator Do: run a form, count a picture."""
        form = self._resources["/XObject"].get_object()[f"/{operands[0]!s}"].get_object()
        if form.get("/Subtype") == "/Image":
            self.counts.pictures += 1
        if form.get("/Subtype") != "/Form" or self._depth >= _DEEPEST_FORM or self._n_forms >= _MOST_FORMS:
            return
        self._n_forms += 1
        self.spend(1)
        before = (self._state, self._tm, self._line, self._resources, self._floor, len(self._stack))
        matrix = form.get("/Matrix")
        shift = _matrix([float(n) for n in matrix]) if matrix else IDENTITY
        own = form.get("/Resources")
        self._state = replace(self._state, ctm=product(shift, self._state.ctm))
        self._floor = len(self._stack)
        self._depth += 1
        self.run(form.get_data(), own.get_object() if own is not None else self._resources)
        self._depth -= 1
        self._state, self._tm, self._line, self._resources, self._floor, depth = before
        del self._stack[depth:]

    def move_pen(self, operands: list[Operand]) -> None:
        """Operator m."""
        self.drawing.move(_number(operands[0]), _number(operands[1]))

    def draw_line(self, operands: list[Operand]) -> None:
        """Operator l."""
        self.drawing.line(_number(operands[0]), _number(operands[1]))

    def draw_box(self, operands: list[Operand]) -> None:
        """Operator re."""
        x, y, width, height = map(_number, operands[:4])
        self.drawing.box(x, y, width, height, self._state.ctm)

    def paint(self, _: list[Operand]) -> None:
        """Operators that draw or fill the path."""
        self.drawing.paint(self._state.ctm, shown=True)

    def drop_path(self, _: list[Operand]) -> None:
        """Operator n."""
        self.drawing.paint(self._state.ctm, shown=False)


_Handler = Callable[[Interpreter, list[Operand]], None]


def _setter(name: str, factor: float = 1.0) -> _Handler:
    def set_number(interpreter: Interpreter, operands: list[Operand]) -> None:
        setattr(interpreter._state, name, _number(operands[0]) * factor)

    return set_number


_HANDLERS: Final[Mapping[bytes, _Handler]] = {
    b"q": Interpreter.save,
    b"Q": Interpreter.restore,
    b"cm": Interpreter.transform,
    b"Do": Interpreter.invoke,
    b"BT": Interpreter.begin_text,
    b"Tf": Interpreter.set_font,
    b"Tm": Interpreter.place,
    b"Td": Interpreter.go_on,
    b"TD": Interpreter.go_on_with_leading,
    b"T*": Interpreter.next_line,
    b"Tj": Interpreter.show_string,
    b"TJ": Interpreter.show_pieces,
    b"'": Interpreter.show_on_next_line,
    b'"': Interpreter.show_on_next_line,
    b"Tc": _setter("character_space"),
    b"Tw": _setter("word_space"),
    b"Tz": _setter("stretch", 0.01),
    b"TL": _setter("leading"),
    b"Ts": _setter("rise"),
    b"Tr": _setter("mode"),
    b"BMC": Interpreter.begin_mark,
    b"BDC": Interpreter.begin_mark,
    b"EMC": Interpreter.end_mark,
    b"m": Interpreter.move_pen,
    b"l": Interpreter.draw_line,
    b"re": Interpreter.draw_box,
    b"n": Interpreter.drop_path,
    **dict.fromkeys((b"f", b"F", b"f*", b"S", b"s", b"B", b"B*", b"b", b"b*"), Interpreter.paint),
}


def _number(operand: Operand) -> float:
    if not isinstance(operand, float):
        raise TypeError
    return operand


def _matrix(operands: Sequence[Operand]) -> Matrix:
    a, b, c, d, e, f = map(_number, operands[:6])
    return (a, b, c, d, e, f)
