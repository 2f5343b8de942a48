"""Papers are read, drawn and highlighted in a child process that can be killed: what a file costs is bounded.

The file goes in and the answer comes back by pipes; nothing is written to disk, and the child is given neither keys
nor other settings of the environment. The child is this module too.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.paper import Box, PageImage, Paper
from evidencebench_core.papers.read import file_place, paper_of_file

MIB: Final = 1024 * 1024
MAX_BYTES: Final = 25 * MIB
"""Of a file."""
MAX_SECONDS: Final = 20.0  # of the child, by the clock and of the processor
MAX_MEMORY: Final = 1024 * MIB  # its address space, where the system has such a limit
# What Python needs to start; nothing of it is secret.
_PASSED_ON: Final = (
    "PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL", "PYTHONHOME", "PYTHONPATH",
    "VIRTUAL_ENV", "TEMP", "TMP", "TMPDIR",
)  # fmt: skip
_REMEDY: Final = "Give the paper as JATS XML or plain text, or paste its text."
_ROOT: Final = Path(__file__).parents[2]  # so that -m finds this package, and no other
_POLL: Final = 0.05  # seconds between two looks at the child
_slots = threading.BoundedSemaphore(2)  # papers read at once


def read_paper(content: bytes, name: str = "", check: Callable[[], None] | None = None) -> Paper:
    """The paper in a file, read in a child process; `PaperError` if that fails for any reason.

    Two papers are read at once, others wait. ``check`` is called meanwhile; an exception in it kills the child.
    """
    return Paper.from_dict(_ask_child({}, content, name, check)["paper"])


def page_image(content: bytes, page: int, scale: float = 2.0, name: str = "") -> PageImage:
    """A page of a PDF (from 1) as an image, ``scale`` pixels a point; beyond the last page it is the last one."""
    return page_images(content, [(page, None)], scale, name)[0]


def page_images(
    content: bytes, parts: Sequence[tuple[int, Box | None]], scale: float = 2.0, name: str = ""
) -> list[PageImage]:
    """Several pages as `page_image` has them, or what stands in a box of one."""
    raw = _ask_child({"pages": parts, "scale": scale}, content, name)["images"]
    return [PageImage(**image | {"webp": b64decode(image["webp"])}) for image in raw]


def highlighted_pdf(content: bytes, marks: Sequence[tuple[Sequence[Box], str]], name: str = "") -> bytes:
    """A PDF with a highlight for each mark: the boxes of its lines, all on one page, and a comment."""
    return b64decode(_ask_child({"marks": marks}, content, name)["pdf"])


def _ask_child(
    task: Mapping[str, object], content: bytes, name: str, check: Callable[[], None] | None = None
) -> dict[str, Any]:
    place = file_place(name)
    if len(content) > MAX_BYTES:
        problem = f"has {len(content) / MIB:,.1f} MiB, and at most {MAX_BYTES / MIB:,.1f} MiB are read"
        raise PaperError(place, problem, "Give the paper alone, without supplements, or as text.")
    while not _slots.acquire(timeout=_POLL):
        if check is not None:
            check()
    try:
        header = json.dumps({"name": name, "seconds": MAX_SECONDS, "memory": MAX_MEMORY, **task}).encode()
        return _answer_of_child(header + b"\n" + content, place, check)
    finally:
        _slots.release()


def _answer_of_child(message: bytes, place: str, check: Callable[[], None] | None) -> dict[str, Any]:
    ends = time.monotonic() + MAX_SECONDS
    output: list[bytes] = []
    with subprocess.Popen(
        [sys.executable, "-m", "evidencebench_core.papers.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=_ROOT,
        env={key: os.environ[key] for key in _PASSED_ON if key in os.environ} | {"PYTHONUTF8": "1"},
    ) as child:
        exchange = threading.Thread(target=lambda: output.append(child.communicate(message)[0]), daemon=True)
        exchange.start()
        try:
            while exchange.is_alive():
                exchange.join(_POLL)
                if check is not None:
                    check()
                if time.monotonic() > ends:
                    problem = f"took longer than {MAX_SECONDS:g} seconds to read"
                    raise PaperError(place, problem, _REMEDY)
        finally:
            child.kill()
            exchange.join()
    try:
        answer: dict[str, Any] = dict(json.loads(b"".join(output)))
    except (ValueError, TypeError, RecursionError):
        problem = (
            f"could not be read: it is damaged, or needs more than {MAX_MEMORY / MIB:,.0f} MiB of memory"
        )
        raise PaperError(place, problem, _REMEDY) from None
    if "error" in answer:
        raise PaperError(*answer["error"])
    return answer


# -- the child ------------------------------------------------------------------------------------


def main() -> int:
    """Read from standard input, answer on standard output; 0 also when the answer is an error."""
    header: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    place = file_place(header["name"])
    _bound(header["seconds"], header["memory"])
    content = sys.stdin.buffer.read()
    answer: dict[str, Any]
    try:
        if "pages" in header:
            from evidencebench_core.papers.pdf.rendering import drawn_pages  # pdfium only for a PDF

            images = drawn_pages(content, header["pages"], header["scale"], place)
            encoded = (asdict(image) | {"webp": b64encode(image.webp).decode()} for image in images)
            answer = {"images": list(encoded)}
        elif "marks" in header:
            from evidencebench_core.papers.pdf.rendering import highlighted

            answer = {"pdf": b64encode(highlighted(content, header["marks"], place)).decode()}
        else:
            answer = {"paper": paper_of_file(content, header["name"]).as_dict()}
    except PaperError as error:
        answer = {"error": [error.place, error.problem, error.remedy]}
    except MemoryError:
        problem = f"needs more than {header['memory'] / MIB:,.0f} MiB of memory to read"
        answer = {"error": [place, problem, _REMEDY]}
    except Exception as error:  # noqa: BLE001 - of ours or of a library: the reader gets one line
        answer = {"error": [place, f"could not be read ({type(error).__name__})", _REMEDY]}
    sys.stdout.buffer.write(json.dumps(answer).encode("utf-8"))
    sys.stdout.buffer.flush()
    return 0


def _bound(max_seconds: float, max_memory: int) -> None:
    """Bounds of this process: address space, processor time, no core file, nothing written."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock is the only bound
        return
    bounds = {
        resource.RLIMIT_AS: max_memory,
        resource.RLIMIT_CPU: math.ceil(max_seconds) + 1,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
    }
    for kind, bound in bounds.items():
        _, hard = resource.getrlimit(kind)
        with suppress(ValueError, OSError):  # macOS knows RLIMIT_AS and refuses it
            resource.setrlimit(kind, (bound if hard < 0 else min(bound, hard),) * 2)


if __name__ == "__main__":
    sys.exit(main())
