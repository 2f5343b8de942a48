"""``evidencebench run --dataset N --retriever R``"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evidencebench_core.cli.arguments import add_json, add_settings, add_wordings_file, positive, store_of
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.cli.progress import progress_bar, stopping
from evidencebench_core.cli.scores import print_run, run_document, warn_of_training_data
from evidencebench_core.cli.spending import (
    add_server,
    check_no_server_arguments,
    check_server,
    print_estimate,
    print_spending,
    server_llm,
)
from evidencebench_core.errors import SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm import LLM
    from evidencebench_core.runs import Engine, Plan, Progress, RunEstimate, Variant


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    parser.add_argument(
        "--retriever", metavar="NAME", required=True, help="`evidencebench retrievers` lists them"
    )
    parser.add_argument(
        "--task",
        action="append",
        metavar="T",
        help="a task (may be repeated; default: er@optimal, er@10, result-er@optimal, result-er@5);"
        " also er@K and result-er@K for any K, and result-er@unconstrained",
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N instances")
    add_settings(parser)
    parser.add_argument(
        "--variant",
        metavar="NAME",
        help="ask perturbed hypotheses: negation, paraphrase:NAME, negation:rules, spelling:n=N[,seed=S];"
        " gold stays that of the original",
    )
    add_wordings_file(parser)
    add_server(parser)
    parser.add_argument(
        "--retry-lost",
        action="store_true",
        help="ask a model again for what gave no selection: refused, cut off, or not to be read",
    )
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
    engine.add_argument(
        "--keep-embeddings",
        action="store_true",
        help="bring the embeddings that Ray's workers compute into this machine's cache (1.5 kB a sentence)",
    )
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    """Run a retriever, then score what the run has; as JSON one object with ``run`` and ``scores``."""
    from evidencebench_core.runs import DEFAULT_TASKS, RunStore, execute, plan, score_run, trained_on_ids

    store, (engine_name, engine) = store_of(args), _engine(args)
    planned = plan(
        store,
        args.dataset,
        args.retriever,
        dict(args.settings),
        args.task or DEFAULT_TASKS,
        args.limit,
        variant=_variant(store, args),
        llm=_llm(store, args),
        fresh=args.fresh,
        retry_lost=args.retry_lost,
    )
    llm, command = planned.llm, "evidencebench " + shlex.join(args.words)
    cost = (
        None if llm is None else _estimate(planned, engine_name, asks=not (args.batch_out or args.batch_in))
    )
    with stopping("begins no other question, and keeps what comes within 30 s") as stopped:
        reports = execute(planned, engine, stopped)
        try:
            last = _last(reports, stopped, command)
        finally:
            if llm is not None:
                print_spending(llm.budget.spent)
    if last.left_out:
        note(f"{quantity(last.left_out, 'instance')} left out: they have no such variant")
    info, tasks = RunStore(store).run(last.run_id), planned.tasks
    scores = [score_run(store, info.id, task) for task in tasks]
    outcomes = RunStore(store).outcomes(info.id)
    files: Sequence[Path] = getattr(engine, "written", ())
    if not files:
        warn_of_training_data(info, trained_on_ids(store, info), scores)
    if args.json:
        document = {**run_document(info, outcomes), "scores": [score.as_dict() for score in scores]}
        if llm is not None and cost is not None:
            document |= {"estimate": cost.as_dict(), "spending": asdict(llm.budget.spent)}
        if files:
            document["written"] = [str(path) for path in files]
        print_json(document)
    elif files:
        _print_written(files, last, command)
    else:
        print_run(info, scores, outcomes)
    if last.failed:
        _note_failures(store, last, [task.name for task in tasks])
        return 1
    return 0


def _llm(store: Store, args: argparse.Namespace) -> LLM | None:
    """How the server is asked; ``None`` for a retriever that asks none."""
    from evidencebench_core.retrievers import retriever_entry

    if retriever_entry(args.retriever).asks_server:
        return server_llm(store, args)
    check_no_server_arguments(args, args.retriever)
    return None


def _engine(args: argparse.Namespace) -> tuple[str, Engine]:
    """The engine that is asked for, by its name or by what is for it alone."""
    own = {
        "batch": {"--batch-out": args.batch_out, "--batch-in": args.batch_in},
        "ray": {
            "--ray-address": args.ray_address,
            "--workers": args.workers,
            "--keep-embeddings": args.keep_embeddings,
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

        return name, RayEngine(args.ray_address, args.workers, args.keep_embeddings)
    from evidencebench_core.runs import LocalEngine

    return name, LocalEngine()


def _estimate(planned: Plan, engine: str, asks: bool) -> RunEstimate:
    """The cost, printed; before it what is wrong with the server, if that is to be asked."""
    from evidencebench_core.runs import estimate
    from evidencebench_core.runs.engines.batch_endpoint import batches_under_way

    cost = estimate(planned, batch=engine == "batch")
    if cost.calls and asks and planned.llm is not None:
        check_server(planned.llm, cost.model)
    print_estimate(cost)
    if cost.calls and engine != "batch":
        for address, n in batches_under_way(planned.store, planned.spec.id).items():
            note(
                f"{quantity(n, 'batch')} of this run may still be under way at {address}: --engine batch goes on"
                " with them; what is asked now is paid twice."
            )
    return cost


def _variant(store: Store, args: argparse.Namespace) -> Variant | None:
    """The variant asked for, once the file with wordings, if there is one, is in the store."""
    from evidencebench_core.cli.variants import keep_file
    from evidencebench_core.runs import variant_named

    if args.variants is not None:
        keep_file(store, args.dataset, args.variants)
    return None if args.variant is None else variant_named(store, args.dataset, args.variant)


def _last(reports: Iterator[Progress], stopped: Callable[[], bool], command: str) -> Progress:
    """The last report, once the work is done; a bar shows the others. Stopped, it says how to go on."""
    last = next(reports)
    note(f"run {last.run_id}: {last.done:,} of {quantity(last.total, 'instance')} already answered")
    noted: dict[str, float] = {}  # when each was
    with progress_bar(last.total, "instances", last.done) as bar:
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
                f"Interrupted: {last.done:,} of {quantity(last.total, 'instance')} answered and kept."
                f" To go on, give the same command again: {command}"
            )
            raise
    return last


def _print_written(files: Sequence[Path], last: Progress, command: str) -> None:
    """The files of requests that were written, and the next command."""
    print(
        f"run {last.run_id}: {last.done:,} of {quantity(last.total, 'instance')} answered;"
        f" the next requests are in {quantity(len(files), 'file')}:"
    )
    for path in files:
        print(one_line(f"  {path}"))
    print("Have them answered, such as by: vllm run-batch -i FILE -o RESULTS --model MODEL")
    print(one_line(f"Then read the results: {command} --batch-in RESULTS"))


def _note_failures(store: Store, last: Progress, tasks: Sequence[str]) -> None:
    from evidencebench_core.runs import RunStore

    runs = RunStore(store)
    reasons = (reason for task in tasks for reason in runs.failures(last.run_id, task).values())
    note(
        f"evidencebench: {quantity(last.failed, 'instance')} could not be answered; the first:"
        f" {next(reasons, 'unknown')} Give the same command again to try only them."
    )


VERBS: Final = {"run": (_add_arguments, _run)}
