"""``evidencebench construct WHAT``: make instances of the benchmark's format, and measure a model that aligns."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, add_store, store_of
from evidencebench_core.cli.construct_align import (
    add_align_arguments,
    add_cost_arguments,
    add_gap_arguments,
    add_stances_arguments,
    align,
    cost,
    gap,
    stances,
)
from evidencebench_core.cli.construct_builds import (
    add_build_arguments,
    add_delete_arguments,
    add_rename_arguments,
    add_status_arguments,
    check_run_arguments,
    delete,
    rename,
    run_builds,
    status,
)
from evidencebench_core.cli.construct_quality import add_quality_arguments, quality
from evidencebench_core.cli.construct_review import (
    accept,
    add_decide_arguments,
    add_list_arguments,
    add_write_arguments,
    list_builds,
    reject,
    write,
)
from evidencebench_core.cli.output import interval, note, percent, print_json
from evidencebench_core.cli.progress import advance, progress_bar
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.errors import SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.construction import Trials, TrialTally
    from evidencebench_core.data.store import DatasetInfo, Store


_JATS: Final = frozenset({".xml", ".nxml"})


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", metavar="WHAT", title="what to do", required=True)
    run = what.add_parser("run", help="make instances, or go on with them", allow_abbrev=False)
    run.add_argument(
        "folder",
        metavar="FILE",
        type=Path,
        nargs="?",
        help="JSON lines or CSV with id, paper and summary, or a folder of papers with NAME.summary.txt beside;"
        " without it what is there goes on",
    )
    run.add_argument(
        "--from",
        dest="source",
        choices=("evidence-inference",),
        help="the folder is `annotations` of github.com/jayded/evidence-inference: no model is asked",
    )
    run.add_argument("--name", metavar="N", required=True, help="what it is called")
    run.add_argument(
        "--keep-uncovered", action="store_true", help="also write the aspects that no sentence covers"
    )
    run.add_argument(
        "--pad",
        action="store_true",
        help="fill the selections of 10 and of 5 sentences up, as the released files do",
    )
    add_build_arguments(run)
    add_json(run)
    add_store(run, default=argparse.SUPPRESS)
    how_far = what.add_parser("status", help="how many builds are how far", allow_abbrev=False)
    add_status_arguments(how_far)
    worth = what.add_parser(
        "quality",
        help="what a construction or a dataset is worth, and sheets that people fill in",
        allow_abbrev=False,
    )
    add_quality_arguments(worth)
    add_rename_arguments(what.add_parser("rename", help="give builds another name", allow_abbrev=False))
    add_delete_arguments(
        what.add_parser("delete", help="delete builds and what came of them", allow_abbrev=False)
    )
    add_list_arguments(
        what.add_parser("list", help="list builds and what is left to decide", allow_abbrev=False)
    )
    add_decide_arguments(what.add_parser("accept", help="accept what a model proposed", allow_abbrev=False))
    add_decide_arguments(what.add_parser("reject", help="drop builds, or parts of them", allow_abbrev=False))
    add_write_arguments(
        what.add_parser("write", help="write decided builds as a dataset file", allow_abbrev=False)
    )
    reviews = what.add_parser(
        "harvest", help="list the citations of reviews that instances can be made from", allow_abbrev=False
    )
    reviews.add_argument(
        "reviews",
        metavar="REVIEW",
        nargs="+",
        help="JATS files of reviews, folders of them, or PMC ids, PubMed ids or DOIs, which Europe PMC is asked for",
    )
    reviews.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="where to write them, as JSON lines"
    )
    add_json(reviews)
    add_align_arguments(
        what.add_parser(
            "align",
            help="have a model say which sentences cover the aspects of a dataset",
            allow_abbrev=False,
        )
    )
    add_stances_arguments(
        what.add_parser(
            "stances", help="have a model say which aspects support the hypothesis", allow_abbrev=False
        )
    )
    add_gap_arguments(
        what.add_parser(
            "gap",
            help="is a model as like two teams of people as they are like each other?",
            allow_abbrev=False,
        )
    )
    add_cost_arguments(
        what.add_parser("cost", help="what aligning so many papers takes, by formulas", allow_abbrev=False)
    )


def _construct(args: argparse.Namespace) -> int:
    return _ACTIONS[args.what](args)


def _run(args: argparse.Namespace) -> int:
    """Make the instances; as JSON one object: ``dataset``, ``added`` and what was met and left out."""
    check_run_arguments(args)
    if args.source is None:
        return run_builds(args)
    from evidencebench_core.construction import TrialTally, read_trials

    if args.folder is None:
        raise SettingError("FILE", "is not named", "Name the folder of annotations.")
    store, tally = store_of(args), TrialTally()
    trials = read_trials(args.folder)
    dataset, added = _ingested(store, args, trials, tally)
    document = _document(trials, tally) | {"dataset": dataset.name, "added": added}
    if args.json:
        print_json(document)
        return 0
    _print(document, trials, tally)
    print(one_line(f"{'Made' if added else 'The store has it already:'} the dataset {dataset.name}."))
    print(SUFFICIENT_NOTE)
    return 0


def _ingested(
    store: Store, args: argparse.Namespace, trials: Trials, tally: TrialTally
) -> tuple[DatasetInfo, bool]:
    """The dataset in the store, by way of a file in the benchmark's format."""
    from evidencebench_core.construction import trial_instances
    from evidencebench_core.data.ingest import check_dataset_name, ingest
    from evidencebench_core.export.dataset import write_benchmark

    check_dataset_name(args.name)
    writing = {"keep_uncovered": args.keep_uncovered, "pad": args.pad}
    with tempfile.TemporaryDirectory(prefix="evidencebench-") as folder:
        path = Path(folder) / "instances.json"
        with path.open("wb") as stream, progress_bar(len(trials.articles), "papers") as bar:
            raws = trial_instances(
                trials, args.name, tally, lambda done, total: advance(bar, done, total), **writing
            )
            write_benchmark(raws, stream)
        result = ingest(store, path, args.name, source=f"Evidence Inference, {args.folder.resolve()}")
    return result.dataset, result.added


def _harvest(args: argparse.Namespace) -> int:
    """Harvest reviews; as JSON one object: ``in``, ``kept``, ``dropped``, ``skipped``, ``unread`` and ``out``."""
    from evidencebench_core.construction import harvest
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.errors import EvidenceBenchError
    from evidencebench_core.papers.citations import citing_article

    reviews = [one for said in args.reviews for one in _reviews(said)]
    lines: list[str] = []
    dropped, skipped = Counter[str](), Counter[str]()
    unread: list[str] = []
    for review in reviews:
        try:
            found = harvest(citing_article(*_review_file(review)))
        except EvidenceBenchError as error:
            unread.append(str(error))
            continue
        lines += [json.dumps(one.as_dict()) for one in found.citations]
        dropped.update(found.dropped)
        skipped.update(found.skipped)
    with whole_file(args.out) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode())
    if args.json:
        counts = {"in": len(lines) + dropped.total(), "kept": len(lines), "dropped": dict(dropped)}
        print_json(counts | {"skipped": dict(skipped), "unread": unread, "out": str(args.out)})
    else:
        total = len(lines) + dropped.total()
        read = quantity(len(reviews) - len(unread), "review")
        print(one_line(f"{len(lines):,} of {quantity(total, 'citation')} of {read} are in {args.out}"))
        for reason, number in (*dropped.most_common(), *skipped.most_common()):
            print(
                one_line(
                    f"  {'dropped' if reason in dropped else 'not read'}, {reason.replace('_', ' ')}: {number:,}"
                )
            )
        for problem in unread[:10]:
            note(problem)
    return 1 if unread and len(unread) == len(reviews) else 0


def _reviews(said: str) -> list[str]:
    """The files of a folder; anything else is itself."""
    folder = Path(said)
    return (
        sorted(map(str, filter(lambda one: one.suffix in _JATS, folder.iterdir())))
        if folder.is_dir()
        else [said]
    )


def _review_file(said: str) -> tuple[bytes, str]:
    """The JATS of a review and its name, by a path, or by an id from Europe PMC."""
    from evidencebench_core.data.files import file_content
    from evidencebench_core.errors import PaperError
    from evidencebench_core.papers import DEFAULT_LIMITS
    from evidencebench_core.papers.europe_pmc import fetched_paper, reference_of

    path = Path(said)
    if not path.is_file():
        try:
            reference_of(said)
        except PaperError:
            pass  # a file that is not there: say so
        else:
            fetched = fetched_paper(said)
            return fetched.content, fetched.name
    return file_content(
        path, DEFAULT_LIMITS.max_bytes, "Name a JATS file, a PMC id, a PubMed id or a DOI."
    ), path.name


def _document(trials: Trials, tally: TrialTally) -> dict[str, Any]:
    from evidencebench_core.construction import doctors_agreement
    from evidencebench_core.papers.licence import strictest

    return {
        "n_rows": trials.n_rows,
        "n_papers": len(trials.articles),
        "n_prompts": tally.n_prompts,
        "n_quotes": tally.n_quotes,
        "n_quotes_found": tally.n_found,
        "sentences_a_quote": {str(n): times for n, times in sorted(tally.sentences.items()) if n},
        "n_labels_differ": tally.n_labels_differ,
        "doctors": doctors_agreement(tally.quoted, tally.labels, tally.article_of),
        "n_long_hypotheses": tally.n_long,
        "licences": dict(tally.licences.most_common()),
        "licence": strictest(one for one in tally.licences if one),
        "instances": tally.instances.as_dict(),
        "unread": tally.unread,
        "problems": list(trials.problems),
    }


def _print(document: dict[str, Any], trials: Trials, tally: TrialTally) -> None:
    def share(part: int, whole: int) -> str:
        return f"{part:,} of {whole:,} ({100 * part / whole:.1f}%)" if whole else "0 of 0"

    print(
        f"{quantity(tally.n_prompts, 'prompt')} of {quantity(len(trials.articles), 'paper')};"
        f" quotes found in the text: {share(tally.n_found, tally.n_quotes)}"
    )
    funnel = tally.instances
    print(f"Instances: {share(funnel.n_kept, funnel.n_in)} comparisons kept")
    for reason, number in document["instances"]["dropped"].items():
        print(f"  dropped, {reason.replace('_', ' ')}: {number:,}")
    print(f"Licence of the strictest paper, and so of a file of them: {document['licence'] or 'none'}")
    doctors = document["doctors"]
    label, sentence = doctors["same_label"], doctors["common_sentence"]
    if doctors["n_pairs"]:
        print(
            f"Two doctors on one prompt, {doctors['n_pairs']:,} times: the same answer in {percent(label['value'])} %,"
            f" a common sentence in {percent(sentence['value'])} % ({interval(sentence['ci95'])}) of"
            f" {doctors['n_with_sentences']:,}"
        )
    if tally.n_labels_differ:
        print(
            f"Prompts on whose answer the doctors differ: {tally.n_labels_differ:,}; the more frequent counts,"
            " of a tie the first"
        )
    if tally.n_long:
        print(f"Hypotheses of 50 words or more: {tally.n_long:,}")
    for problem in (*trials.problems[:10], *tally.unread[:10]):
        note(problem)
    if (more := len(trials.problems) + len(tally.unread)) > 10:
        note(f"{more:,} such lines and papers in all: --json has them")


_ACTIONS: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    "run": _run,
    "list": list_builds,
    "accept": accept,
    "reject": reject,
    "write": write,
    "status": status,
    "delete": delete,
    "rename": rename,
    "align": align,
    "harvest": _harvest,
    "cost": cost,
    "gap": gap,
    "stances": stances,
    "quality": quality,
}
VERBS: Final = {"construct": (_add_arguments, _construct)}
