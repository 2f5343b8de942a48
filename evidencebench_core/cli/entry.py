"""Which verbs there are, and what becomes of their errors.

A verb is a module of its own with ``add_arguments(parser)`` and ``run(args) -> int``, imported only when
its name stands on the command line, so that ``evidencebench --help`` is instant.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from evidencebench_core.cli.arguments import add_store
from evidencebench_core.cli.output import plain
from evidencebench_core.errors import EvidenceBenchError

__all__ = ["VERBS", "main"]

INTERRUPTED: Final = 130  # what shells report for a process ended by Ctrl-C: 128 + SIGINT

VERBS: Final[Mapping[str, str]] = {
    "app": "open the app in the browser",
    "ingest": "bring a dataset file into the store",
    "download": "fetch a published dataset",
    "datasets": "list the datasets in the store",
    "show": "print a paper with its gold evidence",
    "retrievers": "list the retrievers and their settings",
    "run": "run a retriever over a dataset; resumes where it was interrupted",
    "runs": "list the runs in the store",
    "score": "score a run",
    "score-file": "score a file of predictions",
    "compare": "compare two runs, paired by instance",
    "analyse": "answer a question about runs or a dataset with tables",
    "make-variants": "have a language model paraphrase and negate the hypotheses of a dataset",
    "import-scores": "bring the authors' per-instance scores into the store",
    "export": "write a run as TREC, CSV, JSON, predictions, BibTeX, or a page to read and print",
    "export-dataset": "write a dataset as the benchmark's JSON, or its gold as TREC qrels",
    "train-ranker": "train evidence-ranker on the gold evidence of a dataset, and cross-validate it",
    "finetune-encoder": "train an embedding model on the gold evidence of a dataset",
    "find": "show the sentences of any paper that bear on a hypothesis",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after ``evidencebench``; those of the process where not given.

    Returns
    -------
    int
        The exit code: 0, 1, 2 or 130.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _run(words)
        sys.stdout.flush()
    except EvidenceBenchError as error:
        print(f"evidencebench: {plain(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("evidencebench: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read stdout has gone. Python would complain once more when it closes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _run(words: Sequence[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a terminal that cannot show a letter gets its code, not a crash
            reconfigure(errors="backslashreplace")
    parser = _parser(words)
    try:
        args = parser.parse_args(words)
    except SystemExit as stop:  # --help, --version, or a usage error, already printed
        return stop.code if isinstance(stop.code, int) else 0
    if args.verb is None:
        parser.print_help(sys.stderr)
        return 2
    args.words = words
    code: int = _module(args.verb).run(args)
    return code


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evidencebench",
        description="Look at EvidenceBench: papers with their evidence, retrievers, honest scores.",
        epilog="`evidencebench VERB --help` tells more about a verb.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    add_store(parser, default=None)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for name, summary in VERBS.items():
        verb = verbs.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
        )
        # Suppressed, so that a verb without --store keeps the one given before it.
        add_store(verb, default=argparse.SUPPRESS)
        if name in words:
            _module(name).add_arguments(verb)
    return parser


def _module(verb: str) -> Any:
    return import_module(f"evidencebench_core.cli.{verb.replace('-', '_')}")


class _Version(argparse.Action):
    """Like ``version``, but asks for the version only when it is wanted: that reads the installation."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        import evidencebench_core

        print(f"evidencebench {evidencebench_core.__version__}")
        parser.exit()
