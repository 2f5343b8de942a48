"""One answer as prose: each sentence with a mark in the margin, its citations as buttons; keys j, k and n."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from components.answers.labels import Badge
from components.component import component, component_event


@dataclass(frozen=True, slots=True)
class Citation:
    """A cited document, with what people said of it, and the judge where there is one."""

    document: str
    human: Badge
    judge: Badge | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the answer; ``note`` is what stands under it, ``problem`` whether the key n stops there."""

    id: str
    text: str
    mark: Badge | None
    note: str
    problem: bool
    citations: tuple[Citation, ...] = ()


_component = component("prose", Path(__file__).parent, '<ol class="prose"></ol>', palette=".prose")


def answer_prose(
    sentences: Sequence[Sentence],
    *,
    key: str,
    chosen: str,
    document: str,
    on_choice: Callable[[str, str], None],
) -> None:
    """Draw the answer; ``on_choice`` hears the id of a sentence, and the document or ``""``."""
    known = {one.id: {citation.document for citation in one.citations} for one in sentences}

    def on_change() -> None:
        event = component_event(key)
        if isinstance(event, Mapping):
            sentence, cited = event.get("sentence"), event.get("document")
            if isinstance(sentence, str) and sentence in known and (cited == "" or cited in known[sentence]):
                on_choice(sentence, cited)

    data = {"sentences": [asdict(one) for one in sentences], "chosen": chosen, "document": document}
    _component(key=key, data=data, on_event_change=on_change)
