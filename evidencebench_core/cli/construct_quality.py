"""``construct quality``: what can be said of a construction or a dataset, and sheets for people."""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, add_store, positive, store_of
from evidencebench_core.cli.output import interval, note, p_value, percent, print_json, print_table
from evidencebench_core.errors import DataError, SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.construction.pipeline import Construction
    from evidencebench_core.construction.quality import DecisionChecks, GoldChecks, ModelChecks
    from evidencebench_core.construction.sheets import SheetFigures
    from evidencebench_core.construction.state import BuildState
    from evidencebench_core.stats.three_raters import AgreementGap

_KINDS: Final = ("hypotheses", "evidence", "aspects", "lists", "results", "stances", "marks", "disputes")
_MOST_BYTES: Final = 256 << 20
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
        return _write(made, args)
    if args.systems:
        return _order(made, args)
    if args.against:
        return _against(made, args)
    return _read(made, args) if args.read else _checks(made, args)


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
    _look_at_all(made)
    ends = ("coverage", "too_few_aspects")
    return [build for build, at in made.positions().items() if at.status == "kept" or (at.reason in ends)]


def _look_at_all(made: Construction) -> None:
    """Note on stderr how many builds nothing is known of, and are left out."""
    if n := made.funnel().n_unknown:
        note(
            f"{quantity(n, 'build')} not looked at with these settings, and left out:"
            f" `evidencebench construct run --name {made.name}` looks at them"
        )


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
        _print_agreement(of.agreement)
        print("Ask people about those first: --sheet disputes.")


def _decisions(of: DecisionChecks, args: argparse.Namespace) -> dict[str, Any]:
    return {"acceptance": of.acceptance, "raters": of.raters, "gaps": _gaps(of.gaps, args)}


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
        _print_agreement(one["measures"])
    _print_gaps(of.gaps, margin)


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
    _look_at_all(made)
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


def _print_agreement(measures: Mapping[str, Mapping[str, Any]]) -> None:
    rows = [
        (
            name,
            percent(one["value"]),
            interval(one["plain"]),
            interval(one["hierarchical"]),
        )
        for name, one in measures.items()
    ]
    print_table(("measure", "percent", "95% by judgement", "95% by paper"), rows, right=("percent",))


# -- sheets ---------------------------------------------------------------------------------------


def _write(made: Construction, args: argparse.Namespace) -> int:
    from evidencebench_core.construction.sheets import QUESTIONS, sheet_rows

    if args.out is None:
        raise SettingError("--out", "is not given", "Say where the sheet is to be written: --out FILE.csv.")
    _look_at_all(made)
    kept = [build for build, at in made.positions("kept").items()]
    ids = sorted(
        sorted(kept, key=lambda one: hashlib.sha256(f"{args.seed}\n{one}".encode()).digest())[: args.builds]
    )
    rows = list(sheet_rows(made.states(ids), args.sheet, args.seed, every_sentence=args.every_sentence))
    if not rows:
        remedy = f"`evidencebench construct status {made.name}` says how far its builds are."
        raise SettingError(
            f"sheet {args.sheet}", "has no row: no build is kept that has what it asks for", remedy
        )
    _write_csv(args.out, rows)
    questions = QUESTIONS[args.sheet]
    if args.json:
        print_json(
            {"out": str(args.out), "rows": len(rows), "builds": len(ids), "questions": dict(questions)}
        )
    else:
        print(one_line(f"{quantity(len(rows), 'row')} of {quantity(len(ids), 'build')} are in {args.out}"))
        for name, question in questions.items():
            answers = "supports, refutes or neither" if name == "stance" else "yes or no"
            print(f"  {name}: {question} Write {answers}.")
        print("Name who answers in the column rater; then: quality N --read FILE...")
    return 0


def _write_csv(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export.tables import cell

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: cell(value) for name, value in row.items()} for row in rows)
    with whole_file(path) as stream:
        stream.write(text.getvalue().encode())


def _against(made: Construction, args: argparse.Namespace) -> int:
    """Two decompositions of the same summaries; as JSON one object: counts and F1 with intervals."""
    from evidencebench_core.construction.decompositions import decomposition_figures, pair_rows, pairs_of
    from evidencebench_core.construction.pipeline import construction

    other = construction(made.store, args.against)
    ids = sorted(set(made.ids()) & set(other.ids()))

    def both() -> Iterator[tuple[BuildState, BuildState]]:
        return zip(made.states(ids), other.states(ids), strict=True)

    if args.out is not None:
        rows = list(pair_rows(both()))
        if not rows:
            remedy = f"They need builds of the same ids and summaries: construct list {other.name}."
            raise SettingError(f"{made.name} and {other.name}", "have no summary in common", remedy)
        _write_csv(args.out, rows)
        print(one_line(f"{quantity(len(rows), 'row')} are in {args.out}: correct the column b, then --pairs"))
        return 0
    found = decomposition_figures(both(), pairs_of(_rows(args.pairs), both()) if args.pairs else None)
    if args.json:
        print_json(found.as_dict())
        return 0
    print(
        f"{quantity(found.n_builds, 'build')} of {len(ids):,} with the same id have aspects of one summary in both:"
        f" {found.n_first:,} and {found.n_second:,} aspects, {found.n_matched:,} matched"
    )
    said = {
        "aspects that match": found.aspects,
        "sentences that cover matched aspects": found.marks,
        "sentences that cover any aspect": found.evidence,
    }
    rows_of = [(name, percent(one.value), interval(one.ci95)) for name, one in said.items()]
    print_table(("F1 of", "percent", "95% interval"), rows_of, right=("percent",))
    return 0


def _read(made: Construction, args: argparse.Namespace) -> int:
    from evidencebench_core.construction.sheets import sheet_figures

    rows = [row for path in args.read for row in _rows(path)]
    builds = set(made.ids()) & {row.get("build", "") for row in rows}
    found = sheet_figures(made.states(sorted(builds)), rows)
    if args.json:
        print_json(asdict(found) | {"gaps": _gaps(found.gaps, args)})
        return 0
    _print_figures(found, args.margin)
    return 0


def _rows(path: Path) -> Iterator[dict[str, str]]:
    from evidencebench_core.data.files import file_content

    remedy = "Give a sheet that was written with --sheet, as CSV."
    text = file_content(path, _MOST_BYTES, remedy).decode("utf-8-sig", errors="replace")
    delimiter = ";" if text.split("\n", 1)[0].count(";") > text.split("\n", 1)[0].count(",") else ","
    try:
        lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        for row in lines:
            yield {name: value or "" for name, value in row.items() if isinstance(name, str)}
    except csv.Error as error:
        raise DataError(str(path), f"is not CSV: {error}", remedy) from error


def _print_figures(of: SheetFigures, margin: float) -> None:
    left = [f"{n:,} {what}" for n, what in ((of.n_blank, "blank"), (of.n_changed, "about what has changed since"),
                                            (of.n_doubled, "answered twice by one rater")) if n]  # fmt: skip
    print(f"{quantity(of.n_rows, 'row')}" + (f", not used: {', '.join(left)}" if left else ""))
    rows = []
    for name, one in of.questions.items():
        rows.append(
            (
                name,
                f"{one['n_yes']:,} of {one['n']:,}",
                percent(one["share"]),
                interval(one["exact"] or one["ci95"]),
            )
        )
    if rows:
        print_table(("question", "yes", "percent", "95% interval"), rows, right=("yes", "percent"))
    for name, one in of.questions.items():
        for words in one["words"][:10]:
            print(one_line(f"{name}, in words: {words}"))
    if of.stances:
        print("Aspects: " + ", ".join(f"{name} {percent(share)} %" for name, share in of.stances.items()))
    if of.precision and of.recall:
        print(
            f"Proposed marks that are right: {percent(of.precision['value'])} % ({interval(of.precision['ci95'])}),"
            f" {of.precision['n']:,} judged. Of all that are right, proposed: about {percent(of.recall['value'])} %"
            f" ({interval(of.recall['ci95'])}), estimated from {of.recall['n']:,} others."
        )
    for one in of.raters:
        print()
        print(one_line(f"{one['what']}: {one['a']} and {one['b']}, {quantity(one['n'], 'answer')}"))
        _print_agreement(one["measures"])
    _print_gaps(of.gaps, margin)


def _gaps(of: Mapping[str, AgreementGap], args: argparse.Namespace) -> dict[str, Any]:
    return {name: asdict(one) | {"is_equivalent": one.is_equivalent(args.margin)} for name, one in of.items()}


def _print_gaps(gaps: Mapping[str, AgreementGap], margin: float) -> None:
    if gaps:
        print("\nGap: the two people's agreement less that of each with the model")
        words = {None: "–", True: "yes", False: "not shown"}
        print_table(
            ("measure", "gap", "95% by paper", "p by paper", "alike"),
            [
                (
                    name,
                    percent(one.gap),
                    interval(one.hierarchical),
                    p_value(one.p_hierarchical),
                    words[one.is_equivalent(margin)],
                )
                for name, one in gaps.items()
            ],
            right=("gap", "p by paper"),
        )
        print(
            f"Alike: the interval lies within {percent(margin)} points."
            " No significant gap is no proof that there is none."
        )
