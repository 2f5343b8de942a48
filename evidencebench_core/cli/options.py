"""Options that verbs share, each written once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from evidencebench_core import runs
    from evidencebench_core.data import Store
    from evidencebench_core.llm import LLM

Dataset = Annotated[str, Option(metavar="NAME", help="a dataset in the store")]
SomeDataset = Annotated[str | None, Option(metavar="NAME", help="a dataset in the store")]
DatasetName = Annotated[str, Argument(metavar="NAME", help="a dataset in the store")]
RunId = Annotated[str, Argument(metavar="RUN", help="a run: its id, how that begins, or its name")]
RunIds = Annotated[list[str], Argument(metavar="RUN", help="runs: ids, how they begin, or names")]
SomeRuns = Annotated[list[str] | None, Argument(metavar="RUN", help="runs: ids, how they begin, or names")]
Task = Annotated[str, Option(metavar="T", help="such as er@optimal, er@10 or result-er@5")]
Tasks = Annotated[list[str] | None, Option("--task", metavar="T", help="such as er@10 (may be repeated)")]
Limit = Annotated[int | None, Option(metavar="N", min=1, help="only the first N of them")]
Missing = Annotated[Literal["report", "zero"], Option(help="instances without an answer: named, or scored 0")]
Settings = Annotated[
    list[str] | None, Option("--set", metavar="KEY=VALUE", help="a setting (may be repeated)")
]
Model = Annotated[str, Option(metavar="M", help="the model, as the server calls it")]
NewName = Annotated[str | None, Option(metavar="NAME", help="(default: after its source)")]
Out = Annotated[Path | None, Option(metavar="FILE", help="write it to this file")]


def settings_of(settings: list[str] | None) -> dict[str, str]:
    pairs = {}
    for text in settings or ():
        key, equals, value = text.partition("=")
        if not key.strip() or not equals:
            raise typer.BadParameter(f"--set: {text!r} is not of the form KEY=VALUE")
        pairs[key.strip()] = value
    return pairs


@dataclass(frozen=True, slots=True)
class Ask:
    """How a model's server is asked, and what that may cost."""

    max_calls: Annotated[int | None, Option(metavar="N", min=1, help="stop before more calls")] = None
    max_tokens: Annotated[int | None, Option(metavar="N", min=1, help="stop before more tokens")] = None
    max_cost: Annotated[float | None, Option(metavar="X", min=0.0, help="stop before more dollars")] = None
    concurrency: Annotated[int, Option(metavar="N", min=1, help="calls at once")] = 8

    def llm(self, store: Store) -> LLM:
        """The server in force, within these limits, with its answers kept in the store."""
        from evidencebench_core.llm import LLM, Budget

        return LLM(
            store=store,
            budget=Budget(calls=self.max_calls, tokens=self.max_tokens, money=self.max_cost),
            concurrency=self.concurrency,
        )


@dataclass(frozen=True, slots=True)
class Work(Ask):
    """How a run is carried out."""

    estimate: Annotated[bool, Option("--estimate", help="print what it would cost, and stop")] = False
    fresh: Annotated[bool, Option("--fresh", help="ask again, and pay again, what is answered")] = False
    ask_again: Annotated[
        Literal["unread"] | None,
        Option(metavar="unread", help="ask again what was cut off or could not be read"),
    ] = None
    engine: Annotated[
        Literal["local", "batch", "ray"],
        Option(help="this process, the server's batch endpoint, or Ray (at RAY_ADDRESS)"),
    ] = "local"

    @property
    def again(self) -> runs.Fresh:
        return self.ask_again or self.fresh

    def make_engine(self) -> runs.Engine:
        from evidencebench_core.runs import LocalEngine
        from evidencebench_core.runs.engines.batch import BatchEngine
        from evidencebench_core.runs.engines.ray import RayEngine

        engines: dict[str, type[runs.Engine]] = {"local": LocalEngine, "batch": BatchEngine, "ray": RayEngine}
        return engines[self.engine]()
