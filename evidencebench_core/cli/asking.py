"""Shared by the verbs that carry out plans: the engine, the cost before and after, progress, and how to go on."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evidencebench_core.cli.arguments import positive
from evidencebench_core.cli.output import note
from evidencebench_core.cli.progress import progress_bar, stopping
from evidencebench_core.cli.spending import check_server, print_estimate, print_spending
from evidencebench_core.errors import SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.runs import AnyPlan, Engine, Progress, RunEstimate

RETRY_LOST: Final = ", with --retry-lost for answers that could not be read"


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Who answers."""
    engine = parser.add_argument_group("engine")
    engine.add_argument(
        "--engine",
        choices=("local", "batch", "ray"),
        help="who answers: this process, the server's batch endpoint, or a Ray cluster (default: local)",
    )
    engine.add_argument(
        "--batch-out",
        type=Path,
        metavar="DIR",
        help="write the requests there as files in OpenAI's Batch format and stop; implies --engine batch",
    )
    engine.add_argument(
        "--batch-in",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="results of such files; implies --engine batch",
    )
    engine.add_argument(
        "--ray-address",
        metavar="ADDR",
        help="the cluster that this machine is a node of, such as 10.0.0.1:6379, or auto (default: RAY_ADDRESS,"
        " else a cluster of this machine alone); implies --engine ray",
    )
    engine.add_argument(
        "--workers", type=positive, metavar="N", help="workers of the Ray engine (default: one a core)"
    )


def engine_of(args: argparse.Namespace) -> tuple[str, Engine]:
    """The engine that is asked for, by its name or by what is for it alone."""
    own = {
        "batch": {"--batch-out": args.batch_out, "--batch-in": args.batch_in},
        "ray": {
            "--ray-address": args.ray_address,
            "--workers": args.workers,
        },
    }
    flags = {name: [flag for flag, value in given.items() if value] for name, given in own.items()}
    name: str = args.engine or next((name for name in flags if flags[name]), "local")
    for other, given in flags.items():
        if given and other != name:
            raise SettingError(
                ", ".join(given), f"is for the engine {other}, not {name}", f"Say --engine {other}."
            )
    if name == "batch":
        from evidencebench_core.runs.engines.batch import BatchEngine

        return name, BatchEngine(out=args.batch_out, into=tuple(args.batch_in or ()))
    if name == "ray":
        from evidencebench_core.runs.engines.ray import RayEngine

        return name, RayEngine(args.ray_address, args.workers)
    from evidencebench_core.runs import LocalEngine

    return name, LocalEngine()


def print_cost(
    plans: Sequence[AnyPlan], args: argparse.Namespace, engine: str, noun: str = "instance"
) -> RunEstimate:
    """The cost of plans for one model, printed; before it what is wrong with the server, if that is to be asked."""
    from evidencebench_core.runs import estimate, together
    from evidencebench_core.runs.engines.batch_endpoint import batches_under_way

    cost = together([estimate(one, batch=engine == "batch") for one in plans])
    if cost.calls and not (args.batch_out or args.batch_in) and plans[0].llm is not None:
        check_server(plans[0].llm, cost.model)
    print_estimate(cost, noun)
    for one in plans if cost.calls and engine != "batch" else ():
        for address, n in batches_under_way(one.store, one.run_id).items():
            note(
                f"{quantity(n, 'batch')} of this run may still be under way at {address}: --engine batch goes on"
                " with them; what is asked now is paid twice."
            )
    return cost


def carry_out(
    plans: Iterable[AnyPlan], engine: Engine, args: argparse.Namespace, noun: str = "instance"
) -> list[Progress]:
    """The last report of each plan, carried out one after the other, and the spending printed.

    A plan is asked for once the one before it is done.

    Raises
    ------
    KeyboardInterrupt
        Once what is under way has ended or been given up, with a line on how to go on.
    """
    from evidencebench_core.runs import execute

    reports: list[Progress] = []
    llm = None
    with stopping("begins no other question, and keeps what comes within 30 s") as stopped:
        try:
            for one in plans:
                llm = one.llm
                reports.append(_last(execute(one, engine, stopped), stopped, _command(args), noun))
        finally:
            if llm is not None:
                print_spending(llm.budget.spent)
    for path, (n_unused, n_doubles) in getattr(engine, "unused", {}).items():
        unused = (
            f"{quantity(n_unused, 'answer')} to nothing that was asked, {n_doubles:,} there twice: not used"
        )
        note(one_line(f"{path}: {unused}"))
    return reports


def _command(args: argparse.Namespace) -> str:
    return "evidencebench " + shlex.join(args.words)


def written_files(engine: Engine) -> Sequence[Path]:
    """The files of requests that the batch engine has written."""
    files: Sequence[Path] = getattr(engine, "written", ())
    return files


def _last(reports: Iterator[Progress], stopped: Callable[[], bool], command: str, noun: str) -> Progress:
    """The last report, once the work is done; a bar shows the others. Stopped, it says how to go on."""
    last = next(reports)
    note(f"run {last.run_id}: {last.done:,} of {quantity(last.total, noun)} already answered")
    noted: dict[str, float] = {}  # when each was
    with progress_bar(last.total, f"{noun}s", last.done) as bar:
        try:
            for last in reports:
                counts = {"calls": last.calls, "failed": last.failed}
                bar.set_postfix({name: n for name, n in counts.items() if n}, refresh=False)
                bar.update(last.done + last.failed - bar.n)
                words = re.sub(r"\d+", "", last.note)  # a countdown is noted once, a wait once a minute
                if words and time.monotonic() - noted.get(words, -60) >= 60:
                    bar.write(last.note, file=sys.stderr)
                    noted[words] = time.monotonic()
            if stopped():
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            bar.close()
            note(
                f"Interrupted: {last.done:,} of {quantity(last.total, noun)} answered and kept."
                f" To go on, give the same command again: {command}"
            )
            raise
    return last


def failure_status(
    n_failed: int,
    noun: str,
    reasons: Iterable[str] = (),
    problem: str = "could not be answered",
    retry: str = " to try only them",
) -> int:
    """1 where something failed, with a line that says why the first did, where that is known, and what to do."""
    if not n_failed:
        return 0
    first = next(iter(reasons), "")
    why = f"; the first: {first}" if first else "."
    note(f"evidencebench: {quantity(n_failed, noun)} {problem}{why} Give the same command again{retry}.")
    return 1


def print_written(
    files: Sequence[Path], last: Progress, args: argparse.Namespace, noun: str = "instance"
) -> None:
    """The files of requests that were written, and the next command."""
    print(
        f"run {last.run_id}: {last.done:,} of {quantity(last.total, noun)} answered;"
        f" the next requests are in {quantity(len(files), 'file')}:"
    )
    for path in files:
        print(one_line(f"  {path}"))
    print("Have them answered, such as by: vllm run-batch -i FILE -o RESULTS --model MODEL")
    print(one_line(f"Then read the results: {_command(args)} --batch-in RESULTS"))
