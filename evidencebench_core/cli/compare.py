"""``evidencebench compare RUN_A RUN_B --task T``"""

from __future__ import annotations

import argparse

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import counted, interval, listed, percent, plain, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("run_a", metavar="RUN_A", help="id of a run, or the beginning of it")
    parser.add_argument("run_b", metavar="RUN_B", help="id of another run over the same dataset")
    parser.add_argument("--task", metavar="T", required=True, help="such as er@optimal or result-er@5")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Compare two runs; as JSON one object."""
    from evidencebench_core.cli.trained_warning import seen_by, tell_trained_on
    from evidencebench_core.runs import RunStore, compare_runs, score_run

    store = store_of(args)
    runs = RunStore(store)
    a, b = runs.run(args.run_a), runs.run(args.run_b)
    comparison = compare_runs(store, a.id, b.id, args.task)
    for run in (a, b):
        if run.n_trained_on:
            tell_trained_on(run, seen_by(store, run), [score_run(store, run.id, args.task)])
    if args.json:
        print_json(
            {
                "run_a": a.id,
                "run_b": b.id,
                "dataset": a.dataset,
                "n_trained_on_a": a.n_trained_on,
                "n_trained_on_b": b.n_trained_on,
                **comparison.as_dict(),
            }
        )
        return 0
    p_value = comparison.p_value
    print(plain(f"{comparison.task.title} on {a.dataset}, {counted(comparison.n, 'instance')} in both"))
    print(plain(f"A  {percent(comparison.mean_a):>5} %  run {a.id}: {a.label}"))
    print(plain(f"B  {percent(comparison.mean_b):>5} %  run {b.id}: {b.label}"))
    print(f"A - B                 {percent(comparison.mean_difference)} points")
    print(f"95% interval          {interval(comparison.ci95)} (paired bootstrap)")
    print(f"p-value               {'–' if p_value is None else f'{p_value:.4f}'} (paired randomisation)")
    print(f"wins / ties / losses  {comparison.wins} / {comparison.ties} / {comparison.losses} of A")
    for name, ids in (("A", comparison.only_in_a), ("B", comparison.only_in_b)):
        if ids:
            print(plain(f"only in {name}             {len(ids):,}: {listed(ids)}"))
    return 0
