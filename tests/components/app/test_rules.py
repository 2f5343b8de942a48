"""Who may touch what of Streamlit: the session and the address in one file, the caches in another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = [ROOT / "app.py", *sorted(ROOT.glob("pages/*.py")), *sorted(ROOT.glob("components/**/*.py"))]
OWNERS = {
    "session_state": "components/app/state.py",
    "query_params": "components/app/state.py",
    "cache_resource": "components/app/resources.py",
    "cache_data": "components/app/resources.py",
}


def streamlit_names(path: Path) -> Iterator[str]:
    """Every ``st.NAME`` of a file, and what it imports from streamlit by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "st":
            yield node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "streamlit":
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_session_address_and_caches_have_one_owner_each(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    assert {used for used in streamlit_names(path) if OWNERS.get(used, name) != name} == set()


def test_the_owners_use_what_they_own() -> None:
    """The check above sees what it looks for."""
    for name, owner in OWNERS.items():
        if name != "cache_data":
            assert name in set(streamlit_names(ROOT / owner))
