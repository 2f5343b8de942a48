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
from evidencebench_core.words import enumerated, one_line, quantity


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


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write runs, item and answer sets, constructions, notes, annotations and kept papers to a file that"
        " `store import` brings into another store. Datasets are not in it: the other store needs them"
        " from the same files."
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="JSON lines in gzip, such as mine.jsonl.gz")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--dataset", metavar="NAME", help="only what is on this dataset")
    what.add_argument(
        "--run",
        metavar="ID",
        action="append",
        default=[],
        help="only this run, its notes and what judges it (may be repeated)",
    )
    parser.add_argument(
        "--answers",
        action="store_true",
        help="also what language models were asked for the runs, which quotes the papers, and replied",
    )
    _add_overwrite(parser)


def _export(args: argparse.Namespace) -> int:
    """Write what can be brought into another store."""
    from evidencebench_core.export.portable import export_file

    options = {"answers": args.answers, "overwrite": args.overwrite}
    counts = export_file(store_of(args), args.file, args.dataset, args.run, **options)
    print(one_line(f"Exported {_in_words(counts)} to {args.file}."))
    return 0


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="written by `store export`")
    parser.add_argument(
        "--answers",
        action="store_true",
        help="also replies of language models, which are then not asked again",
    )


def _import(args: argparse.Namespace) -> int:
    """Bring in what another store had."""
    from evidencebench_core.export.portable_import import import_file

    with progress_bar(None, "bytes", n_bytes=True) as bar:
        counts = import_file(store_of(args), args.file, answers=args.answers, progress=partial(advance, bar))
    new = {noun: number for noun, (number, _) in counts.items()}
    known = sum(total - number for number, total in counts.values())
    print(one_line(f"Imported {_in_words(new)}; {known:,} were there already or left out."))
    if not args.answers and "reply" in counts:
        note("The file has replies of language models: --answers brings them in too.")
    return 0


_NOUNS: Final = {"reply": "stored answer", "chat_run": "model run", "chat_result": "model answer"}


def _in_words(counts: dict[str, int]) -> str:
    said = [quantity(n, _NOUNS.get(kind, kind.replace("_", " "))) for kind, n in counts.items() if n]
    return enumerated(said) or "nothing"


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
    "export": (
        "write runs, sets, constructions, notes, annotations and kept papers to a file",
        _add_export,
        _export,
    ),
    "import": (
        "bring in what `store export` wrote; importing it again changes nothing",
        _add_import,
        _import,
    ),
    "delete": ("the same as `evidencebench delete`", *keep.VERBS["delete"]),
}
VERBS: Final = {"store": verb_of(_ACTIONS)}
