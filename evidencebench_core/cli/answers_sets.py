"""``evidencebench answers ingest|list|score|rank|agree|...``: sets of answers with citations."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import (
    interval,
    listing,
    note,
    percent,
    print_json,
    print_table,
    print_wrapped,
    text_columns,
)
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.answers.agreement import JudgeAgreement
    from evidencebench_core.answers.model import AnswerSentence, AnswerSet
    from evidencebench_core.answers.store import AnswerSetInfo
    from evidencebench_core.answers.systems import AnswerLabels, SystemScores
    from evidencebench_core.data.store import Store
    from evidencebench_core.stats import LabelAgreement, RankCorrelation

_RECALL_NOTE: Final = (
    "Recall R+B is not recall R plus something: each setting was clustered by itself, and an answer may have fewer"
    " R+B clusters than R clusters."
)
_ALWAYS: Final = {
    "relevance": "required",
    "citations": "supports",
}  # by task: what a judge who never looks says


def _add_ingest(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Bring answers into the store: JSON Lines (see evidencebench_core.answers.read), MedAESQA's main and cluster"
        " files, or the files of BioACE's two tasks. Files given together make one set."
    )
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*")
    parser.add_argument(
        "--sample", action="store_true", help="six invented questions, answered by three systems"
    )
    parser.add_argument("--name", metavar="N", help="the set's name (default: the first file's)")
    parser.add_argument(
        "--system", metavar="S", default="", help="whose answers they are, where the file does not say"
    )
    parser.add_argument(
        "--bracket",
        choices=("before", "trec"),
        default="before",
        help="a citation behind a full stop belongs to the sentence before it (default), or is dropped (trec)",
    )
    parser.add_argument("--check", action="store_true", help="only print what is in the files")
    add_json(parser)


def _ingest(args: argparse.Namespace) -> int:
    """Ingest files; as JSON one object with ``counts``, and the set if it was kept."""
    from evidencebench_core.answers.read import SAMPLE, answer_set, counts, read_answers
    from evidencebench_core.answers.store import add_answers
    from evidencebench_core.errors import SettingError

    files = [*args.files, *([SAMPLE] if args.sample else [])]
    if not files:
        raise SettingError("answers ingest", "has no file", "Name files, or give --sample.")
    lines = read_answers(files, args.system, args.bracket)
    found = counts(answer_set(lines))
    document: dict[str, Any] = {"counts": found}
    if not args.check:
        source = ", ".join(path.name for path in files)
        name = args.name or ("sample" if args.sample and not args.files else files[0].stem)
        document |= _document(add_answers(store_of(args), name, lines, source))
    if args.json:
        print_json(document)
        return 0
    print_table(("", "n"), [(name, f"{n:,}") for name, n in found.items() if n], right=("n",))
    if not args.check:
        print(one_line(f"The store has them as {document['name']}."))
    return 0


def _document(info: AnswerSetInfo) -> dict[str, Any]:
    names = ("name", "sha256", "source", "added_at")
    return {name: getattr(info, name) for name in names} | {"counts": dict(info.counts)}


def _list(args: argparse.Namespace) -> int:
    """List the answer sets in the store."""
    from evidencebench_core.answers.store import answer_sets

    store = store_of(args)
    sets = answer_sets(store)
    if args.json:
        print_json([_document(info) for info in sets])
        return 0
    if not sets:
        note(f"{store.path} has no answers yet. Bring some in with `evidencebench answers ingest FILE`.")
        return 0
    numbers = ("questions", "systems", "answers", "sentences", "citations", "documents")
    print_table(
        ("name", *numbers, "added", "source"),
        [
            (info.name, *(f"{info.counts[name]:,}" for name in numbers), info.added_at[:10], info.source)
            for info in sets
        ],
        right=numbers,
    )
    return 0


def _add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="SET", help="an answer set in the store")


def _add_scoring(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument(
        "--judge",
        metavar="RUN",
        action="append",
        default=[],
        help="labels of a judge's run instead of people's (may be repeated: relevance and citations)",
    )
    parser.add_argument("--corrected", action="store_true", help="with the labels that people corrected")
    parser.add_argument("--seed", type=int, default=0, help="of the intervals' draws (default: 0)")
    add_json(parser)


def _add_score(parser: argparse.ArgumentParser) -> None:
    _add_scoring(parser)
    parser.add_argument("--metric", metavar="M", help="one metric with intervals (default: the means of all)")
    parser.add_argument(
        "--official", action="store_true", help="0 for a share of nothing, as MedAESQA's script"
    )
    parser.add_argument(
        "--missing",
        choices=("report", "zero"),
        default="report",
        help="questions that a system has not answered: leave them out (report, the default), or score them 0",
    )


def _score(args: argparse.Namespace) -> int:
    """Score the systems of a set; as JSON one object with ``systems``: rows with interval, pooled value and counts."""
    from evidencebench_core.answers.systems import COUNTS
    from evidencebench_core.errors import SettingError

    store = store_of(args)
    scores = _scores(store, args, _labels(store, args), intervals=True)
    if not scores.metrics:
        raise SettingError(
            f"answer set {args.name}", "has nothing to score", "Bring labels, clusters or a judge's run."
        )
    rows = scores.table()
    if args.metric:
        scores.of(args.metric)  # an error where there is none
        rows = rows[rows["metric"] == args.metric]
    missing = scores.missing_answers()
    if args.json:
        numbers = rows.astype(object).where(rows.notna(), None)
        print_json({
            "answer_set": args.name, "judges": args.judge, "official": args.official, "missing": args.missing,
            "n_questions": len(scores.questions), "missing_answers": missing, "systems": numbers.to_dict("records"),
        })  # fmt: skip
        return 0
    if args.metric:
        _print_metric(rows.sort_values("mean", ascending=False, kind="stable"), args.metric in COUNTS)
    else:
        print_table(
            ("system", *scores.metrics),
            [
                (system, *(_mean(scores, place, s) for place in range(len(scores.metrics))))
                for s, system in enumerate(scores.systems)
            ],
            right=scores.metrics,
        )
        print(
            f"Means over {quantity(len(scores.questions), 'question')}, shares in percent; --metric M has intervals"
            " and counts."
        )
    for system, questions in missing.items():
        print(
            one_line(
                f"{system} has no answer to {quantity(len(questions), 'question')}: {listing(questions)}"
            )
        )
    if any(metric.startswith("recall R+B") for metric in scores.metrics):
        print(_RECALL_NOTE)
    return 0


def _mean(scores: SystemScores, place: int, system: int) -> str:
    from evidencebench_core.answers.systems import COUNTS

    return _number(float(scores.means[place, system]), scores.metrics[place] in COUNTS)


def _number(value: float, is_count: bool) -> str:
    return "–" if isnan(value) else f"{value:.2f}" if is_count else percent(value)


def _print_metric(rows: Any, is_count: bool) -> None:
    print_table(
        ("system", "mean", "95% interval", "pooled", "n", "undefined", "missing"),
        [
            (
                row.system,
                _number(row.mean, is_count),
                "–" if isnan(row.low) else f"{_number(row.low, is_count)} to {_number(row.high, is_count)}",
                _number(row.pooled, is_count),
                f"{row.n:,}",
                f"{row.n_undefined:,}",
                f"{row.n_missing:,}",
            )
            for row in rows.itertuples()
        ],
        right=("mean", "pooled", "n", "undefined", "missing"),
    )


def _scores(
    store: Store,
    args: argparse.Namespace,
    labels: Mapping[tuple[str, str], AnswerLabels] | None = None,
    intervals: bool = False,
) -> SystemScores:
    """The systems by labels of a judge, or of people."""
    import numpy as np

    from evidencebench_core.answers.store import stored_answers
    from evidencebench_core.answers.systems import system_scores

    return system_scores(
        stored_answers(store, args.name),
        labels,
        official=getattr(args, "official", False),
        missing=getattr(args, "missing", "report"),
        rng=np.random.default_rng(args.seed) if intervals else None,
    )


def _labels(
    store: Store, args: argparse.Namespace, always: bool = False
) -> dict[tuple[str, str], AnswerLabels] | None:
    """The labels of the judges that are named, or what one who never looks says of the same; without judges none."""
    from evidencebench_core.answers.store import stored_answers
    from evidencebench_core.answers.systems import judged_labels

    if not args.judge:
        return None
    by_task = dict(_judged(store, args, run) for run in args.judge)
    if always:
        by_task = {task: dict.fromkeys(units, _ALWAYS.get(task)) for task, units in by_task.items()}
    answers = stored_answers(store, args.name)
    return judged_labels(answers, by_task.get("relevance"), by_task.get("citations"))


def _judged(store: Store, args: argparse.Namespace, run_id: str) -> tuple[str, dict[str, str | None]]:
    """What a judge's run was asked about, and its labels by unit, with people's corrections where wanted."""
    from evidencebench_core.answers.judged import judge_labels
    from evidencebench_core.answers.store import answer_set_info, marks
    from evidencebench_core.errors import UnknownNameError
    from evidencebench_core.runs import ChatRuns

    run, info = ChatRuns(store).run(run_id), answer_set_info(store, args.name)
    if run.subject != info.sha256:
        problem = f"does not judge the answer set {args.name}"
        raise UnknownNameError(f"run {run.id}", problem, "Name a run of `evidencebench answers judge` on it.")
    found = marks(store, info.sha256, "label") if args.corrected else []
    labels = judge_labels(store, run, [(mark.unit, mark.value) for mark in found])
    return str(run.settings["task"]), labels


def _add_rank(parser: argparse.ArgumentParser) -> None:
    _add_scoring(parser)
    parser.add_argument("--by", metavar="M", required=True, help="a metric, such as coverage")
    parser.add_argument(
        "--against", metavar="M", help="another metric (default: the same one by the judge's labels)"
    )


def _rank(args: argparse.Namespace) -> int:
    """Rank the systems by two metrics, or by people and a judge; beside it the order that plain counting gives."""
    import numpy as np

    from evidencebench_core.answers.systems import COUNTS, ranking
    from evidencebench_core.errors import SettingError

    store = store_of(args)
    if not args.against and not args.judge:
        raise SettingError("answers rank", "has one ranking only", "Give --against METRIC, or --judge RUN.")
    people, against = _scores(store, args), args.against or args.by
    pairs = {against: (people, against)}
    if args.judge:
        pairs = {
            f"{against}, judged": (_scores(store, args, _labels(store, args)), against),
            f"{against}, by a judge who never looks": (
                _scores(store, args, _labels(store, args, always=True)),
                against,
            ),
        }
    pairs |= {
        f"number of {name}": (people, name) for name in COUNTS if name in people.metrics and name != against
    }
    found = {
        name: ranking(people, scores, args.by, metric, np.random.default_rng(args.seed))
        for name, (scores, metric) in pairs.items()
    }
    if args.json:
        print_json(
            {
                "answer_set": args.name,
                "by": args.by,
                "against": {n: _correlation(c) for n, c in found.items()},
            }
        )
        return 0
    print_table(
        (f"{args.by} against", "rho", "95% interval", "tau-b", "95% interval ", "systems", "questions"),
        [
            (
                name,
                *_shown(one.rho, one.rho_ci95),
                *_shown(one.tau, one.tau_ci95),
                f"{one.n_systems}",
                f"{one.n_questions}",
            )
            for name, one in found.items()
        ],
        right=("rho", "tau-b", "systems", "questions"),
    )
    return 0


def _correlation(one: RankCorrelation) -> dict[str, Any]:
    names = ("rho", "tau", "rho_ci95", "tau_ci95", "n_systems", "n_questions")
    return {name: list(value) if isinstance(value := getattr(one, name), tuple) else value for name in names}


def _shown(value: float | None, bounds: tuple[float, float] | None) -> tuple[str, str]:
    return (
        "–" if value is None else f"{value:.3f}",
        "–" if bounds is None else f"{bounds[0]:.3f} to {bounds[1]:.3f}",
    )


def _add_agree(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument("--run", metavar="RUN", required=True, help="a judge's run about the set")
    parser.add_argument(
        "--scale", choices=("binary", "ternary", "four"), help="of citations (default: the run's)"
    )
    parser.add_argument(
        "--precedence",
        choices=("support-first", "contradict-first"),
        default="support-first",
        help="one label for a citation about which people said several things",
    )
    parser.add_argument(
        "--unparsed",
        choices=("wrong", "leave_out"),
        default="wrong",
        help="a judgement without a label is wrong (default), or left out as in the paper's script",
    )
    parser.add_argument("--corrected", action="store_true", help="with the labels that people corrected")
    parser.add_argument("--seed", type=int, default=0, help="of the intervals' draws (default: 0)")
    add_json(parser)


def _agree(args: argparse.Namespace) -> int:
    """A judge's labels against people's, beside a judge that never looks; as JSON by system and question too."""
    import numpy as np

    from evidencebench_core.answers.agreement import judge_agreement
    from evidencebench_core.answers.store import stored_answers
    from evidencebench_core.errors import SettingError
    from evidencebench_core.runs import ChatRuns

    store = store_of(args)
    task, labels = _judged(store, args, args.run)
    if task not in ("relevance", "citations"):
        raise SettingError(
            f"run {args.run}", f"judges {task}, which people did not label", "Name another run."
        )
    own = ChatRuns(store).run(args.run).settings.get("scale", "ternary")
    found = judge_agreement(
        stored_answers(store, args.name),
        labels,
        "relevance" if task == "relevance" else args.scale or own,
        precedence=args.precedence,
        unparsed=args.unparsed,
        rng=np.random.default_rng(args.seed),
    )
    if args.json:
        print_json({"answer_set": args.name, "run": args.run, **found.as_dict()})
        return 0
    _print_agreement(found)
    return 0


def _print_agreement(found: JudgeAgreement) -> None:
    judge, constant = found.agreement, found.constant_agreement
    always = f"always {found.constant}"
    print_table(
        ("", "judge", "95% interval", always),
        [
            (name, percent(value), interval(judge.intervals[name]), percent(constant.values[name]))
            for name, value in judge.values.items()
        ],
        right=("judge", always),
    )
    print()
    print_table(
        (
            "people say",
            *(f"judged {label}" for label in judge.labels),
            "no label",
            "precision",
            "recall",
            "F1",
        ),
        [_label_row(judge, place) for place in range(len(judge.labels))],
        right=(*(f"judged {label}" for label in judge.labels), "no label", "precision", "recall", "F1"),
    )
    counts = {
        "without a judgement yet": found.n_missing,
        "judged without a label": found.n_unlabelled,
        "of documents without text, or sentences without words, not checked": found.n_unchecked,
        "of documents that there are not, left out": found.n_invalid,
        "said to be supporting and contradicting": found.n_both,
    }
    print(f"{judge.n:,} units; " + ", ".join(f"{n:,} {what}" for what, n in counts.items()))


def _label_row(found: LabelAgreement, place: int) -> tuple[str, ...]:
    label = found.labels[place]
    return label, *(f"{n:,}" for n in found.table[place]), *map(percent, found.by_label[label])


def _add_published(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--table", metavar="T", help="only this table of the paper, 1 to 11, or text or code")
    add_json(parser)


def _published(args: argparse.Namespace) -> int:
    """The figures of the BioACE paper; none can be computed from the data that is public."""
    from evidencebench_core.answers.published import ALWAYS, published_figures

    figures = published_figures(args.table)
    if args.json:
        print_json(
            {"always": ALWAYS, "figures": [{n: getattr(one, n) for n in one.__slots__} for one in figures]}
        )
        return 0
    print_table(
        ("table", "component", "method", "metric", "setting", "value"),
        [(one.table, one.component, one.method, one.metric, one.setting, one.value) for one in figures],
        right=("value",),
    )
    for line in ALWAYS:
        print(line)
    return 0


def _add_export(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument("file", metavar="FILE", type=Path, help="JSON Lines, as `answers ingest` reads them")


def _export(args: argparse.Namespace) -> int:
    """Write a set's lines as they came, with the sentences that answers were split into."""
    from evidencebench_core.answers.store import stored_lines
    from evidencebench_core.data.files import whole_file

    lines = stored_lines(store_of(args), args.name)
    with whole_file(args.file) as stream:
        stream.writelines(orjson.dumps(line) + b"\n" for line in lines)
    print(one_line(f"Wrote {quantity(len(lines), 'line')} to {args.file}."))
    return 0


def _add_show(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument("--question", metavar="Q", help="the question's id (default: the first)")
    parser.add_argument("--system", metavar="S", help="only this system's answer")
    parser.add_argument(
        "--judge", metavar="RUN", action="append", default=[], help="a judge's labels too (may be repeated)"
    )
    parser.add_argument("--corrected", action="store_true", help="with the labels that people corrected")
    add_json(parser)


def _show(args: argparse.Namespace) -> int:
    """Print the answers to a question, with what people and judges said of each sentence and citation."""
    from evidencebench_core.answers.store import stored_answers
    from evidencebench_core.errors import UnknownNameError, did_you_mean, shown

    store = store_of(args)
    answers = stored_answers(store, args.name)
    question = next(iter(answers.questions)) if args.question is None else args.question
    wanted = {"question": (question, answers.questions), "system": (args.system, answers.systems)}
    for noun, (name, known) in wanted.items():
        if name is not None and name not in known:
            remedy = f"{did_you_mean(name, known)}There are: {listing(list(known), 30)}."
            raise UnknownNameError(f"{noun} {shown(name)}", f"is not in {args.name}", remedy)
    judged = {unit: label for run in args.judge for unit, label in _judged(store, args, run)[1].items()}
    systems = {
        system: [_sentence_document(answers, (question, system), one, judged) for one in answer.sentences]
        for (asked, system), answer in answers.answers.items()
        if asked == question and args.system in (None, system)
    }
    about = answers.questions[question]
    if args.json:
        print_json({
            "question_id": question, "question": about.text, "nuggets": about.nuggets, "reference": about.reference,
            "answers": [
                {"system": system, "accurate": answers.answers[question, system].accurate, "sentences": sentences}
                for system, sentences in systems.items()
            ],
        })  # fmt: skip
        return 0
    print_wrapped(f"{question}: {about.text}", "", text_columns())
    for system, sentences in systems.items():
        accurate = answers.answers[question, system].accurate
        said = "" if accurate is None else f" ({'accurate' if accurate else 'inaccurate'})"
        print(f"\n{one_line(system)}{said}")
        for one in sentences:
            _print_sentence(one)
    return 0


def _sentence_document(
    answers: AnswerSet, key: tuple[str, str], sentence: AnswerSentence, judged: Mapping[str, str | None]
) -> dict[str, Any]:
    from evidencebench_core.answers.model import unit_id

    def with_judge(document: dict[str, Any], *parts: str) -> dict[str, Any]:
        unit = unit_id(*key, *parts)
        return {**document, "judged": judged[unit] or "no label"} if unit in judged else document

    citations = [
        with_judge(
            {
                "document": document,
                "title": answers.documents[document].title if document in answers.documents else None,
                "assessments": [
                    {"relation": one.relation, "excerpt": one.excerpt}
                    for one in sentence.assessments
                    if one.document == document
                ],
            },
            sentence.id,
            document,
        )
        for document in sentence.citations
    ]
    own = {"id": sentence.id, "text": sentence.text, "relevance": sentence.relevance, "citations": citations}
    return with_judge(own, sentence.id)


def _print_sentence(sentence: dict[str, Any]) -> None:
    labels = [sentence["relevance"], f"judged {sentence['judged']}" if "judged" in sentence else None]
    said = "; ".join(filter(None, labels))
    print_wrapped(
        f"{sentence['text']}{f' ({said})' if said else ''}", f"  {sentence['id']}  ", text_columns()
    )
    for cited in sentence["citations"]:
        parts = [
            f"{one['relation']}{': ' if one['excerpt'] else ''}{one['excerpt']}"
            for one in cited["assessments"]
        ]
        parts += [f"judged {cited['judged']}"] if "judged" in cited else []
        parts += ["not in the set"] if cited["title"] is None else []
        print_wrapped(f"{cited['document']}  {'; '.join(parts)}", "       ", text_columns())


def _add_extended(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument("--name", dest="new", metavar="NEW", required=True, help="what the new set is called")
    add_json(parser)


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Put the relevant sentences of each question, of all systems, into at most ten clusters that say the same, and"
        " keep a new set with them: recall is scored on it. With another system all recalls change, so cluster again."
    )
    _add_extended(parser)
    parser.add_argument("--model", metavar="M", default="minilm", help="an embedding model (default: minilm)")


def _cluster(args: argparse.Namespace) -> int:
    """Keep a set with clusters of its sentences."""
    from evidencebench_core.answers.clusters import clusters_of
    from evidencebench_core.answers.store import stored_answers

    answers = stored_answers(store_of(args), args.name)
    return _extended(
        args, list(clusters_of(answers, args.model)), "There are no sentences that people called required."
    )


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Fetch title and abstract of every cited PMID that the set has no text of from PubMed, and keep a new set with"
        " them. Nothing but these PMIDs is sent."
    )
    _add_extended(parser)
    parser.add_argument(
        "--base-url", metavar="URL", help="another service than NCBI's (also EVIDENCEBENCH_PUBMED)"
    )


def _fetch(args: argparse.Namespace) -> int:
    """Keep a set with the abstracts of what it cites."""
    from evidencebench_core.answers.pubmed import documents_to_fetch, fetched_documents
    from evidencebench_core.answers.store import stored_answers
    from evidencebench_core.cli.progress import progress_bar

    wanted = documents_to_fetch(stored_answers(store_of(args), args.name))
    found = []
    with progress_bar(len(wanted), "documents") as bar:
        for line in fetched_documents(wanted, args.base_url):
            found.append(line)
            bar.update()
    note(f"PubMed has {len(found):,} of the {quantity(len(wanted), 'document')} that were missing.")
    return _extended(args, found, "has no missing document that PubMed knows")


def _extended(args: argparse.Namespace, lines: list[dict[str, Any]], nothing: str) -> int:
    """Keep a new set of the lines of one and these."""
    from evidencebench_core.answers.store import add_answers, answer_set_info, stored_lines
    from evidencebench_core.errors import SettingError

    if not lines:
        raise SettingError(f"answer set {args.name}", nothing, "It stays as it is.")
    store = store_of(args)
    before = [(f"answer set {args.name}", line) for line in stored_lines(store, args.name)]
    source = f"{answer_set_info(store, args.name).source}, extended"
    info = add_answers(store, args.new, [*before, *(("new lines", line) for line in lines)], source)
    if args.json:
        print_json(_document(info))
    else:
        print(one_line(f"{info.name}: {args.name} and {quantity(len(lines), 'line')} more."))
    return 0


def _add_mark(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument("--what", choices=("label", "nuggets", "gold"), default="label")
    parser.add_argument("--unit", metavar="U", help="question/system/sentence, and /document for a citation")
    parser.add_argument(
        "--value", metavar="V", default="", help="the label, or same or different; none takes it back"
    )
    parser.add_argument("--author", metavar="A", default="")
    add_json(parser)


def _mark(args: argparse.Namespace) -> int:
    """Correct a judge's label, or mark two nuggets; without ``--unit`` list what is marked."""
    from evidencebench_core.answers.store import Mark, add_mark, answer_set_info, marks_document

    store = store_of(args)
    subject = answer_set_info(store, args.name).sha256
    if args.unit:
        add_mark(store, subject, Mark(args.what, args.unit, args.value, args.author))
    document = marks_document(store, subject)
    if args.json:
        print_json(document)
        return 0
    names = ("what", "unit", "value", "author", "created_at")
    print_table(names, [tuple(str(one[name]) for name in names) for one in document["marks"]])
    return 0


def _add_rename(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument("new", metavar="NEW", help="the name it gets")


def _rename(args: argparse.Namespace) -> int:
    """Rename; runs and marks stay with it."""
    from evidencebench_core.answers.store import rename_answers

    print(one_line(f"Renamed {args.name} to {rename_answers(store_of(args), args.name, args.new).name}."))
    return 0


def _add_delete(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument("--yes", action="store_true", help="delete it; without this, only say what would go")


def _delete(args: argparse.Namespace) -> int:
    """Delete with its judges' runs and marks; without ``--yes`` nothing is deleted."""
    from evidencebench_core.answers.store import answer_set_info, delete_answers, marks
    from evidencebench_core.runs import ChatRuns

    store = store_of(args)
    info = answer_set_info(store, args.name)
    n_runs, n_marks = len(ChatRuns(store).runs(subject=info.sha256)), len(marks(store, info.sha256))
    what = f"{args.name} with {quantity(n_runs, 'run')} and {quantity(n_marks, 'mark')}"
    if not args.yes:
        print(one_line(f"{what} would be deleted."))
        note("Nothing was deleted: repeat it with --yes.")
        return 1
    delete_answers(store, args.name)
    print(one_line(f"Deleted {what}."))
    return 0


ACTIONS: Final = {
    "ingest": ("bring answers, documents and people's labels into the store", _add_ingest, _ingest),
    "list": ("list the answer sets in the store", add_json, _list),
    "show": ("print answers with what was said of each sentence and citation", _add_show, _show),
    "score": ("score the systems of a set by MedAESQA's metrics", _add_score, _score),
    "rank": ("see whether two metrics, or people and a judge, rank the systems alike", _add_rank, _rank),
    "agree": ("measure a judge against people's labels", _add_agree, _agree),
    "cluster": ("cluster a set's sentences, for recall on your own answers", _add_cluster, _cluster),
    "fetch": ("fetch the abstracts that a set cites from PubMed", _add_fetch, _fetch),
    "published": ("print the figures of the BioACE paper", _add_published, _published),
    "mark": ("correct a judge's label, or mark nuggets as the same or different", _add_mark, _mark),
    "export": ("write a set as JSON Lines", _add_export, _export),
    "rename": ("give a set another name", _add_rename, _rename),
    "delete": ("delete a set with its judges' runs and marks", _add_delete, _delete),
}
