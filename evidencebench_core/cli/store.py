"""``evidencebench store``: what is done to the store's file as a whole."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Final

from evidencebench_core.cli import keep
from evidencebench_core.cli.arguments import Action, add_json, store_of, verb_of
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.cli.progress import advance, progress_bar
from evidencebench_core.words import one_line, quantity


def _add_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the copy")
    _add_overwrite(parser)


def _add_overwrite(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--overwrite", action="store_true", help="replace FILE where it is there already")


def _backup(args: argparse.Namespace) -> int:
    """Copy the store to a file."""
    from evidencebench_core.data.backup import backup

    store = store_of(args)
    with progress_bar(None, "bytes", n_bytes=True) as bar:
        size = backup(store, args.file, args.overwrite, partial(advance, bar))
    print(one_line(f"Copied {store.path} to {args.file}: {size / 1e6:,.1f} MB."))
    return 0


def _check(args: argparse.Namespace) -> int:
    """List what is damaged; as JSON one object with ``store`` and ``faults``."""
    from evidencebench_core.data.repair import faults

    store = store_of(args)
    found = faults(store)
    if args.json:
        print_json({"store": str(store.path), "faults": found})
        return 1 if found else 0
    for line in found:
        print(one_line(line))
    if found:
        note(f"{quantity(len(found), 'fault')}. `evidencebench store repair NEW` keeps what can be read.")
    else:
        print(one_line(f"{store.path} is as it was written."))
    return 1 if found else 0


def _add_repair(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="NEW", type=Path, help="the new store; must not be there yet")
    add_json(parser)


def _repair(args: argparse.Namespace) -> int:
    """Write what can be read to a new store; as JSON one object with ``store`` and ``lost``."""
    from evidencebench_core.data.repair import repair

    lost = repair(store_of(args), args.file)
    if args.json:
        print_json({"store": str(args.file), "lost": lost})
        return 0
    for line in lost:
        print(one_line(line))
    print(one_line(f"Wrote {args.file}: {'all else' if lost else 'everything'} is in it."))
    return 0


_ACTIONS: Final[dict[str, Action]] = {
    "check": ("look for damage: exit code 0 where there is none, 1 where there is", add_json, _check),
    "repair": ("write all that can be read to a new store, and list what is lost", _add_repair, _repair),
    "backup": ("copy the store to a file; runs may go on meanwhile", _add_backup, _backup),
    "delete": ("the same as `evidencebench delete`", *keep.VERBS["delete"]),
}
VERBS: Final = {"store": verb_of(_ACTIONS)}
