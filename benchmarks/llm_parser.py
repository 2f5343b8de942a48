"""Whether the parser of model answers stays linear on texts made to hurt it.

usage: python benchmarks/llm_parser.py

For each unit a text of 1 MB and one of 4 MB is read. Prints the ratio of the processor times, 4 where it is
linear and 16 where it is quadratic, and exits 1 if one is over 8.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evidencebench_core.llm.parse import parsed_aspects, parsed_hypothesis, read_answer

UNITS = [
    *(
        "DECISION: [",
        "DECISION: [1]",
        "DECISION ",
        "[",
        "]",
        "[1,",
        "[[1],",
        "(",
        "'",
        '"',
        "`",
        "*",
        " ",
    ),
    *(
        "\n",
        "1, ",
        "-",
        "3: x\n",
        "#",
        "sentence 3 ",
        "<think>",
        "</think>",
        "9",
        "index ",
        "3, 4, ",
        "> ",
    ),
    *("I can't ", '{"index": 1},', "one ", "\\", "$", "DECISION:\n- 3\n", "ASPECTS:\n- a\n", "3 ("),
    *("HYPOTHESIS: ", "DECISION: x [a] ", "1-", ".", "\t3"),
    *(
        "[3]\n",
        "[3] (a), ",
        "DECISION: 3 (a), ",
        "DECISION:\n- [3] x\n",
        '"DECISION: [1]" ',
        "says 'DECISION: [1] ",
    ),
    *(
        "| 3 | a |\n",
        "<decision>",
        "\\boxed{",
        "3: a, ",
        "4: x DECISION: [1]\n",
        "</x>",
        '{"decision": [1]}',
        "“",
    ),
    *("(3, 4), ", "[3 and 4], ", "1,000, ", "# DECISION\n", "DECISION:\n"),
]


def seconds(unit: str, n_bytes: int) -> float:
    text = "DECISION: [3, " + unit * (n_bytes // len(unit))
    began = time.process_time()
    read_answer(text, range(300))
    parsed_aspects(text)
    parsed_hypothesis(text)
    return time.process_time() - began


def main() -> int:
    worst = 0.0
    for unit in UNITS:
        small, large = seconds(unit, 1_000_000), seconds(unit, 4_000_000)
        ratio = large / max(small, 0.05)
        worst = max(worst, ratio)
        print(f"{unit!r:24s} {small:6.2f} s, {large:6.2f} s, ratio {ratio:5.1f}")
    return int(worst > 8)


if __name__ == "__main__":
    raise SystemExit(main())
