"""Arguments that several verbs share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store


Action = tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]
"""A line on what it does; adds its arguments to a parser; runs it and returns the exit code."""


def verb_of(
    actions: Mapping[str, Action],
) -> tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]:
    """The verb that has these actions, for its module's ``VERBS``."""

    def add(parser: argparse.ArgumentParser) -> None:
        parsers = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
        for name, (summary, add_arguments, _) in actions.items():
            description = f"{summary[0].upper()}{summary[1:]}."
            action = parsers.add_parser(name, help=summary, description=description, allow_abbrev=False)
            add_store(action, default=argparse.SUPPRESS)
            add_arguments(action)

    return add, lambda args: actions[args.action][2](args)


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")


def add_missing(parser: argparse.ArgumentParser) -> None:
    """``--missing``."""
    parser.add_argument(
        "--missing",
        choices=("report", "zero"),
        default="report",
        help="instances without an answer: leave them out and name them (report, the default), or score"
        " them 0 (zero)",
    )


def add_predictions(parser: argparse.ArgumentParser, form: str) -> None:
    """``--dataset`` and ``--predictions``: a file of this form."""
    parser.add_argument("--dataset", metavar="NAME", required=True, help="the dataset that was predicted")
    parser.add_argument("--predictions", metavar="FILE", type=Path, required=True, help=form)


def add_settings(
    parser: argparse.ArgumentParser, of: str = "a setting of the retriever", flag: str = "--set"
) -> None:
    """``--set`` or ``--request``, as often as wanted: a list of key and value."""
    parser.add_argument(
        flag,
        type=_setting,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings" if flag == "--set" else flag.strip("-"),
        help=f"{of} (may be repeated)",
    )


def add_store(parser: argparse.ArgumentParser, default: str | None) -> None:
    """``--store``."""
    parser.add_argument(
        "--store",
        type=Path,
        metavar="PATH",
        default=default,
        help="the store's file (default: $EVIDENCEBENCH_STORE, or a file in your data folder)",
    )


def add_wordings_file(parser: argparse.ArgumentParser) -> None:
    """``--variants``; `variants.keep_file` keeps it."""
    parser.add_argument(
        "--variants",
        type=Path,
        metavar="FILE",
        help="first keep the wordings of this file beside the dataset:"
        ' {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}',
    )


def positive(text: str) -> int:
    """A whole number of at least 1."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key.strip() or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form key=value")
    return key.strip(), value


def store_of(args: argparse.Namespace) -> Store:
    """The store that the command line, the environment or the user's data folder names."""
    from evidencebench_core.data.store import open_store

    return open_store(args.store)
