"""Prompts: plain text in turns, headed ``=== system ===`` and ``=== user ===``.

In them ``{{name}}`` stands for the words of ``parts/name.txt``, which prompts share, and ``$name`` for what is put in.
Texts of papers are put between tags. They can neither close their tag nor open another, nor bring in either name.
"""

import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

from evidencebench_core.data.primitives import digest
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm.answers import Message, Role

_OURS: Final = Path(__file__).parent
_HEAD: Final = re.compile(r"^=== *(system|user|assistant) *=== *$", re.MULTILINE)
_PART: Final = re.compile(r"\{\{ *(.*?) *\}\}")
_TAG: Final = re.compile(r"<(?=[^\w<>]{0,8}[a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, ready to be filled."""

    name: str
    version: str  # first digits of the digest of what is sent
    parts: tuple[tuple[Role, str], ...]  # its turns
    fields: frozenset[str]  # that must be filled

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def messages(self, **fields: str | int) -> tuple[Message, ...]:
        """The conversation with its ``$names`` filled in; `SettingError` if one of them is not given."""
        if missing := sorted(self.fields - fields.keys()):
            problem = f"needs ${missing[0]}, which is not known here"
            raise SettingError(f"prompt {self.name}", problem, "Take another prompt.")
        values = {name: _TAG.sub("‹", str(value)) for name, value in fields.items()}
        return tuple(
            Message(role, string.Template(body).substitute(values), str(self)) for role, body in self.parts
        )


def prompt(name: str, folder: Path | None = None) -> Prompt:
    """The prompt of that name, and its parts, from a folder, else ours; `SettingError` if there is none."""
    path = _prompt_path(f"{name}.txt", folder)
    text = path.read_text("utf-8-sig", "replace")
    return _prompt_of(path, _PART.sub(lambda match: prompt_part(match[1], folder), text))


def prompt_part(name: str, folder: Path | None = None) -> str:
    """The words of a part."""
    return _prompt_path(f"parts/{name}.txt", folder).read_text("utf-8-sig", "replace").strip()


def numbered(sentences: Iterable[str], first: int = 0) -> str:
    """One sentence per line, ``{i}: {text}``; line breaks within a sentence become spaces."""
    return "\n".join([f"{index}: {on_one_line(text)}" for index, text in enumerate(sentences, start=first)])


def on_one_line(text: str) -> str:
    return text if text.isprintable() else " ".join(text.split())


def _prompt_path(name: str, folder: Path | None) -> Path:
    """The file of that name in a folder, else in ours, and never outside of them."""
    for path in ((folder or _OURS) / name, _OURS / name):
        if path.is_file() and ".." not in Path(name).parts:
            return path
    raise SettingError(f"prompt {shown(name)}", "is not known", f"Ours are in {_OURS}.")


@lru_cache(maxsize=64)
def _prompt_of(path: Path, text: str) -> Prompt:
    """The prompt in a file's text, its parts filled in."""
    before, *pieces = _HEAD.split(text)
    roles, bodies = pieces[::2], [body.strip() for body in pieces[1::2]]
    templates = [string.Template(body) for body in bodies]
    is_valid = all(bodies) and all(template.is_valid() for template in templates)
    if before.strip() or roles[-1:] != ["user"] or not is_valid:
        remedy = "It needs turns such as '=== user ===', this one last, each with a text, and '$$' for a dollar sign."
        raise SettingError(str(path), "is no prompt", remedy)
    fields = frozenset(field for template in templates for field in template.get_identifiers())
    parts = tuple(zip(cast("list[Role]", roles), bodies, strict=True))
    return Prompt(path.stem, digest(parts)[:8], parts, fields)
