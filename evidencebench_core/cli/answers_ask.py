"""``evidencebench answers ask|judge|cited``: short answers that cite a paper, and judges of citations."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, add_settings, positive, store_of
from evidencebench_core.cli.asking import (
    add_engine,
    engine_of,
    executed,
    print_cost,
    print_written,
    written_files,
)
from evidencebench_core.cli.output import interval, note, p_value, percent, print_json, print_table
from evidencebench_core.cli.spending import add_server, server_llm
from evidencebench_core.errors import SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.answers.cited import CitedScores
    from evidencebench_core.answers.correctness import Correctness
    from evidencebench_core.data.store import Store
    from evidencebench_core.metrics.cited import Unjudged
    from evidencebench_core.runs import ChatPlan, Progress

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


def _add_ask(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    parser.add_argument("--model", metavar="M", required=True, help="the model that answers")
    parser.add_argument(
        "--focus",
        choices=("all", "results"),
        default="all",
        help="answer with all that bears on the hypothesis (default), or with findings only",
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N instances")
    add_settings(parser)
    add_server(parser)
    parser.add_argument(
        "--retry-lost",
        action="store_true",
        help="ask again for what was no answer: refused, cut off, or not to be read",
    )
    add_engine(parser, embeddings=False)
    add_json(parser)


def _ask(args: argparse.Namespace) -> int:
    """Have a model answer the hypotheses of a dataset, then score its citations."""
    from evidencebench_core.answers.asking import answer_plan

    store = store_of(args)
    plan = answer_plan(
        store,
        args.dataset,
        args.model,
        focus=args.focus,
        limit=args.limit,
        llm=server_llm(store, args),
        fresh=args.fresh,
        retry_lost=args.retry_lost,
        request=dict(args.settings),
    )
    return _executed(store, plan, args, partial(_report, store, args, plan.run_id, None), "instance")


def _add_judge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what_of", metavar="RUN|SET", help="such a run, or the name of a set of answers")
    parser.add_argument(
        "--what",
        choices=("relevance", "citations", "correctness", "nuggets", "nugget-support"),
        help="of a set: how much each sentence is needed; whether its documents support it, each, or by any window;"
        " the nuggets of each answer; the gold nuggets that it gives. Settings (--set): context, source, scale,"
        " documents, window, prefilter",
    )
    parser.add_argument("--model", metavar="M", required=True, help="the model that judges")
    parser.add_argument(
        "--window",
        type=int,
        choices=(0, 1, 2),
        default=0,
        help="neighbours of the cited sentence that the judge is shown, on each side (default: 0)",
    )
    parser.add_argument(
        "--stated",
        action="store_true",
        help="judge every answer sentence with every gold sentence too, for the stated recall: many calls",
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N instances")
    add_settings(parser)
    add_server(parser)
    add_engine(parser, embeddings=False)
    add_json(parser)


def _judge(args: argparse.Namespace) -> int:
    """Have a model say of every citation whether it supports its sentence, then score the answers."""
    from evidencebench_core.answers.asking import cited_judge_plan

    store = store_of(args)
    if args.what is not None:
        return _judge_set(store, args)
    plan = cited_judge_plan(
        store,
        args.what_of,
        args.model,
        window=args.window,
        stated=args.stated,
        limit=args.limit,
        llm=server_llm(store, args),
        fresh=args.fresh,
        request=dict(args.settings),
    )
    report = partial(_report, store, args, plan.spec.subject, plan.run_id)
    return _executed(store, plan, args, report, "citation")


def _judge_set(store: Store, args: argparse.Namespace) -> int:
    """Have a model judge the answers of a set, then count its labels."""
    from evidencebench_core.answers.correctness import correctness, said_in
    from evidencebench_core.answers.set_judging import judged, set_judge_plan
    from evidencebench_core.answers.store import answer_set_info, stored_answers
    from evidencebench_core.runs import REQUEST_SETTINGS, ChatRuns

    if args.stated or args.window:
        raise SettingError(
            "--stated, --window", "are for the answers of a run", "Leave them out, or say --set window=3."
        )
    info, given = answer_set_info(store, args.what_of), dict(args.settings)
    request = {name: given.pop(name) for name in list(given) if name in REQUEST_SETTINGS}
    plan = set_judge_plan(
        store,
        info.sha256,
        stored_answers(store, info.name),
        args.what,
        args.model,
        settings=given,
        limit=args.limit,
        llm=server_llm(store, args),
        fresh=args.fresh,
        request=request,
    )

    def report(further: dict[str, Any]) -> None:
        run = ChatRuns(store).run(plan.run_id)
        reads = list(judged(store, run).values())
        labels = Counter(read.label or f"no label: {read.reason}" for read in reads)
        if args.json:
            document = {
                "run": run.id,
                "set": info.name,
                "settings": dict(run.settings),
                "labels": dict(labels),
            }
            print_json(document | {"n_answered": run.n_answered, "n_failed": run.n_failed} | further)
            return
        print(
            one_line(
                f"run {run.id}: {args.what} of {info.name} by {args.model}, {quantity(run.n_answered, 'answer')}"
            )
        )
        if labels:
            rows = [(label, f"{n:,}", percent(n / len(reads))) for label, n in labels.most_common()]
            print_table(("label", "n", "%"), rows, right=("n", "%"))
        if args.what == "correctness":
            _print_correctness(correctness(stored_answers(store, info.name), said_in(store, run)))
        if args.what.startswith("nugget"):
            print(one_line(f"Score them: evidencebench answers nuggets {info.name} --run {run.id}"))

    return _executed(store, plan, args, report, "unit")


def _add_correctness(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="SET", help="a set of answers")
    parser.add_argument("--run", metavar="RUN", help="a run of `answers judge SET --what correctness`")
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="X",
        help="without a run: the cosine from which on a window supports",
    )
    parser.add_argument(
        "--documents",
        choices=("cited", "supported"),
        default="cited",
        help="all that a sentence cites (default), or those that people said support it",
    )
    parser.add_argument(
        "--window", type=positive, default=3, metavar="K", help="sentences at once (default: 3)"
    )
    add_json(parser)


def _correctness(args: argparse.Namespace) -> int:
    """How many sentences are borne out by a document: by a judge's run, or by a threshold on the cosine."""
    from evidencebench_core.answers.correctness import correctness, said_by_cosine, said_in
    from evidencebench_core.answers.set_judging import judge_run
    from evidencebench_core.answers.store import answer_set_info, stored_answers

    store = store_of(args)
    if (args.run is None) == (args.threshold is None):
        raise SettingError(
            "--run, --threshold", "are both or neither given", "Name a judge's run, or a cosine."
        )
    info = answer_set_info(store, args.name)
    answers = stored_answers(store, info.name)
    if args.run is None:
        said = said_by_cosine(answers, args.threshold, documents=args.documents, window=args.window)
    else:
        said = said_in(store, judge_run(store, info.sha256, args.run, "correctness"))
    scores = correctness(answers, said)
    if args.json:
        print_json({"set": info.name, "systems": {name: of.as_dict() for name, of in scores.items()}})
    else:
        _print_correctness(scores)
    return 0


def _print_correctness(scores: Mapping[str, Correctness]) -> None:
    rows = [
        (
            system,
            percent(of.mean),
            interval(of.ci95),
            f"{of.n_answers:,}",
            percent(of.share),
            f"{of.n_sentences:,}",
            f"{of.n_unchecked:,}",
            f"{of.n_unread:,}",
            f"{of.n_missing:,}",
        )
        for system, of in scores.items()
    ]
    columns = (
        "system", "correct %", "95%", "answers", "of all sentences %", "sentences", "nothing to check", "no label",
        "missing",
    )  # fmt: skip
    print_table(columns, rows, right=columns[1:])


def _add_nuggets(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="SET", help="a set of answers")
    parser.add_argument(
        "--run", metavar="RUN", help="a run that lists nuggets, or says which gold ones are given"
    )
    parser.add_argument("--matcher", choices=("cosine", "mixture"), default="cosine", help="default: cosine")
    parser.add_argument(
        "--threshold", type=float, metavar="X", help="from which on a pair matches (default: 0.6267)"
    )
    parser.add_argument(
        "--assignment", choices=("greedy", "optimal"), default="greedy", help="default: greedy"
    )
    parser.add_argument(
        "--no-guard", action="store_true", help="let the probability of a match fall as the cosine rises"
    )
    parser.add_argument(
        "--triples", action="store_true", help="nuggets are triples on both sides: match them as they are"
    )
    parser.add_argument(
        "--mixture", type=Path, metavar="FILE", help="a mixture that was fitted before, as JSON"
    )
    parser.add_argument("--save-mixture", type=Path, metavar="FILE", help="keep the mixture there")
    add_json(parser)


def _nuggets(args: argparse.Namespace) -> int:
    """Match the nuggets of a set's answers with the gold ones."""
    from evidencebench_core.answers.matching import THRESHOLD
    from evidencebench_core.answers.nugget_scores import marked_threshold, nugget_scores, support_scores
    from evidencebench_core.answers.set_judging import judge_run, listed_nuggets, said_support
    from evidencebench_core.answers.store import answer_set_info, marks, stored_answers
    from evidencebench_core.data.files import file_content, whole_file
    from evidencebench_core.stats import mixture_from

    store = store_of(args)
    info = answer_set_info(store, args.name)
    answers = stored_answers(store, info.name)
    run = None if args.run is None else judge_run(store, info.sha256, args.run, "nuggets", "nugget-support")
    if run is not None and run.settings["task"] == "nugget-support":
        by_system = support_scores(answers, said_support(store, run))
        if args.json:
            print_json({"set": info.name, "run": run.id, "systems": by_system})
        else:
            columns = ("system", "recall", "strict", "n")
            lines = [
                (name, percent(of["recall"]), percent(of["strict"]), f"{of['n']:,}")
                for name, of in by_system.items()
            ]
            print_table(columns, lines, right=columns[1:])
        return 0
    mixture = None
    if args.mixture is not None:
        content = file_content(args.mixture, 1 << 20, "Name a file of --save-mixture.")
        try:
            mixture = mixture_from(json.loads(content))
        except ValueError as error:
            raise SettingError(
                str(args.mixture), f"is no JSON ({error})", "Name a file of --save-mixture."
            ) from error
    scores = nugget_scores(
        answers,
        None if run is None else listed_nuggets(store, run),
        matcher=args.matcher,
        threshold=THRESHOLD if args.threshold is None else args.threshold,
        assignment=args.assignment,
        guard=not args.no_guard,
        mixture=mixture,
        triples=args.triples,
    )
    said = [(*json.loads(one.unit), one.value == "same") for one in marks(store, info.sha256, "nuggets")]
    best = marked_threshold(said, scores.mixture, guard=not args.no_guard) if said else None
    if args.save_mixture is not None and scores.mixture is not None:
        with whole_file(args.save_mixture) as file:
            file.write(json.dumps(scores.mixture.as_dict()).encode())
    if args.json:
        print_json({"set": info.name, "marked": best and asdict(best)} | scores.as_dict())
        return 0
    systems = dict.fromkeys(system for _, system in scores.scores)
    shown = ("precision", "recall", "f1", "counting")
    means = [(name, scores.means(None if name == "all" else name)) for name in (*systems, "all")]
    rows = [[name, *(percent(of[one]) for one in shown), f"{of['n_recall']:,}"] for name, of in means]
    print_table(("system", *shown, "n"), rows, right=(*shown, "n"))
    print("counting: the recall that the numbers of nuggets alone allow, whatever they say.")
    if scores.missing:
        missing = quantity(len(scores.missing), "answer")
        print(f"{missing} without nuggets: have them listed by `evidencebench answers judge --what nuggets`.")
    for warning in scores.mixture.warnings if scores.mixture else ():
        note(f"The mixture: {warning}.")
    if best is not None:
        print(
            f"By {quantity(len(said), 'marked pair')} the best threshold is {best.value:.4f} (F1 {percent(best.f1)}%)."
        )
    return 0


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    parser.add_argument("--model", metavar="M", required=True, help="the model that judges")
    parser.add_argument(
        "--pairs", type=positive, default=100, metavar="N", help="pairs of each kind (default: 100)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which pairs are drawn (default: 0)")
    add_settings(parser)
    add_server(parser)
    add_engine(parser, embeddings=False)
    add_json(parser)


def _check(args: argparse.Namespace) -> int:
    """Put pairs of sentences of one aspect, and of different ones, to a judge: does it tell them apart?"""
    from evidencebench_core.answers.judge_check import judge_check, judge_check_plan
    from evidencebench_core.runs import ChatRuns

    store = store_of(args)
    plan = judge_check_plan(
        store,
        args.dataset,
        args.model,
        n=args.pairs,
        seed=args.seed,
        llm=server_llm(store, args),
        fresh=args.fresh,
        request=dict(args.settings),
    )

    def report(further: dict[str, Any]) -> None:
        check = judge_check(store, ChatRuns(store).run(plan.run_id), args.dataset)
        if args.json:
            print_json({"run": plan.run_id, "check": check.as_dict()} | further)
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

    return _executed(store, plan, args, report, "pair")


def _add_cited(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run of `evidencebench answers ask`")
    parser.add_argument("--judge", metavar="RUN", help="a run of `evidencebench answers judge` about it")
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N instances")
    parser.add_argument(
        "--unjudged",
        choices=("count", "leave_out"),
        default="count",
        help="citations that the judge gave no label: count as not supporting (default), or leave them out",
    )
    parser.add_argument("--against", metavar="RUN", help="compare it with this run, paired by instance")
    parser.add_argument("--against-judge", metavar="RUN", help="a judge's run about that one")
    parser.add_argument(
        "--predictions",
        metavar="FILE",
        type=Path,
        help="write what each answer cites as a prediction file, for `evidencebench score-file`",
    )
    add_json(parser)


def _cited(args: argparse.Namespace) -> int:
    """Score the citations of a run against gold, and with a judge."""
    from evidencebench_core.answers.asking import answers_of, cited_run
    from evidencebench_core.data.files import whole_file

    store = store_of(args)
    if args.predictions is not None:
        answers = answers_of(store, cited_run(store, args.run))
        picks = {one: list(answer.selection) for one, answer in answers.items() if answer.is_scored}
        with whole_file(args.predictions) as file:
            file.write(json.dumps(picks).encode())
        note(f"Wrote what {quantity(len(picks), 'answer')} cite to {args.predictions}.")
    against = None if args.against is None else _compared(store, args)
    _report(store, args, args.run, args.judge, {} if against is None else {"against": against})
    if against and not args.json:
        rows = [
            (
                name.replace("_", " "),
                percent(of["mean_difference"]),
                interval(of["ci95"]),
                p_value(of["p_value"]),
                p_value(of["p_holm"]),
                f"{of['n']:,}",
            )
            for name, of in against.items()
        ]
        columns = ("minus the other run", "points", "95%", "p", "p (Holm)", "n")
        print_table(columns, rows, right=columns[1:])
    return 0


def _compared(store: Store, args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """A run against another, by measure."""
    from evidencebench_core.answers.asking import compare_cited_runs

    pairs = ((args.run, args.judge), (args.against, args.against_judge))
    found = compare_cited_runs(store, *pairs, args.limit)
    return {name: asdict(of) | {"p_holm": p_holm} for name, (of, p_holm) in found.items()}


def _executed(
    store: Store,
    plan: ChatPlan,
    args: argparse.Namespace,
    report: Callable[[dict[str, Any]], None],
    noun: str,
) -> int:
    """Carry out a plan, then report the run; 1 where something failed."""
    name, engine = engine_of(args)
    cost = print_cost([plan], args, name, noun)
    (last,) = executed([plan], engine, args, noun)
    if files := written_files(engine):
        if args.json:
            print_json({"run": last.run_id, "written": [str(path) for path in files]})
        else:
            print_written(files, last, args, noun)
    else:
        further = {"estimate": cost.as_dict(), "spending": asdict(plan.llm.budget.spent)}
        report(further)
    if last.failed:
        _note_failures(store, last, noun)
        return 1
    return 0


def _note_failures(store: Store, last: Progress, noun: str) -> None:
    from evidencebench_core.runs import ChatRuns

    results = ChatRuns(store).results(last.run_id).values()
    reason = next((one for one in results if isinstance(one, str)), "unknown")
    note(
        f"evidencebench: {quantity(last.failed, noun)} failed; the first: {reason}"
        " Give the same command again to try only them."
    )


def _report(
    store: Store, args: argparse.Namespace, run: str, judge: str | None, further: dict[str, Any]
) -> None:
    """The scores of a run, as a table or as JSON."""
    from evidencebench_core.answers.asking import abstract_scores, cited_run, cited_run_scores
    from evidencebench_core.runs import ChatRuns

    info = cited_run(store, run)
    unjudged: Unjudged = getattr(args, "unjudged", "count")
    scores = cited_run_scores(store, info.id, judge, limit=args.limit, unjudged=unjudged)
    abstract = abstract_scores(store, info.id, args.limit)
    if args.json:
        judge_id = None if judge is None else ChatRuns(store).run(judge).id
        document = {"run": info.id, "judge": judge_id, "settings": dict(info.settings)}
        own = {name: abstract.means[name][0] for name in ("cited_recall", "evidence_precision", "n_cited")}
        print_json(document | {"scores": scores.as_dict(), "abstract": own} | further)
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
    chance, cited = scores.means["chance"][0], scores.means["n_cited"][0]
    if chance is not None and cited is not None:
        print(
            f"{cited:.1f} sentences are cited on average. Not gold is not wrong: {percent(chance)}% of these papers'"
            " sentences are gold."
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
    "judge": ("have a model judge the citations of such a run, or the answers of a set", _add_judge, _judge),
    "correctness": (
        "how many sentences of each system a document bears out",
        _add_correctness,
        _correctness,
    ),
    "nuggets": ("match the nuggets of a set's answers with the gold ones", _add_nuggets, _nuggets),
    "check-judge": (
        "check that a model can judge citations at all, without an annotator",
        _add_check,
        _check,
    ),
    "cited": ("score the citations of such a run against gold", _add_cited, _cited),
}
