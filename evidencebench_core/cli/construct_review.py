"""``construct list``, ``accept``, ``reject`` and ``write``: what people decide of builds, and what they come to."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidencebench_core.cli.arguments import add_json, add_store, store_of
from evidencebench_core.cli.output import note, print_json, print_table
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.words import clipped_text, one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.construction.cost import StageRun
    from evidencebench_core.construction.decisions import Decision
    from evidencebench_core.construction.pipeline import Construction
    from evidencebench_core.construction.review import Review
    from evidencebench_core.construction.write import WriteTally


def add_list_arguments(listing: argparse.ArgumentParser) -> None:
    listing.add_argument("name", metavar="N", help="the construction")
    listing.add_argument(
        "ids", metavar="ID", nargs="*", help="builds whose items are listed; else all builds are"
    )
    listing.add_argument("--left", action="store_true", help="only what is left to decide")
    add_json(listing)
    add_store(listing, default=argparse.SUPPRESS)


def add_decide_arguments(decide: argparse.ArgumentParser) -> None:
    """Of ``accept`` and ``reject``."""
    decide.add_argument("name", metavar="N", help="the construction")
    decide.add_argument(
        "ids",
        metavar="ID",
        nargs="+",
        help="builds, 'all', or items of builds: BUILD/mark:2:17, BUILD/aspect:2; BUILD/result:2 accepts the model's"
        " label (a result, where it has none) or rejects it for the other",
    )
    decide.add_argument("--by", metavar="WHO", required=True, help="who decides")
    decide.add_argument(
        "--blind",
        action="store_true",
        help="who decides marked the paper before seeing what a model proposed",
    )
    add_json(decide)
    add_store(decide, default=argparse.SUPPRESS)


def list_builds(args: argparse.Namespace) -> int:
    """List builds, and under them what people differ on, or the items of some; as JSON a list of objects."""
    _, reviews = _reviews(args, args.ids)
    headers: tuple[str, ...] = ("build", "stage", "status", "left", "stale", "by", "hypothesis")
    if args.ids:
        headers = ("build", "item", "decided", "text")
        rows = [row for review in reviews for row in _items(review, args.left)]
    else:
        rows = [row for review in reviews if (row := _row(review))["left"] or not args.left]
    if args.json:
        print_json(rows)
        return 0
    cells = [tuple(clipped_text(one_line(str(row[name])), 70) for name in headers) for row in rows]
    print_table(headers, cells, right=("left", "stale"))
    for row in [] if args.ids else rows:
        if row["disagreements"]:
            print(one_line(f"{row['build']}: people differ on {', '.join(row['disagreements'])}"))
    return 0


def accept(args: argparse.Namespace) -> int:
    """Accept all that is open of builds, or items by name; as JSON ``decided`` and ``left``, counts."""
    from evidencebench_core.construction.review import accepted

    return _decided(args, "accept", lambda review: accepted(review, args.by, _mode(args)))


def reject(args: argparse.Namespace) -> int:
    """Drop builds, or reject items of them by name; as JSON ``decided`` and ``left``, counts."""
    from evidencebench_core.construction.decisions import Decision

    return _decided(
        args, "reject", lambda review: (Decision(review.state.id, "build", "reject", args.by, _mode(args)),)
    )


def _decided(args: argparse.Namespace, verdict: Any, of_build: Any) -> int:
    from evidencebench_core.construction.decisions import add_decisions, is_item, is_person
    from evidencebench_core.construction.review import decision_on

    if not is_person(args.by):
        remedy = "Say who you are: model: and rule: are for what is no person, and decides nothing."
        raise SettingError("--by", f"is {shown(args.by)}", remedy)
    named: dict[str, list[str]] = {}
    for one in args.ids:
        build, _, item = one.rpartition("/")
        if build and is_item(item):
            named.setdefault(build, []).append(item)
        else:
            named.setdefault(one, []).append("")
    made, reviews = _reviews(args, () if "all" in named else tuple(named))
    found: list[Decision] = []
    left = 0
    for review in reviews:
        items = named.get(review.state.id, named.get("all", [""]))
        of_this: list[Decision] = [*of_build(review)] if "" in items else []
        of_this += (decision_on(review, item, verdict, args.by, _mode(args)) for item in filter(None, items))
        found += of_this
        left += len(review.after(of_this).open_items)
    add_decisions(made.store, made.name, found)
    if args.json:
        print_json({"decided": len(found), "left": left})
    else:
        print(f"{quantity(len(found), 'decision')} kept; {quantity(left, 'item')} left to decide")
    return 0


def _mode(args: argparse.Namespace) -> Any:
    return "blind" if args.blind else "assisted"


def _reviews(args: argparse.Namespace, ids: Sequence[str]) -> tuple[Construction, Iterator[Review]]:
    """Of the builds that are named, or of all."""
    from evidencebench_core.construction.pipeline import construction

    made = construction(store_of(args), args.name)
    known = set(made.ids())
    if unknown := [one for one in ids if one not in known]:
        raise SettingError(
            f"build {unknown[0]}", f"is not in {args.name}", f"See: construct list {args.name}."
        )
    return made, made.reviews(ids or None)


def _row(review: Review) -> dict[str, Any]:
    at, said = review.state.position, review.reviewed
    left = len(review.open_items) if at.status == "kept" else 0
    return {
        "build": review.state.id, "stage": at.stage, "status": at.reason or at.status, "left": left,
        "stale": len(review.stale), "by": said.by, "mode": said.mode, "hypothesis": review.state.hypothesis,
        "disagreements": list(review.disagreements),
    }  # fmt: skip


def _items(review: Review, left: bool) -> Iterator[dict[str, Any]]:
    still = set(review.open_items)
    texts = {one.item: one.text for one in review.proposals}
    for item in dict.fromkeys((*texts, *review.newest, *still)):
        if item in still or not left:
            verdict = review.verdict(item) or ("open" if item in still else "")
            yield {"build": review.state.id, "item": item, "decided": verdict, "text": texts.get(item, "")}


def add_write_arguments(write: argparse.ArgumentParser) -> None:
    write.add_argument("name", metavar="N", help="the construction")
    write.add_argument("--out", metavar="F.json", type=Path, required=True, help="the file to write")
    write.add_argument("--unreviewed", action="store_true", help="take what nobody has decided, too")
    write.add_argument("--own-texts", action="store_true", help="write texts of reviews: they are yours")
    write.add_argument(
        "--keep-uncovered", action="store_true", help="write aspects that no sentence covers, too"
    )
    write.add_argument(
        "--pad", action="store_true", help="fill the selections of 10 and 5 as the released files do"
    )
    write.add_argument(
        "--split", metavar="A=.8,B=.2", type=_shares, help="a file a part, F.A.json and on; no paper in two"
    )
    write.add_argument(
        "--by-review", action="store_true", help="with --split: no review in two parts, either"
    )
    write.add_argument("--seed", type=int, default=0, metavar="S", help="of the split (default: 0)")
    write.add_argument(
        "--exclude", metavar="DATASET", action="append", default=[], help="leave out papers of this dataset"
    )
    add_json(write)
    add_store(write, default=argparse.SUPPRESS)


def write(args: argparse.Namespace) -> int:
    """Write them; as JSON one object: ``builds, written, left_out, licence`` and the ``files``."""
    from evidencebench_core.construction.pipeline import construction
    from evidencebench_core.construction.write import WriteTally, written_instances
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export.dataset import write_benchmark
    from evidencebench_core.papers.licence import strictest

    if args.by_review and not args.split:
        raise SettingError(
            "--by-review", "is given without --split", "Say how to split: --split train=.8,test=.2."
        )
    store = store_of(args)
    made, tally = construction(store, args.name), WriteTally()
    excluded = {one.paper_id for name in args.exclude for one in store.iter(name)}
    paper_of = made.paper_ids()
    papers = frozenset(paper_of.values()) - excluded
    if not papers:
        raise SettingError(f"construction {args.name}", "has no papers to write", "Run it first.")
    ids = [build for build, paper in paper_of.items() if paper in papers]
    tally.n_builds = made.info.n_builds - len(ids)
    without = {"paper not read": made.info.n_builds - len(paper_of)}
    tally.left_out.update(without | {"paper is in a dataset to exclude": len(paper_of) - len(ids)})
    files, asked = list[str](), _asked(made)
    parts = _parts(made, {build: paper_of[build] for build in ids}, args, tally) if args.split else {"": ids}
    for part, of_part in parts.items():
        path = args.out.with_suffix(f".{part}{args.out.suffix}") if part else args.out
        raws = written_instances(
            made.reviews(of_part),
            tally,
            unreviewed=args.unreviewed,
            texts_are_mine=args.own_texts,
            asked=asked,
            keep_uncovered=args.keep_uncovered,
            pad=args.pad,
        )
        first = next(raws, None)
        if first is None:
            note(one_line(f"{path}: not written, nothing is left for it"))
            continue
        with whole_file(path) as stream:
            write_benchmark(chain([first], raws), stream)
        files.append(str(path))
    licence, left_out = strictest(tally.licences), +tally.left_out
    if args.json:
        counts = {
            "builds": tally.n_builds,
            "written": tally.n_written,
            "without_texts": tally.n_without_texts,
        }
        print_json({**counts, "left_out": dict(left_out), "licence": licence, "files": files})
    else:
        print(f"{quantity(tally.n_written, 'instance')} of {quantity(tally.n_builds, 'build')} written")
        for reason, n in left_out.most_common():
            print(one_line(f"left out: {n:,} {reason}"))
        if tally.n_without_texts:
            print(
                f"{tally.n_without_texts:,} without summary and aspects in words: no licence of a review allows it;"
                " --own-texts if they are yours"
            )
        if files:
            print(one_line(f"{', '.join(files)}, under {licence or 'no licence that every paper names'}"))
    if not files:
        note("Nothing was written: decide on builds (construct list), or say --unreviewed.")
    return 0 if files else 1


def _parts(
    made: Construction, paper_of: Mapping[str, str], args: argparse.Namespace, tally: WriteTally
) -> dict[str, list[str]]:
    """The builds of each part; drawn of those that are written, so that the shares are of these."""
    from evidencebench_core.construction.write import WriteTally, split_builds, writable

    checked, names = WriteTally(), dict[str, list[str]]()
    for one in writable(made.reviews(paper_of), checked, unreviewed=args.unreviewed):
        review = one.state.input.review_id if args.by_review else ""
        names[one.state.id] = [f"paper {paper_of[one.state.id]}"] + ([f"review {review}"] if review else [])
    tally.n_builds += checked.left_out.total()
    tally.left_out.update(checked.left_out)
    return split_builds(names, args.split, args.seed)


def _asked(made: Construction) -> Mapping[StageRun, Mapping[str, str]]:
    """By stage, ``second`` among them, the version of its prompt, and when its run was begun."""
    from evidencebench_core.runs import ChatRuns

    begun = {run.id: run.created_at for run in ChatRuns(made.store).runs("construction", made.info.subject)}
    return {
        name: {"prompt": str(spec.settings["prompts"][0]), "at": begun.get(spec.id, "")}
        for name, spec in made.specs.items()
    }


def _shares(text: str) -> dict[str, float]:
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = map(str.strip, part.partition("="))
        if name in shares:
            raise argparse.ArgumentTypeError(
                f"{text!r} names {name} twice: each part needs a name of its own"
            )
        try:
            shares[name] = float(share)
        except ValueError:
            name = ""
        if not name.isidentifier():
            raise argparse.ArgumentTypeError(f"{text!r} is not of the form train=.8,test=.2")
    return shares
