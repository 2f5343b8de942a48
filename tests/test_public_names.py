"""What a notebook can rely on, and what an import may cost."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import evidencebench_core
from tests.factories import tiny_dataset, written

NAMES = {
    "EvidenceBenchError",
    "Instance",
    "Query",
    "RETRIEVERS",
    "Retrieval",
    "TASKS",
    "__version__",
    "compare",
    "estimate",
    "execute",
    "ingest",
    "make_retriever",
    "open_store",
    "plan",
    "query_of",
    "score",
    "score_run",
    "show",
    "task_named",
}
HEAVY = {
    "torch",
    "sentence_transformers",
    "streamlit",
    "pandas",
    "scipy",
    "sklearn",
    "plotly",
    "openai",
    "numpy",
}


def test_the_public_names() -> None:
    assert set(evidencebench_core.__all__) == NAMES
    assert len(evidencebench_core.__all__) == len(NAMES)
    assert set(dir(evidencebench_core)) >= NAMES
    for name in NAMES:
        assert getattr(evidencebench_core, name) is not None


def test_there_are_no_others() -> None:
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        evidencebench_core.magic  # noqa: B018


def test_the_ten_lines_of_the_docstring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = tmp_path / "sample_data"
    sample.mkdir()
    written(tiny_dataset(), sample / "sample_data.json")
    monkeypatch.chdir(tmp_path)
    (test,) = doctest.DocTestFinder(recurse=False).find(evidencebench_core, globs={})
    assert len(test.examples) <= 10
    test.examples[-1].want = "Tea lowers blood pressure in cohort 0. Aspect Recall: 1.00\n"
    printed: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert result.attempted == len(test.examples)
    assert result.failed == 0, "".join(printed)


def loaded_after(code: str) -> set[str]:
    """Which heavy packages a new process has imported after this code."""
    probe = f"{code}\nimport sys\nsys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return HEAVY & set(done.stderr.split())


def test_import_is_light() -> None:
    assert loaded_after("import evidencebench_core") == set()


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["run", "--help"], ["retrievers"]])
def test_help_is_light(words: list[str]) -> None:
    assert loaded_after(f"from evidencebench_core.cli import main; main({words})") == set()
