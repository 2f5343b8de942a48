"""``evidencebench answers ACTION``: answers with citations, scored and judged."""

from __future__ import annotations

import argparse
from typing import Final

from evidencebench_core.cli import answers_ask, answers_sets
from evidencebench_core.cli.arguments import add_store


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


_ACTIONS: Final = answers_sets.ACTIONS | answers_ask.ACTIONS
VERBS: Final = {"answers": (_add, _run)}
