"""Rules for all files of the app: who may touch what of Streamlit, and scripts that never make markup."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = [ROOT / "app.py", *sorted(ROOT.glob("pages/*.py")), *sorted(ROOT.glob("components/**/*.py"))]
FILES = sorted(
    path
    for room in ("components", "evidencebench_core")
    for path in ROOT.glob(f"{room}/**/*")
    if path.suffix in (".js", ".css")
)
MARKUP = ("innerHTML", "outerHTML", "insertAdjacent", "eval(", "Function(", "fetch(", "document.write")
FORBIDDEN = {".js": MARKUP, ".css": ("url(", "@import")}
STATE = {"components/app/state.py"}
CACHED = {str(path.relative_to(ROOT)) for path in ROOT.glob("components/*/cached.py")}
CACHES = {"components/app/resources.py", "components/app/live.py", *CACHED}
OWNERS = {"session_state": STATE, "query_params": STATE, "cache_resource": CACHES, "cache_data": CACHES}


def streamlit_names(path: Path) -> Iterator[str]:
    """Every ``st.NAME`` of a file, and what it imports from streamlit by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "st":
            yield node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "streamlit":
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_session_address_and_caches_are_touched_by_their_owners_alone(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    assert {used for used in streamlit_names(path) if name not in OWNERS.get(used, {name})} == set()


def test_the_owners_use_what_they_own() -> None:
    """The check above sees what it looks for."""
    for name in ("session_state", "query_params", "cache_resource"):
        assert all(name in set(streamlit_names(ROOT / owner)) for owner in OWNERS[name])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_scripts_write_text_as_text_and_styles_load_nothing(path: Path) -> None:
    """Nothing is parsed as markup, fetched or evaluated."""
    text = path.read_text("utf-8")
    assert [word for word in FORBIDDEN[path.suffix] if word in text] == []
