"""A streamlit app on a free port, and the Chromium to look at it with; also used by benchmarks."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

import httpx

from evidencebench_core.cli.app import command

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_data" / "sample_data.json"
CHROMIUM_FLAGS = ("--no-sandbox", "--disable-gpu")


def chromium() -> str | None:
    """Path of a Chromium: $CHROMIUM, else the system's, else playwright's own, else None."""
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).is_file() else None


@contextmanager
def served(script: Path, *, listen: str = "127.0.0.1", **environment: str) -> Iterator[str]:
    """Run a streamlit script on a free port as the command `app` does; the address, once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = command(script, listen, port, (), browser=False)
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    own = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "EVIDENCEBENCH_TOKEN": ""}  # none is asked for
    settings = {**os.environ, **own, **environment}
    with TemporaryFile() as log:
        server = subprocess.Popen(words, cwd=ROOT, env=settings, stdout=log, stderr=subprocess.STDOUT)
        try:
            address = f"http://127.0.0.1:{port}"
            if not _answers(server, f"{address}/_stcore/health"):
                log.seek(0)
                raise RuntimeError(f"{script.name} did not come up: {log.read().decode()[-2000:]}")
            yield address
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


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


def _answers(server: subprocess.Popen[bytes], url: str) -> bool:
    """Whether it answers within a minute, be it that a token is asked for."""
    deadline = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < deadline:
        with suppress(httpx.TransportError):
            if httpx.get(url, timeout=1).status_code in (200, 403):
                return True
        time.sleep(0.1)
    return False
