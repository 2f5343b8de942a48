"""``evidencebench answers nuggets``: the nuggets of a set's answers against the gold ones."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.answers_sets import add_name, chosen_set
from evidencebench_core.cli.arguments import add_json
from evidencebench_core.cli.output import note, percent, print_json, print_table
from evidencebench_core.errors import SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.answers.model import AnswerSet
    from evidencebench_core.stats import Mixture


def _add_nuggets(parser: argparse.ArgumentParser) -> None:
    add_name(parser)
    text = "a run that lists nuggets, or says which gold ones are given"
    parser.add_argument("--run", metavar="RUN", help=text)
    parser.add_argument("--matcher", choices=("cosine", "mixture"), default="cosine", help="default: cosine")
    text = "from which on a pair matches (default: 0.6267)"
    parser.add_argument("--threshold", type=float, metavar="X", help=text)
    choices = ("greedy", "optimal")
    parser.add_argument("--assignment", choices=choices, default="greedy", help="default: greedy")
    text = "let the probability of a match fall as the cosine rises"
    parser.add_argument("--no-guard", action="store_true", help=text)
    text = "nuggets are triples on both sides: match them as they are"
    parser.add_argument("--triples", action="store_true", help=text)
    text = "what the cosines are of: minilm (default), simcse, a folder or a name on the hub"
    parser.add_argument("--embedding", metavar="M", default="minilm", help=text)
    text = "a mixture that was fitted before, as JSON"
    parser.add_argument("--mixture", type=Path, metavar="FILE", help=text)
    parser.add_argument("--save-mixture", type=Path, metavar="FILE", help="keep the mixture there")
    add_json(parser)


def _nuggets(args: argparse.Namespace) -> int:
    """Match the nuggets of a set's answers with the gold ones."""
    from evidencebench_core.answers.matching import THRESHOLD
    from evidencebench_core.answers.nugget_scores import marked_threshold, nugget_scores
    from evidencebench_core.answers.set_judging import judge_run, listed_nuggets, said_support
    from evidencebench_core.answers.store import marks
    from evidencebench_core.data.files import whole_file

    store, info, answers = chosen_set(args)
    run = None if args.run is None else judge_run(store, info.sha256, args.run, "nuggets", "nugget-support")
    if run is not None and run.settings["task"] == "nugget-support":
        return _print_support(args, answers, said_support(store, run))
    guard, threshold = not args.no_guard, THRESHOLD if args.threshold is None else args.threshold
    scores = nugget_scores(
        answers,
        None if run is None else listed_nuggets(store, run),
        matcher=args.matcher,
        threshold=threshold,
        assignment=args.assignment,
        guard=guard,
        mixture=None if args.mixture is None else _mixture(args.mixture),
        triples=args.triples,
        model=args.embedding,
    )
    said = [(*json.loads(one.unit), one.value == "same") for one in marks(store, info.sha256, "nuggets")]
    best = marked_threshold(said, scores.mixture, guard=guard, model=args.embedding) if said else None
    if args.save_mixture is not None and scores.mixture is not None:
        with whole_file(args.save_mixture) as file:
            file.write(json.dumps(scores.mixture.as_dict()).encode())
    names = ("matcher", "threshold", "assignment", "no_guard", "triples", "embedding")
    settings = {name: getattr(args, name) for name in names} | {"threshold": threshold}
    if args.json:
        print_json(
            {"set": info.name, "settings": settings, "marked": best and asdict(best)} | scores.as_dict()
        )
        return 0
    how = f"{args.matcher} of {args.embedding}, {args.assignment}, from {threshold:.4f} on"
    print(one_line(f"{info.name}: nuggets matched by {how}"))
    figures = ("precision", "recall", "f1", "counting")
    means = {name: scores.means(name) for name in dict.fromkeys(system for _, system in scores.scores)}
    means["all"] = scores.means()
    rows = [
        (name, *(percent(of[one]) for one in figures), f"{of['n_recall']:,}") for name, of in means.items()
    ]
    print_table(("system", *figures, "n"), rows, right=(*figures, "n"))
    print("counting: the recall that the numbers of nuggets alone allow, whatever they say.")
    if scores.missing:
        n = quantity(len(scores.missing), "answer")
        print(f"{n} without nuggets: have them listed by `evidencebench answers judge --what nuggets`.")
    if scores.n_cut_off or scores.n_duplicates:
        n = quantity(scores.n_cut_off, "list")
        print(f"{n} of nuggets cut off by the limit of tokens; {scores.n_duplicates:,} nuggets listed twice.")
    for warning in scores.mixture.warnings if scores.mixture else ():
        note(f"The mixture: {warning}.")
    if best is not None:
        n = quantity(len(said), "marked pair")
        print(f"By {n} the best threshold is {best.value:.4f} (F1 {percent(best.f1)}%).")
    return 0


def _print_support(args: argparse.Namespace, answers: AnswerSet, said: Mapping[str, Any]) -> int:
    from evidencebench_core.answers.nugget_scores import support_scores

    by_system = support_scores(answers, said)
    if args.json:
        print_json({"set": args.name, "run": args.run, "systems": by_system})
        return 0
    lines: Iterable[tuple[str, ...]] = (
        (name, percent(of["recall"]), percent(of["strict"]), f"{of['n']:,}") for name, of in by_system.items()
    )
    print_table(("system", "recall", "strict", "n"), list(lines), right=("recall", "strict", "n"))
    return 0


def _mixture(path: Path) -> Mixture:
    from evidencebench_core.data.files import file_content
    from evidencebench_core.stats import mixture_from

    remedy = "Name a file of --save-mixture."
    try:
        return mixture_from(json.loads(file_content(path, 1 << 20, remedy)))
    except ValueError as error:
        raise SettingError(str(path), f"is no JSON ({error})", remedy) from error


ACTIONS: Final = {
    "nuggets": ("match the nuggets of a set's answers with the gold ones", _add_nuggets, _nuggets),
}
