"""The opposite of a hypothesis, by rules that would rather refuse than say something else.

A rule needs one claim with one finite verb that we know. Then, in this order,

- a negation that is there is taken away: *does not affect* → *affects*, *is not associated* → *is
  associated*, *has no effect* → *has an effect*, *cannot* → *can*;
- after a form of *be*, *higher* and *lower* (and their like) change places, else *not* is put in;
- a verb of direction becomes its opposite: *increases* ↔ *decreases*, *promotes* ↔ *inhibits*;
- any other is negated: *causes* → *does not cause*, *can cause* → *cannot cause*. So is a verb of
  direction whose object has a direction of its own, or on which a mechanism or a clause hangs: the
  opposite of "inhibits growth by blocking X" is not "promotes growth by blocking X".

Refused is what has more than one claim (*whereas*, *but not*, a clause after a comma), what is hedged
(*may*: its opposite would claim the impossible), a quantity in front (*most*, *some*), a clause before
the verb, and every sentence in which no verb is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from evidencebench_core.perturb.verbs import ALSO_NOUNS, OPPOSITES, is_singular, lemma_of, third_person

__all__ = ["Negated", "Refusal", "negated"]

_BE: Final = frozenset({"is", "are", "was", "were"})
_HEDGES: Final = frozenset({"may", "might", "could", "possibly", "potentially", "perhaps", "would"})
_NORMS: Final = frozenset({"should", "must", "shall", "ought"})
_QUANTITIES: Final = frozenset(
    {"all", "every", "each", "some", "most", "many", "few", "several", "only", "no", "neither", "either"}
    | {"not", "if", "when", "because", "although", "while", "since", "unless", "whether"}
)
_CLAUSES: Final = frozenset({"who", "which", "that", "whose", "where", "when"})
_NOT_BEFORE_A_VERB: Final = frozenset(
    {"a", "an", "the", "this", "these", "its", "their", "to", "of", "in", "by", "for", "with", "from"}
    | {"no", "on", "as", "or", "and", "at", "than", "any", "such", "significant", "possible"}
)
_SEVERAL_CLAIMS: Final = re.compile(
    r"\b(?:but|whereas|while|although|though|however|unless|except|rather than|instead of|only|solely"
    r"|exclusively|neither|nor|either)\b|;",
    re.IGNORECASE,
)
_CLAIM_AFTER_A_COMMA: Final = re.compile(
    r", (?:with|and|or|so|which|thereby|thus|followed|\w+ing)\b", re.IGNORECASE
)
# What these open belongs to the original claim; the opposite verb would claim it of the opposite.
_HANGS_ON: Final = frozenset(
    {"by", "via", "through", "because", "that", "which", "who", "independently", "some"}
)
_DIRECTED: Final = re.compile(
    r"\b(increas|decreas|reduc|elevat|higher|lower|greater|less|more|fewer|rise|raise|declin|improv|impair)",
    re.IGNORECASE,
)
_COMPARED: Final = {
    "higher": "lower",
    "lower": "higher",
    "greater": "smaller",
    "smaller": "greater",
    "larger": "smaller",
    "positively": "inversely",
    "inversely": "positively",
    "negatively": "positively",
}
_NOUNS_OF_EFFECT: Final = frozenset(
    {"effect", "effects", "role", "impact", "influence", "association", "relation", "relationship"}
)


@dataclass(frozen=True, slots=True)
class Negated:
    """The opposite of a hypothesis, and the rule that made it."""

    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no opposite was made."""

    reason: str


def negated(hypothesis: str) -> Negated | Refusal:
    """The hypothesis turned into its opposite, or why that cannot honestly be done by rule.

    Everything but the words that the rule names stays as it was, with one blank between words.
    """
    words = hypothesis.split()
    bare = [word.strip(".,;:()[]\"'").lower() for word in words]
    reason = _objection_at_sight(words, bare)
    if reason:
        return Refusal(reason)
    place = _finite_verb(bare)
    if place is None:
        return Refusal("no verb that the rules know")
    reason = _objection_to_claim(words, bare, place)
    return Refusal(reason) if reason else _opposite(words, bare, place)


def _objection_at_sight(words: Sequence[str], bare: Sequence[str]) -> str | None:
    if not words:
        return "there is no text"
    if bare[0] in _QUANTITIES:
        return f"it begins with {bare[0]!r}, whose opposite is not that of the verb"
    several = _SEVERAL_CLAIMS.search(" ".join(words))
    return f"it makes more than one claim ({several[0]!r})" if several else None


def _objection_to_claim(words: Sequence[str], bare: Sequence[str], place: int) -> str | None:
    for word in bare[: place + 2]:
        if word in _CLAUSES and bare.index(word) < place:
            return f"a clause ({word!r}) stands before the verb"
        if word in _HEDGES:
            return f"it is hedged ({word!r}): the opposite would claim the impossible"
        if word in _NORMS:
            return f"it says what ought to be ({word!r})"
    more = _CLAIM_AFTER_A_COMMA.search(" ".join(words[place:]))
    return f"a further claim stands after a comma ({more[0].strip(', ')!r})" if more else None


def _finite_verb(bare: Sequence[str]) -> int | None:
    """Where the claim's verb stands, the helping verb where it has one."""
    for place, word in enumerate(bare):
        if place == 0:
            continue
        if word in _BE or word in _HEDGES | _NORMS | {"do", "does", "can", "cannot", "will"}:
            return place
        lemma = lemma_of(word)
        if lemma is None or bare[place - 1] in _NOT_BEFORE_A_VERB:
            continue
        following = bare[place + 1] if place + 1 < len(bare) else ""
        if lemma in ALSO_NOUNS and following in {"in", "of", "for", "from", ""} and lemma != "result":
            continue
        return place
    return None


def _opposite(words: list[str], bare: list[str], place: int) -> Negated | Refusal:
    if bare[place] in _BE | {"do", "does", "can", "cannot", "will"}:
        return _of_auxiliary(words, bare, place)
    return _of_effect(words, bare, place) or _of_verb(words, bare, place)


def _of_auxiliary(words: list[str], bare: list[str], place: int) -> Negated | Refusal:
    verb, is_negated = bare[place], bare[place + 1 : place + 2] == ["not"]
    if verb in {"do", "does"}:
        return _without_do_not(words, bare, place)
    if verb in {"can", "cannot"} and not is_negated:
        other = "cannot" if verb == "can" else "can"
        return Negated(" ".join([*words[:place], other, *words[place + 1 :]]), f"{verb} → {other}")
    if is_negated:
        return Negated(" ".join([*words[: place + 1], *words[place + 2 :]]), f"{verb} not → {verb}")
    return _with_not(words, place) if verb == "will" else _of_be(words, bare, place)


def _of_verb(words: list[str], bare: list[str], place: int) -> Negated | Refusal:
    verb, rest = bare[place], bare[place + 1 :]
    lemma, others = lemma_of(verb) or verb, _coordinated(bare, place)
    if others is None:
        return Refusal("a second verb hangs on the same subject, and one of the two has no opposite")
    if "no" in rest[:3] or "not" in rest[:3]:
        return Refusal("it is negated in a way that the rules do not know")
    plain = not (_HANGS_ON.intersection(rest) or _DIRECTED.search(" ".join(rest)) or _makes_do(rest))
    if others or (lemma in OPPOSITES and plain):
        return _with_opposites(words, bare, (place, *others))
    start = place
    while start > 1 and bare[start - 1].endswith("ly"):
        start -= 1
    auxiliary = "does not" if is_singular(verb) else "do not"
    taken = [*words[:start], auxiliary, *words[start:place], lemma, *_any(words[place + 1 :])]
    return Negated(" ".join(taken), f"{verb} → {auxiliary} {lemma}")


def _without_do_not(words: list[str], bare: list[str], place: int) -> Negated | Refusal:
    if bare[place + 1 : place + 2] != ["not"]:
        return Refusal("an emphatic 'do' that the rules do not know")
    at = place + 2
    while at < len(bare) and bare[at].endswith("ly"):
        at += 1
    if at >= len(bare):
        return Refusal("nothing follows 'not'")
    lemma = bare[at]
    verb = third_person(lemma) if bare[place] == "does" else lemma
    taken = [*words[:place], *words[place + 2 : at], verb, *words[at + 1 :]]
    return Negated(" ".join(taken), f"{bare[place]} not {lemma} → {verb}")


def _of_be(words: list[str], bare: list[str], place: int) -> Negated | Refusal:
    if "no" in bare[place + 1 : place + 3]:
        return Refusal("it is negated in a way that the rules do not know")
    at = place + 1
    while at < len(bare) and bare[at].endswith("ly") and bare[at] not in _COMPARED:
        at += 1
    if at < len(bare) and bare[at] in _COMPARED and "than" not in bare[at + 1 : at + 2]:
        other = _COMPARED[bare[at]]
        return Negated(
            " ".join([*words[:at], _like(words[at], bare[at], other), *words[at + 1 :]]),
            f"{bare[at]} → {other}",
        )
    return _with_not(words, place)


def _makes_do(rest: Sequence[str]) -> bool:
    """Whether somebody is made to do something: *induces cells to release*."""
    return any(word == "to" and lemma_of(after) for word, after in pairwise(rest))


def _of_effect(words: list[str], bare: list[str], place: int) -> Negated | None:
    """*has no effect* ↔ *has an effect*, *plays no role* ↔ *plays a role*."""
    if lemma_of(bare[place]) not in {"have", "play", "show", "exert"}:
        return None
    near = bare[place + 1 : place + 5]
    if len(near) < 2 or near[0] not in {"no", "a", "an"} or not _NOUNS_OF_EFFECT.intersection(near):
        return None
    following = near[1]
    if near[0] != "no":
        other = ["no"]
    elif next(word for word in near if word in _NOUNS_OF_EFFECT).endswith("s"):
        other = []
    else:
        other = ["an" if following[0] in "aeiou" else "a"]
    rule = f"{near[0]} {following} → {' '.join([*other, following])}"
    return Negated(" ".join([*words[: place + 1], *other, *words[place + 2 :]]), rule)


def _coordinated(bare: Sequence[str], place: int) -> tuple[int, ...] | None:
    """Further finite verbs of the same number after *and*; ``None`` where one has no opposite."""
    singular, found = is_singular(bare[place]), list[int]()
    for at in range(place + 2, len(bare) - 1):
        if bare[at - 1] != "and" and not (bare[at - 1].endswith("ly") and bare[at - 2] == "and"):
            continue
        lemma = lemma_of(bare[at])
        if lemma is None or is_singular(bare[at]) != singular or bare[at + 1] in {"in", "of", "and", ""}:
            continue
        if lemma not in OPPOSITES or lemma_of(bare[place]) not in OPPOSITES:
            return None
        found.append(at)
    return tuple(found)


def _with_opposites(words: list[str], bare: list[str], places: Sequence[int]) -> Negated:
    taken, rules = list(words), list[str]()
    for at in places:
        lemma = OPPOSITES[lemma_of(bare[at]) or ""]
        form = third_person(lemma) if is_singular(bare[at]) else lemma
        taken[at] = _like(words[at], bare[at], form)
        rules.append(f"{bare[at]} → {form}")
    return Negated(" ".join(taken), ", ".join(rules))


def _with_not(words: list[str], place: int) -> Negated:
    verb = words[place]
    taken = [*words[: place + 1], "not", *_any(words[place + 1 :])]
    return Negated(" ".join(taken), f"{verb} → {verb} not")


def _any(words: Sequence[str]) -> list[str]:
    """*not associated with some cancers* is compatible with the original; *any* is not."""
    return ["any" if word.lower() == "some" else word for word in words]


def _like(word: str, bare: str, other: str) -> str:
    """The other word with the punctuation of the one it replaces."""
    start = word.lower().find(bare)
    return word[:start] + other + word[start + len(bare) :]
