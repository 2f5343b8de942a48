"""``evidencebench make-variants --dataset N --model M``, and the review of what it made"""

from __future__ import annotations

import argparse
import getpass
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, positive, store_of
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.cli.spending import (
    add_server,
    check_server,
    print_estimate,
    print_spending,
    server_llm,
)
from evidencebench_core.errors import LLMError, SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.perturb import Draft, Drafts, HypothesisDrafts

_STATES: Final = ("waiting", "refused", "accepted", "rejected")
_SHOWN: Final = 10  # refused drafts that are printed
_NEXT: Final = (
    " before use: on the page Wording of the app, or here with --list, then --accept ID ... (--reject ID ...);"
    " then: evidencebench run ... --variant negation"
)
_NEXT_ITEMS: Final = (
    ": on the page Wording of the app, or here with --list, then --accept ID ... (--reject ID ...); figures say how"
    " many nobody has read"
)
_IDS: Final = "ids as --list shows them, or `all` that are waiting"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    what = add_draft_arguments(parser, "instances")
    what.add_argument(
        "--export", type=Path, metavar="FILE", help="write the wordings in use, and who made and read each"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the file to write (default: variants-DATASET-MODEL.json)"
    )
    add_server(parser)
    add_json(parser)


def add_draft_arguments(parser: argparse.ArgumentParser, nouns: str) -> argparse._MutuallyExclusiveGroup:
    """Arguments to have drafts made, and to list and decide on them; returns the group of what to do."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--model", metavar="M", help="make wordings with this model, as the server calls it")
    what.add_argument(
        "--list",
        nargs="?",
        const="waiting",
        choices=(*_STATES, "all"),
        help="list drafts: those that are waiting to be read (default), or others",
    )
    what.add_argument("--accept", nargs="+", metavar="ID", help=f"make wordings of drafts: {_IDS}")
    what.add_argument("--reject", nargs="+", metavar="ID", help=f"decide against drafts: {_IDS}")
    what.add_argument(
        "--take-back", nargs="+", metavar="ID", type=int, help="undo --accept or --reject of these ids"
    )
    parser.add_argument(
        "--text", metavar="WORDS", help="with --accept and one id: accept these words instead"
    )
    parser.add_argument(
        "--reviewer", metavar="NAME", help="who has read the drafts (default: your login); kept with them"
    )
    parser.add_argument(
        "--kind",
        action="append",
        choices=("paraphrase", "negation"),
        help="what to make (may be repeated; default: both)",
    )
    parser.add_argument("--limit", type=positive, metavar="N", help=f"only the first N {nouns}")
    return what


def _run(args: argparse.Namespace) -> int:
    """Make drafts, or review them."""
    from evidencebench_core.perturb import HypothesisDrafts

    drafts = HypothesisDrafts(store_of(args), args.dataset)
    if args.model is None:
        return _export(drafts, args) if args.export is not None else decide(drafts, args)
    path = args.out or Path(f"variants-{_plain_name(args.dataset)}-{_plain_name(args.model)}.json")
    return make(drafts, args, path)


def make(drafts: Drafts, args: argparse.Namespace, path: Path | None = None) -> int:
    """Keep drafts and write the file, if one is wanted; as JSON what was refused and why, and what it took."""
    from evidencebench_core.perturb import KINDS
    from evidencebench_core.perturb.making import new_drafts
    from evidencebench_core.runs.estimate import draft_estimate

    kinds = tuple(kind for kind in KINDS if kind in (args.kind or KINDS))
    llm = server_llm(drafts.store, args)
    # All of them, for the file: answers that are in the store cost nothing.
    wanted = drafts.missing(args.model, kinds, args.limit, fresh=args.fresh or path is not None)
    cost = draft_estimate(drafts, wanted, args.model, llm, fresh=args.fresh)
    if cost.calls:
        check_server(llm, args.model)
    print_estimate(cost, "wording")
    made: list[Draft] = []
    stopped: LLMError | None = None
    try:
        for one in new_drafts(drafts, wanted, args.model, llm, fresh=args.fresh):
            made.append(one)  # noqa: PERF402 - what came before an error counts
    except LLMError as error:
        if all(one.problem for one in made):
            raise
        stopped = error
    finally:
        print_spending(llm.budget.spent)
        drafts.add(made)
    refused = [one for one in made if one.problem]
    if not args.json:
        _print_refused(refused)
    counts = drafts.counts()
    noun = drafts.subject.removesuffix("_id")
    problems = [{noun: one.subject_id, "kind": one.kind, "problem": one.problem} for one in refused]
    document: dict[str, Any] = {"refused": problems, "drafts": counts}
    if path is not None:
        document = {"file": str(path), "written": _write(path, made)} | document
    if args.json:
        print_json(document | {"estimate": cost.as_dict(), "spending": asdict(llm.budget.spent)})
    else:
        if path is not None:
            print(one_line(f"{quantity(document['written'], 'wording')} in {path}"))
        print(
            f"{quantity(counts['waiting'], 'draft')} to be read{_NEXT if path is not None else _NEXT_ITEMS}"
        )
    if stopped is not None:
        note(f"evidencebench: {stopped}")
        return 1
    return 0


def _print_refused(refused: Sequence[Draft]) -> None:
    if refused:
        print(one_line(f"{quantity(len(refused), 'wording')} refused:"))
    for one in refused[:_SHOWN]:
        print(one_line(f"  {one.subject_id}, {one.kind}: {one.problem}"))
    if len(refused) > _SHOWN:
        print(one_line(f"  and {len(refused) - _SHOWN:,} more: --list refused shows them"))


def _write(path: Path, drafts: Sequence[Draft]) -> int:
    """Write what is usable; returns how many wordings that is."""
    from evidencebench_core.perturb import Wording, write_wordings

    wordings: dict[str, dict[str, Wording]] = {}
    for one in drafts:
        if not one.problem:
            wordings.setdefault(one.name, {})[one.subject_id] = Wording(one.text, one.made_by)
    if not wordings:
        raise SettingError(str(path), "would be empty: no usable wording came", "Try another model.")
    return write_wordings(path, wordings)


def _plain_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "all"


def _list(drafts: Drafts, args: argparse.Namespace) -> int:
    found = drafts.drafts(None if args.list == "all" else args.list)
    if args.json:
        noun = drafts.subject.removesuffix("_id")
        print_json([{noun: draft.subject_id, **draft.as_dict()} for draft in found])
        return 0
    for draft in found:
        lines = [
            f"{draft.id}  {draft.subject_id}, {draft.name}, {draft.state}: {draft.made_by}",
            *([f"  question: {draft.about}"] if draft.about else []),
            f"  original: {draft.original}",
            f"  draft:    {draft.text or '(no wording)'}",
            *([] if draft.edited is None else [f"  edited:   {draft.edited}"]),
            *([f"  problem:  {draft.problem}"] if draft.problem else []),
        ]
        for line in lines:
            print(one_line(line))
    if not found:
        print("No drafts" if args.list == "all" else f"No drafts are {args.list}")
    return 0


def _export(drafts: HypothesisDrafts, args: argparse.Namespace) -> int:
    from evidencebench_core.perturb import added_wordings, write_wordings

    wordings = added_wordings(drafts.store, drafts.name)
    if not wordings:
        raise SettingError(
            str(args.export), "would be empty: no wordings were added or accepted", "Accept some first."
        )
    n_written = write_wordings(args.export, wordings)
    if args.json:
        print_json({"file": str(args.export), "written": n_written})
    else:
        print(one_line(f"{quantity(n_written, 'wording')} in {args.export}"))
    return 0


def decide(drafts: Drafts, args: argparse.Namespace) -> int:
    """List, accept, reject or take back; as JSON the drafts, or how many there are in each state."""
    if args.list is not None:
        return _list(drafts, args)
    if args.accept is not None:
        ids = _ids(drafts, args.accept)
        if args.text is not None and len(ids) != 1:
            raise SettingError("--text", f"is for one draft, not for {len(ids)}", "Name one id.")
        drafts.accept(ids, _reviewer(args), {} if args.text is None else {ids[0]: args.text})
        done = f"{quantity(len(ids), 'wording')} accepted"
    elif args.reject is not None:
        ids = _ids(drafts, args.reject)
        drafts.reject(ids, _reviewer(args))
        done = f"{quantity(len(ids), 'draft')} rejected"
    else:
        drafts.take_back(args.take_back)
        done = f"{quantity(len(args.take_back), 'decision')} taken back"
    counts = drafts.counts()
    if args.json:
        print_json(counts)
    else:
        print(f"{done}; {counts['waiting']:,} waiting")
    return 0


def _ids(drafts: Drafts, words: Sequence[str]) -> list[int]:
    """The ids of drafts that are named, or those of all that are waiting."""
    if words == ["all"]:
        ids = [draft.id for draft in drafts.drafts("waiting")]
        if not ids:
            raise SettingError("all", "is none: no drafts are waiting", "Make some with --model.")
        return ids
    wrong = next((word for word in words if not (word.isascii() and word.isdigit() and len(word) < 16)), None)
    if wrong is not None:
        raise SettingError(f"draft {wrong}", "is no id", "--list shows the ids.")
    return list(dict.fromkeys(map(int, words)))


def _reviewer(args: argparse.Namespace) -> str:
    if args.reviewer is not None:
        return str(args.reviewer)
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError) as error:
        raise SettingError(
            "the reviewer", "has no name that this system knows", "Give it: --reviewer NAME."
        ) from error


def keep_file(store: Store, dataset: str, path: Path) -> None:
    """Keep a file's wordings beside a dataset, and say how many, and how many of them nobody has read."""
    from evidencebench_core.perturb import add_wordings, read_wordings

    wordings = read_wordings(path)
    n_added = add_wordings(store, dataset, wordings, str(path))
    n_unread = sum(one.made_by.needs_review for by_id in wordings.values() for one in by_id.values())
    unread = f"; {n_unread:,} of them a model made and nobody reviewed" if n_unread else ""
    note(f"{quantity(n_added, 'wording')} of {path} kept beside {dataset}{unread}")


VERBS: Final = {"make-variants": (_add_arguments, _run)}
