"""``evidencebench store``: what is done to the store's file as a whole."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evidencebench_core.cli.arguments import add_store, store_of
from evidencebench_core.cli.progress import progress_bar
from evidencebench_core.words import one_line


def _add(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    for name, (summary, add_arguments, _) in _ACTIONS.items():
        action = actions.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
        )
        add_store(action, default=argparse.SUPPRESS)
        add_arguments(action)


def _run(args: argparse.Namespace) -> int:
    return _ACTIONS[args.action][2](args)


def _add_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the copy")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE where it is there already")


def _backup(args: argparse.Namespace) -> int:
    """Copy the store to a file."""
    from evidencebench_core.data.backup import backup

    store = store_of(args)
    with progress_bar(None, "bytes", n_bytes=True) as bar:

        def advance(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        size = backup(store, args.file, args.overwrite, advance)
    print(one_line(f"Copied {store.path} to {args.file}: {size / 1e6:,.1f} MB."))
    return 0


_Action = tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]
_ACTIONS: Final[dict[str, _Action]] = {
    "backup": ("copy the store to a file; runs may go on meanwhile", _add_backup, _backup),
}
VERBS: Final = {"store": (_add, _run)}
