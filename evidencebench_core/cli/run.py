"""``evidencebench run --dataset N --retriever R``"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from evidencebench_core.cli.arguments import add_json, add_settings, add_wordings_file, positive, store_of
from evidencebench_core.cli.asking import (
    add_engine,
    carry_out,
    engine_of,
    failure_status,
    print_cost,
    print_written,
    written_files,
)
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.cli.scores import print_run, run_document, warn_of_gold, warn_of_training_data
from evidencebench_core.cli.spending import add_server, check_no_server_arguments, server_llm
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm import LLM
    from evidencebench_core.runs import Variant


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
    add_engine(parser)
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    """Run a retriever, then score what the run has; as JSON one object with ``run`` and ``scores``."""
    from evidencebench_core.runs import DEFAULT_TASKS, RunStore, plan, score_run, trained_on_ids

    store, (engine_name, engine) = store_of(args), engine_of(args)
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
    llm = planned.llm
    cost = None if llm is None else print_cost([planned], args, engine_name)
    (last,) = carry_out([planned], engine, args)
    if last.left_out:
        note(f"{quantity(last.left_out, 'instance')} left out: they have no such variant")
    info, tasks = RunStore(store).run(last.run_id), planned.tasks
    scores = [score_run(store, info.id, task) for task in tasks]
    outcomes = RunStore(store).outcomes(info.id)
    files = written_files(engine)
    if not files:
        warn_of_training_data(info, trained_on_ids(store, info), scores)
        warn_of_gold(store, info.dataset, [info])
    if args.json:
        document = {**run_document(info, outcomes), "scores": [score.as_dict() for score in scores]}
        if llm is not None and cost is not None:
            document |= {"estimate": cost.as_dict(), "spending": asdict(llm.budget.spent)}
        if files:
            document["written"] = [str(path) for path in files]
        print_json(document)
    elif files:
        print_written(files, last, args)
    else:
        print_run(info, scores, outcomes)
    by_task = (RunStore(store).failures(info.id, task.name) for task in tasks)
    return failure_status(last.failed, "instance", (reason for of in by_task for reason in of.values()))


def _llm(store: Store, args: argparse.Namespace) -> LLM | None:
    """How the server is asked; ``None`` for a retriever that asks none."""
    from evidencebench_core.retrievers import retriever_entry

    if retriever_entry(args.retriever).asks_server:
        return server_llm(store, args)
    check_no_server_arguments(args, args.retriever)
    return None


def _variant(store: Store, args: argparse.Namespace) -> Variant | None:
    """The variant asked for, once the file with wordings, if there is one, is in the store."""
    from evidencebench_core.cli.variants import keep_file
    from evidencebench_core.runs import variant_named

    if args.variants is not None:
        keep_file(store, args.dataset, args.variants)
    return None if args.variant is None else variant_named(store, args.dataset, args.variant)


VERBS: Final = {"run": (_add_arguments, _run)}
