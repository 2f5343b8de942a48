"""The child process of `read_paper_apart`: a header line and the file in, the paper as JSON out.

``python -m evidencebench_core.papers.worker``. It bounds its own time and memory before it looks at the
file, and imports nothing heavy.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.limits import Limits
from evidencebench_core.papers.read import place_of, read_paper

__all__ = ["main"]


def main() -> int:
    """Read from standard input, answer on standard output; 0 also when the answer is an error."""
    header: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    limits = Limits(**header["limits"])
    _bound(limits)
    answer: dict[str, Any]
    try:
        content = sys.stdin.buffer.read()
        paper = read_paper(content, header["name"], header["kind"], limits)
        answer = {"paper": paper.as_dict()}
    except PaperError as error:
        answer = {"error": [error.place, error.problem, error.remedy]}
    except MemoryError:
        answer = {"error": "memory"}
    except Exception as error:  # noqa: BLE001 - whatever a file does to a parser, the user gets one line
        what = shown(f"{type(error).__name__}: {error}", 120)
        answer = {
            "error": [
                place_of(header["name"]),
                f"could not be read ({what})",
                "Give the paper as JATS XML or plain text, or paste its text.",
            ]
        }
    sys.stdout.buffer.write(json.dumps(answer).encode("utf-8"))
    sys.stdout.buffer.flush()
    return 0


def _bound(limits: Limits) -> None:
    """Bounds of this process: address space, processor time, no core file, nothing written."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock is the only bound
        return
    seconds = math.ceil(limits.max_seconds) + 1
    for what, bound in (
        (resource.RLIMIT_AS, limits.max_memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        _, hard = resource.getrlimit(what)
        try:
            resource.setrlimit(what, (bound if hard < 0 else min(bound, hard),) * 2)
        except (ValueError, OSError):  # macOS knows RLIMIT_AS and refuses it
            continue


if __name__ == "__main__":
    sys.exit(main())
