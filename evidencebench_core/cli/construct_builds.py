"""``construct run`` and ``status``: builds are carried through their stages, and how far they are."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, add_settings, add_store, positive, store_of
from evidencebench_core.cli.asking import RETRY_LOST, add_engine, carry_out, engine_of, failure_status
from evidencebench_core.cli.output import note, print_json, print_table
from evidencebench_core.cli.spending import add_server, check_server, server_llm
from evidencebench_core.errors import DataError, SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.construction.pipeline import Construction, StageFunnel
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm import LLM
    from evidencebench_core.runs import ChatPlan, Engine

_WAVES: Final = {
    "batch": 20_000,
    "ray": 2_000,
}  # builds that are carried on together: a round takes long to begin
_SHOWN: Final = 10  # bad lines
_STAGES: Final = (
    "boundary", "suitability", "motive", "hypothesis", "pool", "aspects", "leak", "results", "alignment",
)  # fmt: skip
_FOR_MODELS: Final = (
    "settings", "model", "align_model", "second_model", "profile", "probe", "window", "stride", "merge", "coverage",
    "least_aspects", "only", "until", "limit", "retry_lost", "reread",
)  # fmt: skip


def _percent(text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    percents = round(100 * value, 6)
    if not 0 <= value <= 1 or not percents.is_integer():
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to 1 in whole percents, as 0.7")
    return int(percents)


def add_build_arguments(run: argparse.ArgumentParser) -> None:
    """The arguments of ``run`` where builds are made by a model."""
    models = run.add_argument_group("models and stages, unless --from is given")
    models.add_argument("--model", metavar="M", help="the model that is asked (default: as it was last run)")
    models.add_argument("--align-model", metavar="M", help="another one for the looks at sentences")
    models.add_argument("--second-model", metavar="M", help="one that looks too, to be compared")
    models.add_argument(
        "--profile", choices=("paper", "careful"), help="as published (default), or with more looks"
    )
    models.add_argument(
        "--probe",
        action=argparse.BooleanOptionalAction,
        help="look for three aspects first, and go on if one is there",
    )
    models.add_argument("--window", type=positive, metavar="N", help="sentences of a window (default: 10)")
    models.add_argument("--stride", type=positive, metavar="N", help="from window to window (default: 5)")
    models.add_argument(
        "--merge", choices=("any", "all", "majority"), help="looks that must say so (default: any)"
    )
    models.add_argument(
        "--coverage", type=_percent, metavar="X", help="least share of aspects covered (default: 0.7)"
    )
    models.add_argument(
        "--least-aspects", type=positive, metavar="N", help="least covered aspects (default: 2)"
    )
    models.add_argument("--only", choices=_STAGES, metavar="STAGE", help=f"only one of: {', '.join(_STAGES)}")
    models.add_argument("--until", choices=_STAGES, metavar="STAGE", help="none after this stage")
    models.add_argument("--limit", type=positive, metavar="N", help="only the first N builds of the file")
    models.add_argument(
        "--retry-lost", action="store_true", help="ask again for what was refused, cut off, or not to be read"
    )
    models.add_argument("--reread", action="store_true", help="read the papers again")
    requests = (
        "temperature, max_tokens (of an answer on a window 400, and 1500 if the model thinks; 4096 before),"
        " reasoning_effort or extra_body"
    )
    add_settings(models, requests)  # type: ignore[arg-type]
    add_server(run)
    add_engine(run, embeddings=False)


def check_run_arguments(args: argparse.Namespace) -> None:
    """Raise a `SettingError` for what is of no use with ``--from``, or without it."""
    names = _FOR_MODELS if args.source else ("pad", "keep_uncovered")
    given = [
        f"--{name.replace('_', '-').replace('settings', 'set')}" for name in names if getattr(args, name)
    ]
    if given:
        problem, remedy = f"cannot be given with --from {args.source}", "Leave it out: no model is asked."
        if not args.source:
            problem, remedy = "is for writing instances", "Give it to `evidencebench construct write`."
        raise SettingError(", ".join(given), problem, remedy)


def add_status_arguments(status: argparse.ArgumentParser) -> None:
    status.add_argument("name", metavar="N", help="the construction")
    add_json(status)
    add_store(status, default=argparse.SUPPRESS)


def add_delete_arguments(delete: argparse.ArgumentParser) -> None:
    delete.add_argument("name", metavar="N", help="the construction")
    delete.add_argument("--yes", action="store_true", help="delete it; without this, only say what would go")
    add_store(delete, default=argparse.SUPPRESS)


def add_rename_arguments(rename: argparse.ArgumentParser) -> None:
    rename.add_argument("name", metavar="N", help="the construction")
    rename.add_argument("new", metavar="NEW", help="the name it gets")
    add_store(rename, default=argparse.SUPPRESS)


def run_builds(args: argparse.Namespace) -> int:
    """Carry builds on; as JSON one object: ``added``, ``bad`` lines and what `status` has."""
    from evidencebench_core.construction.builds import FORM, BadLine, read_builds
    from evidencebench_core.construction.pipeline import construction
    from evidencebench_core.construction.state import BuildInput
    from evidencebench_core.construction.store import add_builds, use_settings

    store, (engine_name, engine) = store_of(args), engine_of(args)
    bad: list[BadLine] = []
    ids: list[str] = []

    def builds() -> Iterator[BuildInput]:
        lines = read_builds(args.folder)
        for one in islice(_builds(lines, bad), args.limit):
            ids.append(one.id)
            yield one

    settings = _settings(store, args)
    added = add_builds(store, args.name, builds()) if args.folder else 0
    for line in bad[:_SHOWN]:
        note(one_line(f"{line.place}: {line.problem}"))
    if len(bad) > _SHOWN:
        note(f"{len(bad):,} such lines in all: --json has them")
    if args.folder and not ids:
        raise DataError(str(args.folder), "has no builds", FORM)
    if settings.profile == "careful" and not settings.second_model:
        note("Profile careful is meant to compare two models: name another one with --second-model.")
    made = construction(store, args.name, settings)
    use_settings(store, args.name, settings)
    wanted = ids if args.folder else None
    llm = server_llm(store, args)
    _print_costs(made, llm, wanted, engine_name, args)
    if engine_name != "batch":
        for model in {str(spec.settings["model"]) for spec in made.specs.values()}:
            check_server(llm, model)
    files = _carried_on(made, llm, engine, args, wanted, _WAVES.get(engine_name))
    funnel = made.funnel()
    if args.json:
        lines = [{"place": line.place, "problem": line.problem} for line in bad]
        print_json(
            {"added": added, "bad": lines, "files": [str(one) for one in files]} | _document(made, funnel)
        )
    else:
        _print(made, funnel)
        for path in files:
            print(one_line(f"requests: {path}"))
    return _ending(funnel, files)


def status(args: argparse.Namespace) -> int:
    """The funnel; as JSON one object: ``builds``, ``unknown``, ``changed`` and ``stages``."""
    from evidencebench_core.construction.pipeline import construction

    made = construction(store_of(args), args.name)
    funnel = made.funnel()
    if args.json:
        print_json(_document(made, funnel))
    else:
        _print(made, funnel)
    return 0


def delete(args: argparse.Namespace) -> int:
    """Delete a construction; stored answers of models stay, and are found again."""
    from evidencebench_core.cli.keep import delete_named
    from evidencebench_core.construction.store import construction_dependents, delete_construction

    store = store_of(args)
    dependents = construction_dependents(store, args.name)
    name = f"construction {args.name}"
    return delete_named(name, dependents, lambda: delete_construction(store, args.name), args.yes)


def rename(args: argparse.Namespace) -> int:
    """Give a construction another name; what came of it stays with it."""
    from evidencebench_core.construction.store import rename_construction

    renamed = rename_construction(store_of(args), args.name, args.new)
    print(one_line(f"Renamed {args.name} to {renamed.name}."))
    return 0


def _builds(lines: Iterator[Any], bad: list[Any]) -> Iterator[Any]:
    from evidencebench_core.construction.builds import BadLine

    for line in lines:
        if isinstance(line, BadLine):
            bad.append(line)
        else:
            yield line


def _settings(store: Store, args: argparse.Namespace) -> Any:
    """Those that the construction was last run with, changed as the command says."""
    from dataclasses import replace

    from evidencebench_core.construction.state import ConstructionSettings
    from evidencebench_core.construction.store import constructions

    said: dict[str, Any] = {
        "model": args.model,
        "align_model": args.align_model,
        "second_model": args.second_model,
        "profile": args.profile,
        "probe": args.probe,
        "length": args.window,
        "stride": args.stride,
        "merge": args.merge,
        "coverage": args.coverage,
        "least_aspects": args.least_aspects,
        "request": dict(args.settings) or None,
    }
    changed = {name: value for name, value in said.items() if value is not None}
    before = next((one.settings for one in constructions(store) if one.name == args.name), None)
    if before is None and args.model is None:
        raise SettingError("--model", "is not given", "Name the model that is to be asked.")
    return replace(before, **changed) if before else ConstructionSettings(**changed)


def _carried_on(
    made: Construction,
    llm: LLM,
    engine: Engine,
    args: argparse.Namespace,
    ids: list[str] | None,
    wave: int | None,
) -> list[Path]:
    """Execute what is due, stage by stage; the files that the batch engine wrote."""
    from evidencebench_core.construction.pipeline import WAVE
    from evidencebench_core.runs.engines.batch import BatchEngine

    files: list[Path] = []
    if isinstance(engine, BatchEngine):
        engine.several = True

    def plans() -> Iterator[ChatPlan]:
        for stage, plan in made.plans(
            llm,
            ids=ids,
            only=args.only,
            until=args.until,
            fresh=args.fresh,
            retry_lost=args.retry_lost,
            reread=args.reread,
            wave=wave or WAVE,
            on_papers=_note_papers,
            on_warning=lambda build, warning: note(one_line(f"{build}: {warning}")),
        ):
            note(f"{stage}: {quantity(len(plan.missing), 'question')} to {plan.model}")
            yield plan
            files.extend(getattr(engine, "written", ()))

    carry_out(plans(), engine, args, "question")
    for error in getattr(engine, "foreign", {}).values():
        raise error
    return files


def _note_papers(done: int, total: int) -> None:
    if done == total or done % 50 == 0:
        note(f"{done:,} of {quantity(total, 'paper')} read")


def _print_costs(
    made: Construction, llm: LLM, ids: list[str] | None, engine: str, args: argparse.Namespace
) -> None:
    """The estimate, on stderr: by stage builds, calls and tokens, then money and time (rule 42)."""
    from evidencebench_core.construction.cost import StageCost
    from evidencebench_core.llm.prices import price_of

    how = {name: getattr(args, name) for name in ("only", "until", "fresh", "retry_lost")}
    found = made.costs(made.ids() if ids is None else ids, **how)
    costs = {stage: cost for stage, cost in found.items() if cost.calls or cost.stored}
    if args.reread:
        note("Papers are read again: what depends on one that has changed is asked again, on top of this.")
    total, moneys = sum(costs.values(), StageCost()), list[float | None]()
    for stage, cost in costs.items():
        tokens = round(cost.prompt_tokens), round(cost.completion_tokens)
        price = price_of(made.specs[stage].settings["model"])
        moneys += [None if price is None else price.of(*tokens, engine == "batch")] if cost.calls else []
        if cost.calls:
            note(
                f"{stage:<12} {cost.builds:>9,.0f} builds {cost.calls:>11,.0f} calls {sum(tokens):>14,} tokens"
            )
    if not total.calls:
        note(f"Nothing is left to ask: {quantity(round(total.stored), 'answer')} in the store.")
        return
    known = [one for one in moneys if one is not None]
    money = f"about ${sum(known):,.2f}" if len(known) == len(moneys) else "at a price that is not known"
    rate = total.seconds / total.stored / llm.limits.concurrency if total.stored else 0.0
    minutes = total.calls * rate / 60
    pace = f", about {quantity(max(1, round(minutes)), 'minute')} at the rate so far" if rate else ""
    kept = f"; {quantity(round(total.stored), 'answer')} in the store" if total.stored else ""
    note(
        f"At most {total.calls:,.0f} calls if nothing is dropped, {money}{pace}{kept}."
        " What is asked once more comes on top."
    )


def _document(made: Construction, funnel: StageFunnel) -> dict[str, Any]:
    return {
        "construction": made.name,
        "builds": funnel.n_builds,
        "unknown": funnel.n_unknown,
        "changed": {stage: list(keys) for stage, keys in made.changes().items()},
        "stages": funnel.rows(),
        "problems": made.problems(1_000),
    }


def _print(made: Construction, funnel: StageFunnel) -> None:
    print(one_line(f"{made.name}: {quantity(funnel.n_builds, 'build')}"))
    headers = ("stage", "in", "go on", "share", "waiting", "failed", "dropped")
    rows = []
    for row in funnel.rows():
        share = f"{100 * row['kept'] / row['in']:.1f} %" if row["in"] else "–"
        why = ", ".join(f"{reason.replace('_', ' ')} {n:,}" for reason, n in sorted(row["dropped"].items()))
        counts = (f"{row[name]:,}" for name in ("in", "kept", "due", "failed"))
        reaching, passed, due, failed = counts
        rows.append((row["stage"], reaching, passed, share, due, failed, why))
    print_table(headers, rows, right=("in", "go on", "share", "waiting", "failed"))
    if funnel.n_unknown:
        print(f"{quantity(funnel.n_unknown, 'build')} not looked at with these settings: run it to go on")
    for build, problem in made.problems().items():
        print(one_line(f"{build}: {problem}"))
    for stage, keys in made.changes().items():
        print(f"{stage} is asked otherwise than before ({', '.join(keys)}): the next run asks it again")


def _ending(funnel: StageFunnel, files: list[Path]) -> int:
    """1 where something failed, with a line on what to do."""
    failed = sum(n for (_, status, _), n in funnel.counts.items() if status == "failed")
    status = failure_status(failed, "build", problem="without a usable answer", retry=RETRY_LOST)
    return 0 if files else status
