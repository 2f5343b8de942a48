"""How long it takes before anything happens: median seconds of a new process for the import, and for the help.

    python -m benchmarks.startup

The targets are 0.3 s for `import evidencebench_core` (beyond a bare interpreter) and 0.5 s for `evidencebench --help`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.timing import report, seconds


def median_seconds(*words: str) -> float:
    command = [sys.executable, *words]
    times = [seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(5)]
    return round(statistics.median(times), 3)


def main() -> int:
    bare = median_seconds("-c", "pass")
    found = {
        "bare interpreter": bare,
        "import": median_seconds("-c", "import evidencebench_core") - bare,
        "import of all names": median_seconds("-c", "from evidencebench_core import *") - bare,
        "help": median_seconds("-m", "evidencebench_core.cli", "--help"),
    }
    return report(found, [name for name, limit in (("import", 0.3), ("help", 0.5)) if found[name] >= limit])


if __name__ == "__main__":
    raise SystemExit(main())
