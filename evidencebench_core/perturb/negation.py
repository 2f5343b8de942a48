"""The opposite of a hypothesis, by rules that would rather refuse than say something else.

A rule needs one claim with one finite verb that we know. Then, in this order,

- a negation that is there is taken away: *does not affect* → *affects*, *is not associated* → *is
  associated*, *has no effect* → *has an effect*, *cannot* → *can*;
- after a form of *be*, *higher* and *lower* (and their like) change places, else *not* is put in;
- a verb of direction becomes its opposite: *increases* ↔ *decreases*, *promotes* ↔ *inhibits*;
- any other is negated: *causes* → *does not cause*, *can cause* → *cannot cause*. So is a verb of
  direction whose object has a direction of its own, or on which a mechanism or a clause depends: the
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

_PAIRS: Final = """
    accelerate slow, activate inhibit, aggravate alleviate, alleviate aggravate, augment diminish,
    attenuate amplify, amplify attenuate, boost reduce, decrease increase, diminish increase,
    downregulate upregulate, elevate lower, enhance reduce, exacerbate alleviate, facilitate hinder,
    hinder facilitate, impair improve, improve impair, increase decrease, induce suppress, inhibit promote,
    lower raise, promote inhibit, raise lower, reduce increase, slow accelerate, stimulate inhibit,
    suppress induce, upregulate downregulate, weaken strengthen, strengthen weaken, worsen improve
"""
OPPOSITES: Final[dict[str, str]] = dict(pair.split() for pair in _PAIRS.split(","))
_OTHERS: Final = """
    accumulate act affect allow alter arise block bind cause change clear combine confer contain contribute
    control convert correlate damage degrade delay depend derive determine differ disrupt drive eliminate
    enable enter exceed exert exhibit explain exploit express follow form generate give have help identify
    impact include indicate influence initiate interact interfere involve lack lead limit lose make mediate
    metabolize metabolise mimic modify modulate occur persist play possess precede predict predispose prevent
    produce protect provide reach regulate release remain represent require result reveal serve show support
    sustain target transform trigger undergo use vary yield
"""
VERBS: Final = frozenset({*OPPOSITES, *_OTHERS.split()})
# Forms that are as often nouns: "an increase in", "the causes of".
_ALSO_NOUNS: Final = frozenset({
    "act", "boost", "cause", "change", "control", "damage", "decrease", "delay", "drive", "form", "help",
    "impact", "increase", "influence", "lack", "lead", "limit", "play", "raise", "release", "show", "slow",
    "support", "target", "trigger", "use", "yield",
})  # fmt: skip
_BE: Final = frozenset({"is", "are", "was", "were"})
_HELPING: Final = frozenset({"do", "does", "can", "cannot", "will"})
_HEDGES: Final = frozenset({"may", "might", "could", "possibly", "potentially", "perhaps", "would"})
_NORMS: Final = frozenset({"should", "must", "shall", "ought"})
_QUANTITIES: Final = frozenset({
    "all", "every", "each", "some", "most", "many", "few", "several", "only", "no", "neither", "either",
    "not", "if", "when", "because", "although", "while", "since", "unless", "whether",
})  # fmt: skip
_CLAUSES: Final = frozenset({"who", "which", "that", "whose", "where", "when"})
_NOT_BEFORE_A_VERB: Final = frozenset({
    "a", "an", "the", "this", "these", "its", "their", "to", "of", "in", "by", "for", "with", "from", "no",
    "on", "as", "or", "and", "at", "than", "any", "such", "significant", "possible",
})  # fmt: skip
_SEVERAL_CLAIMS: Final = re.compile(
    r"\b(?:but|whereas|while|although|though|however|unless|except|rather than|instead of|only|solely"
    r"|exclusively|neither|nor|either)\b|;",
    re.IGNORECASE,
)
_CLAIM_AFTER_A_COMMA: Final = re.compile(
    r", (?:with|and|or|so|which|thereby|thus|followed|\w+ing)\b", re.IGNORECASE
)
# What these open belongs to the original claim; the opposite verb would claim it of the opposite.
_DEPENDENT: Final = frozenset(
    {"by", "via", "through", "because", "that", "which", "who", "independently", "some"}
)
_DIRECTED: Final = re.compile(
    r"\b(increas|decreas|reduc|elevat|higher|lower|greater|less|more|fewer|rise|raise|declin|improv|impair)",
    re.IGNORECASE,
)
_COMPARED: Final = {
    "higher": "lower", "lower": "higher", "greater": "smaller", "smaller": "greater", "larger": "smaller",
    "positively": "inversely", "inversely": "positively", "negatively": "positively",
}  # fmt: skip
_EFFECTS: Final = frozenset({
    "effect", "effects", "role", "impact", "influence", "association", "relation", "relationship",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Opposite:
    """The opposite of a hypothesis, and the rule that made it."""

    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no opposite was made."""

    reason: str


def opposite(hypothesis: str) -> Opposite | Refusal:  # noqa: PLR0911 - one for each reason
    """The hypothesis turned into its opposite, or why that cannot honestly be done by rule.

    Everything but the words that the rule names stays as it was, with one blank between words.
    """
    words = hypothesis.split()
    bare = [word.strip(".,;:()[]\"'").lower() for word in words]
    if not words:
        return Refusal("there is no text")
    if bare[0] in _QUANTITIES:
        return Refusal(f"it begins with {bare[0]!r}, whose opposite is not that of the verb")
    if several := _SEVERAL_CLAIMS.search(" ".join(words)):
        return Refusal(f"it makes more than one claim ({several[0]!r})")
    at = _finite_verb(bare)
    if at is None:
        return Refusal("no verb that the rules know")
    if reason := _objection(words, bare, at):
        return Refusal(reason)
    if bare[at] in _BE | _HELPING:
        return _of_auxiliary(words, bare, at)
    return _of_effect(words, bare, at) or _of_verb(words, bare, at)


def third_person(lemma: str) -> str:
    """``affect`` → ``affects``."""
    if lemma in {"have", "undergo"}:
        return {"have": "has", "undergo": "undergoes"}[lemma]
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + ("es" if lemma.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


_LEMMAS: Final = {third_person(lemma): lemma for lemma in VERBS} | {lemma: lemma for lemma in VERBS}


def lemma_of(word: str) -> str | None:
    """The verb of which a lower-case word is a present form, ``None`` where we know none."""
    return _LEMMAS.get(word)


def is_singular(word: str) -> bool:
    """Whether a present form goes with one subject: ``causes`` does, ``cause`` does not."""
    return _LEMMAS.get(word, word) != word


def _objection(words: Sequence[str], bare: Sequence[str], at: int) -> str:
    for word in bare[: at + 2]:
        if word in _CLAUSES and bare.index(word) < at:
            return f"a clause ({word!r}) stands before the verb"
        if word in _HEDGES:
            return f"it is hedged ({word!r}): the opposite would claim the impossible"
        if word in _NORMS:
            return f"it says what ought to be ({word!r})"
    more = _CLAIM_AFTER_A_COMMA.search(" ".join(words[at:]))
    return f"a further claim stands after a comma ({more[0].strip(', ')!r})" if more else ""


def _finite_verb(bare: Sequence[str]) -> int | None:
    """Where the claim's verb stands, the helping verb where it has one."""
    for at, (before, word) in enumerate(pairwise(bare), start=1):
        if word in _BE | _HELPING | _HEDGES | _NORMS:
            return at
        lemma = lemma_of(word)
        if lemma is None or before in _NOT_BEFORE_A_VERB:
            continue
        if lemma in _ALSO_NOUNS and (not bare[at + 1 :] or bare[at + 1] in {"in", "of", "for", "from", ""}):
            continue
        return at
    return None


def _of_auxiliary(words: list[str], bare: list[str], at: int) -> Opposite | Refusal:
    verb, is_negated = bare[at], bare[at + 1 : at + 2] == ["not"]
    if verb in {"do", "does"}:
        return _without_do_not(words, bare, at)
    if verb in {"can", "cannot"} and not is_negated:
        other = "cannot" if verb == "can" else "can"
        return Opposite(_splice(words, at, at + 1, other), f"{verb} → {other}")
    if is_negated:
        return Opposite(_splice(words, at + 1, at + 2), f"{verb} not → {verb}")
    return _with_not(words, at) if verb == "will" else _of_be(words, bare, at)


def _of_verb(words: list[str], bare: list[str], at: int) -> Opposite | Refusal:
    verb, rest = bare[at], bare[at + 1 :]
    lemma, others = lemma_of(verb) or verb, _further_verbs(bare, at)
    if others is None:
        return Refusal("a second verb has the same subject, and one of the two has no opposite")
    if "no" in rest[:3] or "not" in rest[:3]:
        return Refusal("it is negated in a way that the rules do not know")
    # "induces cells to ..."
    makes_do = any(word == "to" and lemma_of(after) for word, after in pairwise(rest))
    plain = not (_DEPENDENT.intersection(rest) or _DIRECTED.search(" ".join(rest)) or makes_do)
    if others or (lemma in OPPOSITES and plain):
        return _with_opposites(words, bare, (at, *others))
    start = _before_adverbs(bare, at)
    auxiliary = "does not" if is_singular(verb) else "do not"
    taken = [*words[:start], auxiliary, *words[start:at], lemma, *_any(words[at + 1 :])]
    return Opposite(" ".join(taken), f"{verb} → {auxiliary} {lemma}")


def _before_adverbs(bare: Sequence[str], at: int) -> int:
    while at > 1 and bare[at - 1].endswith("ly"):
        at -= 1
    return at


def _behind_adverbs(bare: Sequence[str], at: int) -> int:
    while at < len(bare) and bare[at].endswith("ly") and bare[at] not in _COMPARED:
        at += 1
    return at


def _without_do_not(words: list[str], bare: list[str], at: int) -> Opposite | Refusal:
    if bare[at + 1 : at + 2] != ["not"]:
        return Refusal("an emphatic 'do' that the rules do not know")
    verb_at = next((i for i in range(at + 2, len(bare)) if not bare[i].endswith("ly")), None)
    if verb_at is None:
        return Refusal("nothing follows 'not'")
    lemma = bare[verb_at]
    verb = third_person(lemma) if bare[at] == "does" else lemma
    taken = [*words[:at], *words[at + 2 : verb_at], verb, *words[verb_at + 1 :]]
    return Opposite(" ".join(taken), f"{bare[at]} not {lemma} → {verb}")


def _of_be(words: list[str], bare: list[str], at: int) -> Opposite | Refusal:
    if "no" in bare[at + 1 : at + 3]:
        return Refusal("it is negated in a way that the rules do not know")
    compared = _behind_adverbs(bare, at + 1)
    other = _COMPARED.get(bare[compared]) if compared < len(bare) else None
    if other is None or bare[compared + 1 : compared + 2] == ["than"]:
        return _with_not(words, at)
    text = _splice(words, compared, compared + 1, _like(words[compared], bare[compared], other))
    return Opposite(text, f"{bare[compared]} → {other}")


def _of_effect(words: list[str], bare: list[str], at: int) -> Opposite | None:
    """*has no effect* ↔ *has an effect*, *plays no role* ↔ *plays a role*."""
    near = bare[at + 1 : at + 5]
    effect = next((word for word in near if word in _EFFECTS), None)
    if lemma_of(bare[at]) not in {"have", "play", "show", "exert"} or effect is None:
        return None
    if len(near) < 2 or near[0] not in {"no", "a", "an"}:
        return None
    article = "" if effect.endswith("s") else "an" if near[1][:1] in "aeiou" else "a"
    article = article if near[0] == "no" else "no"
    rule = f"{near[0]} {near[1]} → {f'{article} {near[1]}'.lstrip()}"
    return Opposite(_splice(words, at + 1, at + 2, *filter(None, [article])), rule)


def _further_verbs(bare: Sequence[str], at: int) -> tuple[int, ...] | None:
    """Further finite verbs of the same number after *and*; ``None`` where one has no opposite."""
    found: list[int] = []
    for other in range(at + 2, len(bare) - 1):
        if bare[other - 1] != "and" and not (bare[other - 1].endswith("ly") and bare[other - 2] == "and"):
            continue
        lemma, same = lemma_of(bare[other]), is_singular(bare[other]) == is_singular(bare[at])
        if lemma is None or not same or bare[other + 1] in {"in", "of", "and", ""}:
            continue
        if lemma not in OPPOSITES or lemma_of(bare[at]) not in OPPOSITES:
            return None
        found.append(other)
    return tuple(found)


def _with_opposites(words: list[str], bare: list[str], places: Sequence[int]) -> Opposite:
    taken, rules = list(words), list[str]()
    for at in places:
        lemma = OPPOSITES[_LEMMAS[bare[at]]]
        form = third_person(lemma) if is_singular(bare[at]) else lemma
        taken[at] = _like(words[at], bare[at], form)
        rules.append(f"{bare[at]} → {form}")
    return Opposite(" ".join(taken), ", ".join(rules))


def _with_not(words: list[str], at: int) -> Opposite:
    text = " ".join([*words[: at + 1], "not", *_any(words[at + 1 :])])
    return Opposite(text, f"{words[at]} → {words[at]} not")


def _any(words: Sequence[str]) -> list[str]:
    """*not associated with some cancers* is compatible with the original; *any* is not."""
    return ["any" if word.lower() == "some" else word for word in words]


def _splice(words: Sequence[str], start: int, end: int, *others: str) -> str:
    return " ".join([*words[:start], *others, *words[end:]])


def _like(word: str, bare: str, other: str) -> str:
    """The other word with the punctuation of the one it replaces."""
    start = word.lower().find(bare)
    return word[:start] + other + word[start + len(bare) :]
