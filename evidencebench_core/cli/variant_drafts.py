"""Reading what a model wrote, on the command line: ``make-variants --list``, ``--accept``, ``--reject``."""

from __future__ import annotations

import argparse
import getpass
from pathlib import Path
from typing import TYPE_CHECKING

from evidencebench_core.cli.arguments import store_of
from evidencebench_core.cli.output import counted, note, plain, print_json
from evidencebench_core.errors import SettingError

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.perturb import Draft, Drafts

__all__ = ["add_review", "keep_file", "review"]

_STATES = ("waiting", "refused", "accepted", "rejected")
_IDS = "ids as --list shows them, or `all` that are waiting"


def add_review(what: argparse._MutuallyExclusiveGroup, parser: argparse.ArgumentParser) -> None:
    """``--list``, ``--accept``, ``--reject``, ``--take-back`` and ``--export``, and what goes with them."""
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
    what.add_argument(
        "--export", type=Path, metavar="FILE", help="write the wordings in use, and who made and read each"
    )
    parser.add_argument(
        "--text", metavar="WORDS", help="with --accept and one id: accept these words instead"
    )
    parser.add_argument(
        "--reviewer", metavar="NAME", help="who has read the drafts (default: your login); kept with them"
    )


def review(args: argparse.Namespace) -> int:
    """What the arguments of `add_review` ask for; as JSON the drafts, or how many there are in each state."""
    from evidencebench_core.perturb import Drafts

    drafts = Drafts(store_of(args), args.dataset)
    if args.export is not None:
        return _exported(drafts, args)
    if args.list is not None:
        _list(drafts, args)
        return 0
    if args.accept is not None:
        ids = _ids(drafts, args.accept)
        if args.text is not None and len(ids) != 1:
            raise SettingError("--text", f"is for one draft, not for {len(ids)}", "Name one id.")
        words = {} if args.text is None else {ids[0]: args.text}
        drafts.accept(ids, _reviewer(args), words)
        done = f"{counted(len(ids), 'wording')} accepted"
    elif args.reject is not None:
        ids = _ids(drafts, args.reject)
        drafts.reject(ids, _reviewer(args))
        done = f"{counted(len(ids), 'draft')} rejected"
    else:
        drafts.take_back(args.take_back)
        done = f"{counted(len(args.take_back), 'decision')} taken back"
    counts = drafts.counts()
    if args.json:
        print_json(counts)
    else:
        print(f"{done}; {counts['waiting']:,} waiting")
    return 0


def keep_file(store: Store, dataset: str, path: Path) -> None:
    """Keep a variants file's wordings, and say how many; those that nobody has read too, which is said.

    Raises
    ------
    DataError, UnknownNameError
        As `add_wordings`.
    """
    from evidencebench_core.perturb import add_wordings, read_wordings

    wordings = read_wordings(path)
    n_added = add_wordings(store, dataset, wordings, str(path))
    n_unread = sum(one.made_by.needs_review for by_id in wordings.values() for one in by_id.values())
    unread = f"; {n_unread:,} of them a model made and nobody reviewed" if n_unread else ""
    note(f"{counted(n_added, 'wording')} of {path} kept beside {dataset}{unread}")


def _list(drafts: Drafts, args: argparse.Namespace) -> None:
    found = drafts.drafts(None if args.list == "all" else args.list)
    if args.json:
        print_json([draft.as_dict() for draft in found])
        return
    for draft in found:
        for line in _lines(draft):
            print(plain(line))
    if not found:
        print("No drafts" if args.list == "all" else f"No drafts are {args.list}")


def _lines(draft: Draft) -> list[str]:
    lines = [
        f"{draft.id}  {draft.instance_id}, {draft.name}, {draft.state}: {draft.made_by}",
        f"  original: {draft.original}",
        f"  draft:    {draft.text or '(no wording)'}",
    ]
    if draft.edited is not None:
        lines.append(f"  edited:   {draft.edited}")
    if draft.problem:
        lines.append(f"  problem:  {draft.problem}")
    return lines


def _exported(drafts: Drafts, args: argparse.Namespace) -> int:
    from evidencebench_core.perturb import added_wordings, write_wordings

    wordings = added_wordings(drafts.store, drafts.dataset)
    if not wordings:
        raise SettingError(
            str(args.export), "would be empty: no wordings were added or accepted", "Accept some first."
        )
    n_written = write_wordings(args.export, wordings)
    if args.json:
        print_json({"file": str(args.export), "written": n_written})
    else:
        print(plain(f"{counted(n_written, 'wording')} in {args.export}"))
    return 0


def _ids(drafts: Drafts, words: list[str]) -> list[int]:
    """
    Raises
    ------
    SettingError
        If a word is no id, or nothing is waiting.
    """
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
