"""Prompts: our files, each with a version, and those of the user.

A prompt file is plain text: ``version: 1``, then parts headed ``=== system ===`` and ``=== user ===``, in
which ``$name`` stands for what is put in. What comes out of papers is put between tags, and can neither close its tag
nor open another, nor bring in another ``$name``.
"""

from __future__ import annotations

import hashlib
import os
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

import platformdirs

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm.answers import Message, Role, valid_text

_OURS: Final = Path(__file__).parent
_FORM: Final = re.compile(r"\s*version: *(\S+)\s*?\n(.*)", re.DOTALL)
_HEAD: Final = re.compile(r"^=== *(system|user|assistant) *=== *$", re.MULTILINE)
_TAG: Final = re.compile(r"<(?=[^\w<>]{0,8}[a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, ready to be filled."""

    name: str
    version: str  # what its file says and the beginning of its digest: "1-5f0c2a9b"
    parts: tuple[tuple[Role, str], ...]
    fields: frozenset[str]  # what must be put in

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def messages(self, **fields: str | int) -> tuple[Message, ...]:
        """The conversation, with what its ``$names`` stand for; `SettingError` if one of them is not given."""
        if missing := sorted(self.fields - fields.keys()):
            problem = f"needs ${missing[0]}, which is not known here"
            raise SettingError(f"prompt {self.name}", problem, "Take another prompt.")
        values = {name: _TAG.sub("‹", valid_text(str(value))) for name, value in fields.items()}
        return tuple(Message(role, string.Template(body).substitute(values)) for role, body in self.parts)


def prompt(name: str) -> Prompt:
    """The prompt in the user's file of that name, else in ours; `SettingError` if there is none that can be used."""
    for folder in (prompt_folder(), _OURS):
        path = folder / f"{name}.txt"
        if path.is_file():
            return _parsed(path, path.read_bytes())
    known = f"Known: {', '.join(prompt_names())}; yours go to {prompt_folder()}."
    raise SettingError("prompt", f"{shown(name)} is not known", known)


def prompt_names() -> tuple[str, ...]:
    """The names of our prompts and the user's, sorted."""
    return tuple(sorted({path.stem for folder in (prompt_folder(), _OURS) for path in folder.glob("*.txt")}))


def prompt_folder() -> Path:
    """Where the user's prompts are: ``EVIDENCEBENCH_PROMPTS``, else the user's config folder."""
    default = platformdirs.user_config_path("evidencebench", appauthor=False) / "prompts"
    return Path(os.environ.get("EVIDENCEBENCH_PROMPTS") or default)


def numbered(sentences: Iterable[str], first: int = 0) -> str:
    """One sentence a line, ``{i}: {text}``; line ends within a sentence become spaces."""
    return "\n".join([f"{index}: {_one_line(text)}" for index, text in enumerate(sentences, start=first)])


def example_text(hypothesis: str, sentences: Iterable[str]) -> str:
    """One example for ``$examples``: a hypothesis and its gold sentences. Join several with blank lines."""
    chosen = "\n".join(f"- {_one_line(text)}" for text in sentences)
    return f"Hypothesis: {_one_line(hypothesis)}\nBest choice:\n{chosen}"


def _one_line(text: str) -> str:
    return text if text.isprintable() else " ".join(text.split())


@lru_cache(maxsize=64)
def _parsed(path: Path, content: bytes) -> Prompt:
    form = _FORM.fullmatch(content.decode("utf-8-sig", "replace"))
    _, *pieces = _HEAD.split(form[2]) if form else ("",)
    roles, bodies = pieces[::2], [body.strip() for body in pieces[1::2]]
    templates = [string.Template(body) for body in bodies]
    if form is None or not all(bodies) or roles[-1:] != ["user"] or not all(t.is_valid() for t in templates):
        remedy = (
            "It needs 'version: 1', then '=== user ===' and its text at the end, with '$$' for a dollar sign."
        )
        raise SettingError(str(path), "is no prompt", remedy)
    fields = frozenset(field for template in templates for field in template.get_identifiers())
    digest = hashlib.sha256(content).hexdigest()[:8]
    parts = tuple(zip(cast("list[Role]", roles), bodies, strict=True))
    return Prompt(path.stem, f"{form[1]}-{digest}", parts, fields)
