"""The frame of the command: verbs are functions, options are their parameters.

::

    @verb()
    def score(run: RunId, task: Tasks = (), json: Json = False, store: StorePath = None) -> int | None:
        '''Score a run.

        Example: evidencebench score 3f2a --task er@10
        '''
        emit(report, json)

A parameter whose type is a dataclass (`Ask`, `Engine`) becomes the options of its fields.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

import typer
from typer import Argument, Option

from evidencebench_core.errors import StoreError

if TYPE_CHECKING:
    from evidencebench_core import runs
    from evidencebench_core.data import Store
    from evidencebench_core.llm import LLM

WORDS: list[str] = []  # of the command in hand, after ``evidencebench``
Verb = TypeVar("Verb", bound=Callable[..., int | None])

_PLAIN: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "no_args_is_help": True,
    "context_settings": {"help_option_names": ["--help"], "max_content_width": 100},
}
app = typer.Typer(
    help="Look at EvidenceBench: papers with their evidence, retrievers, honest scores.", **_PLAIN
)


def group(name: str, summary: str) -> typer.Typer:
    """A verb that has verbs of its own; give it to `verb`."""
    verbs = typer.Typer(help=summary, **_PLAIN)
    app.add_typer(verbs, name=name)
    return verbs


def verb(name: str | None = None, within: typer.Typer = app) -> Callable[[Verb], Verb]:
    """Register a function as a verb; it returns its exit code, or nothing for 0."""

    def register(function: Verb) -> Verb:
        hints = get_type_hints(function, include_extras=True)
        groups: dict[str, Any] = {}
        options: list[inspect.Parameter] = []
        for parameter in inspect.signature(function).parameters.values():
            kind = hints[parameter.name]
            if is_dataclass(kind):
                groups[parameter.name] = kind
                options += _options_of(kind)
            else:
                options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind))

        def call(**values: Any) -> int | None:
            for group_name, kind in groups.items():
                values[group_name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
            return function(**values)

        call.__name__, call.__doc__ = function.__name__, function.__doc__
        call.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        call.__annotations__ = {option.name: option.annotation for option in options}
        within.command(name or function.__name__.rstrip("_").replace("_", "-"))(call)
        return function

    return register


def _options_of(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def command_line() -> str:
    """The command as it was given, to be given again."""
    return shlex.join(["evidencebench", *WORDS])


# -- options that verbs share -----------------------------------------------------------------------

StorePath = Annotated[
    Path | None,
    Option(
        "--store",
        metavar="PATH",
        help="the store's file (default: $EVIDENCEBENCH_STORE, or a file in your data folder)",
    ),
]
Json = Annotated[bool, Option("--json", help="print one JSON document on stdout")]
Out = Annotated[Path | None, Option("--out", metavar="FILE", help="write it to this file")]
Dataset = Annotated[str, Option("--dataset", metavar="NAME", help="a dataset in the store")]
SomeDataset = Annotated[str | None, Option("--dataset", metavar="NAME", help="a dataset in the store")]
RunId = Annotated[str, Argument(metavar="RUN", help="id of a run, or the beginning of it")]
RunIds = Annotated[list[str], Argument(metavar="RUN", help="ids of runs, or their beginnings")]
Task = Annotated[str, Option("--task", metavar="T", help="such as er@optimal, er@10 or result-er@5")]
Tasks = Annotated[
    list[str] | None,
    Option("--task", metavar="T", help="a task, such as er@optimal or result-er@5 (may be repeated)"),
]
Limit = Annotated[int | None, Option("--limit", metavar="N", min=1, help="only the first N")]
Missing = Annotated[
    Literal["report", "zero"],
    Option("--missing", help="instances without an answer: leave them out and name them, or score them 0"),
]
Settings = Annotated[
    list[str] | None, Option("--set", metavar="KEY=VALUE", help="a setting (may be repeated)")
]
Model = Annotated[str, Option("--model", metavar="M", help="the model, as the server calls it")]


def settings_of(settings: list[str] | None) -> dict[str, str]:
    """What ``--set`` was given."""
    pairs = [text.partition("=") for text in settings or ()]
    for text, (key, equals, _) in zip(settings or (), pairs, strict=True):
        if not key.strip() or not equals:
            raise typer.BadParameter(f"--set: {text!r} is not of the form KEY=VALUE")
    return {key.strip(): value for key, _, value in pairs}


def opened(path: Path | None, create: bool = False) -> Store:
    """The store of ``--store``, else the one in force; a file that is named must be there, unless it may be made."""
    from evidencebench_core.data.store import open_store

    if path is not None and not create and not path.exists():
        remedy = "Check --store; `evidencebench ingest FILE --store PATH` makes a store."
        raise StoreError(str(path), "is not there", remedy)
    return open_store(path)


@dataclass(frozen=True, slots=True)
class Ask:
    """How a model's server is asked, and what that may cost."""

    estimate: Annotated[bool, Option("--estimate", help="print what it would cost, and stop")] = False
    max_calls: Annotated[int | None, Option(metavar="N", min=1, help="stop before more calls")] = None
    max_tokens: Annotated[int | None, Option(metavar="N", min=1, help="stop before more tokens")] = None
    max_cost: Annotated[float | None, Option(metavar="X", min=0.0, help="stop before more dollars")] = None
    concurrency: Annotated[int, Option(metavar="N", min=1, help="calls at once")] = 8
    requests_per_minute: Annotated[int | None, Option(metavar="N", min=1, help="no more requests")] = None
    tokens_per_minute: Annotated[int | None, Option(metavar="N", min=1, help="no more tokens")] = None
    fresh: Annotated[bool, Option("--fresh", help="ask again, and pay again, what is answered")] = False

    def llm(self, store: Store) -> LLM:
        """The server in force, within these limits, with its answers kept in the store."""
        from evidencebench_core.llm import LLM, Budget, Limits

        return LLM(
            store=store,
            budget=Budget(calls=self.max_calls, tokens=self.max_tokens, money=self.max_cost),
            limits=Limits(self.concurrency, self.requests_per_minute, self.tokens_per_minute),
        )


@dataclass(frozen=True, slots=True)
class Engine:
    """Who answers."""

    engine: Annotated[
        Literal["local", "batch", "ray"],
        Option(help="this process, the server's batch endpoint, or a Ray cluster"),
    ] = "local"
    ray_address: Annotated[
        str | None, Option(metavar="ADDR", help="ray: the cluster (default: RAY_ADDRESS, else this machine)")
    ] = None
    workers: Annotated[int | None, Option(metavar="N", min=1, help="ray: workers (default: one a core)")] = (
        None
    )

    def make(self) -> runs.Engine:
        """The engine of that name."""
        if self.engine == "batch":
            from evidencebench_core.runs.engines.batch import BatchEngine

            return BatchEngine()
        if self.engine == "ray":
            from evidencebench_core.runs.engines.ray import RayEngine

            return RayEngine(self.ray_address, self.workers)
        from evidencebench_core.runs import LocalEngine

        return LocalEngine()
