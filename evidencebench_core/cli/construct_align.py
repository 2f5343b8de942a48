"""``construct align``, ``stances``, ``gap`` and ``cost``: what a model says of aspects, its worth and its cost."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from evidencebench_core.cli.arguments import add_json, add_settings, add_store, positive, store_of
from evidencebench_core.cli.asking import (
    RETRY_LOST,
    add_engine,
    carry_out,
    engine_of,
    failure_status,
    print_cost,
    print_written,
    written_files,
)
from evidencebench_core.cli.output import interval, p_value, percent, print_json, print_table
from evidencebench_core.cli.spending import add_server, server_llm
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.construction import AlignmentFigures


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e12:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def _share(text: str) -> float:
    if (value := _number(text)) > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share above 0, to 1")
    return value


def add_align_arguments(align: argparse.ArgumentParser) -> None:
    align.add_argument("--dataset", metavar="N", required=True, help="a dataset whose aspects have texts")
    align.add_argument("--model", metavar="M", required=True, help="the model that looks")
    align.add_argument(
        "--profile",
        choices=("paper", "careful"),
        default="paper",
        help="as published, or with a second look at the first sentences and with first words demanded",
    )
    align.add_argument(
        "--swap",
        type=int,
        nargs="?",
        const=0,
        metavar="SEED",
        help="exchange every outcome for one of another paper: each mark is then a false yes",
    )
    align.add_argument("--limit", type=positive, metavar="N", help="only the first N instances")
    align.add_argument(
        "--merge",
        choices=("any", "all", "majority"),
        default="any",
        help="a sentence covers an aspect if so many of its looks say so (default: any)",
    )
    align.add_argument(
        "--retry-lost", action="store_true", help="ask again for what was refused, cut off, or not to be read"
    )
    add_settings(
        align, "temperature, max_tokens (400; a thinking model needs 1500), reasoning_effort or extra_body"
    )
    add_server(align)
    add_engine(align, embeddings=False)
    add_json(align)
    add_store(align, default=argparse.SUPPRESS)


def add_stances_arguments(stances: argparse.ArgumentParser) -> None:
    stances.add_argument("name", metavar="N", help="the construction")
    stances.add_argument(
        "--model", metavar="M", help="the model that is asked; without it what was said last"
    )
    stances.add_argument("--limit", type=positive, metavar="N", help="only the first N builds that are kept")
    stances.add_argument(
        "--retry-lost", action="store_true", help="ask again for what was refused, cut off, or not to be read"
    )
    add_server(stances)
    add_engine(stances, embeddings=False)
    add_json(stances)
    add_store(stances, default=argparse.SUPPRESS)


def add_gap_arguments(gap: argparse.ArgumentParser) -> None:
    gap.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help="CSV with paper, team_1, team_2 and model, 1 or 0 in a row each",
    )
    gap.add_argument(
        "--margin",
        type=_number,
        metavar="X",
        default=0.05,
        help="a gap within it counts as none (default: 0.05)",
    )
    add_json(gap)


def add_cost_arguments(cost: argparse.ArgumentParser) -> None:
    cost.add_argument("--papers", type=positive, metavar="N", default=107_461, help="(default: %(default)s)")
    cost.add_argument(
        "--sentences", type=positive, metavar="N", default=168, help="a paper (default: %(default)s)"
    )
    cost.add_argument(
        "--aspects", type=_number, metavar="A", default=9.5, help="a paper (default: %(default)s)"
    )
    cost.add_argument(
        "--kept",
        type=_share,
        metavar="SHARE",
        default=1.0,
        help="of the papers aligned are kept (default: 1)",
    )
    cost.add_argument(
        "--price",
        type=_number,
        nargs=2,
        metavar=("IN", "OUT"),
        default=(0.15, 0.6),
        help="dollars a million tokens of prompt and of answer (default: 0.15 0.6)",
    )
    add_json(cost)


def align(args: argparse.Namespace) -> int:
    """Align, then measure; as JSON one object: ``run``, ``outcomes`` and the figures."""
    from evidencebench_core.construction import alignment, alignment_figures

    store, (engine_name, engine) = store_of(args), engine_of(args)
    chosen = alignment(
        store,
        args.dataset,
        args.model,
        args.profile,
        dict(args.settings),
        swapped=args.swap,
        limit=args.limit,
    )
    planned = chosen.plan(server_llm(store, args), fresh=args.fresh, retry_lost=args.retry_lost)
    print_cost([planned], args, engine_name, "look")
    (last,) = carry_out([planned], engine, args, "look")
    if files := written_files(engine):
        print_written(files, last, args, "look")
        return 0
    results = chosen.outcomes()
    outcomes = dict(Counter(str(one["kind"]) for one in results).most_common())
    mended = sum(one["n_mended"] for one in results)
    complete = args.swap is None and not store.dataset(args.dataset).sufficient
    found = alignment_figures(chosen.looks(), complete, args.merge)
    if args.json:
        head = {"run": chosen.spec.id, "outcomes": outcomes, "n_mended": mended}
        print_json(head | {"sufficient_gold": not complete} | found.as_dict())
    else:
        print(one_line(f"run {chosen.spec.id}: {args.model} on {args.dataset}, profile {args.profile}"))
        print(one_line(f"Looks: {', '.join(f'{kind} {n:,}' for kind, n in outcomes.items()) or 'none'}"))
        _print_figures(found, swapped=args.swap is not None, complete=complete)
    n_open = found.n_aspects - found.n_judged
    counted = (n_open, "aspect") if n_open else (last.failed, "look")
    return failure_status(*counted, problem="not judged; no answer is not a no", retry=RETRY_LOST)


def stances(args: argparse.Namespace) -> int:
    """Do aspects support or refute? As JSON one object: ``n_builds, n_asked, n_aspects`` and the ``shares``."""
    from evidencebench_core.construction.pipeline import construction
    from evidencebench_core.construction.stances import stance_plan, stance_shares, stances

    (engine_name, engine), made = engine_of(args), construction(store_of(args), args.name)
    made.funnel()
    ids = list(made.positions("kept"))[: args.limit]
    if args.model:
        llm = server_llm(made.store, args)
        planned = stance_plan(made, ids, args.model, llm, fresh=args.fresh, retry_lost=args.retry_lost)
        print_cost([planned], args, engine_name, "build")
        (last,) = carry_out([planned], engine, args, "build")
        if files := written_files(engine):
            print_written(files, last, args, "build")
            return 0
    said = stances(made, made.states(ids))
    shares = stance_shares(made.states(ids), said)
    n_aspects = sum(map(len, said.values()))
    if args.json:
        counts = {"n_builds": len(said), "n_asked": len(ids), "n_aspects": n_aspects}
        print_json(counts | {"shares": {name: one.as_dict() for name, one in shares.items()}})
    else:
        print(f"{n_aspects:,} aspects of {len(said):,} of {quantity(len(ids), 'build')} that are kept")
        rows = [(name, percent(one.value), interval(one.ci95)) for name, one in shares.items()]
        print_table(("aspect", "percent", "95% by paper"), rows, right=("percent",))
    n_open = len(ids) - len(said) if args.model else 0
    return failure_status(n_open, "build", problem="without stances", retry=RETRY_LOST)


def _print_figures(found: AlignmentFigures, *, swapped: bool, complete: bool) -> None:
    print(
        f"Aspects judged: {found.n_judged:,} of {found.n_aspects:,}; with every look: {found.n_doubly_judged:,}"
        + (f"; with most of a window chosen: {found.n_greedy:,}" if found.n_greedy else "")
    )
    marks = found.marks
    if marks.value is not None:
        bounds = "" if marks.ci95 is None else f"  {marks.ci95[0]:.2f} to {marks.ci95[1]:.2f}"
        print(f"marks an aspect  {marks.value:.2f}{bounds}")
    named = (("false yes", found.any_mark),) if swapped else (("hit", found.hit), ("reach", found.reach))
    for name, share in named:
        print(f"{name:<15}  {percent(share.value):>5} %  {interval(share.ci95)}")
    for name, one in found.agreement.items():
        value = "–" if one.value is None else f"{one.value:.3f}"
        print(
            f"{name:<15}  {value}  {interval(one.plain)} by judgement, {interval(one.hierarchical)} by paper"
        )
    if found.repeat:
        kappa, f1 = (found.repeat[name] for name in ("kappa", "f1"))
        said = ", ".join(
            f"{name} {value:.3f}" for name, value in (("kappa", kappa), ("F1", f1)) if value is not None
        )
        print(f"Its two looks at {found.repeat['n']:,} sentences: {said or 'no difference'}")
    if not complete and not swapped:
        print(SUFFICIENT_NOTE)
        print("Hit: aspects of which a quoted sentence is marked; reach: quoted sentences that are marked.")


def cost(args: argparse.Namespace) -> int:
    """Alignment of one paper and of all; as JSON one object."""
    from evidencebench_core.construction.cost import alignment_cost, build_calls, judgements_needed

    one = alignment_cost(args.sentences, args.aspects)
    every = one.times(args.papers / args.kept)
    dollars, batch = every.dollars(*args.price), every.dollars(*args.price) / 2
    if args.json:
        calls = {given: build_calls(args.sentences, args.aspects, given) for given in ("review", "summary")}
        print_json(
            {
                "paper": one.as_dict(),
                "all": every.as_dict(),
                "dollars": dollars,
                "dollars_in_batches": batch,
                "calls_a_build": calls,
                "judgements_for_3_points": list(judgements_needed(3)),
            }
        )
        return 0
    print_table(
        ("", "calls", "prompt tokens", "with prefixes cached", "answer tokens"),
        [
            (
                name,
                f"{cost.calls:,.0f}",
                f"{cost.prompt_tokens:,.0f}",
                f"{cost.cached_tokens:,.0f}",
                f"{cost.completion_tokens:,.0f}",
            )
            for name, cost in (("a paper", one), (f"{args.papers:,} kept papers", every))
        ],
        right=("calls", "prompt tokens", "with prefixes cached", "answer tokens"),
    )
    print(f"${dollars:,.0f} asked one by one, ${batch:,.0f} at half price in batches")
    print(f"{every.calls / 86_400:,.1f} calls a second for 24 hours")
    return 0


def gap(args: argparse.Namespace) -> int:
    """The gap by every measure; as JSON one object a measure."""
    from dataclasses import asdict

    import numpy as np

    from evidencebench_core.construction import read_judgements
    from evidencebench_core.stats.three_raters import agreement_gaps

    table = read_judgements(args.file)
    found = agreement_gaps(table, np.random.default_rng(0))
    if args.json:
        extra = {name: {"is_equivalent": one.is_equivalent(args.margin)} for name, one in found.items()}
        print_json({name: asdict(one) | extra[name] for name, one in found.items()})
        return 0
    headers = (
        "measure",
        "teams",
        "team and model",
        "gap",
        "95% interval",
        "p",
        "by paper",
        "p by paper",
        "alike",
    )
    words = {None: "–", True: "yes", False: "not shown"}
    print_table(
        headers,
        [
            (
                name,
                *(percent(value) for value in (one.humans, one.model, one.gap)),
                interval(one.plain),
                p_value(one.p_plain),
                interval(one.hierarchical),
                p_value(one.p_hierarchical),
                words[one.is_equivalent(args.margin)],
            )
            for name, one in found.items()
        ],
        right=headers[1:],
    )
    print(
        f"{quantity(int(table.sum()), 'judgement')} of {quantity(len(table), 'paper')}. Alike: the interval of the gap"
        f" lies within {percent(args.margin)} points. No significant gap is no proof that there is none."
    )
    for name, one in found.items():
        if one.n_undefined:
            print(f"{name}: {quantity(one.n_undefined, 'resample')} without a value, left out")
    return 0
