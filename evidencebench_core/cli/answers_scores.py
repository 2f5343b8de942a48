"""``evidencebench answers score|rank|agree|correctness``: figures of a set, by people's labels or a judge's."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.answers_sets import add_name, chosen_set, judge_labels_of
from evidencebench_core.cli.arguments import add_json
from evidencebench_core.cli.output import interval, listing, percent, print_json, print_table
from evidencebench_core.errors import SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.answers.agreement import JudgeAgreement
    from evidencebench_core.answers.correctness import Correctness
    from evidencebench_core.answers.systems import AnswerLabels, SystemScores
    from evidencebench_core.stats import RankCorrelation

_RECALL_NOTE: Final = (
    "Recall R+B is not recall R plus something: each setting was clustered by itself, and an answer may have fewer"
    " R+B clusters than R clusters."
)
_ALWAYS: Final = {"relevance": "required", "citations": "supports"}  # what a judge who never looks says


def _add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corrected", action="store_true", help="with the labels that people corrected")
    parser.add_argument("--seed", type=int, default=0, help="of the intervals' draws (default: 0)")
    add_json(parser)


def _add_judges(parser: argparse.ArgumentParser) -> None:
    add_name(parser)
    text = "labels of a judge's run instead of people's (may be repeated: relevance and citations)"
    parser.add_argument("--judge", metavar="RUN", action="append", default=[], help=text)
    _add_seed(parser)


def _add_score(parser: argparse.ArgumentParser) -> None:
    _add_judges(parser)
    parser.add_argument("--metric", metavar="M", help="one metric with intervals (default: the means of all)")
    text = "0 for a share of nothing, as MedAESQA's script"
    parser.add_argument("--official", action="store_true", help=text)
    text = "questions that a system has not answered: leave them out (report, the default), or score them 0"
    parser.add_argument("--missing", choices=("report", "zero"), default="report", help=text)


def _score(args: argparse.Namespace) -> int:
    """Score the systems of a set; as JSON one object with ``systems``: rows with interval, pooled value and counts."""
    from evidencebench_core.answers.set_judging import n_unchecked
    from evidencebench_core.answers.systems import COUNTS

    scores = _scores(args, _labels(args), intervals=True)
    if not scores.metrics:
        remedy = "Bring labels, clusters or a judge's run."
        raise SettingError(f"answer set {args.name}", "has nothing to score", remedy)
    rows, missing = scores.table(), scores.missing_answers()
    unchecked = n_unchecked(chosen_set(args)[2]) if args.judge else 0
    if args.metric:
        scores.of(args.metric)  # an error where there is none
        rows = rows[rows["metric"] == args.metric]
    if args.json:
        numbers = rows.astype(object).where(rows.notna(), None)
        print_json({
            "answer_set": args.name, "judges": args.judge, "official": args.official, "missing": args.missing,
            "n_questions": len(scores.questions), "missing_answers": missing, "n_unchecked": unchecked,
            "systems": numbers.to_dict("records"),
        })  # fmt: skip
        return 0
    if args.metric:
        _print_metric(rows.sort_values("mean", ascending=False, kind="stable"), args.metric in COUNTS)
    else:
        kinds = [metric in COUNTS for metric in scores.metrics]
        means = zip(scores.systems, scores.means.T.tolist(), strict=True)
        lines = [
            (name, *(_number(*one, args.official) for one in zip(values, kinds, strict=True)))
            for name, values in means
        ]
        print_table(("system", *scores.metrics), lines, right=scores.metrics)
        n = quantity(len(scores.questions), "question")
        print(f"Means over {n}, shares in percent; --metric M has intervals and counts.")
    for system, questions in missing.items():
        n = quantity(len(questions), "question")
        print(one_line(f"{system} has no answer to {n}: {listing(questions)}"))
    if unchecked:
        n = quantity(unchecked, "citation")
        print(f"{n} not checked by a judge: of documents without text, or by sentences without words.")
    if any(metric.startswith("recall R+B") for metric in scores.metrics):
        print(_RECALL_NOTE)
    return 0


def _number(value: float, is_count: bool, official: bool = False) -> str:
    """A mean; a share in percent, with two decimals as MedAESQA's script."""
    if isnan(value):
        return "–"
    return f"{value:.2f}" if is_count else f"{100 * value:.2f}" if official else percent(value)


def _print_metric(rows: Any, is_count: bool) -> None:
    lines = []
    for row in rows.itertuples():
        low, high = _number(row.low, is_count), _number(row.high, is_count)
        bounds = "–" if isnan(row.low) else f"{low} to {high}"
        counts = [f"{n:,}" for n in (row.n, row.n_undefined, row.n_missing)]
        lines.append(
            (row.system, _number(row.mean, is_count), bounds, _number(row.pooled, is_count), *counts)
        )
    columns = ("system", "mean", "95% interval", "pooled", "n", "undefined", "missing")
    print_table(columns, lines, right=("mean", "pooled", *columns[4:]))


def _scores(
    args: argparse.Namespace,
    labels: Mapping[tuple[str, str], AnswerLabels] | None = None,
    intervals: bool = False,
) -> SystemScores:
    """The systems by labels of a judge, or of people."""
    import numpy as np

    from evidencebench_core.answers.systems import system_scores

    *_, answers = chosen_set(args)
    return system_scores(
        answers,
        labels,
        official=getattr(args, "official", False),
        missing=getattr(args, "missing", "report"),
        rng=np.random.default_rng(args.seed) if intervals else None,
    )


def _labels(args: argparse.Namespace, always: bool = False) -> dict[tuple[str, str], AnswerLabels] | None:
    """The labels of the judges that are named, or what one who never looks says of the same; without judges none."""
    from evidencebench_core.answers.systems import judged_labels

    if not args.judge:
        return None
    store, info, answers = chosen_set(args)
    by_task = dict(judge_labels_of(store, info, run, args.corrected) for run in args.judge)
    if always:
        by_task = {task: dict.fromkeys(units, _ALWAYS.get(task)) for task, units in by_task.items()}
    return judged_labels(answers, by_task.get("relevance"), by_task.get("citations"))


def _add_rank(parser: argparse.ArgumentParser) -> None:
    _add_judges(parser)
    parser.add_argument("--by", metavar="M", required=True, help="a metric, such as coverage")
    text = "another metric (default: the same one by the judge's labels)"
    parser.add_argument("--against", metavar="M", help=text)
    text = "over every question, each system by those it answered (default: those that all answered)"
    parser.add_argument("--all-questions", action="store_true", help=text)


def _rank(args: argparse.Namespace) -> int:
    """Rank the systems by two metrics, or by people and a judge; beside it the order that plain counting gives."""
    import numpy as np

    from evidencebench_core.answers.systems import COUNTS, ranking

    if not args.against and not args.judge:
        raise SettingError("answers rank", "has one ranking only", "Give --against METRIC, or --judge RUN.")
    people, against = _scores(args), args.against or args.by
    pairs = {against: (people, against)}
    if args.judge:
        judges = {"judged": _labels(args), "by a judge who never looks": _labels(args, always=True)}
        pairs = {f"{against}, {name}": (_scores(args, of), against) for name, of in judges.items()}
    counted = [name for name in COUNTS if name in people.metrics and name != against]
    pairs |= {f"number of {name}": (people, name) for name in counted}
    found = {
        name: ranking(
            people, scores, args.by, metric, np.random.default_rng(args.seed), common=not args.all_questions
        )
        for name, (scores, metric) in pairs.items()
    }
    if args.json:
        against_them = {name: _correlation(one) for name, one in found.items()}
        print_json({"answer_set": args.name, "by": args.by, "against": against_them})
        return 0
    lines = [
        (
            name,
            *_cells(one.rho, one.rho_ci95),
            *_cells(one.tau, one.tau_ci95),
            f"{one.n_systems}",
            f"{one.n_questions}",
        )
        for name, one in found.items()
    ]
    columns = (f"{args.by} against", "rho", "95% interval", "tau-b", "95% interval ", "systems", "questions")
    print_table(columns, lines, right=("rho", "tau-b", "systems", "questions"))
    return 0


def _correlation(one: RankCorrelation) -> dict[str, Any]:
    names = ("rho", "tau", "rho_ci95", "tau_ci95", "n_systems", "n_questions")
    return {name: list(value) if isinstance(value := getattr(one, name), tuple) else value for name in names}


def _cells(value: float | None, bounds: tuple[float, float] | None) -> tuple[str, str]:
    within = "–" if bounds is None else f"{bounds[0]:.3f} to {bounds[1]:.3f}"
    return "–" if value is None else f"{value:.3f}", within


def _add_agree(parser: argparse.ArgumentParser) -> None:
    add_name(parser)
    parser.add_argument("--run", metavar="RUN", required=True, help="a judge's run about the set")
    text = "of citations (default: the run's)"
    parser.add_argument("--scale", choices=("binary", "ternary", "four"), help=text)
    parser.add_argument(
        "--threshold",
        metavar="X|best",
        help="of a judge that gives scores, instead of its own; best: for each question that of the best F1 on the"
        " other questions",
    )
    parser.add_argument(
        "--precedence",
        choices=("support-first", "contradict-first"),
        default="support-first",
        help="one label for a citation about which people said several things",
    )
    text = "a judgement without a label is wrong (default), or left out as in the paper's script"
    parser.add_argument("--unparsed", choices=("wrong", "leave_out"), default="wrong", help=text)
    _add_seed(parser)


def _agree(args: argparse.Namespace) -> int:
    """A judge's labels against people's, beside a judge that never looks; as JSON by system and question too."""
    import numpy as np

    from evidencebench_core.answers.agreement import judge_agreement
    from evidencebench_core.answers.judged import LABELLED, scale_of
    from evidencebench_core.answers.score_judging import labels_by_best_threshold, scores_in
    from evidencebench_core.runs import ChatRuns

    store, info, answers = chosen_set(args)
    run, best = ChatRuns(store).run(args.run), args.threshold == "best"
    task, labels = judge_labels_of(
        store, info, run.id, args.corrected, None if best else _threshold(args.threshold)
    )
    if task not in LABELLED:
        raise SettingError(
            f"run {args.run}", f"judges {task}, which people did not label", "Name another run."
        )
    thresholds: Mapping[str, float] = {}
    if best:
        labels, thresholds = labels_by_best_threshold(answers, scores_in(store, run), args.precedence)
    form = "binary" if best else scale_of(run) if task == "relevance" else args.scale or scale_of(run)
    rng = np.random.default_rng(args.seed)
    options = {"precedence": args.precedence, "unparsed": args.unparsed, "rng": rng}
    found = judge_agreement(answers, labels, form, **options)
    if args.json:
        further = {"thresholds": thresholds} if best else {}
        print_json({"answer_set": args.name, "run": args.run, **further, **found.as_dict()})
        return 0
    _print_agreement(found)
    if best:
        low, high = min(thresholds.values()), max(thresholds.values())
        print(f"Each question by the threshold of the best F1 on the others: {low:.4f} to {high:.4f}.")
    return 0


def _threshold(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError as error:
        raise SettingError("--threshold", f"is {text!r}", "Give a number, or best.") from error


def _print_agreement(found: JudgeAgreement) -> None:
    judge, constant = found.agreement, found.constant_agreement
    always = f"always {found.constant}"
    values = [
        (name, percent(value), interval(judge.intervals[name]), percent(constant.values[name]))
        for name, value in judge.values.items()
    ]
    print_table(("", "judge", "95% interval", always), values, right=("judge", always))
    print()
    numbers = (*(f"judged {label}" for label in judge.labels), "no label", "precision", "recall", "F1")
    lines = [
        (label, *(f"{n:,}" for n in row), *map(percent, judge.by_label[label]))
        for label, row in zip(judge.labels, judge.table, strict=True)
    ]
    print_table(("people say", *numbers), lines, right=numbers)
    counts = {
        "without a judgement yet": found.n_missing,
        "judged without a label": found.n_unlabelled,
        "of documents without text, or sentences without words, not checked": found.n_unchecked,
        "of documents that there are not, left out": found.n_invalid,
        "said to be supporting and contradicting": found.n_both,
    }
    print(f"{judge.n:,} units; " + ", ".join(f"{n:,} {what}" for what, n in counts.items()))


def _add_correctness(parser: argparse.ArgumentParser) -> None:
    add_name(parser)
    text = "a run of `answers judge SET --what correctness`, or of joined citations"
    parser.add_argument("--run", metavar="RUN", required=True, help=text)
    text = "of a judge that gives scores (--by cosine or nli), instead of its own"
    parser.add_argument("--threshold", type=float, metavar="X", help=text)
    add_json(parser)


def _correctness(args: argparse.Namespace) -> int:
    """How many sentences are borne out by a document."""
    from evidencebench_core.answers.correctness import correctness, joined_scores, said_in
    from evidencebench_core.answers.set_judging import judge_run

    store, info, answers = chosen_set(args)
    run = judge_run(store, info.sha256, args.run, "correctness", "joined")
    if run.settings["task"] == "joined":
        joined = joined_scores(answers, store, run)
        if args.json:
            print_json({"set": info.name, "settings": dict(run.settings), "systems": joined})
        else:
            print_joined(joined)
        return 0
    scores = correctness(answers, said_in(store, run, args.threshold))
    if args.json:
        systems = {name: asdict(of) for name, of in scores.items()}
        print_json({"set": info.name, "settings": dict(run.settings), "systems": systems})
    else:
        print_correctness(scores, run.settings)
    return 0


def print_correctness(scores: Mapping[str, Correctness], settings: Mapping[str, Any]) -> None:
    """The table of systems, and what must be said of the run."""
    rows = []
    for system, of in scores.items():
        counts = [f"{n:,}" for n in (of.n_sentences, of.n_unchecked, of.n_unread, of.n_missing)]
        mean, share = percent(of.mean), percent(of.share)
        rows.append((system, mean, interval(of.ci95), f"{of.n_answers:,}", share, *counts))
    columns = (
        "system", "correct %", "95%", "answers", "of all sentences %", "sentences", "nothing to check", "no label",
        "missing",
    )  # fmt: skip
    print_table(columns, rows, right=columns[1:])
    if n := settings.get("prefilter"):
        print(
            f"Of each sentence the judge was shown the {n} nearest windows at most, which can only lower its share."
        )


def print_joined(scores: Mapping[str, Mapping[str, Any]]) -> None:
    """ALCE's pair by system."""
    names = ("recall", "precision")
    rows = [
        (system, *(cell for name in names for cell in (percent(of[name]), f"{of[f'n_{name}']:,}")))
        for system, of in scores.items()
    ]
    columns = ("system", "citation recall %", "answers", "citation precision %", "with a citation")
    print_table(columns, rows, right=columns[1:])


ACTIONS: Final = {
    "score": ("score the systems of a set by MedAESQA's metrics", _add_score, _score),
    "rank": ("see whether two metrics, or people and a judge, rank the systems alike", _add_rank, _rank),
    "agree": ("measure a judge against people's labels", _add_agree, _agree),
    "correctness": ("how many sentences of each system a document bears out", _add_correctness, _correctness),
}
