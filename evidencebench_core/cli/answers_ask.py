"""``evidencebench answers ask|judge|check-judge|cited``: short answers that cite a paper, and judges of answers."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from evidencebench_core.cli.answers_scores import print_correctness, print_joined
from evidencebench_core.cli.answers_sets import chosen_set
from evidencebench_core.cli.arguments import add_json, add_settings, positive, store_of
from evidencebench_core.cli.asking import (
    add_engine,
    carry_out,
    engine_of,
    failure_status,
    print_cost,
    print_written,
    written_files,
)
from evidencebench_core.cli.output import interval, note, p_value, percent, print_json, print_table
from evidencebench_core.cli.spending import add_server, server_llm
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.answers.cited import CitedScores
    from evidencebench_core.data.store import Store
    from evidencebench_core.metrics.cited import Unjudged
    from evidencebench_core.runs import ChatPlan

Report = Callable[[dict[str, Any]], None]
"""Prints a run that has ended; given what goes into the JSON document beside it."""

_ROWS: Final = {
    "cited_recall": "aspects that a citation covers",
    "grounded_recall": "… by a citation that supports its sentence",
    "stated_recall": "… by what the answer states, cited or not",
    "evidence_precision": "citations that are gold",
    "evidence_precision_set": "cited sentences that are gold",
    "support_rate": "citations that support",
    "contradict_rate": "citations that contradict",
    "sound_precision": "citations that are gold and support",
    "coverage_any": "answer sentences with a citation",
    "coverage_gold": "… that is gold",
    "coverage_sound": "… that is gold and supports",
    "grounded_f": "F of sound precision and grounded recall",
    "repeated": "citations that are gold and add no aspect",
    "random_expectation": "recall of as many sentences at random",
    "ceiling": "best recall of as many sentences",
}


def _add_asking(parser: argparse.ArgumentParser) -> None:
    """How a model is asked."""
    add_settings(parser, "a setting of the requests, such as temperature or max_tokens, or of the judge")
    add_server(parser)
    add_engine(parser)
    add_json(parser)


def _asking(store: Store, args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `_add_asking` as the plans take them."""
    return {"llm": server_llm(store, args), "fresh": args.fresh, "request": dict(args.settings)}


def _add_ask(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    parser.add_argument("--model", metavar="M", required=True, help="the model that answers")
    text = "answer with all that bears on the hypothesis (default), or with findings only"
    parser.add_argument("--focus", choices=("all", "results"), default="all", help=text)
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N instances")
    text = "ask again for what was no answer: refused, cut off, or not to be read"
    parser.add_argument("--retry-lost", action="store_true", help=text)
    _add_asking(parser)


def _ask(args: argparse.Namespace) -> int:
    """Have a model answer the hypotheses of a dataset, then score its citations."""
    from evidencebench_core.answers.asking import answer_plan

    store = store_of(args)
    own = {"focus": args.focus, "limit": args.limit, "retry_lost": args.retry_lost}
    plan = answer_plan(store, args.dataset, args.model, **own, **_asking(store, args))
    return _carry_out(plan, args, partial(_report, store, args, plan.run_id, None), "instance")


def _add_judge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="RUN|SET", help="such a run, or the name of a set of answers")
    parser.add_argument(
        "--what",
        choices=("relevance", "citations", "correctness", "joined", "nuggets", "nugget-support"),
        help="of a set: how much each sentence is needed; whether its documents support it, each, or by any window,"
        " or its citations joined (ALCE);"
        " the nuggets of each answer; the gold nuggets that it gives. Settings (--set): context, source, scale,"
        " documents, top, window, prefilter",
    )
    parser.add_argument(
        "--by",
        default="llm",
        metavar="llm|cosine|nli|FILE",
        help="of citations and correctness: a model that is asked (default), the cosine, a model of inference on this"
        " machine, or a JSON file of scores, {unit: number}",
    )
    parser.add_argument("--model", metavar="M", help="the model that judges (needed with --by llm only)")
    text = "with --by: a source supports from this score on (nli: 0.5; cosine of simcse: 0.75)"
    parser.add_argument("--threshold", type=float, metavar="X", help=text)
    text = "of a run: neighbours of the cited sentence that the judge is shown, on each side (default: 0)"
    parser.add_argument("--window", type=int, choices=(0, 1, 2), default=0, help=text)
    parser.add_argument(
        "--stated",
        choices=("nearest", "all"),
        nargs="?",
        const="all",
        default="none",
        help="of a run, for the stated recall: judge every answer sentence with all gold sentences too (many calls),"
        " or with the 3 nearest by cosine",
    )
    parser.add_argument(
        "--limit", type=positive, metavar="N", help="only the first N instances, or questions"
    )
    _add_asking(parser)


def _judge(args: argparse.Namespace) -> int:
    """Have a judge label the citations of a run, or the answers of a set, then count or score its labels."""
    from evidencebench_core.answers.asking import cited_judge_plan
    from evidencebench_core.answers.set_judging import What, set_judge_plan
    from evidencebench_core.answers.store import answer_sets
    from evidencebench_core.runs import REQUEST_SETTINGS

    if args.by == "llm" and args.model is None:
        raise SettingError("--model", "is not given", "Name the model that judges.")
    if args.what is None:
        if args.by != "llm" or args.threshold is not None:
            remedy = "Leave them out, or say --what citations."
            raise SettingError("--by, --threshold", "are for sets of answers", remedy)
        store = store_of(args)
        if args.name in {one.name for one in answer_sets(store)}:
            problem = f"is not given, and {shown(args.name)} is a set of answers"
            raise SettingError("--what", problem, f"Choices are: {', '.join(get_args(What))}.")
        own = {"window": args.window, "stated": args.stated, "limit": args.limit}
        plan = cited_judge_plan(store, args.name, args.model, **own, **_asking(store, args))
        report = partial(_report, store, args, plan.spec.subject, plan.run_id)
        return _carry_out(plan, args, report, "citation")
    if args.stated != "none" or args.window:
        remedy = "Leave them out, or say --set window=3."
        raise SettingError("--stated, --window", "are for the answers of a run", remedy)
    if args.by != "llm":
        return _judge_by_score(args)
    store, info, answers = chosen_set(args)
    asking = _asking(store, args)
    given = {
        name: asking["request"].pop(name) for name in list(asking["request"]) if name not in REQUEST_SETTINGS
    }
    own = {"settings": given, "limit": args.limit}
    plan = set_judge_plan(store, info.sha256, answers, args.what, args.model, **own, **asking)
    return _carry_out(plan, args, partial(_labels_report, args, plan.run_id), "unit")


def _judge_by_score(args: argparse.Namespace) -> int:
    """Nothing is asked: what gives the scores runs here."""
    from evidencebench_core.answers.score_judging import MODELS, file_scores, score_judge
    from evidencebench_core.cli.progress import progress_bar

    if args.what not in ("citations", "correctness"):
        raise SettingError("--by", f"is {shown(args.by)}, which judges no {args.what}", "Say --by llm.")
    store, info, answers = chosen_set(args)
    path = None if args.by in MODELS else Path(args.by)
    if path and not path.is_file():
        raise SettingError(
            "--by", f"is {shown(args.by)}, which is no file", "Say llm, cosine, nli or name a file."
        )
    run_id, n, kept = score_judge(
        store,
        info.sha256,
        answers,
        args.what,
        "scores" if path else args.by,
        model=args.model or (path.stem if path else None),
        threshold=args.threshold,
        settings=dict(args.settings),
        scores=None if path is None else file_scores(path),
        limit=args.limit,
    )
    with progress_bar(n, "units") as bar:
        for so_far in kept:
            bar.update(so_far - bar.n)
    _labels_report(args, run_id, {})
    return 0


def _labels_report(args: argparse.Namespace, run_id: str, further: dict[str, Any]) -> None:
    """How often a judge of a set gave each label."""
    from evidencebench_core.answers.correctness import correctness, joined_scores, said_in
    from evidencebench_core.answers.set_judging import label_reads
    from evidencebench_core.runs import ChatRuns

    store, info, answers = chosen_set(args)
    run = ChatRuns(store).run(run_id)
    reads = list(label_reads(store, run).values())
    labels = Counter(read.label or f"no label: {read.reason}" for read in reads)
    if args.json:
        own = {"run": run.id, "set": info.name, "settings": dict(run.settings), "labels": dict(labels)}
        print_json(own | {"n_answered": run.n_answered, "n_failed": run.n_failed} | further)
        return
    n = quantity(run.n_answered, "answer")
    print(one_line(f"run {run.id}: {args.what} of {info.name} by {run.settings['model']}, {n}"))
    if labels:
        rows = [(label, f"{count:,}", percent(count / len(reads))) for label, count in labels.most_common()]
        print_table(("label", "n", "%"), rows, right=("n", "%"))
    if args.what == "correctness":
        print_correctness(correctness(answers, said_in(store, run)), run.settings)
    if args.what == "joined":
        print_joined(joined_scores(answers, store, run))
    if args.what.startswith("nugget"):
        print(one_line(f"Score them: evidencebench answers nuggets {info.name} --run {run.id}"))


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    parser.add_argument("--model", metavar="M", required=True, help="the model that judges")
    text = "pairs of each kind (default: 100)"
    parser.add_argument("--pairs", type=positive, default=100, metavar="N", help=text)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which pairs are drawn (default: 0)")
    _add_asking(parser)


def _check(args: argparse.Namespace) -> int:
    """Put pairs of sentences of one aspect, and of different ones, to a judge: does it tell them apart?"""
    from evidencebench_core.answers.judge_check import judge_check, judge_check_plan
    from evidencebench_core.runs import ChatRuns

    store = store_of(args)
    plan = judge_check_plan(
        store, args.dataset, args.model, n=args.pairs, seed=args.seed, **_asking(store, args)
    )

    def report(further: dict[str, Any]) -> None:
        check = judge_check(store, ChatRuns(store).run(plan.run_id), args.dataset)
        if args.json:
            print_json({"run": plan.run_id, "check": asdict(check)} | further)
            return
        rows = [
            ("sentences of one aspect", percent(check.same), "", f"{check.n_same:,}"),
            ("sentences of different aspects", percent(check.other), "", f"{check.n_other:,}"),
            ("difference", percent(check.difference), interval(check.ci95), ""),
        ]
        print_table(("pairs", "% supports", "95%", "n"), rows, right=("% supports", "95%", "n"))
        print(f"{check.n_unread:,} without a label, {check.n_missing:,} not judged.")
        if check.ci95 is None or check.ci95[0] <= 0:
            print("This judge does not tell the two apart: do not use its labels.")

    return _carry_out(plan, args, report, "pair")


def _carry_out(plan: ChatPlan, args: argparse.Namespace, report: Report, noun: str) -> int:
    """Carry out a plan, then report the run; 1 where something failed."""
    from evidencebench_core.runs import ChatRuns

    name, engine = engine_of(args)
    cost = print_cost([plan], args, name, noun)
    (last,) = carry_out([plan], engine, args, noun)
    if files := written_files(engine):
        if args.json:
            print_json({"run": last.run_id, "written": [str(path) for path in files]})
        else:
            print_written(files, last, args, noun)
    else:
        report({"estimate": cost.as_dict(), "spending": asdict(plan.llm.budget.spent)})
    return failure_status(last.failed, noun, ChatRuns(plan.store).failures(last.run_id))


def _add_cited(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run of `evidencebench answers ask`")
    parser.add_argument("--judge", metavar="RUN", help="a run of `evidencebench answers judge` about it")
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N instances")
    text = "citations that the judge gave no label: count as not supporting (default), or leave them out"
    parser.add_argument("--unjudged", choices=("count", "leave_out"), default="count", help=text)
    parser.add_argument("--against", metavar="RUN", help="compare it with this run, paired by instance")
    parser.add_argument("--against-judge", metavar="RUN", help="a judge's run about that one")
    text = "write what each answer cites as a prediction file, for `evidencebench score-file`"
    parser.add_argument("--predictions", metavar="FILE", type=Path, help=text)
    add_json(parser)


def _cited(args: argparse.Namespace) -> int:
    """Score the citations of a run against gold, and with a judge."""
    from evidencebench_core.answers.asking import answers_of, cited_run, compare_cited_runs
    from evidencebench_core.data.files import whole_file

    store = store_of(args)
    if args.predictions is not None:
        answers = answers_of(store, cited_run(store, args.run))
        picks = {one: list(answer.selection) for one, answer in answers.items() if answer.is_scored}
        with whole_file(args.predictions) as file:
            file.write(json.dumps(picks).encode())
        note(f"Wrote what {quantity(len(picks), 'answer')} cite to {args.predictions}.")
    if args.against is None:
        _report(store, args, args.run, args.judge, {})
        return 0
    pairs = ((args.run, args.judge), (args.against, args.against_judge))
    compared = compare_cited_runs(store, *pairs, args.limit)
    against = {name: asdict(of) | {"p_holm": p_holm} for name, (of, p_holm) in compared.items()}
    _report(store, args, args.run, args.judge, {"against": against})
    if not args.json:
        rows = []
        for name, (of, p_holm) in compared.items():
            measure, points = name.replace("_", " "), (percent(of.mean_difference), interval(of.ci95))
            rows.append((measure, *points, p_value(of.p_value), p_value(p_holm), f"{of.n:,}"))
        columns = ("minus the other run", "points", "95%", "p", "p (Holm)", "n")
        print_table(columns, rows, right=columns[1:])
    return 0


def _report(
    store: Store, args: argparse.Namespace, run: str, judge: str | None, further: dict[str, Any]
) -> None:
    """The scores of a run, as a table or as JSON."""
    from evidencebench_core.answers.asking import abstract_scores, cited_run, cited_run_scores
    from evidencebench_core.answers.store import marks
    from evidencebench_core.runs import ChatRuns

    info = cited_run(store, run)
    missed = [asdict(one) for one in marks(store, info.id, "gold")]
    unjudged: Unjudged = getattr(args, "unjudged", "count")
    scores = cited_run_scores(store, info.id, judge, limit=args.limit, unjudged=unjudged)
    abstract = abstract_scores(store, info.id, args.limit)
    if args.json:
        judge_id = None if judge is None else ChatRuns(store).run(judge).id
        document = {"run": info.id, "judge": judge_id, "settings": dict(info.settings)}
        own = {name: abstract.means[name][0] for name in ("cited_recall", "evidence_precision", "n_cited")}
        print_json(
            document | {"scores": scores.as_dict(), "abstract": own, "missed_by_gold": missed} | further
        )
        return
    model = info.settings["model"]
    print(one_line(f"run {info.id}: {model}; {scores.n_scored:,} answers scored, {_counts(scores)}"))
    rows = [
        (name.replace("_", " "), percent(mean), interval(ci95), f"{n:,}", what)
        for name, what in _ROWS.items()
        for mean, n, ci95 in [scores.means[name]]
        if n
    ]
    print_table(("measure", "%", "95%", "n", "share of"), rows, right=("%", "95%", "n"))
    if judge is not None:
        print("Citations: " + ", ".join(f"{n:,} {verdict}" for verdict, n in scores.pairs.items()) + ".")
    if scores.stated == "nearest":
        print("Stated recall is by the 3 gold sentences nearest to each answer sentence: it may be too low.")
    chance, cited = scores.means["chance"][0], scores.means["n_cited"][0]
    if chance is not None and cited is not None:
        print(
            f"{cited:.1f} sentences are cited on average. Not gold is not wrong: {percent(chance)}% of these papers'"
            " sentences are gold."
        )
    if missed:
        said = f"A reader marked {quantity(len(missed), 'citation')} as missed by gold"
        print(f"{said}: `evidencebench answers mark {info.id}` lists them, and no score has changed.")
    lift, position = scores.means["lift"][0], scores.means["position"][0]
    if lift is not None and position is not None:
        print(
            f"Evidence precision is {lift:.1f} times that of chance; cited recall stands {percent(position)}% of the"
            " way from random to the best for as many sentences."
        )
    recall, precision = abstract.means["cited_recall"][0], abstract.means["evidence_precision"][0]
    if recall is not None:
        print(
            f"Their abstracts, each sentence citing itself: cited recall {percent(recall)}%, evidence precision"
            f" {percent(precision)}%."
        )
    if judge is None:
        print(f"Have the citations judged: evidencebench answers judge {info.id} --model MODEL")


def _counts(scores: CitedScores) -> str:
    said = {
        "empty": scores.n_empty,
        "missing": scores.n_missing,
        "skipped": scores.n_skipped,
        "citations of sentences that there are not": scores.n_unknown,
        f"of {scores.n_pairs:,} citations unjudged": scores.n_unjudged,
    }
    return ", ".join(f"{n:,} {what}" for what, n in said.items() if n or what in ("empty", "missing"))


ACTIONS: Final = {
    "ask": ("have a model answer the hypotheses of a dataset, citing sentences", _add_ask, _ask),
    "judge": ("have the citations of such a run, or the answers of a set, judged", _add_judge, _judge),
    "check-judge": (
        "check that a model can judge citations at all, without an annotator",
        _add_check,
        _check,
    ),
    "cited": ("score the citations of such a run against gold", _add_cited, _cited),
}
