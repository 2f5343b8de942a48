"""What the codes of a font say, how wide they are, and whether the font is bold or italic."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pypdf.generic import DictionaryObject

__all__ = ["UNREADABLE_FONT", "Glyph", "GlyphFont", "glyph_font"]

Glyph = tuple[str, float, bool]
"""Text, advance in text space for size 1, and whether word spacing applies (ISO 32000-1, 9.3.3)."""

# TeX's bold fonts, "NimbusRomNo9L-Medi" and abbreviations of foundries beside the plain words.
_BOLD: Final = re.compile(
    r"bold|black|heavy|demi|semib|(?:cm|sf|ec|lm)s?s?bx|medi\b|[-,.]bd?$|-b[if]?o?$", re.I
)
_ITALIC: Final = re.compile(
    r"italic|oblique|(?:cm|sf|ec|lm)(?:bx|ss)?ti|slant|[-,.](?:b?i|it|obl)$|ital", re.I
)
_BOLD_WEIGHT: Final = 600
_FORCE_BOLD: Final = 1 << 18
_ITALIC_FLAG: Final = 1 << 6


@dataclass(slots=True)
class GlyphFont:
    """One font of a PDF, ready to decode strings.

    Attributes
    ----------
    name : str
        Base font without the subset's prefix.
    bold, italic : bool
        From the name, the weight and the flags.
    scale : float
        How many times larger the font looks than its size says; 1 but for Type 3 fonts.
    """

    name: str
    bold: bool
    italic: bool
    scale: float
    _known: dict[bytes, tuple[Glyph, ...]] = field(default_factory=dict)
    _source: Any = None
    _advance: float = 0.001

    @property
    def readable(self) -> bool:
        """Whether its codes can be turned into text at all."""
        return self._source is not None

    def glyphs(self, codes: bytes) -> tuple[Glyph, ...]:
        """What a string shows, glyph by glyph."""
        if self._source is None:
            return ()
        found = self._known.get(codes)
        if found is None:
            found = self._decoded(codes)
            if len(self._known) < 20_000:
                self._known[codes] = found
        return found

    def _decoded(self, codes: bytes) -> tuple[Glyph, ...]:
        font = self._source
        widths, mapped, default = font.character_widths, font.character_map, font.character_widths["default"]
        decoded: list[Glyph] = []
        if isinstance(font.encoding, str):
            text = codes.decode(font.encoding, "replace" if len(codes) % 2 else "surrogatepass")
            for character in text:
                advance = _number(widths.get(character, default)) * self._advance
                decoded.append((mapped.get(character, character), advance, False))
            return tuple(decoded)
        for code in codes:
            raw = chr(code)
            text = "".join(mapped.get(character, character) for character in font.encoding.get(code, raw))
            decoded.append((text, _number(widths.get(raw, default)) * self._advance, code == 32))
        return tuple(decoded)


UNREADABLE_FONT: Final = GlyphFont("", bold=False, italic=False, scale=1.0)


def glyph_font(resource: DictionaryObject | None) -> GlyphFont:
    """The font of a resource; one that shows nothing where the resource cannot be understood.

    pypdf's reading of encodings, character maps and widths stands in a module that it does not list as
    public; this is the only place that knows it.
    """
    from pypdf.errors import PyPdfError
    from pypdf.generic._font import Font

    if resource is None:
        return UNREADABLE_FONT
    try:
        font = Font.from_font_resource(resource)
    except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError):
        return UNREADABLE_FONT
    if not font.interpretable:
        return UNREADABLE_FONT
    name = font.name.rsplit("+", 1)[-1]
    about = font.font_descriptor
    bold = bool(_BOLD.search(name)) or _number(about.weight) >= _BOLD_WEIGHT
    advance, scale = 0.001, 1.0
    if font.sub_type == "Type3":
        matrix = resource.get("/FontMatrix")
        advance = abs(_number(matrix[0])) if matrix and len(matrix) == 6 else advance
        height = abs(_number(about.bbox[3]) - _number(about.bbox[1]))
        scale = advance * height if height else 1.0
    flags = int(_number(about.flags))
    return GlyphFont(
        name,
        bold=bold or bool(flags & _FORCE_BOLD),
        italic=bool(_ITALIC.search(name) or flags & _ITALIC_FLAG or _number(about.italic_angle)),
        scale=scale,
        _source=font,
        _advance=advance,
    )


def _number(value: object) -> float:
    """A number out of a file: 0 for anything else, and for what no font could mean."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return number if -1e6 < number < 1e6 else 0.0
