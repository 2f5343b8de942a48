"""The notebooks of ``examples/``, executed as a reader executes them, in a kernel of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_the_first_cell_to_the_last(
    path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbclient
    import nbformat

    cache = tmp_path_factory.getbasetemp() / "notebooks"  # of all: the second needs no model
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", str(cache))
    book = nbformat.read(path, as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code), "committed with outputs"
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    outputs = [output for cell in code for output in cell.outputs]
    assert [output for output in outputs if output.output_type in ("stream", "error")] == []
    assert "text/html" in code[-1].outputs[-1].data
