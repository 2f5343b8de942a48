"""The frame of the command: a verb is a function from the store and its options to what is printed.

``--store`` and ``--json`` come with the frame; an option whose type is a dataclass (`options.Ask`) becomes the
options of its fields.
"""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_type_hints

import typer
from typer import Option
from typer.core import TyperArgument, TyperCommand, TyperGroup

from evidencebench_core.cli.emit import emit
from evidencebench_core.errors import StoreError

if TYPE_CHECKING:
    from evidencebench_core.analyses import Report
    from evidencebench_core.data import Store
else:
    Report = Store = object  # imported when they are used

__all__ = ["Report", "Store", "app", "command_line", "group", "opened", "verb"]

WORDS: list[str] = []  # of the command in hand, after ``evidencebench``
Verb = TypeVar("Verb", bound=Callable[..., Any])

_PLAIN: dict[str, Any] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "no_args_is_help": True,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}
StorePath = Annotated[Path | None, Option(metavar="PATH", help="the store (default: $EVIDENCEBENCH_STORE)")]
Json = Annotated[bool, Option("--json", help="print one JSON document on stdout")]
Format = Annotated[
    Literal["latex", "markdown", "csv", "json"] | None,
    Option("--format", help="print tables for a paper (LaTeX wants the package booktabs), or data"),
]
Tables = Annotated[Path | None, Option(metavar="FILE", help="write it there (default format: CSV)")]
HEADINGS: Final = {
    "App": ("app",),
    "Data": ("ingest", "download", "list", "show", "rename", "delete", "backup", "export-dataset"),
    "Runs": ("retrievers", "run", "score", "score-file", "compare", "import-run", "export", "publish"),
    "Analyses": ("analyse", "notes"),
    "Papers": ("find", "annotate"),
    "Models": ("train-ranker", "finetune-encoder", "reliability", "answers"),
}


class _App(TyperGroup):
    """All verbs, which help lists below `HEADINGS`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for heading, names in HEADINGS.items():
            with formatter.section(heading):
                rows = [(name, self.commands[name].get_short_help_str(60)) for name in names]
                formatter.write_dl(rows, col_max=16)


class _Verb(TyperCommand):
    """A verb of which no option is given twice, unless it adds up; help names no types of Python."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for argument in self.params:
            if isinstance(argument, TyperArgument) and not argument.type_descriptor.is_choice:
                argument.display_type_rich = lambda ctx: None  # type: ignore[method-assign]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        names = [word.partition("=")[0] for word in args if word.startswith("--")]
        for option in self.params:
            if sum(map(names.count, option.opts)) > 1 and not option.multiple:
                ctx.fail(f"Option '{option.opts[0]}' is given twice.")
        return super().parse_args(ctx, args)


_SUMMARY: Final = "EvidenceBench: papers with their evidence, retrievers, honest scores."
app = typer.Typer(cls=_App, help=_SUMMARY, **_PLAIN)


def group(name: str, summary: str) -> typer.Typer:
    """A verb that has verbs of its own; give it to `verb`."""
    verbs = typer.Typer(name=name, help=summary, **_PLAIN)
    app.add_typer(verbs)
    return verbs


def verb(
    example: str, within: typer.Typer = app, *, creates: bool = False, tables: bool = False
) -> Callable[[Verb], Verb]:
    """Register a function as the verb that the example begins with; it returns its answer, an exit code, or nothing.

    ``creates``: a store that is not there may be made; ``tables``: it has a report, so ``--format`` and ``--out``.
    """

    def register(function: Verb) -> Verb:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters
        groups = {name: hints[name] for name in parameters if is_dataclass(hints[name])}
        own = [name for name in parameters if name != "store" and name not in groups]
        choices: dict[str, Any] = {name: (hints[name], parameters[name].default) for name in own}
        for kind in groups.values():
            types = get_type_hints(kind, include_extras=True)
            choices |= {field.name: (types[field.name], field.default) for field in fields(kind)}
        choices |= {"form": (Format, None), "out": (Tables, None)} if tables else {}
        choices |= {"json": (Json, False)} if hints["return"] not in (int, type(None)) else {}
        choices |= {"store": (StorePath, None)} if "store" in parameters else {}

        def call(**values: Any) -> int:
            given = {name: value for name, value in values.items() if name in parameters}
            for group_name, kind in groups.items():
                given[group_name] = kind(**{field.name: values[field.name] for field in fields(kind)})
            if "store" in parameters:
                given["store"] = opened(values["store"], creates)
            answer = function(**given)
            if answer is None or isinstance(answer, int):
                return answer or 0
            form, out = (values["form"], values["out"]) if tables else (None, None)
            emit(answer, "json" if values["json"] else form, out)
            return getattr(answer, "code", 0)

        words = " ".join(filter(None, ("evidencebench", within.info.name, example)))
        call.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nExample: {words}"
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
                for option, (kind, default) in choices.items()
            ]
        )
        call.__annotations__ = {name: kind for name, (kind, _) in choices.items()}
        within.command(example.partition(" ")[0], cls=_Verb)(call)
        return function

    return register


def opened(path: Path | None, create: bool = False) -> Store:
    """The store of ``--store``, else the one in force; a file that is named must be there, unless it may be made."""
    from evidencebench_core.data.store import open_store

    if path is not None and not create and not os.path.exists(path):  # noqa: PTH110 - Path.exists() can raise
        remedy = "Check --store; `evidencebench ingest FILE --store PATH` makes a store."
        raise StoreError(str(path), "is not there, or cannot be reached", remedy)
    return open_store(path)


def command_line() -> str:
    """The command as it was given, to be given again."""
    return shlex.join(["evidencebench", *WORDS])
