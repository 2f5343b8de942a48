"""A streamlit app on a free port, and the Chromium to look at it with; also used by benchmarks."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from evidencebench_core.cli.app import command

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_data" / "sample_data.json"
CHROMIUM_FLAGS = ("--no-sandbox", "--disable-gpu")


def chromium() -> str | None:
    """Path of a Chromium: $CHROMIUM, else the system's, else None."""
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def served(script: Path, *, listen: str = "127.0.0.1", **environment: str) -> Iterator[str]:
    """Run a streamlit script on a free port as the command `app` does; the address, once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [*command(script, listen, port, (), browser=False), "--logger.hideWelcomeMessage=false"]
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    own = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "EVIDENCEBENCH_TOKEN": ""}  # none is asked for
    settings = {**os.environ, **own, **environment}
    with (
        TemporaryFile() as log,
        subprocess.Popen(words, cwd=ROOT, env=settings, stdout=subprocess.PIPE, stderr=log) as server,
    ):
        try:
            if not any(b"http://" in line for line in server.stdout or ()):  # the welcome, once it listens
                log.seek(0)
                raise RuntimeError(f"{script.name} did not come up: {log.read().decode()[-2000:]}")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(3)
            except subprocess.TimeoutExpired:
                server.kill()


@contextmanager
def served_app(folder: Path, *, listen: str = "127.0.0.1", **environment: str) -> Iterator[str]:
    """The app, with its store and cache in a folder."""
    places = {
        "EVIDENCEBENCH_STORE": str(folder / "store.sqlite"),
        "EVIDENCEBENCH_CACHE": str(folder / "cache"),
    }
    with served(ROOT / "app.py", listen=listen, **places, **environment) as address:
        yield address


@contextmanager
def calling_nobody(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a server that notes in a folder where it connects to: at the end, to this machine alone."""
    log = folder / "connections"
    paths = [str(Path(__file__).parent / "audit"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    yield {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "CONNECTIONS": str(log)}
    outside = set(log.read_text("utf-8").split()) - {"localhost", "127.0.0.1", "::1", "None"}
    assert outside == {"watched"}, outside
