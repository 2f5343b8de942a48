"""The package: what a wheel holds and does outside the checkout; the steps of the Dockerfile, where no builder is."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import typer

from evidencebench_core.cli.frame import app

ROOT = Path(__file__).resolve().parent.parent
APP = "evidencebench_core/_app"
PROBE = """
import sys
from evidencebench_core.cli import main
from evidencebench_core.analyses.sample import APP_FOLDER
assert str(APP_FOLDER).startswith(sys.argv[1])
assert not main(["ingest", str(APP_FOLDER / "sample_data" / "sample_data.json")])
assert not main(["run", "--dataset", "sample_data", "--retriever", "bm25", "--json"])
"""


@pytest.mark.slow
def test_a_wheel_is_whole_and_works_on_its_own(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "there")
    for folder, place in {"evidencebench_core": "", "pages": APP, "components": APP}.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                assert (tmp_path / "there" / place / path.relative_to(ROOT)).is_file(), path
    assert (tmp_path / "there" / APP / ".streamlit" / "config.toml").is_file()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "there")}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(tmp_path)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_steps_of_the_dockerfile() -> None:
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    steps = [tuple(line.split(" ", 1)) for line in text.splitlines() if line and not line.startswith("#")]
    names = [name for name, _ in steps]
    for name, rest in steps:
        if name == "COPY":
            assert all((ROOT / source).exists() for source in rest.split()[:-1])
    assert names.index("USER") > max(place for place, name in enumerate(names) if name == "RUN")
    values = dict(steps)
    assert values["USER"] in values["RUN"]  # whom the last of them makes
    assert all(word.split("=")[1].startswith(f"{values['VOLUME']}/") for word in shlex.split(values["ENV"]))
    words = [*json.loads(values["ENTRYPOINT"]), *json.loads(values["CMD"])]
    command = typer.main.get_command(app).commands[words[1]]
    with command.make_context(words[1], words[2:]) as context:
        assert context.params["port"] == int(values["EXPOSE"])
        assert not context.params["no_token"]
