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
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Final, cast

from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.llm.answers import Message, Role

_SUFFIXES: Final = (".md", ".txt")  # the last goes before the first
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEAD: Final = re.compile(r"^=== *(system|user|assistant) *=== *$", re.MULTILINE)
_VERSION: Final = re.compile(r"version: *(\S+)")
_TAG: Final = re.compile(r"<(?=[^\w<>]{0,8}[a-z])", re.IGNORECASE)
_LARGEST: Final = 1 << 20  # bytes of a prompt file


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
        values = {name: _TAG.sub("‹", str(value)) for name, value in fields.items()}
        return tuple(Message(role, string.Template(body).substitute(values)) for role, body in self.parts)


def prompt(name: str) -> Prompt:
    """A prompt by name: one of ours, or the user's file; `SettingError` if there is none that can be used."""
    own = _own_files().get(name)
    if name in _our_names():
        if own is not None:
            raise SettingError(str(own), "has the name of a prompt of ours", "Give your copy another name.")
        return _ours(name)
    if own is None:
        known = prompt_names()
        remedy = f"{did_you_mean(name, known)}Known: {', '.join(known)}; yours go to {prompt_folder()}."
        raise SettingError("prompt", f"{shown(name)} is not known", remedy)
    try:
        with own.open("rb") as file:
            text = file.read(_LARGEST).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(str(own), f"cannot be read ({error})", "Save it as UTF-8 text.") from error
    if len(text.encode()) == _LARGEST:
        raise SettingError(str(own), "is larger than 1 MB", "Write a shorter prompt.")
    return _from_text(name, text, str(own))


def prompt_names() -> tuple[str, ...]:
    """Ours, then the user's own, each sorted."""
    ours = _our_names()
    return (*ours, *sorted(_own_files().keys() - set(ours)))


def prompt_version(name: str) -> str:
    """The version of a prompt as it goes into a run's settings."""
    return prompt(name).version


def prompt_folder() -> Path:
    """Where the user's own prompts are: ``EVIDENCEBENCH_PROMPTS``, else the user's config folder."""
    if named := os.environ.get("EVIDENCEBENCH_PROMPTS"):
        return Path(named).expanduser()
    import platformdirs

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


@lru_cache(maxsize=1)
def _our_names() -> tuple[str, ...]:
    return tuple(sorted(one.name[:-4] for one in files(__package__).iterdir() if one.name.endswith(".txt")))


@lru_cache(maxsize=64)
def _ours(name: str) -> Prompt:
    text = files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return _from_text(name, text, f"prompt {name}")


def _own_files() -> dict[str, Path]:
    folder = prompt_folder()
    paths = sorted(folder.iterdir()) if folder.is_dir() else ()
    own = {path.stem: path for path in paths if path.suffix in _SUFFIXES and path.is_file()}
    return {name: path for name, path in own.items() if _NAME.fullmatch(name)}


def _from_text(name: str, text: str, place: str) -> Prompt:
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    pieces = _HEAD.split(text)
    said = _VERSION.match(pieces[0].strip())
    bodies = zip(pieces[1::2], pieces[2::2], strict=True)
    parts = tuple((cast(Role, role), body.strip()) for role, body in bodies)
    if said is None or not parts or parts[-1][0] != "user" or not all(body for _, body in parts):
        form = (
            "It needs a first line 'version: 1' and a part under '=== user ===' at the end; copy one of ours."
        )
        raise SettingError(place, "is no prompt", form)
    templates = [string.Template(body) for _, body in parts]
    if not all(template.is_valid() for template in templates):
        raise SettingError(place, "has a '$' that starts no name", "Write '$$' for a dollar sign.")
    fields = frozenset(name for template in templates for name in template.get_identifiers())
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return Prompt(name, f"{said[1]}-{digest}", parts, fields)
