"""``evidencebench construct WHAT``: make instances of the benchmark's format, and measure a model that aligns."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, add_settings, add_store, positive, store_of
from evidencebench_core.cli.asking import (
    add_engine,
    engine_of,
    executed,
    print_cost,
    print_written,
    written_files,
)
from evidencebench_core.cli.construct_builds import (
    add_build_arguments,
    add_delete_arguments,
    add_status_arguments,
    check_run_arguments,
    delete,
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
from evidencebench_core.cli.output import interval, note, p_value, percent, print_json, print_table
from evidencebench_core.cli.progress import advance, progress_bar
from evidencebench_core.cli.spending import add_server, server_llm
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.errors import SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.construction import AlignmentFigures, Trials, TrialTally
    from evidencebench_core.data.store import DatasetInfo, Store


_JATS: Final = frozenset({".xml", ".nxml"})


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e12:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


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
    cost = what.add_parser("cost", help="what aligning so many papers takes, by formulas", allow_abbrev=False)
    cost.add_argument("--papers", type=positive, metavar="N", default=107_461, help="(default: %(default)s)")
    cost.add_argument(
        "--sentences", type=positive, metavar="N", default=168, help="a paper (default: %(default)s)"
    )
    cost.add_argument(
        "--aspects", type=_number, metavar="A", default=9.5, help="a paper (default: %(default)s)"
    )
    cost.add_argument(
        "--kept",
        type=_number,
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
    gap = what.add_parser(
        "gap", help="is a model as like two teams of people as they are like each other?", allow_abbrev=False
    )
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
    align = what.add_parser(
        "align", help="have a model say which sentences cover the aspects of a dataset", allow_abbrev=False
    )
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
    add_settings(align, "temperature, max_tokens, reasoning_effort or extra_body")
    add_server(align)
    add_engine(align, embeddings=False)
    add_json(align)
    add_store(align, default=argparse.SUPPRESS)


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
    """What a folder holds; anything else is itself."""
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


def _align(args: argparse.Namespace) -> int:
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
    (last,) = executed([planned], engine, args, "look")
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
    if last.failed or found.n_judged < found.n_aspects:
        n_open = found.n_aspects - found.n_judged
        note(
            f"evidencebench: {quantity(n_open, 'aspect')} not judged; a missing look is no no."
            " Give the same command again, with --retry-lost for answers that could not be read."
        )
        return 1
    return 0


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
            f"Prompts on whose answer the doctors differ: {tally.n_labels_differ:,}; the more frequent counts"
        )
    if tally.n_long:
        print(f"Hypotheses of 50 words or more: {tally.n_long:,}")
    for problem in (*trials.problems[:10], *tally.unread[:10]):
        note(problem)
    if (more := len(trials.problems) + len(tally.unread)) > 10:
        note(f"{more:,} such lines and papers in all: --json has them")


def _cost(args: argparse.Namespace) -> int:
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


def _gap(args: argparse.Namespace) -> int:
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
    return 0


_ACTIONS: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    "run": _run,
    "list": list_builds,
    "accept": accept,
    "reject": reject,
    "write": write,
    "status": status,
    "delete": delete,
    "align": _align,
    "harvest": _harvest,
    "cost": _cost,
    "gap": _gap,
    "quality": quality,
}
VERBS: Final = {"construct": (_add_arguments, _construct)}
