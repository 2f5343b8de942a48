"""Reading in a child process: the same paper, and nothing that a file does reaches us."""

import itertools
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import (
    DEFAULT_LIMITS,
    Limits,
    page_image,
    read_paper,
    read_paper_apart,
    sandbox,
)
from tests.papers import rendering
from tests.papers.pdf.hostile import paged
from tests.papers.test_read import SOURCE

PACKAGE = Path(sandbox.__file__).parents[1]
TEXT = b"Tea is hot. It cools in Fig. 2."
SLOW = b"Tea " + b"( " * 400_000  # the general splitter takes more than linear time for this


def test_the_same_paper_and_the_same_message_come_back() -> None:
    for written in (rendering.jats, rendering.docx, rendering.plain):
        content = written(SOURCE)
        assert read_paper_apart(content, "paper") == read_paper(content, "paper")
    for wrong in (b"", b"<!DOCTYPE a [<!ENTITY x 'y'>]><a/>", b"\x89PNG"):
        with pytest.raises(PaperError) as here:
            read_paper(wrong, "a/paper")
        with pytest.raises(PaperError, match=f"^{re.escape(str(here.value))}$"):
            read_paper_apart(wrong, "a/paper")


def test_too_large_and_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PaperError, match="took longer than 1 seconds to read"):
        read_paper_apart(SLOW, "slow", limits=replace(DEFAULT_LIMITS, max_seconds=1))
    monkeypatch.setattr(subprocess, "Popen", None)  # without a child
    with pytest.raises(PaperError, match=r"at most 0\.0 MiB are read"):
        read_paper_apart(TEXT, limits=Limits(max_bytes=3))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
def test_a_file_that_needs_too_much_memory_is_given_up() -> None:
    words = b"tea " * 5_000_000  # 20 MB; as a list of words some 300
    with pytest.raises(PaperError, match="needs more than 150 MiB of memory to read"):
        read_paper_apart(words, "long", limits=replace(DEFAULT_LIMITS, max_memory=150 * 2**20))


@pytest.mark.parametrize(
    ("code", "seconds", "message"),
    [  # what a parser that a file took over could do
        ("import os; os.abort()", 20, "stopped the program that reads it .signal 6."),
        ("raise SystemExit(3)", 20, "stopped the program that reads it .exit status 3."),
        ("print('not json')", 20, "stopped the program that reads it .exit status 0."),
        ("import threading; threading.Event().wait()", 0.5, "took longer than 0.5 seconds"),
        ("while True: print('x' * 10**6)", 20, "stopped the program that reads it"),
    ],
)
def test_whatever_the_child_does_there_is_one_line(
    code: str, seconds: float, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_COMMAND", ("-c", code))
    monkeypatch.setattr(sandbox, "_MOST_OUTPUT", 10**6)
    limits = replace(DEFAULT_LIMITS, max_seconds=seconds)
    with pytest.raises(PaperError, match=message):
        read_paper_apart(TEXT, "x", limits=limits)
    with pytest.raises(PaperError, match=message):
        page_image(TEXT, 1, name="x", limits=limits)


@pytest.mark.parametrize("answer", ["{}", '{"image": {"page": 1}}', '{"image": 3, "paper": []}'])
def test_an_answer_that_is_none_is_one_line_too(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_COMMAND", ("-c", f"print({answer!r})"))
    with pytest.raises(PaperError, match="is not as it was written"):
        read_paper_apart(TEXT)
    with pytest.raises(PaperError, match="could not be drawn"):
        page_image(TEXT, 1)


def test_reading_can_be_cancelled() -> None:
    """The child is killed, and what the check raised comes up."""
    looks = itertools.count(1)

    def check() -> None:
        if next(looks) == 3:
            raise KeyboardInterrupt

    children = set(psutil.Process().children())
    with pytest.raises(KeyboardInterrupt):
        read_paper_apart(SLOW, "slow", check=check)
    assert next(looks) == 4
    assert set(psutil.Process().children()) <= children


def test_two_papers_are_read_at_once_and_the_third_says_that_it_waits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    open_gate, said = tmp_path / "gate", [list[str](), list[str](), list[str]()]
    code = f"import os, time\nwhile not os.path.exists({str(open_gate)!r}): time.sleep(0.02)"
    monkeypatch.setattr(sandbox, "_COMMAND", ("-c", code))
    most, children = 0, set(psutil.Process().children())

    def read(number: int) -> None:
        with pytest.raises(PaperError, match="stopped the program"):
            read_paper_apart(TEXT, f"paper {number}", report=said[number].append)

    with ThreadPoolExecutor(3) as threads:
        reading = [threads.submit(read, number) for number in range(3)]
        while not any(said):  # the last of them says at once that it waits
            pass
        most = len(set(psutil.Process().children()) - children)
        open_gate.touch()
        for one in reading:
            one.result(30)
    assert most <= 2
    ((waited, then),) = filter(None, said)
    assert re.fullmatch(r"Waiting to read paper \d: 2 others are being read", waited)
    assert then.startswith("Reading paper ")


def test_a_reader_that_waits_can_be_cancelled() -> None:
    def check() -> None:
        raise KeyboardInterrupt

    with sandbox._places, sandbox._places, pytest.raises(KeyboardInterrupt):
        read_paper_apart(TEXT, check=check)
    assert read_paper_apart(TEXT).sentences


def test_pdfium_is_loaded_by_the_child_only() -> None:
    """Three modules name it, and reading a PDF leaves it out of this process."""
    naming = {path.name for path in PACKAGE.rglob("*.py") if "pypdfium2" in path.read_text(encoding="utf-8")}
    assert naming == {"glyphs.py", "drawings.py", "rendering.py"}
    probe = (
        "import sys; from evidencebench_core.papers import read_paper, read_paper_apart;"
        "content = sys.stdin.buffer.read(); paper = read_paper(content); assert paper == read_paper_apart(content);"
        "from evidencebench_core.papers import page_image; assert page_image(content, 1).webp;"
        "assert paper.kind == 'pdf'; assert not [name for name in sys.modules if 'pdfium' in name]"
    )
    subprocess.run([sys.executable, "-c", probe], input=paged(), check=True)


def test_no_key_reaches_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = "import os, json; print(json.dumps({'error': ['x', ' '.join(sorted(os.environ)) + '.', 'y']}))"
    monkeypatch.setattr(sandbox, "_COMMAND", ("-c", code))
    with pytest.raises(PaperError) as caught:
        read_paper_apart(TEXT)
    assert "PATH" in caught.value.problem
    assert "OPENAI_API_KEY" not in caught.value.problem


def test_the_folder_is_not_looked_at_nor_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(9)")  # would shadow a module
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert read_paper_apart(rendering.docx(SOURCE), "paper.docx").title == SOURCE.title
    assert [path.name for path in tmp_path.iterdir()] == ["json.py"]


def test_the_child_is_light() -> None:
    probe = (
        "import sys, evidencebench_core.papers.worker; from evidencebench_core.papers import read_paper;"
        "read_paper(b'Tea is hot.'); print(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    heavy = {"torch", "streamlit", "pandas", "numpy", "scipy", "httpx", "pypdfium2", "sentence_transformers"}
    assert heavy & set(done.stdout.split()) == set()
