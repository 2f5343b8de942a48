"""The child process of `papers.sandbox`: a header line and the file in; the paper, or the image of a page, as JSON out.

``python -m evidencebench_core.papers.worker``. It bounds its own time and memory before it looks at the
file, and imports nothing heavy.
"""

from __future__ import annotations

import json
import math
import sys
from base64 import b64encode
from dataclasses import asdict
from typing import Any

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.limits import Limits
from evidencebench_core.papers.read import place_of, read_here


def main() -> int:
    """Read from standard input, answer on standard output; 0 also when the answer is an error."""
    header: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    limits = Limits(**header["limits"])
    _bound(limits)
    content = sys.stdin.buffer.read()
    answer: dict[str, Any]
    try:
        if "page" in header:
            answer = {"image": _image(content, header, limits)}
        else:
            answer = {"paper": read_here(content, header["name"], header["kind"], limits).as_dict()}
    except PaperError as error:
        answer = {"error": [error.place, error.problem, error.remedy]}
    except MemoryError:
        answer = {"error": "memory"}
    sys.stdout.buffer.write(json.dumps(answer).encode("utf-8"))
    sys.stdout.buffer.flush()
    return 0


def _image(content: bytes, header: dict[str, Any], limits: Limits) -> dict[str, Any]:
    from evidencebench_core.papers.pdf.rendering import drawn_page  # pdfium is loaded only for a PDF

    image = drawn_page(content, header["page"], header["scale"], place_of(header["name"]), limits)
    return asdict(image) | {"webp": b64encode(image.webp).decode()}


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
