"""Lines by room: code, docstrings, comments, blank. usage: lines.py [CHECKOUT [EARLIER_CHECKOUT]]"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

KINDS = ("code", "docstrings", "comments", "blank", "all")


def room_of(path: Path) -> str:
    """``core/data``, ``components/browse``, ``pages``, ``tests`` ..."""
    top, *rest = path.parts
    name = {"evidencebench_core": "core"}.get(top, top)
    return f"{name}/{rest[0]}" if top in ("evidencebench_core", "components") and len(rest) > 1 else name


def lines_of(text: str) -> Counter[str]:
    """How many lines of each kind a Python file has."""
    kinds = dict.fromkeys(range(1, len(text.splitlines()) + 1), "code")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            kinds[token.start[0]] = "comments"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and ast.get_docstring(node) is not None:
                kinds |= dict.fromkeys(range(first.lineno, (first.end_lineno or 0) + 1), "docstrings")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            kinds[number] = "blank"
    return Counter(kinds.values()) + Counter(all=len(kinds))


def rooms(root: Path) -> dict[str, Counter[str]]:
    """The counts by room of what git tracks in a checkout, JavaScript and CSS as code."""
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True)
    found: dict[str, Counter[str]] = {}
    for name in listed.stdout.split("\n"):
        path = Path(name)
        if path.suffix in (".py", ".js", ".css") and (root / path).is_file():
            text = (root / path).read_text(encoding="utf-8")
            n = len(text.splitlines())
            counts = lines_of(text) if path.suffix == ".py" else Counter(code=n, all=n)
            found.setdefault(room_of(path), Counter()).update(counts)
    return found


def main() -> None:
    after, *before = (rooms(Path(name)) for name in (sys.argv[1:] or ["."]))
    names = sorted({*after, *(before[0] if before else ())})
    total = {label: Counter[str]() for label in ("product", "tests, benchmarks")}
    print(
        f"{'room':28}" + "".join(f"{kind:>11}" for kind in KINDS) + (f"{'all before':>12}" if before else "")
    )
    earlier = Counter[str]()
    for name in names:
        label = "tests, benchmarks" if name in ("tests", "benchmarks") else "product"
        total[label] += after.get(name, Counter())
        was = before[0].get(name, Counter())["all"] if before else 0
        earlier[label] += was
        print(row(name, after.get(name, Counter()), was if before else None))
    for label, counts in total.items():
        print(row(label, counts, earlier[label] if before else None))


def row(name: str, counts: Counter[str], was: int | None) -> str:
    """One line of the table."""
    return (
        f"{name:28}"
        + "".join(f"{counts[kind]:11,}" for kind in KINDS)
        + (f"{was:12,}" if was is not None else "")
    )


if __name__ == "__main__":
    main()
