"""The notebooks of ``examples/``, executed in a kernel of their own, as the manual shows them."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from docs.hooks import ROOT, notebook_page

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_to_the_last_cell_and_is_drawn_in_the_manual(path: Path) -> None:
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code), "committed with outputs"
    page, outputs = notebook_page(path)
    assert re.findall(r"\[output (\d+)\]", page) == [str(number) for number in range(len(outputs))]
    drawn = "".join(outputs)
    assert "<iframe" in drawn or "Plotly.newPlot" in drawn
    assert "<table" in drawn or "Selected(" in drawn
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", drawn)
