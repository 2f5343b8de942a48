"""Verbs that argparse still reads.

The module of a verb has it in its own table ``VERBS``: name -> (adds its arguments to a parser, runs it and
returns the exit code). It is imported only when the name stands on the command line, so that
``evidencebench --help`` is instant.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final, NamedTuple

from evidencebench_core.cli.arguments import add_store

Functions = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]


class Verb(NamedTuple):
    """The module that has it, and what it does."""

    module: str
    summary: str


VERBS: Final[Mapping[str, Verb]] = {}


def run(words: Sequence[str]) -> int:
    """Run a verb that argparse reads; the exit code."""
    parser = _parser(words)
    try:
        args = parser.parse_args(words)
    except SystemExit as stop:  # --help, --version, or a usage error, already printed
        return stop.code if isinstance(stop.code, int) else 0
    args.words = words
    _, call = _functions(args.verb)
    return call(args)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evidencebench",
        description="Look at EvidenceBench: papers with their evidence, retrievers, honest scores.",
        allow_abbrev=False,
    )
    add_store(parser, default=None)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for name, (_, summary) in VERBS.items():
        verb = verbs.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
        )
        # Suppressed, so that a verb without --store keeps the one given before it.
        add_store(verb, default=argparse.SUPPRESS)
        if name in words:
            add_arguments, _ = _functions(name)
            add_arguments(verb)
    return parser


def _functions(verb: str) -> Functions:
    functions: Functions = import_module(f"evidencebench_core.cli.{VERBS[verb].module}").VERBS[verb]
    return functions
