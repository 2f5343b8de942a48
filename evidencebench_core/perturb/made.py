"""Other wordings of hypotheses that a language model makes; to be read by somebody before they are used."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from evidencebench_core.data.store import Store
from evidencebench_core.errors import LLMCancelledError, LLMError, SettingError
from evidencebench_core.llm.parallel import in_parallel
from evidencebench_core.llm.parse import parsed_hypothesis
from evidencebench_core.llm.prompts import prompt
from evidencebench_core.llm.request import Answer, ChatRequest

__all__ = ["KINDS", "Asks", "MadeVariant", "lost_terms", "made_variants", "source_of", "written_variants"]

Kind = Literal["paraphrase", "negation"]
KINDS: Final[tuple[Kind, ...]] = ("paraphrase", "negation")

# Numbers and their units, and words with a digit or two capitals: IL-6, BRCA1, 5-HT, 0.3, mRNA.
_TERM: Final = re.compile(r"[^\s()\[\],;:]+")
_LONGEST: Final = 5_000


class Asks(Protocol):
    """What is asked of `evidencebench_core.llm.LLM`."""

    def chat(
        self, request: ChatRequest, fresh: bool = False, on_delta: Callable[[str | None], None] | None = None
    ) -> Answer: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class MadeVariant:
    """One wording, or why there is none.

    Attributes
    ----------
    instance_id, kind : str
        ``kind`` is ``"paraphrase"`` or ``"negation"``.
    original : str
    text : str or None
        ``None``: there is no wording that could be used.
    problem : str
        Why not.
    stops_run : bool
        Whether the problem would meet every other hypothesis too.
    """

    instance_id: str
    kind: Kind
    original: str
    text: str | None = None
    problem: str = ""
    stops_run: bool = False


def made_variants(  # noqa: PLR0913 - what is asked, and how
    store: Store,
    dataset: str,
    model: str,
    client: Asks,
    *,
    kinds: Sequence[Kind] = KINDS,
    limit: int | None = None,
    concurrency: int = 8,
    fresh: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Generator[MadeVariant, None, None]:
    """Ask a model for wordings of every hypothesis, at temperature 0, as they come.

    Answers are kept by the client, so that going on after a kill costs nothing twice. A wording that is
    empty or the original again is refused, and so is a paraphrase that has lost a term (`lost_terms`).

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    LLMError
        After what came till then, if every further call would fail in the same way.
    """
    ended: list[LLMError] = []
    prompts = {kind: prompt(kind) for kind in kinds}

    def work(item: tuple[str, str, Kind]) -> MadeVariant | None:
        instance_id, original, kind = item
        if ended:
            return None
        request = ChatRequest(model, prompts[kind].messages(hypothesis=original))
        try:
            answer = client.chat(request, fresh=fresh)
        except LLMCancelledError:
            return None
        except LLMError as error:
            if error.stops_run:
                ended.append(error)
                return None
            return MadeVariant(instance_id, kind, original, problem=str(error))
        text = parsed_hypothesis(answer.text)
        problem = _problem(original, text, kind)
        return MadeVariant(instance_id, kind, original, None if problem else text, problem)

    def items() -> Generator[tuple[str, str, Kind], None, None]:
        ids = store.ids(dataset, limit)
        for row in store.rows(dataset, ids):
            for kind in kinds:
                if ended:
                    return
                yield row.id, row.hypothesis, kind

    batches = in_parallel(
        work, items(), concurrency, stopped=cancelled, stop=lambda: None, close=client.close
    )
    for batch in batches:
        yield from (one for one in batch if one is not None)
    if ended:
        raise ended[0]


def lost_terms(original: str, paraphrase: str) -> tuple[str, ...]:
    """Terms that a paraphrase does not have: words with a digit, or with two capitals or one inside.

    Other words may change; whether they were terms only a reader can tell.
    """
    there = {term.casefold() for term in _terms(paraphrase)}
    return tuple(dict.fromkeys(term for term in _terms(original) if term.casefold() not in there))


def written_variants(
    path: Path, variants: Sequence[MadeVariant], model: str, kinds: Sequence[Kind] = KINDS
) -> int:
    """Write a variants file (see `variants_from`); returns how many wordings are in it.

    Paraphrases go under the model's name. Every instance says under ``made_by`` which model and which
    prompts made its wordings.

    Raises
    ------
    SettingError
        If there is nothing to write, or it cannot be written.
    """
    made_by = {"model": model} | {str(kind): f"{kind} {prompt(kind).version}" for kind in kinds}
    entries: dict[str, dict[str, object]] = {}
    usable = [one for one in variants if one.text is not None]
    for one in sorted(usable, key=lambda one: one.instance_id):
        entry = entries.setdefault(one.instance_id, {"made_by": made_by})
        if one.kind == "paraphrase":
            entry["paraphrases"] = {model: one.text}
        else:
            entry["negation"] = one.text
    if not entries:
        raise SettingError(str(path), "would be empty: no usable wording came", "Try another model.")
    _replace(path, entries)
    return len(usable)


def source_of(path: Path) -> str:
    """What to keep as the source of a variants file's wordings: the file, and what made them if it says so."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8-sig"))
        said = next(entry["made_by"] for entry in entries.values() if entry.get("made_by"))
        return f"{path}, made by {', '.join(map(str, said.values()))}"
    except (OSError, ValueError, AttributeError, StopIteration):
        return str(path)


def _problem(original: str, text: str | None, kind: Kind) -> str:
    if text is None:
        return "the answer has no line HYPOTHESIS:"
    if len(text) > _LONGEST:
        return f"the wording has {len(text):,} characters"
    if " ".join(text.split()).casefold().rstrip(".") == " ".join(original.split()).casefold().rstrip("."):
        return "the wording is the original"
    lost = lost_terms(original, text) if kind == "paraphrase" else ()
    return f"the paraphrase has lost {', '.join(lost)}" if lost else ""


def _terms(text: str) -> list[str]:
    words = (word.strip(".'\"“”‘’!?") for word in _TERM.findall(text))
    return [word for word in words if _is_term(word)]


def _is_term(word: str) -> bool:
    return any(character.isdigit() for character in word) or any(
        character.isupper() for character in word[1:]
    )


def _replace(path: Path, entries: Mapping[str, object]) -> None:
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(entries, stream, indent=1, ensure_ascii=True)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise SettingError(
            str(path), f"cannot be written: {error.strerror or error}", "Name another file."
        ) from error
