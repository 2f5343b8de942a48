"""Which verbs there are, and what becomes of their errors.

The module of a verb has it in its own table ``VERBS``: name -> (adds its arguments to a parser, runs it and
returns the exit code). It is imported only when the name stands on the command line, so that
``evidencebench --help`` is instant.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final, NamedTuple

from evidencebench_core.cli.arguments import add_store
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.words import one_line

INTERRUPTED: Final = 130  # what shells report for a process ended by Ctrl-C: 128 + SIGINT

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

Functions = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]


class Verb(NamedTuple):
    """The module that has it, and what it does."""

    module: str
    summary: str


VERBS: Final[Mapping[str, Verb]] = {
    "app": Verb("app", "open the app in the browser"),
    "ingest": Verb("data", "bring a dataset file into the store"),
    "download": Verb("data", "fetch a published dataset"),
    "datasets": Verb("data", "list the datasets in the store"),
    "show": Verb("show", "print a paper with its gold evidence"),
    "retrievers": Verb("show", "list the retrievers and their settings"),
    "run": Verb("run", "run a retriever over a dataset; resumes where it was interrupted"),
    "runs": Verb("scores", "list the runs in the store"),
    "score": Verb("scores", "score a run"),
    "score-file": Verb("scores", "score a file of predictions"),
    "compare": Verb("scores", "compare two runs, paired by instance"),
    "analyse": Verb("analyse", "answer a question about runs or a dataset with tables"),
    "make-variants": Verb(
        "variants", "have a language model paraphrase and negate the hypotheses of a dataset"
    ),
    "import-run": Verb("imports", "bring the answers of your own system into the store as a run"),
    "export": Verb(
        "export", "write a run as TREC, CSV, JSON, predictions, BibTeX, or a page to read and print"
    ),
    "export-dataset": Verb("export", "write a dataset as the benchmark's JSON, or its gold as TREC qrels"),
    "notes": Verb("notes", "list the flags and comments on a dataset, or write them to a file"),
    "delete": Verb(
        "keep", "delete a dataset, an instance marked by hand, a run or a paper, and what depends on it"
    ),
    "rename": Verb("keep", "give a dataset, an instance marked by hand, a run or a paper another name"),
    "store": Verb("store", "back up the store, and take work from one store to another"),
    "train-ranker": Verb(
        "train_ranker", "train evidence-ranker on the gold evidence of a dataset, and cross-validate it"
    ),
    "finetune-encoder": Verb(
        "finetune_encoder", "train an embedding model on the gold evidence of a dataset"
    ),
    "answers": Verb("answers", "answers with citations: ask for them, score them, have them judged"),
    "reliability": Verb(
        "reliability",
        "ask a model RAmBLA's tasks over a file of questions, and say what it can be trusted with",
    ),
    "find": Verb("find", "show the sentences of any paper that bear on a hypothesis"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the words after ``evidencebench`` are those of the process where not given. The exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        try:
            code = _run(words)
        finally:
            sys.stdout.flush()
    except EvidenceBenchError as error:
        print(f"evidencebench: {one_line(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("evidencebench: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read stdout has gone
        _close_stdout()
        return 1
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _close_stdout()
        place = one_line(str(error.filename or "the output"))
        print(
            f"evidencebench: {place}: cannot be written ({error.strerror}). Free the disk, or write elsewhere.",
            file=sys.stderr,
        )
        return 1
    return code


def _close_stdout() -> None:
    """Let go of what cannot be written: Python would complain once more when it closes stdout at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
    _, run = _functions(args.verb)
    return run(args)


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


class _Version(argparse.Action):
    """Like ``version``, but asks for the version only when it is wanted: that reads the installation."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        import evidencebench_core

        print(f"evidencebench {evidencebench_core.__version__}")
        parser.exit()
