"""Reading in a child process: the same paper, and nothing that a file does reaches us."""

import io
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import child, read_paper
from evidencebench_core.papers.read import paper_of_file
from tests.papers.pdf.hostile import HOSTILE, SENTENCE

TEXT = b"Tea is hot. It cools in Fig. 2.\n\nFig. 2. A cup."
SLOW = b"Tea " + b"( " * 400_000  # the general splitter takes more than linear time for this


def test_the_same_paper_and_the_same_message_come_back() -> None:
    assert read_paper(TEXT, "tea.txt") == paper_of_file(TEXT, "tea.txt")
    for wrong in (b"", b"<!DOCTYPE a [<!ENTITY x 'y'>]><a/>", b"\x89PNG" + bytes(9)):
        with pytest.raises(PaperError) as here:
            paper_of_file(wrong, "a/paper")
        with pytest.raises(PaperError) as there:
            read_paper(wrong, "a/paper")
        assert str(there.value) == str(here.value)


def test_too_large_and_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "MAX_SECONDS", 1)
    with pytest.raises(PaperError, match="1 seconds"):
        read_paper(SLOW, "slow")
    monkeypatch.setattr(subprocess, "Popen", None)  # without a child
    with pytest.raises(PaperError, match=r"26\.0 MiB, and at most 25\.0 MiB"):
        read_paper(bytes(26 * child.MIB))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
def test_files_that_need_too_much_memory_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "MAX_MEMORY", 250 * child.MIB)
    words = b"tea " * 5_000_000  # 20 MB; as a list of words some 300
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("[Content_Types].xml", b" " * 300_000_000)
    for content in (words, stream.getvalue()):
        with pytest.raises(PaperError):
            read_paper(content, "large")


def test_a_cancel_kills_the_child() -> None:
    def check() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_paper(SLOW, "slow", check=check)
    commands = [" ".join(process.cmdline()) for process in psutil.Process().children(recursive=True)]
    assert not any("papers.child" in command for command in commands)


def test_two_are_read_at_once_and_others_wait() -> None:
    waiting = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        with child._slots, child._slots:
            third = pool.submit(read_paper, TEXT, "tea.txt", check=waiting.set)
            assert waiting.wait(60)
            assert not third.done()
        assert third.result(60).sentences


def test_the_child_is_given_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    environments = []

    class Recorder(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *args: object, **options: object) -> None:
            environments.append(options["env"])
            super().__init__(*args, **options)  # type: ignore[call-overload]

    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setattr(subprocess, "Popen", Recorder)
    assert read_paper(TEXT).sentences
    assert "secret" not in str(environments)


# -- PDF files that mean harm: pdfium runs in the child ---------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_soon_in_a_paper_or_in_one_line(name: str) -> None:
    if name == "scripts and launch actions":  # which are not looked at
        assert read_paper(HOSTILE[name](), name).sentences[:5] == (SENTENCE,) * 5
        return
    with pytest.raises(PaperError) as caught:
        read_paper(HOSTILE[name](), name)
    assert "\n" not in str(caught.value)
