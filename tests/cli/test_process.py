"""The command as a process: Ctrl+C, a full disk, a reader who leaves, a terminal without letters."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evidencebench_core.data import open_store
from evidencebench_core.runs import RunStore

CLI = (sys.executable, "-m", "evidencebench_core.cli")


def test_a_terminal_without_the_letters_gets_their_codes(tiny: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*CLI, "show", "tiny_0"], capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u2588    0  " in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_one_line_and_a_reader_who_leaves_gets_none(tiny: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    full = os.open("/dev/full", os.O_WRONLY)
    for output, n_lines in ((full, 1), (write, 0)):
        words = [*CLI, "list", "datasets", "--json"]
        done = subprocess.run(words, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
        os.close(output)
        assert (done.returncode, len(done.stderr.splitlines())) == (1, n_lines)
        assert done.stderr.startswith("evidencebench: ") == bool(n_lines)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to a process there")
def test_ctrl_c_ends_the_process_with_130(tiny: Path) -> None:
    # The script sends itself the signal that Ctrl-C sends, from inside the fourth instance.
    # A process started in the background of a shell ignores it unless told otherwise.
    script = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from evidencebench_core.cli import main
from evidencebench_core.retrievers.baselines import Lead
answer = Lead.retrieve
def retrieve(self, query):
    if query.hypothesis.endswith("cohort 3."):
        os.kill(os.getpid(), signal.SIGINT)
    return answer(self, query)
Lead.retrieve = retrieve
sys.exit(main(["run", "--dataset", "tiny", "--retriever", "lead"]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGINT
    answered = len(RunStore(open_store()).done(RunStore(open_store()).runs()[0].id))
    assert 0 < answered < 6
    assert f"{answered} of 6 instances answered" in done.stderr
    assert "To go on: evidencebench run --dataset tiny --retriever lead" in done.stderr
    assert "Traceback" not in done.stderr
