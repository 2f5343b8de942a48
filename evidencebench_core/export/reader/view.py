"""A paper as the browser gets it: plain data, in compact arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from evidencebench_core.data.model import Aspect, Focus, Instance, SentenceType
from evidencebench_core.data.primitives import digest
from evidencebench_core.data.sections import class_of_heading
from evidencebench_core.errors import SelectionError
from evidencebench_core.metrics import marks as marks_of
from evidencebench_core.words import visible

MAX_SYSTEMS: Final = 3

_MARK_LETTERS: Final = {"none": ".", "gold": "g", "picked": "p", "both": "b", "missed": "m"}


@dataclass(frozen=True, slots=True)
class System:
    """One retriever's answer: its name in the legend, and sentence indices in the order of the picks."""

    name: str
    picks: tuple[int, ...]
    numbers: tuple[int, ...] = ()  # shown beside the picks instead of their places


@dataclass(frozen=True, slots=True)
class SentenceNote:
    sentence: int
    words: str
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class SharedWords:
    """The words that sentences share with a hypothesis, and what each adds to a score."""

    sentences: tuple[list[tuple[int, int, float]], ...]  # of each: characters from and to, weight
    by: str = ""  # the retriever to whose score the weights add up; empty where each word weighs 1


@dataclass(frozen=True, slots=True)
class PaperView:
    """Everything the reader shows. Positions that the paper does not have count as ``None``."""

    paper: str  # names it (an instance id); the page stays where it is as long as it and the text do
    sentences: tuple[str, ...]
    sentence_types: tuple[SentenceType, ...]
    aspects: tuple[Aspect, ...] = ()  # none where there is no gold, or none to be shown
    focus: Focus = "all"  # which aspects the task asks for; marks stand on those only
    systems: Sequence[System] = ()  # at most three; they are called A, B and C
    active: int | None = 0  # the system whose picks are marked; `None` shows the gold alone
    selected: int | None = None
    aspect: int | None = None  # the one whose sentences are lit
    notes: Sequence[SentenceNote] = ()  # one a sentence at most
    words: SharedWords | None = None  # to be underlined
    plain: bool = False  # for readers who are no researchers: no sentence indices, no keys, plain words
    is_main: bool = True  # whether keys pressed elsewhere on the page are its, where nothing else has them
    proposed: frozenset[int] = frozenset()  # what a model proposes and nobody has decided on
    by: str = ""  # who marked what stands as gold, where that is no dataset's: for the legend, and for ears


def view_of(instance: Instance, **shown: Any) -> PaperView:
    """The view of an instance; ``shown`` are the fields of `PaperView` after the aspects."""
    aspects = instance.evidence.aspects
    return PaperView(instance.id, instance.sentences, instance.sentence_types, aspects, **shown)


def view_data(view: PaperView, height: int = 720) -> dict[str, Any]:
    """The view as the browser gets it; ``draw.js`` documents the keys. `SelectionError` for more than three systems."""
    if len(view.systems) > MAX_SYSTEMS:
        problem = f"has {len(view.systems)} systems to show"
        raise SelectionError(view.paper, problem, f"Choose at most {MAX_SYSTEMS}.")
    n = len(view.sentences)
    active = _position(view.active, len(view.systems))
    picks = None if active is None else view.systems[active].picks
    data = {
        "paper": paper_key(view),
        "height": height,
        "texts": list(view.sentences),
        "types": _type_letters(view.sentences, view.sentence_types),
        "marks": _mark_letters(view, picks),
        "aspects": [_aspect_data(aspect, view.focus, picks) for aspect in view.aspects],
        "systems": [asdict(system) for system in view.systems],
        "active": active,
        "selected": _position(view.selected, n),
        "aspect": _position(view.aspect, len(view.aspects)),
        "notes": [asdict(note) for note in view.notes if 0 <= note.sentence < n],
        "words": None,
        "plain": view.plain,
        "keys": "main" if view.is_main and not view.plain else "",
        "by": view.by,
    }
    if view.words:  # none in a sentence with characters that are written out
        places = zip(view.words.sentences, view.sentences, strict=True)
        spans = [of_sentence if visible(text) == text else [] for of_sentence, text in places]
        data["words"] = {"by": view.words.by, "spans": spans}
    drawn: dict[str, Any] = visible_texts(data)
    return drawn


def visible_texts(value: Any) -> Any:
    """A JSON-able value whose texts are `visible`; an ``id`` stays as it is, since it comes back from the browser."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {name: part if name == "id" else visible_texts(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [visible_texts(part) for part in value]
    return value


def paper_key(view: PaperView) -> str:
    """A short name for the paper that changes with its text."""
    return digest([view.paper, view.sentences, view.sentence_types])[:16]


def _position(value: int | None, size: int) -> int | None:
    return value if value is not None and 0 <= value < size else None


def _type_letters(sentences: Sequence[str], types: Sequence[SentenceType]) -> str:
    letters: list[str] = []
    for text, kind in zip(sentences, types, strict=True):
        if kind != "section_name":
            letters.append("a" if kind == "abstract" else "p")
        elif text.isupper() or class_of_heading(text) is not None:
            letters.append("h")
        elif not letters:
            letters.append("t")
        else:
            letters.append("f" if letters[0] == "t" and set(letters) <= {"t", "f"} else "s")
    return "".join(letters)


def _mark_letters(view: PaperView, picks: tuple[int, ...] | None) -> str:
    aspects = [aspect for aspect in view.aspects if view.focus == "all" or aspect.is_result]
    covers = [frozenset(aspect.sentence_indices) for aspect in aspects]
    letters = [_MARK_LETTERS[mark] for mark in marks_of(picks, covers, len(view.sentences))]
    proposed = [index for index in view.proposed if letters[index] == "."]
    for index in proposed:
        letters[index] = "o"
    return "".join(letters)


def _aspect_data(aspect: Aspect, focus: Focus, picks: tuple[int, ...] | None) -> dict[str, Any]:
    return {
        "label": aspect.label,
        "text": aspect.text,
        "result": aspect.is_result,
        "focus": focus == "all" or aspect.is_result,
        "covered": None if picks is None else not set(picks).isdisjoint(aspect.sentence_indices),
        "sentences": list(aspect.sentence_indices),
    }
