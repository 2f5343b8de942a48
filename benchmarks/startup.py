"""How long it takes before anything happens: the import, and the command's help.

    python benchmarks/startup.py

The limits are 0.3 s for `import evidencebench_core` (beyond a bare interpreter) and 0.5 s for
`evidencebench --help` (all of it). Exits with 1 if one is missed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 5
IMPORT_LIMIT, HELP_LIMIT = 0.3, 0.5


def seconds(*words: str) -> float:
    """Median wall-clock time of a new Python process."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> int:
    """Measure and print."""
    bare = seconds("-c", "pass")
    imported = seconds("-c", "import evidencebench_core") - bare
    names = seconds("-c", "from evidencebench_core import *") - bare
    helped = seconds("-m", "evidencebench_core.cli", "--help")
    print(f"bare interpreter                  {bare:.3f} s")
    print(f"import evidencebench_core         {imported:.3f} s beyond that (limit {IMPORT_LIMIT} s)")
    print(f"from evidencebench_core import *  {names:.3f} s beyond that")
    print(f"evidencebench --help              {helped:.3f} s (limit {HELP_LIMIT} s)")
    return int(imported >= IMPORT_LIMIT or helped >= HELP_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
