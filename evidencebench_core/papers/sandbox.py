"""Reading a paper in a child process, which can be killed: what a hostile file costs is bounded.

The file goes to the child by its standard input and the paper comes back by its standard output;
nothing is written to disk, and the child is given neither keys nor other settings of the environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.limits import DEFAULT_LIMITS, MIB, Limits
from evidencebench_core.papers.paper import Paper, PaperKind
from evidencebench_core.papers.read import place_of

__all__ = ["read_paper_apart"]

# What Python needs to start; nothing of it is secret.
_PASSED_ON: Final = (
    "PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL", "PYTHONHOME", "PYTHONPATH",
    "VIRTUAL_ENV", "TEMP", "TMP", "TMPDIR",
)  # fmt: skip
_REMEDY: Final = "Give the paper as JATS XML or plain text, or paste its text."
_ROOT: Final = Path(__file__).parents[2]  # so that -m finds this package, and no other
_COMMAND: Final = ("-m", "evidencebench_core.papers.worker")
_OUT_OF_MEMORY: Final = "memory"  # what the worker says when it ran out of it


def read_paper_apart(
    content: bytes, name: str = "", kind: PaperKind | None = None, limits: Limits = DEFAULT_LIMITS
) -> Paper:
    """The same as `read_paper`, in a process of its own with bounded time and memory.

    About 0.2 s more than `read_paper`. Any thread may call it, several at a time.

    Parameters
    ----------
    content, name, kind, limits
        As of `read_paper`. ``max_seconds`` and ``max_memory`` are kept; memory only where the system has
        such a limit (Linux).

    Raises
    ------
    PaperError
        As `read_paper`; also when time or memory ran out, or the child died.
    """
    place = place_of(name)
    limits.check_size(len(content), place)
    header = json.dumps({"name": name, "kind": kind, "limits": asdict(limits)}).encode()
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter, and nothing of the file in its words
            [sys.executable, *_COMMAND],
            input=header + b"\n" + content,
            capture_output=True,
            timeout=limits.max_seconds,
            check=False,
            cwd=_ROOT,
            env={key: os.environ[key] for key in _PASSED_ON if key in os.environ} | {"PYTHONUTF8": "1"},
        )
    except subprocess.TimeoutExpired:
        raise PaperError(place, f"took longer than {limits.max_seconds:g} seconds to read", _REMEDY) from None
    return _answer(done, place, limits)


def _answer(done: subprocess.CompletedProcess[bytes], place: str, limits: Limits) -> Paper:
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise PaperError(place, f"stopped its reader ({_ending(done.returncode)})", _REMEDY) from None
    if "paper" in answer:
        return Paper.from_dict(answer["paper"])
    if answer.get("error") == _OUT_OF_MEMORY:
        raise PaperError(
            place, f"needs more than {limits.max_memory / MIB:,.0f} MiB of memory to read", _REMEDY
        )
    place, problem, remedy = answer["error"]
    raise PaperError(place, problem, remedy)


def _ending(code: int) -> str:
    """Why a process ended: the signal's number or its exit status."""
    return f"signal {-code}" if code < 0 else f"exit status {code}"
