"""Papers are read, and their pages drawn, in a child process, which can be killed: what a file costs is bounded.

The file goes to the child by its standard input and the answer comes back by its standard output;
nothing is written to disk, and the child is given neither keys nor other settings of the environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.limits import DEFAULT_LIMITS, MIB, Limits
from evidencebench_core.papers.paper import PageImage, Paper, PaperKind
from evidencebench_core.papers.read import place_of

# What Python needs to start; nothing of it is secret.
_PASSED_ON: Final = (
    "PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL", "PYTHONHOME", "PYTHONPATH",
    "VIRTUAL_ENV", "TEMP", "TMP", "TMPDIR",
)  # fmt: skip
_REMEDY: Final = "Give the paper as JATS XML or plain text, or paste its text."
_ROOT: Final = Path(__file__).parents[2]  # so that -m finds this package, and no other
_COMMAND: Final = ("-m", "evidencebench_core.papers.worker")
_OUT_OF_MEMORY: Final = "memory"  # what the worker says when it ran out of it
_POLL: Final = 0.05  # seconds between two looks at the child
_MOST_AT_ONCE: Final = 2
_places = threading.BoundedSemaphore(_MOST_AT_ONCE)
_MOST_OUTPUT: Final = 64 * MIB


def read_paper_apart(
    content: bytes,
    name: str = "",
    kind: PaperKind | None = None,
    limits: Limits = DEFAULT_LIMITS,
    check: Callable[[], None] | None = None,
    report: Callable[[str], None] | None = None,
) -> Paper:
    """The same as `read_paper`, in a process of its own with bounded time and memory.

    About 0.2 s more than `read_paper`. Any thread may call it; two papers are read at once, others wait.

    Parameters
    ----------
    content, name, kind, limits
        As of `read_paper`. ``max_seconds`` and ``max_memory`` are kept; memory only where the system has
        such a limit (Linux).
    check : callable, optional
        Called about every 0.05 s; what it raises kills the child and is raised here. So a reader can cancel.
    report : callable, optional
        Called with a line that says that it waits for others, and with one once it reads.

    Raises
    ------
    PaperError
        As `read_paper`; also when time or memory ran out, or the child died.
    """
    answer = _answer_apart({"kind": kind}, content, name, limits, check, report)
    return Paper.from_dict(answer.get("paper", {}))


def page_image(
    content: bytes, page: int, scale: float = 2.0, name: str = "", limits: Limits = DEFAULT_LIMITS
) -> PageImage:
    """A page of a PDF as an image, drawn in a process of its own with bounded time and memory.

    Parameters
    ----------
    content : bytes
    page : int
        From 1; beyond the last page it is the last one.
    scale : float
        Pixels a point (1/72 inch); fewer where the image would have more than ``limits.max_pixels``.
    name : str
        What the file is called, for messages.
    limits : Limits

    Raises
    ------
    PaperError
        If the page cannot be drawn within the limits.
    """
    answer = _answer_apart({"page": page, "scale": scale}, content, name, limits)
    try:
        raw = answer["image"]
        size = (float(raw["width"]), float(raw["height"]))
        return PageImage(int(raw["page"]), int(raw["n_pages"]), *size, b64decode(raw["webp"]))
    except (KeyError, TypeError, ValueError) as broken:
        raise PaperError(place_of(name), "could not be drawn", "Look at its text.") from broken


def _answer_apart(
    wanted: Mapping[str, object],
    content: bytes,
    name: str,
    limits: Limits,
    check: Callable[[], None] | None = None,
    report: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    limits.check_size(len(content), place_of(name))
    if not _places.acquire(blocking=False):
        if report is not None:
            report(f"Waiting to read {name or 'the paper'}: {_MOST_AT_ONCE} others are being read")
        while not _places.acquire(timeout=_POLL):
            if check is not None:
                check()
        if report is not None:
            report(f"Reading {name or 'the paper'}")
    try:
        return _answer_of_child(wanted, content, name, limits, check)
    finally:
        _places.release()


def _answer_of_child(
    wanted: Mapping[str, object],
    content: bytes,
    name: str,
    limits: Limits,
    check: Callable[[], None] | None,
) -> dict[str, Any]:
    place = place_of(name)
    header = json.dumps({"name": name, "limits": asdict(limits), **wanted}).encode()
    ends = time.monotonic() + limits.max_seconds
    output: list[bytes] = []
    with subprocess.Popen(  # noqa: S603 - our own interpreter, and nothing of the file in its words
        [sys.executable, *_COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=_ROOT,
        env={key: os.environ[key] for key in _PASSED_ON if key in os.environ} | {"PYTHONUTF8": "1"},
    ) as child:
        exchange = threading.Thread(
            target=_exchange, args=(child, header + b"\n" + content, output), daemon=True
        )
        exchange.start()
        try:
            while exchange.is_alive():
                exchange.join(_POLL)
                if check is not None:
                    check()
                if time.monotonic() > ends:
                    problem = f"took longer than {limits.max_seconds:g} seconds to read"
                    raise PaperError(place, problem, _REMEDY)
            with suppress(subprocess.TimeoutExpired):  # its output has ended, and so does it
                child.wait(1.0)
        finally:
            child.kill()
            exchange.join()
    return _answer(b"".join(output), child.returncode, place, limits)


def _exchange(child: subprocess.Popen[bytes], message: bytes, output: list[bytes]) -> None:
    """Give the child its message and take what it answers, up to a bound; ends when the child is killed."""
    assert child.stdin is not None  # noqa: S101 - both are pipes
    assert child.stdout is not None  # noqa: S101
    with suppress(OSError):  # a child that died does not read on
        child.stdin.write(message)
    with suppress(OSError):
        child.stdin.close()
    output.append(child.stdout.read(_MOST_OUTPUT))


def _answer(output: bytes, code: int, place: str, limits: Limits) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = dict(json.loads(output))
    except (ValueError, TypeError, RecursionError):
        most = f"{limits.max_memory / MIB:,.0f} MiB of memory"
        ending = f"signal {-code}" if code < 0 else f"exit status {code}"
        problem = f"stopped the program that reads it ({ending}): it is damaged, or needs more than {most}"
        raise PaperError(place, problem, _REMEDY) from None
    if "error" not in answer:
        return answer
    if answer["error"] == _OUT_OF_MEMORY:
        problem = f"needs more than {limits.max_memory / MIB:,.0f} MiB of memory to read"
        raise PaperError(place, problem, _REMEDY)
    place, problem, remedy = answer["error"]
    raise PaperError(place, problem, remedy)
