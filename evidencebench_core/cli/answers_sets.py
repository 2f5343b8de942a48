"""``evidencebench answers ingest|list|show|mark|...``: sets of answers with citations."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import listing, note, print_json, print_table, print_wrapped, text_columns
from evidencebench_core.errors import SettingError, UnknownNameError, did_you_mean, shown
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.answers.model import AnswerSentence, AnswerSet
    from evidencebench_core.answers.store import AnswerSetInfo
    from evidencebench_core.data.store import Store


def add_name(parser: argparse.ArgumentParser) -> None:
    """The set's name."""
    parser.add_argument("name", metavar="SET", help="an answer set in the store")


def chosen_set(args: argparse.Namespace) -> tuple[Store, AnswerSetInfo, AnswerSet]:
    """The store, and the set that the command names."""
    from evidencebench_core.answers.store import answer_set_info, stored_answers

    store = store_of(args)
    info = answer_set_info(store, args.name)
    return store, info, stored_answers(store, info.name)


def judge_labels_of(
    store: Store, info: AnswerSetInfo, run_id: str, corrected: bool, threshold: float | None = None
) -> tuple[str, dict[str, str | None]]:
    """The task of a judge's run, and its labels by unit, with people's corrections where wanted."""
    from evidencebench_core.answers.judged import judge_labels
    from evidencebench_core.answers.store import marks
    from evidencebench_core.runs import ChatRuns

    run = ChatRuns(store).run(run_id)
    if run.subject != info.sha256:
        problem = f"does not judge the answer set {info.name}"
        raise UnknownNameError(f"run {run.id}", problem, "Name a run of `evidencebench answers judge` on it.")
    found = marks(store, info.sha256, "label") if corrected else []
    labels = judge_labels(store, run, [(mark.unit, mark.value) for mark in found], threshold)
    return str(run.settings["task"]), labels


def _add_ingest(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Bring answers into the store: JSON Lines (see evidencebench_core.answers.read), MedAESQA's main and cluster"
        " files, or the files of BioACE's two tasks. Files given together make one set."
    )
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*")
    text = "six invented questions, answered by three systems"
    parser.add_argument("--sample", action="store_true", help=text)
    parser.add_argument("--name", metavar="N", help="the set's name (default: the first file's)")
    text = "whose answers they are, where the file does not say"
    parser.add_argument("--system", metavar="S", default="", help=text)
    text = "a citation behind a full stop belongs to the sentence before it (default), or is dropped (trec)"
    parser.add_argument("--bracket", choices=("before", "trec"), default="before", help=text)
    parser.add_argument("--check", action="store_true", help="only print what is in the files")
    add_json(parser)


def _ingest(args: argparse.Namespace) -> int:
    """Ingest files; as JSON one object with ``counts``, and the set if it was kept."""
    from evidencebench_core.answers.read import SAMPLE, answer_set, counts, read_answers
    from evidencebench_core.answers.store import add_answers

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
    rows = [
        (info.name, *(f"{info.counts[name]:,}" for name in numbers), info.added_at[:10], info.source)
        for info in sets
    ]
    print_table(("name", *numbers, "added", "source"), rows, right=numbers)
    return 0


def _add_show(parser: argparse.ArgumentParser) -> None:
    add_name(parser)
    parser.add_argument("--question", metavar="Q", help="the question's id (default: the first)")
    parser.add_argument("--system", metavar="S", help="only this system's answer")
    text = "a judge's labels too (may be repeated)"
    parser.add_argument("--judge", metavar="RUN", action="append", default=[], help=text)
    parser.add_argument("--corrected", action="store_true", help="with the labels that people corrected")
    add_json(parser)


def _show(args: argparse.Namespace) -> int:
    """Print the answers to a question, with what people and judges said of each sentence and citation."""
    store, info, answers = chosen_set(args)
    question = next(iter(answers.questions)) if args.question is None else args.question
    wanted = {"question": (question, answers.questions), "system": (args.system, answers.systems)}
    for noun, (name, known) in wanted.items():
        if name is not None and name not in known:
            remedy = f"{did_you_mean(name, known)}There are: {listing(list(known), 30)}."
            raise UnknownNameError(f"{noun} {shown(name)}", f"is not in {args.name}", remedy)
    judged: dict[str, str | None] = {}
    for run in args.judge:
        judged |= judge_labels_of(store, info, run, args.corrected)[1]
    documents: list[dict[str, Any]] = [
        {
            "system": system,
            "accurate": answer.accurate,
            "sentences": [
                _sentence_document(answers, (asked, system), one, judged) for one in answer.sentences
            ],
        }
        for (asked, system), answer in answers.answers.items()
        if asked == question and args.system in (None, system)
    ]
    about = answers.questions[question]
    if args.json:
        own = {"question": about.text, "nuggets": about.nuggets, "reference": about.reference}
        print_json({"question_id": question, **own, "answers": documents})
        return 0
    print_wrapped(f"{question}: {about.text}", "", text_columns())
    for document in documents:
        said = {None: "", True: " (accurate)", False: " (inaccurate)"}[document["accurate"]]
        print(f"\n{one_line(document['system'])}{said}")
        for one in document["sentences"]:
            _print_sentence(one)
    return 0


def _sentence_document(
    answers: AnswerSet, key: tuple[str, str], sentence: AnswerSentence, judged: Mapping[str, str | None]
) -> dict[str, Any]:
    from evidencebench_core.answers.model import unit_id

    def with_judge(document: dict[str, Any], *parts: str) -> dict[str, Any]:
        unit = unit_id(*key, *parts)
        return {**document, "judged": judged[unit] or "no label"} if unit in judged else document

    citations = []
    for document in sentence.citations:
        found = answers.documents.get(document)
        said = [one for one in sentence.assessments if one.document == document]
        assessments = [{"relation": one.relation, "excerpt": one.excerpt} for one in said]
        cited = {"document": document, "title": found and found.title, "assessments": assessments}
        citations.append(with_judge(cited, sentence.id, document))
    own = {"id": sentence.id, "text": sentence.text, "relevance": sentence.relevance, "citations": citations}
    return with_judge(own, sentence.id)


def _print_sentence(sentence: dict[str, Any]) -> None:
    labels = [sentence["relevance"], f"judged {sentence['judged']}" if "judged" in sentence else None]
    said = "; ".join(filter(None, labels))
    text = f"{sentence['text']} ({said})" if said else sentence["text"]
    print_wrapped(text, f"  {sentence['id']}  ", text_columns())
    for cited in sentence["citations"]:
        parts = [": ".join(filter(None, (one["relation"], one["excerpt"]))) for one in cited["assessments"]]
        parts += [f"judged {cited['judged']}"] if "judged" in cited else []
        parts += ["not in the set"] if cited["title"] is None else []
        print_wrapped(f"{cited['document']}  {'; '.join(parts)}", "       ", text_columns())


def _add_published(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--table", metavar="T", help="only this table of the paper, 1 to 11, or text or code")
    add_json(parser)


def _published(args: argparse.Namespace) -> int:
    """The figures of the BioACE paper; none can be computed from the data that is public."""
    from evidencebench_core.answers.published import ALWAYS, published_figures

    figures = published_figures(args.table)
    if args.json:
        print_json({"always": ALWAYS, "figures": list(map(asdict, figures))})
        return 0
    columns = ("table", "component", "method", "metric", "setting", "value")
    print_table(columns, [[getattr(one, name) for name in columns] for one in figures], right=("value",))
    for line in ALWAYS:
        print(line)
    return 0


def _add_export(parser: argparse.ArgumentParser) -> None:
    add_name(parser)
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


def _add_extended(parser: argparse.ArgumentParser) -> None:
    add_name(parser)
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

    found = list(clusters_of(chosen_set(args)[2], args.model))
    return _keep_extended(args, found, "has no sentence that people called required")


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Fetch title and abstract of every cited PMID that the set has no text of from PubMed, and keep a new set with"
        " them. Nothing but these PMIDs is sent."
    )
    _add_extended(parser)
    text = "another service than NCBI's (also EVIDENCEBENCH_PUBMED)"
    parser.add_argument("--base-url", metavar="URL", help=text)


def _fetch(args: argparse.Namespace) -> int:
    """Keep a set with the abstracts of what it cites."""
    from evidencebench_core.answers.pubmed import documents_to_fetch, fetched_documents
    from evidencebench_core.cli.progress import progress_bar

    wanted = documents_to_fetch(chosen_set(args)[2])
    found = []
    with progress_bar(len(wanted), "documents") as bar:
        for line in fetched_documents(wanted, args.base_url):
            found.append(line)
            bar.update()
    note(f"PubMed has {len(found):,} of the {quantity(len(wanted), 'document')} that were missing.")
    return _keep_extended(args, found, "has no missing document that PubMed knows")


def _keep_extended(args: argparse.Namespace, lines: list[dict[str, Any]], nothing: str) -> int:
    """Keep a new set of the lines of one and these."""
    from evidencebench_core.answers.store import add_answers, answer_set_info, stored_lines

    place, store = f"answer set {args.name}", store_of(args)
    if not lines:
        raise SettingError(place, nothing, "It stays as it is.")
    placed = [(place, line) for line in stored_lines(store, args.name)] + [
        ("new lines", line) for line in lines
    ]
    source = f"{answer_set_info(store, args.name).source}, extended"
    info = add_answers(store, args.new, placed, source)
    if args.json:
        print_json(_document(info))
    else:
        print(one_line(f"{info.name}: {args.name} and {quantity(len(lines), 'line')} more."))
    return 0


def _add_mark(parser: argparse.ArgumentParser) -> None:
    what = "an answer set, the id of a run of `answers ask`, or a dataset whose answers were read in Browse"
    parser.add_argument("name", metavar="NAME", help=what)
    parser.add_argument("--what", choices=("label", "nuggets", "gold"), default="label")
    parser.add_argument("--unit", metavar="U", help="question/system/sentence, and /document for a citation")
    text = "the label, or same or different; none takes it back"
    parser.add_argument("--value", metavar="V", default="", help=text)
    parser.add_argument("--author", metavar="A", default="")
    add_json(parser)


def _mark(args: argparse.Namespace) -> int:
    """Correct a judge's label, or mark two nuggets; without ``--unit`` list what is marked."""
    from evidencebench_core.answers.store import Mark, add_mark, mark_subject, marks_document

    store = store_of(args)
    subject = mark_subject(store, args.name)
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
    add_name(parser)
    parser.add_argument("new", metavar="NEW", help="the name it gets")


def _rename(args: argparse.Namespace) -> int:
    """Rename; runs and marks stay with it."""
    from evidencebench_core.answers.store import rename_answers

    print(one_line(f"Renamed {args.name} to {rename_answers(store_of(args), args.name, args.new).name}."))
    return 0


def _add_delete(parser: argparse.ArgumentParser) -> None:
    add_name(parser)
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
    "cluster": ("cluster a set's sentences, for recall on your own answers", _add_cluster, _cluster),
    "fetch": ("fetch the abstracts that a set cites from PubMed", _add_fetch, _fetch),
    "published": ("print the figures of the BioACE paper", _add_published, _published),
    "mark": (
        "correct a label, mark nuggets as the same or different, or list what is marked",
        _add_mark,
        _mark,
    ),
    "export": ("write a set as JSON Lines", _add_export, _export),
    "rename": ("give a set another name", _add_rename, _rename),
    "delete": ("delete a set with its judges' runs and marks", _add_delete, _delete),
}
