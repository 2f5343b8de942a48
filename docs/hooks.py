"""What mkdocs writes into the reference itself: the help of every verb, the public names with their docstrings."""

import inspect
import re
from typing import Any

import typer

import evidencebench_core
from evidencebench_core.cli.frame import app


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in what a page of the reference leaves open."""
    if "[verbs]" in markdown:
        markdown = markdown.replace("[verbs]", _verbs(typer.main.get_command(app), "evidencebench", 1))
    return markdown.replace("[names]", "\n\n".join(map(_name, evidencebench_core.__all__)))


def _verbs(command: Any, words: str, level: int) -> str:
    """The help of a command and of all below it, each under a heading."""
    with command.make_context(words, [], resilient_parsing=True) as context:
        text = command.get_help(context)
    heading = f"{'#' * level} {words.removeprefix('evidencebench ')}\n\n" if level > 1 else ""
    below = (
        _verbs(verb, f"{words} {name}", min(level + 1, 3))
        for name, verb in getattr(command, "commands", {}).items()
    )
    return "\n\n".join([f"{heading}```text\n{text}\n```", *below])


def _name(name: str) -> str:
    """The signature of a public name, and what it says of itself."""
    value = getattr(evidencebench_core, name)
    if not callable(value):
        names = ", ".join(f"`{key}`" for key in value) if hasattr(value, "keys") else f"`{value}`"
        return f"## `{name}`\n\n{names}"
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    head = name + ("" if is_error else _signature(inspect.signature(value)))
    return f"## `{name}`\n\n```python\n{head}\n```\n\n```text\n{inspect.getdoc(value)}\n```"


def _signature(signature: inspect.Signature) -> str:
    """Without the modules of types and the quotes around them; a long one with a line for each parameter."""
    text = _plain(str(signature))
    if len(text) < 70:
        return text
    words = [_plain(str(parameter)) for parameter in signature.parameters.values()]
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        words.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    lines = "".join(f"    {word},\n" for word in words)
    return f"(\n{lines}){text.rpartition(')')[2]}"


def _plain(text: str) -> str:
    text = re.sub(r"<function .*>", "...", text)
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    return re.sub(r"\b(?:evidencebench_core|collections|pathlib)\.(?:\w+\.)*(?=\w)", "", text)
