"""``evidencebench reliability``: RAmBLA's tasks, from a file of questions to a score."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli import reliability_scores
from evidencebench_core.cli.arguments import Action, add_json, add_settings, positive, store_of, verb_of
from evidencebench_core.cli.asking import (
    add_engine,
    carry_out,
    engine_of,
    failure_status,
    print_cost,
    print_written,
    written_files,
)
from evidencebench_core.cli.output import note, print_json, print_table, print_wrapped, text_columns
from evidencebench_core.cli.spending import add_server, server_llm
from evidencebench_core.cli.variants import add_prepare_arguments, prepare
from evidencebench_core.errors import SettingError
from evidencebench_core.words import enumerated, one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm import LLM
    from evidencebench_core.reliability.runs import ReliabilityRun
    from evidencebench_core.runs import ChatPlan, Progress

_NOUN: Final = "question"  # what is counted while a model is asked


# -- tasks and items ------------------------------------------------------------------------------


def _tasks(args: argparse.Namespace) -> int:
    """List the tasks with their settings."""
    from evidencebench_core.cli.runs import setting_text
    from evidencebench_core.reliability import RELIABILITY_TASKS
    from evidencebench_core.runs import REQUEST_SETTINGS

    if args.json:
        names = ("name", "number", "title", "aspect", "about", "needs", "labels", "figure")
        print_json(
            [
                {name: getattr(task, name) for name in names}
                | {"settings": {name: spec.help for name, spec in task.settings.items() if not spec.derived}}
                for task in RELIABILITY_TASKS.values()
            ]
        )
        return 0
    columns = text_columns()

    def print_settings(flag: str, specs: Mapping[str, Any]) -> None:
        for name, spec in specs.items():
            if not spec.derived:
                choices = "|".join(spec.choices) if spec.choices else spec.allowed()
                setting = f"{flag} {name}={setting_text(spec.default)}"
                print_wrapped(f"({choices}) {spec.help}", f"    {setting:<24}  ", columns)

    for task in RELIABILITY_TASKS.values():
        print(f"{task.name} ({task.number}): {task.title}")
        print_wrapped(task.about, "    ", columns)
        print_settings("--set", task.settings)
        print()
    print("Of every request:")
    print_settings("--request", REQUEST_SETTINGS)
    print("\nevidencebench reliability run ITEMS --task NAME --model NAME")
    return 0


def _add_ingest(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        nargs="?",
        help="PubMedQA's or BioASQ's JSON, or CSV, JSON or JSON lines with id, question, context, answer and, where"
        " there are some, long_answer and group; or pairs: statement_1, statement_2, similar",
    )
    source.add_argument(
        "--dataset",
        metavar="D",
        help="make the items of a dataset in the store: does a sentence bear on the hypothesis?",
    )
    source.add_argument("--sample", action="store_true", help="24 invented items to try things out with")
    parser.add_argument(
        "--name", metavar="NAME", help="what the item set is called (default: after its source)"
    )
    for flag, word in (("--positive", "yes"), ("--negative", "no")):
        parser.add_argument(
            flag, metavar="WORD", default="", help=f"what stands for {word} in the column answer"
        )
    parser.add_argument(
        "--seed", metavar="S", type=int, default=0, help="with --dataset: another seed, other sentences"
    )
    add_json(parser)


def _ingest(args: argparse.Namespace) -> int:
    """Bring a file of questions into the store, or make items of a dataset."""
    from evidencebench_core.reliability.from_evidencebench import ingest_evidence
    from evidencebench_core.reliability.read_items import ingest_items
    from evidencebench_core.reliability.sample import add_sample_items

    store = store_of(args)
    if args.sample:
        info = add_sample_items(store, args.name)
    elif args.dataset is not None:
        info = ingest_evidence(store, args.dataset, args.name, args.seed)
        note(
            "An answer no means that the sentence covers none of the study aspects, not that it is irrelevant."
        )
    else:
        info = ingest_items(store, args.file, args.name, args.positive, args.negative)
    if args.json:
        print_json(asdict(info))
    else:
        print(one_line(f"{info.name}: {quantity(info.n_items, 'item')} from {info.source}"))
    return 0


def _sets(args: argparse.Namespace) -> int:
    """List the item sets in the store."""
    from evidencebench_core.reliability.items import item_sets

    infos = item_sets(store_of(args))
    if args.json:
        print_json([asdict(info) for info in infos])
    elif not infos:
        note(
            "There are no item sets yet. Bring one in with `evidencebench reliability ingest FILE`, or --sample."
        )
    else:
        rows = [(one.name, one.kind, f"{one.n_items:,}", one.source, one.added_at[:10]) for one in infos]
        print_table(("items", "kind", "number", "source", "added"), rows, right=("number",))
    return 0


# -- asking ---------------------------------------------------------------------------------------


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("items", metavar="ITEMS", help="an item set in the store")
    parser.add_argument(
        "--task",
        metavar="T",
        action="append",
        required=True,
        help="a task, as `reliability tasks` lists them (may be repeated); all: every task that the items allow",
    )
    _add_model(parser, "the model that is asked, as the server calls it")
    add_settings(parser, "a setting of the tasks that have it")
    parser.add_argument(
        "--as-published",
        action="store_true",
        help="the paper's construction, with its seeds, instead of ours",
    )
    parser.add_argument(
        "--reviewed", action="store_true", help="leave out paraphrases and negations that nobody has read"
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N items")
    parser.add_argument(
        "--seeds",
        type=positive,
        metavar="K",
        help="repeat what is random with the seeds 0 to K - 1, a run each",
    )
    _add_asking(parser)


def _add_model(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--model", metavar="M", required=True, help=text)


def _add_asking(parser: argparse.ArgumentParser) -> None:
    add_settings(parser, "a setting of every request", "--request")
    add_server(parser)
    add_engine(parser)
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    """Ask a model the questions of tasks; resumes where it was interrupted."""
    store = store_of(args)
    llm = server_llm(store, args)
    return _carry_out(args, llm, _plans(args, llm))


def _plans(args: argparse.Namespace, llm: LLM) -> list[ChatPlan]:
    from evidencebench_core.reliability import RELIABILITY_TASKS, reliability_task
    from evidencebench_core.reliability.items import item_set
    from evidencebench_core.reliability.runs import run_plan

    store, given, every = store_of(args), dict(args.settings), "all" in args.task
    items = item_set(store, args.items)
    tasks = (
        [task for task in RELIABILITY_TASKS.values() if items.kind in task.prompts]
        if every
        else list({task.name: task for task in map(reliability_task, args.task)}.values())
    )
    unknown = [name for name in given if not any(name in task.settings for task in tasks)]
    plans = []
    for task in tasks:
        settings = {name: value for name, value in given.items() if name in task.settings or name in unknown}
        seeds: Sequence[Mapping[str, object]] = (
            [{"seed": seed} for seed in range(args.seeds)] if args.seeds and task.is_random else [{}]
        )
        for seed in seeds:
            try:
                plans.append(
                    run_plan(
                        store,
                        items,
                        task.name,
                        args.model,
                        {**settings, **seed},
                        as_published=args.as_published,
                        reviewed_only=args.reviewed,
                        request=dict(args.request),
                        limit=args.limit,
                        llm=llm,
                        fresh=args.fresh,
                    )
                )
            except SettingError as error:
                if not every or unknown:
                    raise
                note(f"{task.name} is left out: {error}")
                break
    if not plans:
        raise SettingError(f"item set {items.name}", "allows none of the tasks", "Name another set.")
    return plans


def _add_judge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run of a task whose answers are free text")
    _add_model(parser, "the judge, as the server calls it")
    _add_asking(parser)


def _judge(args: argparse.Namespace) -> int:
    """Have a model judge answers in free text, and its controls; resumes where it was interrupted."""
    from evidencebench_core.reliability.runs import judge_plan

    store = store_of(args)
    llm = server_llm(store, args)
    plan = judge_plan(store, args.run, args.model, request=dict(args.request), llm=llm, fresh=args.fresh)
    return _carry_out(args, llm, [plan])


def _add_nli(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("items", metavar="ITEMS", help="an item set of pairs of statements")
    parser.add_argument(
        "--model",
        metavar="NAME",
        required=True,
        help="a model of natural language inference: its folder, or its name on the Hugging Face hub",
    )
    add_json(parser)


def _nli(args: argparse.Namespace) -> int:
    """Have a model of inference on this machine judge pairs of statements, without a server, as runs of their own."""
    from evidencebench_core.reliability.nli import nli_runs
    from evidencebench_core.reliability.runs import reliability_run

    store = store_of(args)
    runs = [reliability_run(store, one) for one in nli_runs(store, args.items, args.model)]
    if args.json:
        print_json({"runs": [_run_document(run) for run in runs]})
    else:
        _print_runs(store, runs)
    return 0


def _carry_out(args: argparse.Namespace, llm: LLM, plans: Sequence[ChatPlan]) -> int:
    from evidencebench_core.runs import ChatRuns

    store, (engine_name, engine) = store_of(args), engine_of(args)
    if (args.batch_out or args.batch_in) and len(plans) > 1:
        raise SettingError(
            "--batch-out, --batch-in", f"are for one run, not for {len(plans)}", "Give one task at a time."
        )
    cost = print_cost(plans, args, engine_name, _NOUN)
    for task, reasons in {plan.spec.settings["task"]: plan.reasons for plan in plans if plan.reasons}.items():
        words = enumerated([f"{reason} ({n:,})" for reason, n in reasons.items()])
        note(f"{task}: {quantity(sum(reasons.values()), 'item')} left out: {words}")
    lasts = carry_out(plans, engine, args, _NOUN)
    files = written_files(engine)
    runs = _runs_of(args, lasts)
    if args.json:
        document: dict[str, Any] = {"runs": [_run_document(run) for run in runs]}
        document |= {"estimate": cost.as_dict(), "spending": asdict(llm.budget.spent)}
        print_json(document | ({"written": [str(path) for path in files]} if files else {}))
    elif files:
        print_written(files, lasts[0], args, _NOUN)
    else:
        _print_runs(store, runs)
    failures = (one for last in lasts for one in ChatRuns(store).failures(last.run_id))
    return failure_status(sum(last.failed for last in lasts), _NOUN, failures)


def _runs_of(args: argparse.Namespace, lasts: Sequence[Progress]) -> list[ReliabilityRun]:
    from evidencebench_core.reliability.runs import reliability_run

    return [reliability_run(store_of(args), last.run_id) for last in lasts]


# -- runs -----------------------------------------------------------------------------------------


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--items", metavar="NAME", help="only the runs over this item set")
    add_json(parser)


def _runs(args: argparse.Namespace) -> int:
    """List the runs of tasks, each with the runs of its judges."""
    from evidencebench_core.reliability.runs import judge_runs, reliability_runs

    store = store_of(args)
    runs = [
        one
        for run in reliability_runs(store, args.items)
        for one in (run, *(judge_runs(store, run.id) if run.task.judge_prompt else ()))
    ]
    if args.json:
        print_json([_run_document(run) for run in runs])
    elif not runs:
        note(
            "There are no runs yet. Start one with `evidencebench reliability run ITEMS --task T --model M`."
        )
    else:
        _print_runs(store, runs)
    return 0


def _print_runs(store: Store, runs: Sequence[ReliabilityRun]) -> None:
    from evidencebench_core.reliability.items import item_sets

    names = {info.sha256: info.name for info in item_sets(store)}
    print_table(
        ("run", "items", "task", "model", "settings", "answered", "failed", "started"),
        [
            (
                run.id,
                names.get(run.items_sha256, ""),
                f"judge of {run.judged}" if run.judged else run.task.name,
                run.model,
                run.label,
                f"{run.n_answered:,}",
                f"{run.n_failed:,}",
                run.created_at[:16].replace("T", " "),
            )
            for run in runs
        ],
        right=("answered", "failed"),
    )


def _run_document(run: ReliabilityRun) -> dict[str, Any]:
    names = ("id", "model", "items_sha256", "created_at", "n_answered", "n_failed", "judged", "wordings")
    values = {name: getattr(run, name) for name in names}
    return {**values, "task": run.task.name, "settings": dict(run.settings), "request": dict(run.request)}


def _add_delete(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--run", metavar="RUN", help="a run, with its judges' runs")
    what.add_argument("--items", metavar="NAME", help="an item set, with its runs and drafts")
    parser.add_argument("--yes", action="store_true", help="delete it; without this, only say what would go")


def _delete(args: argparse.Namespace) -> int:
    """Delete a run or an item set with all that depends on it; without ``--yes`` nothing is deleted."""
    from evidencebench_core.cli.keep import delete_named
    from evidencebench_core.reliability.items import delete_item_set, item_set_dependents, item_set_info
    from evidencebench_core.reliability.runs import reliability_run
    from evidencebench_core.runs import ChatRuns

    store = store_of(args)
    if args.run:
        runs, run = ChatRuns(store), reliability_run(store, args.run)
        info = runs.run(run.id)
        what = f"run {run.id} ({run.task.name}, {run.model})"
        return delete_named(what, runs.dependents(info), lambda: runs.delete(info), args.yes)
    what = f"item set {item_set_info(store, args.items).name}"
    going = item_set_dependents(store, args.items)
    return delete_named(what, going, lambda: delete_item_set(store, args.items), args.yes)


_ACTIONS: Final[dict[str, Action]] = {
    "tasks": ("list the tasks with their settings", add_json, _tasks),
    "ingest": ("bring a file of questions into the store, or make items of a dataset", _add_ingest, _ingest),
    "sets": ("list the item sets in the store", add_json, _sets),
    "prepare": (
        "have a model reword questions and contexts, and review that",
        add_prepare_arguments,
        prepare,
    ),
    "run": ("ask a model the questions of tasks; resumes where it was interrupted", _add_run, _run),
    "judge": ("have a model judge answers in free text", _add_judge, _judge),
    "nli": ("have a model of inference on this machine judge pairs of statements", _add_nli, _nli),
    "runs": ("list the runs", _add_runs, _runs),
    **reliability_scores.ACTIONS,
    "delete": ("delete a run or an item set, and what depends on it", _add_delete, _delete),
}
VERBS: Final = {"reliability": verb_of(_ACTIONS)}
