"""Facts that a font's name tells: its look, and the characters of mathematical fonts whose codes show others."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

# Mathematical fonts of typesetters: in text "P 5 0.03" for "P = 0.03".
# MathTime 2 (TeX): symbols by TeX's encoding OMS, beside "+" and "=" at C and D; brackets and stops among letters.
_MATHTIME_SYMBOLS: Final = {
    "\x00": "−", "\x01": "·", "\x02": "×", "\x03": "∗", "\x06": "±", "\x0f": "•", "\x14": "≤", "\x15": "≥",
    "\x18": "∼", "\x19": "≈", "!": "→", "0": "′", "1": "∞", "2": "∈", "C": "+", "D": "=", "I": ";", "f": "{",
    "g": "}", "j": "|",
}  # fmt: skip
_MATHTIME_LETTERS: Final = {".": "(", "/": ")", ":": ".", ";": ",", "Œ": "[", "\x8d": "]", "C": "+"}
# MathematicalPi (HighWire and others).
_MATHEMATICAL_PI: Final = {
    "1": "+", "2": "−", "3": "×", "4": "÷", "5": "=", "6": "±", ",": "<", ".": ">", "#": "≤", "$": "≥",
}  # fmt: skip
# Fonts of Arbortext's Advent without letters: codes of the PC's upper half.
_ADVENT: Final = {"\x01": "•", "¼": "=", "þ": "+", "À": "−", "Â": "×", "Æ": "±", "Á": "·", "Ã": "*"}
_SYMBOLS: Final = (
    (re.compile(r"MT2SY"), _MATHTIME_SYMBOLS),
    (re.compile(r"MT2MI"), _MATHTIME_LETTERS),
    (re.compile(r"Mathematical-?Pi-?One|GreekwithMathPi", re.I), _MATHEMATICAL_PI),
    (re.compile(r"AdvP(?:4C4E|SSym|SMPi)"), _ADVENT),
    (re.compile(r"LCIRCLE"), {"\x02": "•"}),
    (re.compile(r"CMSY"), {"\r": "○"}),
)
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
# "HBEMOE+" marks a subset of a font, "+20" a second encoding of the same font.
_PREFIX: Final = re.compile(r"^[A-Z]{6}\+|\+[0-9a-f]{2}$")


@dataclass(slots=True)
class Font:
    """A font, and the widths of its glyphs as far as they were asked for."""

    name: str
    bold: bool
    italic: bool
    symbols: dict[str, str]
    widths: dict[int, float] = field(default_factory=dict)


def font_of(name: str, weight: int, flags: int) -> Font:
    """The font of a name with the flags of its descriptor."""
    plain = _PREFIX.sub("", name)
    bold = _BOLD.search(plain) or weight >= _BOLD_WEIGHT or flags & _FORCE_BOLD
    italic = _ITALIC.search(plain) or flags & _ITALIC_FLAG
    symbols = next((known for pattern, known in _SYMBOLS if pattern.match(plain)), {})
    return Font(plain, bool(bold), bool(italic), symbols)
