"""What a notebook can rely on, and what an import may cost."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import evidencebench_core
from evidencebench_core.data import Store
from tests.cli.test_verbs import VERBS

ROOT = Path(__file__).parent.parent

# fmt: off
NAMES = {
    "EvidenceBenchError", "Instance", "Query", "RETRIEVERS", "Retrieval", "Retriever", "RunStore", "TASKS",
    "__version__", "compare", "estimate", "evaluate", "execute", "import_run", "ingest", "make_retriever", "open_store",
    "plan", "query_of", "run", "sample", "score", "score_predictions", "score_run", "show", "task_named",
}
# fmt: on
TORCH = {"torch", "sentence_transformers", "transformers", "sklearn"}
HEAVY = TORCH | {"streamlit", "pandas", "scipy", "plotly", "openai", "numpy"}
HELP = f"""
from evidencebench_core.cli import main
assert not any([main([*words, "--help"]) for words in {[(), *VERBS]}])
assert not main(["--version"])
"""
FIND = """
from evidencebench_core.cli import main
assert not main(["find", "README.md", "--retriever", "bm25", "A paper has 170 sentences."])
"""
PAGES = """
from evidencebench_core.cli import main
from streamlit.testing.v1 import AppTest
assert not main(["ingest", "sample_data/sample_data.json"])
app = AppTest.from_file("ROOT/app.py", default_timeout=60).run()
app.switch_page("pages/browse.py")
app.query_params["instance"] = "sample_trial"
assert not app.run().exception
assert not app.switch_page("pages/runs.py").run().exception
""".replace("ROOT", str(ROOT))
READ = """
from evidencebench_core.papers.read import paper_of_file
paper_of_file(b"Tea is hot.", "")
"""


def test_the_public_names_and_no_others() -> None:
    assert sorted(evidencebench_core.__all__) == sorted(NAMES)
    assert set(dir(evidencebench_core)) == NAMES
    for name in NAMES:
        assert getattr(evidencebench_core, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        evidencebench_core.magic  # noqa: B018


def test_the_ten_lines_of_the_docstring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    monkeypatch.chdir(tmp_path)
    (test,) = doctest.DocTestFinder(recurse=False).find(evidencebench_core, globs={})
    assert len(test.examples) <= 10
    test.examples[-1].want = "Longer cumulative exposure ... Aspect Recall: ...\n"
    test.examples[-1].options[doctest.ELLIPSIS] = True
    printed: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert result.attempted == len(test.examples)
    assert result.failed == 0, "".join(printed)


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [(HELP, HEAVY), (FIND, TORCH), (PAGES, TORCH), (READ, HEAVY | {"pypdfium2", "docx", "lxml"})],
    ids=["help", "find", "pages", "read"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str, forbidden: set[str]) -> None:
    """In a new process; a page that is read and retrieved for needs no torch."""
    probe = f"{code}\nimport sys\nsys.stderr.write('\\n' + ' '.join(sys.modules))"
    words = [sys.executable, "-c", probe]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not forbidden & set(done.stderr.splitlines()[-1].split())


def test_what_comes_back_prints_itself_in_a_line_draws_itself_and_is_a_table(store: Store) -> None:
    longest = evidencebench_core.evaluate(lambda query: [*map(len, query.sentences)], "tiny", store=store)
    report = evidencebench_core.compare(
        store, [longest, evidencebench_core.evaluate("bm25", "tiny", store=store)]
    )
    instance = store.get("tiny", "tiny_0")
    query = evidencebench_core.query_of(instance, "er@10")
    retrieval = evidencebench_core.make_retriever("bm25").retrieve(query)
    rows = [(store, 1), (store.dataset("tiny"), 1), (longest.run, 1), (longest, 4), (longest.scores[0], 6)]
    rows += [(report, 2), (retrieval, 12), (instance, 12)]
    for value in (query, *(value for value, _ in rows)):
        assert len(repr(value)) < 300
        assert "\n" not in repr(value)
    for value, n_rows in rows:
        assert ("<iframe" if value is instance else "<table") in value._repr_html_()
        assert len(value.to_pandas()) == n_rows
