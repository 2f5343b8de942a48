"""Servers that no one here wrote, started for the session from what ``scripts/real-servers`` has set up."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.llm import Connection

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "sample_data" / "sample_data.json"
SETTING = "EVIDENCEBENCH_REAL_SERVERS"
UP, UP_WITHIN = "Uvicorn running on", 300.0  # seconds


def need_servers() -> None:
    """Skip the module that calls this where no servers are set up."""
    if not os.environ.get(SETTING):
        reason = f"{SETTING} names no servers: scripts/real-servers sets them up"
        pytest.skip(reason, allow_module_level=True)


@dataclass(slots=True)
class Server:
    """One that runs.

    ``choosing`` and ``random`` are what it calls its two models (see ``tiny_models.py``).
    """

    name: str
    url: str
    choosing: str
    random: str
    key: str | None = None
    log: list[str] = field(default_factory=list)

    @property
    def connection(self) -> Connection:
        return Connection(self.url, self.key)


@dataclass(frozen=True, slots=True)
class Ended:
    """What a call of the command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def evidencebench(server: Server, store: Path, *words: str | Path, key: str | None = None) -> Ended:
    """The command in a process of its own, asking that server."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    environment |= {"OPENAI_BASE_URL": server.url}
    if found := key or server.key:
        environment["OPENAI_API_KEY"] = found
    command = [sys.executable, "-m", "evidencebench_core.cli", "--store", str(store), *map(str, words)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A store with the six instances of the sample data as ``sample``."""
    from evidencebench_core.data import ingest, open_store

    store = tmp_path / "store.sqlite"
    ingest(open_store(store), SAMPLE, "sample")
    return store


@pytest.fixture(scope="session")
def folder() -> Path:
    """Where ``scripts/real-servers`` has put the servers and their models."""
    named = Path(os.environ[SETTING])
    if not (named / "models" / "vectors.gguf").is_file():
        pytest.fail(f"{named} holds no servers: scripts/real-servers {named} sets them up")
    return named


@pytest.fixture(scope="session")
def transformers(folder: Path) -> Iterator[Server]:
    """``transformers serve``, with a hub's cache of two models; wants no key."""
    port = free_port()
    command = [
        *(str(folder / "venv" / "bin" / "transformers"), "serve"),
        *("--host", "127.0.0.1", "--port", str(port), "--device", "cpu"),
    ]
    offline = {"HF_HUB_CACHE": str(folder / "models" / "hub"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    server = Server("transformers", f"http://127.0.0.1:{port}/v1", "tiny/choosing", "tiny/random")
    with running(server, command, {**offline, "CUDA_VISIBLE_DEVICES": ""}):
        yield server


@pytest.fixture(scope="session")
def llama_cpp(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """llama-cpp-python's server, with models to chat and to embed; wants a key."""
    port, key, models = free_port(), f"sk-{secrets.token_hex(12)}", folder / "models"
    common = {"n_threads": 1, "n_threads_batch": 1, "logits_all": False, "verbose": False}
    served = [
        {"model_alias": "choosing", "model": "choosing.gguf", "n_ctx": 32_768},
        {"model_alias": "random", "model": "random.gguf", "n_ctx": 32_768},
        {"model_alias": "short-sighted", "model": "random.gguf", "n_ctx": 512},
        {"model_alias": "vectors", "model": "vectors.gguf", "n_ctx": 2_048, "embedding": True},
        {"model_alias": "vectors-of-tokens", "model": "random.gguf", "n_ctx": 2_048, "embedding": True},
    ]
    document = {
        "host": "127.0.0.1",
        "port": port,
        "api_key": key,
        "models": [{**common, **one, "model": str(models / str(one["model"]))} for one in served],
    }
    config = tmp_path_factory.mktemp("llama") / "config.json"
    config.write_text(json.dumps(document), encoding="utf-8")
    server = Server("llama-cpp", f"http://127.0.0.1:{port}/v1", "choosing", "random", key)
    python = str(folder / "venv" / "bin" / "python")
    with running(server, [python, "-m", "llama_cpp.server", "--config_file", str(config)], {}):
        yield server


@pytest.fixture(params=["transformers", "llama_cpp"])
def server(request: pytest.FixtureRequest) -> Server:
    """Each of the two."""
    found: Server = request.getfixturevalue(request.param)
    return found


@contextmanager
def running(server: Server, command: list[str], environment: Mapping[str, str]) -> Iterator[None]:
    """The server's process, from when it says that it is up to the end of the block."""
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    up = threading.Event()
    reader = threading.Thread(target=_read, args=(process, server.log, up))
    reader.start()
    try:
        if not up.wait(UP_WITHIN) or process.poll() is not None:
            pytest.fail(f"{server.name} did not start: {''.join(server.log[-20:])}")
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
        reader.join()


def _read(process: subprocess.Popen[str], log: list[str], up: threading.Event) -> None:
    """Keep what the process says until it ends; it would stop at a full pipe."""
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            log.append(line)
            if UP in line:
                up.set()
    up.set()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
