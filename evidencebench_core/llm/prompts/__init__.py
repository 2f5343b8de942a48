"""Prompts: files of ours, each with a version, and a user's own beside them.

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
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, cast

import platformdirs

from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.llm.answers import Message, Role, valid_text

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEAD: Final = re.compile(r"^=== *(system|user|assistant) *=== *$", re.MULTILINE)
_VERSION: Final = re.compile(r"version: *(\S+)")
_TAG: Final = re.compile(r"<(?=[^\w<>]{0,8}[a-z])", re.IGNORECASE)
_FORM: Final = (
    "It needs a first line 'version: 1' and a part under '=== user ===' at the end; copy one of ours."
)


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
    """A prompt by name: one of ours, or the user's file; `SettingError` if there is none that can be used."""
    if name in _our_names():
        return _ours(name)
    path = _user_files().get(name)
    if path is None:
        names = prompt_names()
        remedy = f"{did_you_mean(name, names)}Known: {', '.join(names)}; yours go to {prompt_folder()}."
        raise SettingError("prompt", f"{shown(name)} is not known", remedy)
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(str(path), f"cannot be read ({error})", "Save it as UTF-8 text.") from error
    return _parsed(name, text, str(path))


def prompt_names() -> tuple[str, ...]:
    """Ours, then the user's under other names, each sorted."""
    ours = _our_names()
    return (*ours, *sorted(_user_files().keys() - set(ours)))


def prompt_folder() -> Path:
    """Where the user's own prompts are: ``EVIDENCEBENCH_PROMPTS``, else the user's config folder."""
    if named := os.environ.get("EVIDENCEBENCH_PROMPTS"):
        return Path(named).expanduser()
    return platformdirs.user_config_path("evidencebench", appauthor=False) / "prompts"


def numbered(sentences: Iterable[str], first: int = 0) -> str:
    """One sentence a line, ``{i}: {text}``; line ends within a sentence become spaces."""
    return "\n".join([f"{index}: {_one_line(text)}" for index, text in enumerate(sentences, start=first)])


def example_text(hypothesis: str, sentences: Iterable[str]) -> str:
    """One example for ``$examples``: a hypothesis and its gold sentences. Join several with blank lines."""
    chosen = "\n".join(f"- {_one_line(text)}" for text in sentences)
    return f"Hypothesis: {_one_line(hypothesis)}\nBest choice:\n{chosen}"


def _one_line(text: str) -> str:
    return text if text.isprintable() else " ".join(text.split())


@cache
def _our_names() -> tuple[str, ...]:
    return tuple(
        sorted(path.name[:-4] for path in files(__package__).iterdir() if path.name.endswith(".txt"))
    )


@cache
def _ours(name: str) -> Prompt:
    return _parsed(name, files(__package__).joinpath(f"{name}.txt").read_text("utf-8"), f"prompt {name}")


def _user_files() -> dict[str, Path]:
    """The user's files by name, a text file before Markdown."""
    folder = prompt_folder()
    paths = [*sorted(folder.glob("*.md")), *sorted(folder.glob("*.txt"))]
    return {path.stem: path for path in paths if _NAME.fullmatch(path.stem)}


def _parsed(name: str, text: str, place: str) -> Prompt:
    head, *pieces = _HEAD.split(text)
    version = _VERSION.match(head.strip())
    roles, bodies = pieces[::2], [body.strip() for body in pieces[1::2]]
    if version is None or not all(bodies) or roles[-1:] != ["user"]:
        raise SettingError(place, "is no prompt", _FORM)
    templates = [string.Template(body) for body in bodies]
    if not all(template.is_valid() for template in templates):
        raise SettingError(place, "has a '$' that starts no name", "Write '$$' for a dollar sign.")
    fields = frozenset(field for template in templates for field in template.get_identifiers())
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    parts = tuple(zip(cast("list[Role]", roles), bodies, strict=True))
    return Prompt(name, f"{version[1]}-{digest}", parts, fields)
