"""``construct quality``: what can be said of a construction or a dataset, and sheets for people."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, add_store, positive, store_of
from evidencebench_core.cli.construct_sheets import (
    against,
    gap_figures,
    look_at_all,
    print_agreement,
    print_gaps,
    read_sheets,
    write_sheet,
)
from evidencebench_core.cli.output import interval, percent, print_json, print_table
from evidencebench_core.errors import SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.construction.pipeline import Construction
    from evidencebench_core.construction.quality import DecisionChecks, GoldChecks, ModelChecks

_KINDS: Final = ("hypotheses", "evidence", "aspects", "lists", "results", "stances", "marks", "disputes")
_DOUBTS: Final = 200  # sentences on which two models differ, in JSON
_SAMPLE: Final = 14  # sentences an aspect of a sheet of marks: four or so that are proposed, and ten others


def add_quality_arguments(what: argparse.ArgumentParser) -> None:
    what.add_argument("name", metavar="N", nargs="?", help="the construction")
    what.add_argument("--dataset", metavar="D", help="look at the gold of a dataset instead")
    what.add_argument(
        "--sheet", choices=_KINDS, metavar="KIND", help=f"write a sheet to fill in: {', '.join(_KINDS)}"
    )
    what.add_argument("--out", metavar="FILE", type=Path, help="where to write it, as CSV")
    what.add_argument(
        "--builds", metavar="N", type=positive, default=50, help="drawn for it (default: %(default)s)"
    )
    what.add_argument(
        "--every-sentence",
        action="store_true",
        help="of marks: every sentence for one aspect a build, for agreement (default: proposed ones and 10 others)",
    )
    what.add_argument(
        "--read", metavar="FILE", type=Path, nargs="+", help="filled-in sheets: what do they say?"
    )
    what.add_argument("--seed", metavar="N", type=int, default=0, help="of what is drawn (default: 0)")
    what.add_argument(
        "--margin",
        metavar="X",
        type=float,
        default=0.05,
        help="a gap within it counts as none (default: 0.05)",
    )
    what.add_argument(
        "--systems",
        metavar="RUN",
        nargs="+",
        help="runs over a dataset written from it: is their order the same under the second model's gold?",
    )
    what.add_argument("--task", metavar="T", default="er@10", help="of the runs (default: %(default)s)")
    what.add_argument(
        "--against",
        metavar="M",
        help="another construction of the same summaries: do both split them alike? --out writes the matches",
    )
    what.add_argument(
        "--pairs", metavar="FILE", type=Path, help="with --against: the matches as a person has them"
    )
    what.add_argument(
        "--plan",
        metavar="POINTS",
        type=float,
        nargs="?",
        const=3.0,
        help="how much people must judge for kappa to within so many points (default: 3)",
    )
    add_json(what)
    add_store(what, default=argparse.SUPPRESS)


def quality(args: argparse.Namespace) -> int:
    """Figures; as JSON one object: ``gold`` and ``models``, or those of sheets, or of the plan."""
    if args.plan is not None:
        return _plan(args)
    if (args.name is None) == (args.dataset is None):
        raise SettingError("N", "is not named", "Name a construction, or a dataset with --dataset.")
    if args.pairs and not args.against:
        raise SettingError("--pairs", "says what matches, but not with what", "Add --against M.")
    if args.dataset is not None:
        if args.sheet or args.read or args.systems:
            raise SettingError(
                "--sheet, --read or --systems", "is of a construction", "Name a construction, not a dataset."
            )
        return _dataset(args)
    from evidencebench_core.construction.pipeline import construction

    made = construction(store_of(args), args.name)
    if args.sheet:
        return write_sheet(made, args)
    if args.systems:
        return _order(made, args)
    if args.against:
        return against(made, args)
    return read_sheets(made, args) if args.read else _checks(made, args)


def _plan(args: argparse.Namespace) -> int:
    from evidencebench_core.construction.cost import judgements_needed

    if not 0 < args.plan < 100:
        raise SettingError("--plan", f"is {args.plan:g} points", "Give a number above 0 and below 100.")
    n_aspects, n_pairs = judgements_needed(args.plan)
    n_shown = n_aspects * _SAMPLE
    if args.json:
        print_json({"points": args.plan, "aspects": n_aspects, "pairs": n_pairs, "pairs_of_sheets": n_shown})
        return 0
    print(
        f"For kappa to within {args.plan:g} points, papers being drawn: {quantity(n_aspects, 'aspect')}, one a paper."
    )
    print(f"Every sentence judged, that is {n_pairs:,} pairs: --sheet marks --every-sentence, two people.")
    print(
        f"A sheet of proposed sentences and ten others is some {n_shown:,} pairs; it gives precision and an estimate of"
        " recall, not kappa."
    )
    return 0


def _dataset(args: argparse.Namespace) -> int:
    from evidencebench_core.construction.quality import gold_checks, instance_marks

    store = store_of(args)
    checks = gold_checks(map(instance_marks, store.iter(store.dataset(args.dataset).name)))
    if args.json:
        print_json({"gold": asdict(checks)})
    else:
        _print_gold(checks)
    return 0


def _ids(made: Construction) -> list[str]:
    """The builds whose aspects were looked for in the whole paper: kept, or dropped for what came of it."""
    look_at_all(made)
    ends = ("coverage", "too_few_aspects")
    return [build for build, at in made.positions().items() if at.status == "kept" or (at.reason in ends)]


def _checks(made: Construction, args: argparse.Namespace) -> int:
    from evidencebench_core.construction.quality import (
        build_marks,
        decision_checks,
        gold_checks,
        model_checks,
    )

    ids = _ids(made)
    if not ids:
        remedy = f"`evidencebench construct status {made.name}` says what is to be done."
        raise SettingError(
            f"construction {made.name}", "has no build whose aspects are all looked for", remedy
        )
    gold = gold_checks(marks for state in made.states(ids) if (marks := build_marks(state)))
    models = model_checks(made.states(ids))
    people = decision_checks(made.reviews(ids))
    if args.json:
        document = asdict(models) | {"disputed": models.disputed[:_DOUBTS]}
        print_json(
            {
                "construction": made.name,
                "gold": asdict(gold),
                "models": document,
                "decisions": _decisions(people, args),
            }
        )
        return 0
    _print_gold(gold)
    _print_models(models)
    _print_decisions(people, args.margin)
    return 0


def _print_gold(of: GoldChecks) -> None:
    from evidencebench_core.construction.quality import WIDE

    n = of.n_instances
    print(f"{quantity(n, 'instance')} with {of.n_aspects:,} covered aspects")
    if not n:
        return
    print("Coverage, percent of the aspects that some sentence covers:")
    print_table(
        ("coverage", "instances", "share"),
        [(f"{name} %", f"{k:,}", f"{percent(k / n)} %") for name, k in of.coverage.items()],
        right=("instances", "share"),
    )
    print(
        f"mean {percent(of.mean_coverage)} %; {quantity(of.n_dropped_aspects, 'aspect')} covered by none, in"
        f" {quantity(of.n_with_gaps, 'instance')} (authors: mean 87 %, 27, 33 and 40 % of those kept in 70-79, 80-89,"
        " 90-100, half of all dropped)"
    )
    print(
        f"Equal sentences of a paper: {of.n_same:,} groups cover the same aspects, {of.n_different:,} do not"
        + _places([f"{name} {', '.join(map(str, where))}" for name, where in of.different])
    )
    print(
        f"Aspects that repeat another's sentences: {of.n_twins:,}, in {quantity(of.n_with_twins, 'instance')}"
        + _places([f"{name} aspects {', '.join(map(str, where))}" for name, where in of.twins])
    )
    spread = "–" if of.mean_spread is None else f"{of.mean_spread:.1f}"
    print(
        f"Sentences an aspect: mean {spread}, at most {of.most_spread:,}, one alone for {percent(of.share_single)} %;"
        f" {percent(of.share_positive)} % of all pairs are a yes"
    )
    print(
        f"Aspects that cover more than {100 * WIDE:.0f} % of the paper: {of.n_wide:,}"
        + _places([f"{name} aspect {number}: {k} sentences" for name, number, k in of.wide])
    )


def _places(named: list[str], most: int = 3) -> str:
    return one_line(f" ({'; '.join(named[:most])}{'; …' if len(named) > most else ''})") if named else ""


def _print_models(of: ModelChecks) -> None:
    print("\nTwo looks of a model at one sentence:")
    rows = []
    for model, groups in of.looks.items():
        for group, found in groups.items():
            numbers = (found["kappa"], found["f1"])
            said = ("–" if one is None else f"{one:.3f}" for one in numbers)
            shares = (percent(found["yes_once"]), percent(found["yes_twice"]))
            rows.append((model, group, f"{found['n']:,}", *said, *shares))
    headers = ("model", "aspects of", "sentences", "kappa", "F1", "yes % seen once", "yes % seen twice")
    print_table(headers, rows, right=headers[2:])
    if of.greedy:
        named = [f"{build} aspect {number}" for build, number in of.greedy]
        print(f"Aspects for which most of a window was chosen: {len(of.greedy):,}{_places(named)}")
    if of.n_compared:
        print(
            f"\nThe two models, over {of.n_compared:,} pairs of aspect and sentence; they differ on {of.n_differing:,}:"
        )
        print_agreement(of.agreement)
        print("Ask people about those first: --sheet disputes.")


def _decisions(of: DecisionChecks, args: argparse.Namespace) -> dict[str, Any]:
    return {"acceptance": of.acceptance, "raters": of.raters, "gaps": gap_figures(of.gaps, args)}


def _print_decisions(of: DecisionChecks, margin: float) -> None:
    if of.acceptance:
        print("\nProposals that people accepted as they were, having seen them (which is no agreement):")
        rows = [
            (kind, f"{one['n']:,}", percent(one["value"]), interval(one["ci95"]))
            for kind, one in of.acceptance.items()
        ]
        print_table(("proposal", "decided", "percent", "95% interval"), rows, right=("decided", "percent"))
    for one in of.raters:
        n = quantity(one["n"], "sentence")
        print(one_line(f"Marked before proposals were in sight: {one['a']} and {one['b']}, {n}"))
        print_agreement(one["measures"])
    print_gaps(of.gaps, margin)


def _order(made: Construction, args: argparse.Namespace) -> int:
    """Systems under the golds of two models; as JSON ``n_instances, systems, tau, rho`` and their intervals."""
    from evidencebench_core.construction.orders import system_order
    from evidencebench_core.runs import RunStore
    from evidencebench_core.tasks import task_named

    if not made.settings.second_model:
        remedy = f"Look with one: `evidencebench construct run --name {made.name} --second-model M`."
        raise SettingError(f"construction {made.name}", "has no second model", remedy)
    runs, task = RunStore(made.store), task_named(args.task)
    infos = [runs.run(one) for one in dict.fromkeys(args.systems)]
    look_at_all(made)
    picks = {one.id: runs.selections(one.id, task.name) for one in infos}
    found = system_order(made.states(made.positions("kept")), picks, task)
    order, labels = found.correlation, {one.id: one.label for one in infos}
    if args.json:
        systems = [{"run": run, "label": labels[run], "recalls": both} for run, both in found.recalls.items()]
        print_json({"n_instances": found.n_instances, "task": task.name, "systems": systems, **asdict(order)})
        return 0
    settings = made.settings
    models = (settings.align_model or settings.model, settings.second_model)
    print(
        one_line(f"{task.title} over {quantity(found.n_instances, 'instance')}, by the gold of either model:")
    )
    headers = ("run", "system", *map(one_line, models))
    rows = [(run, one_line(labels[run]), *map(percent, both)) for run, both in found.recalls.items()]
    print_table(headers, rows, right=headers[2:])
    tau = "undefined" if order.tau is None else f"{order.tau:.2f}"
    bounds = "" if order.tau_ci95 is None else f" ({order.tau_ci95[0]:.2f} to {order.tau_ci95[1]:.2f})"
    print(f"Kendall's tau of the two orders: {tau}{bounds}; 1 is the same order")
    return 0
