"""Mathematical fonts of typesetters whose codes are not what they show: in text "P 5 0.03" for "P = 0.03"."""

from __future__ import annotations

import re
from typing import Final

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
_FONTS: Final = (
    (re.compile(r"MT2SY"), _MATHTIME_SYMBOLS),
    (re.compile(r"MT2MI"), _MATHTIME_LETTERS),
    (re.compile(r"Mathematical-?Pi-?One|GreekwithMathPi", re.I), _MATHEMATICAL_PI),
    (re.compile(r"AdvP(?:4C4E|SSym|SMPi)"), _ADVENT),
    (re.compile(r"LCIRCLE"), {"\x02": "•"}),
    (re.compile(r"CMSY"), {"\r": "○"}),
)


def symbols_of(font: str) -> dict[str, str]:
    """The characters that codes of a font show, where the file says others; mostly none."""
    return next((known for pattern, known in _FONTS if pattern.match(font)), {})
