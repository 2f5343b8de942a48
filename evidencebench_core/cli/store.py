"""``evidencebench store``: what is done to the store's file as a whole."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Final

from evidencebench_core.cli import keep
from evidencebench_core.cli.arguments import Action, store_of, verb_of
from evidencebench_core.cli.progress import advance, progress_bar
from evidencebench_core.words import one_line


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


_ACTIONS: Final[dict[str, Action]] = {
    "backup": ("copy the store to a file; runs may go on meanwhile", _add_backup, _backup),
    "delete": ("the same as `evidencebench delete`", *keep.VERBS["delete"]),
}
VERBS: Final = {"store": verb_of(_ACTIONS)}
