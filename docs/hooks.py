"""What mkdocs writes itself: the help of every verb, the public names with their docstrings, the notebooks."""

import inspect
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import plotly.io
import typer
from mkdocs.structure.files import File
from plotly.offline import get_plotlyjs

import evidencebench_core
from evidencebench_core.cli.frame import app

ROOT = Path(__file__).parents[1]
_PLOTLY = "plotly.min.js"  # beside the notebooks' pages, so that nothing is fetched from outside


def on_files(files: Any, config: Any) -> None:
    """A page for each notebook."""
    files.append(File.generated(config, f"notebooks/{_PLOTLY}", content=get_plotlyjs()))
    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=notebook_page(path)[0]))


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Put the outputs of a notebook in their places."""
    path = ROOT / "examples" / f"{Path(page.file.src_uri).stem}.ipynb"
    if path.exists():
        for number, output in enumerate(notebook_page(path)[1]):
            html = html.replace(f"<p>[output {number}]</p>", output)
    return html


@cache
def notebook_page(path: Path) -> tuple[str, list[str]]:
    """A notebook in Markdown, with places for the HTML of its outputs; `CellExecutionError` where a cell fails."""
    book = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(ROOT)}}  # so that the kernel imports this checkout
    nbclient.NotebookClient(book, timeout=300, resources=place).execute()
    parts, outputs = list[str](), list[str]()
    for cell in book.cells:
        parts.append(cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```")
        for output in cell.get("outputs", ()):
            parts.append(f"[output {len(outputs)}]")
            outputs.append(_output_html(output.data))
    return "\n\n".join(parts), outputs


def _output_html(data: Any) -> str:
    if figure := data.get("application/vnd.plotly.v1+json"):
        return str(plotly.io.to_html(figure, include_plotlyjs=_PLOTLY, full_html=False, validate=False))
    html = data.get("text/html") or f"<pre>{escape(data['text/plain'])}</pre>"
    return str(html).replace(' class="dataframe"', "")  # the theme's tables have no class


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
