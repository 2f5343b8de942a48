"""Spelling errors as in RAmBLA (section 3.1): each takes another word and replaces one of its characters by
another of its class, a small letter by a small letter, a capital by a capital, a digit by a digit.
"""

import random
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"\S*[A-Za-z0-9]\S*")
_LETTERS = re.compile(r"\S*[A-Za-z]\S*")
_CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
_CLASS_OF = {character: members for members in _CLASSES for character in members}


@dataclass(frozen=True, slots=True)
class Misspelling:
    """A text with spelling errors, as long as the original."""

    text: str
    n_mutated: int  # words misspelt: as many as asked for, or all that have an ASCII letter or digit
    n_digits: int  # those of them in which a digit was changed


def misspellings(
    text: str, numbers: Sequence[int], seed: int = 0, keep_digits: bool = False
) -> tuple[Misspelling, ...]:
    """The text with so many of its words misspelt, or all where it has fewer; for each of the ``numbers``.

    The same text, number and seed give the same errors on every machine, and the errors for a smaller number are among
    those for a larger one. ``keep_digits``: no digit is changed.
    """
    can_change = string.ascii_letters if keep_digits else string.ascii_letters + string.digits
    words = list((_LETTERS if keep_digits else _WORD).finditer(text))
    rng = random.Random(f"spelling {seed} {text}")  # noqa: S311 - a reproducible draw, not a secret
    rng.shuffle(words)
    changes: list[tuple[int, str]] = []
    for word in words[: max(numbers)]:
        places = [place for place in range(*word.span()) if text[place] in can_change]
        place = places[rng.randrange(len(places))]
        others = _CLASS_OF[text[place]].replace(text[place], "")
        changes.append((place, others[rng.randrange(len(others))]))
    made = []
    for n in numbers:
        characters = list(text)
        for place, character in changes[:n]:
            characters[place] = character
        n_digits = sum(character in string.digits for _, character in changes[:n])
        made.append(Misspelling("".join(characters), min(n, len(words)), n_digits))
    return tuple(made)
