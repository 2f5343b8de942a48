"""All lines by room: code, docstrings, blanks. usage: python -m benchmarks.lines [CHECKOUT [EARLIER_CHECKOUT]]"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

SUFFIXES = (".py", ".js", ".css", ".html")
SPLIT = ("evidencebench_core", "components", "tests")  # folders whose folders are rooms
OTHERS = ("tests", "benchmarks", "sample_data", "examples", "docs")  # what is no product


def room_of(path: Path) -> str:
    """``evidencebench_core/data``, ``components/browse``, ``pages``, ``tests/data`` ..."""
    n_parts = 2 if path.parts[0] in SPLIT and len(path.parts) > 2 else 1
    return "/".join(path.parts[:n_parts])


def rooms(root: Path) -> Counter[str]:
    """The lines by room of what git tracks in a checkout."""
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True)
    lines = Counter[str]()
    for path in map(Path, listed.stdout.splitlines()):
        if path.suffix in SUFFIXES and (root / path).is_file():
            lines[room_of(path)] += len((root / path).read_text(encoding="utf-8").splitlines())
    return lines


def main() -> None:
    counts = [rooms(Path(name)) for name in (sys.argv[1:3] or ["."])]
    names = sorted(set().union(*counts))
    totals = [Counter[str]() for _ in counts]
    for name in names:
        print(f"{name:36}" + "".join(f"{lines[name]:9,}" for lines in counts))
        for total, lines in zip(totals, counts, strict=True):
            top = name.partition("/")[0]
            total[top if top in OTHERS else "product"] += lines[name]
    for label in ("product", *OTHERS):
        print(f"{label:36}" + "".join(f"{total[label]:9,}" for total in totals))


if __name__ == "__main__":
    main()
