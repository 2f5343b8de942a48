"""Prompts: our files, each with a version, and those of the user.

A prompt file is plain text: ``version: 1``, then turns headed ``=== system ===`` and ``=== user ===``. In them
``{{name}}`` stands for the words of ``parts/name.txt``, which prompts share, and ``$name`` for what is put in. What
comes out of papers is put between tags, and can neither close its tag nor open another, nor bring in either name.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

import platformdirs

from evidencebench_core.data.primitives import digest
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm.answers import Message, Role, valid_text

_OURS: Final = Path(__file__).parent
_FORM: Final = re.compile(r"\s*version: *(\S+)\s*?\n(.*)", re.DOTALL)
_HEAD: Final = re.compile(r"^=== *(system|user|assistant) *=== *$", re.MULTILINE)
_PART: Final = re.compile(r"\{\{ *(.*?) *\}\}")
_TAG: Final = re.compile(r"<(?=[^\w<>]{0,8}[a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, ready to be filled."""

    name: str
    version: str  # what its file says and the beginning of the digest of what is sent: "1-5f0c2a9b"
    parts: tuple[tuple[Role, str], ...]  # its turns
    fields: frozenset[str]  # what must be put in

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def messages(self, **fields: str | int) -> tuple[Message, ...]:
        """The conversation, with what its ``$names`` stand for; `SettingError` if one of them is not given."""
        if missing := sorted(self.fields - fields.keys()):
            problem = f"needs ${missing[0]}, which is not known here"
            raise SettingError(f"prompt {self.name}", problem, "Take another prompt.")
        values = {name: _TAG.sub("‹", valid_text(str(value))) for name, value in fields.items()}
        return tuple(
            Message(role, string.Template(body).substitute(values), str(self)) for role, body in self.parts
        )


def prompt(name: str, folder: Path | None = None) -> Prompt:
    """The prompt of that name, and its parts, in ``folder``, else in the user's, else in ours; or `SettingError`."""
    folders = [*([folder] if folder else []), prompt_folder(), _OURS]
    if path := _found(name, folders):
        return _parsed(path, _with_parts(path, folders))
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


def _found(name: str, folders: Sequence[Path]) -> Path | None:
    """The first file of that name, which cannot lead out of a folder."""
    paths = [folder / f"{name}.txt" for folder in folders if Path(name).name == name]
    return next((path for path in paths if path.is_file()), None)


def _with_parts(path: Path, folders: Sequence[Path]) -> str:
    """The text of a prompt's file, its parts put in."""
    text, parts = path.read_text("utf-8-sig", "replace"), dict[str, str]()
    for name in _PART.findall(text):
        part = _found(name, [folder / "parts" for folder in folders])
        parts[name] = part.read_text("utf-8-sig", "replace").strip() if part else ""
        if not parts[name] or _PART.search(parts[name]):
            remedy = "It is that of parts/NAME.txt, with no part in it."
            raise SettingError(str(path), f"has no text for its part {shown(name)}", remedy)
    return _PART.sub(lambda match: parts[match[1]], text)


@lru_cache(maxsize=64)
def _parsed(path: Path, text: str) -> Prompt:
    form = _FORM.fullmatch(text)
    _, *pieces = _HEAD.split(form[2]) if form else ("",)
    roles, bodies = pieces[::2], [body.strip() for body in pieces[1::2]]
    templates = [string.Template(body) for body in bodies]
    if form is None or not all(bodies) or roles[-1:] != ["user"] or not all(t.is_valid() for t in templates):
        remedy = "It needs 'version: 1', then '=== user ===' and its text last, with '$$' for a dollar sign."
        raise SettingError(str(path), "is no prompt", remedy)
    fields = frozenset(field for template in templates for field in template.get_identifiers())
    parts = tuple(zip(cast("list[Role]", roles), bodies, strict=True))
    return Prompt(path.stem, f"{form[1]}-{digest(parts)[:8]}", parts, fields)
