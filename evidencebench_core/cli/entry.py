"""The command as a whole: which verbs there are, and what becomes of their errors."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

import typer

from evidencebench_core.cli import frame
from evidencebench_core.cli.frame import app
from evidencebench_core.errors import BudgetReachedError, EvidenceBenchError
from evidencebench_core.words import one_line

CAPPED: Final = 3  # the next call would go beyond a cap
INTERRUPTED: Final = 130  # what shells report for a process ended by Ctrl-C: 128 + SIGINT
MODULES: Final = ("app", "data", "runs", "export", "analyse", "find", "annotate", "reliability", "answers")
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def _print_version(wanted: bool) -> None:
    if wanted:
        import evidencebench_core

        print(f"evidencebench {evidencebench_core.__version__}")
        raise typer.Exit


for _name in MODULES:  # registers its verbs
    import_module(f"evidencebench_core.cli.{_name}")


@app.callback()
def _root(version: bool = typer.Option(False, "--version", is_eager=True, callback=_print_version)) -> None:
    pass


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the words after ``evidencebench`` are those of the process where not given. The exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a letter gets its code, not a crash
            stream.reconfigure(errors="backslashreplace")
    frame.WORDS[:] = words
    try:
        try:
            with typer.main.get_command(app).make_context("evidencebench", list(words)) as context:
                return context.command.invoke(context) or 0
        finally:
            sys.stdout.flush()
    except typer.Exit as stop:
        return int(stop.exit_code)
    except typer.TyperException as error:  # wrong usage
        error.show()  # type: ignore[attr-defined]
        return int(error.exit_code)
    except EvidenceBenchError as error:
        return _failure(str(error), CAPPED if isinstance(error, BudgetReachedError) else 1)
    except KeyboardInterrupt:
        return _failure("interrupted", INTERRUPTED)
    except OSError as error:
        return _output_failure(error)


def _output_failure(error: OSError) -> int:
    """Whoever read stdout has gone, or the disk is full; anything else is raised."""
    if error.errno not in _FULL and not isinstance(error, BrokenPipeError):
        raise error
    # Let go of what cannot be written: Python would complain once more when it closes stdout at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 1
    place = error.filename or "the output"
    return _failure(f"{place}: cannot be written ({error.strerror}). Free the disk, or write elsewhere.")


def _failure(reason: str, code: int = 1) -> int:
    print(f"evidencebench: {one_line(reason)}", file=sys.stderr)
    return code
