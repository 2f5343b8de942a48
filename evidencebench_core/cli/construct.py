"""``evidencebench construct WHAT``: make instances of the benchmark's format."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, add_store, store_of
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.cli.progress import advance, progress_bar
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.construction import Trials, TrialTally
    from evidencebench_core.data.store import DatasetInfo, Store


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", metavar="WHAT", title="what to do", required=True)
    run = what.add_parser("run", help="make instances and bring them into the store", allow_abbrev=False)
    run.add_argument("folder", metavar="FOLDER", type=Path, help="what they are made from")
    run.add_argument(
        "--from",
        dest="source",
        choices=("evidence-inference",),
        required=True,
        help="what the folder is: `annotations` of github.com/jayded/evidence-inference",
    )
    run.add_argument("--name", metavar="N", required=True, help="the dataset's name")
    run.add_argument(
        "--keep-uncovered", action="store_true", help="also write the aspects that no sentence covers"
    )
    run.add_argument(
        "--pad",
        action="store_true",
        help="fill the selections of 10 and of 5 sentences up, as the released files do",
    )
    add_json(run)
    add_store(run, default=argparse.SUPPRESS)


def _construct(args: argparse.Namespace) -> int:
    """Make the instances; as JSON one object: ``dataset``, ``added`` and what was met and left out."""
    from evidencebench_core.construction import TrialTally, read_trials

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


def _document(trials: Trials, tally: TrialTally) -> dict[str, Any]:
    return {
        "n_rows": trials.n_rows,
        "n_papers": len(trials.articles),
        "n_prompts": tally.n_prompts,
        "n_quotes": tally.n_quotes,
        "n_quotes_found": tally.n_found,
        "sentences_a_quote": {str(n): times for n, times in sorted(tally.sentences.items()) if n},
        "n_labels_differ": tally.n_labels_differ,
        "n_long_hypotheses": tally.n_long,
        "licences": dict(tally.licences.most_common()),
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
    if tally.n_labels_differ:
        print(
            f"Prompts on whose answer the doctors differ: {tally.n_labels_differ:,}; the more frequent counts"
        )
    if tally.n_long:
        print(f"Hypotheses of 50 words or more: {tally.n_long:,}")
    for problem in (*trials.problems[:10], *tally.unread[:10]):
        note(problem)
    if (more := len(trials.problems) + len(tally.unread)) > 10:
        note(f"{more:,} such lines and papers in all: --json has them")


VERBS: Final = {"construct": (_add_arguments, _construct)}
