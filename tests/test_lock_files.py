"""The lock files hold what pyproject.toml asks for, each package once for every Python, with hashes."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONSTRAINTS = (ROOT / "constraints.txt").read_text()


def _locked(*names: str) -> list[tuple[Requirement, int]]:
    """Return each requirement of the lock files with the number of its hashes."""
    text = "".join((ROOT / name).read_text() for name in names).replace("\\\n", " ")
    lines = [line.split(" --hash=sha256:") for line in text.splitlines() if line and not line.startswith("#")]
    return [(Requirement(line[0]), len(line) - 1) for line in lines]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("extra", ["", "dev"])
def test_a_lock_holds_every_dependency_once_with_hashes(extra: str, platform: str, python: str) -> None:
    """Also what brings the project itself into place: hatchling."""
    environment = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": platform}
    locked = _locked("requirements-dev.lock" if extra else "requirements.lock", "torch.lock")
    pins = [
        (canonicalize_name(pin.name), str(pin.specifier).removeprefix("=="))
        for pin, n_hashes in locked
        if n_hashes > 0 and (pin.marker is None or pin.marker.evaluate(environment))
    ]
    assert len(pins) == len(dict(pins))
    assert all(n_hashes > 0 for _, n_hashes in locked)
    versions = dict(pins)
    wanted = PROJECT["dependencies"] + (PROJECT["optional-dependencies"][extra] if extra else [])
    for requirement in map(Requirement, [*wanted, "hatchling", "torch"]):
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_the_locks_follow_the_constraints_and_each_other() -> None:
    runtime, dev = (
        {str(pin) for pin, _ in _locked(name)} for name in ("requirements.lock", "requirements-dev.lock")
    )
    constraints = {line for line in CONSTRAINTS.splitlines() if line and not line.startswith("#")}
    assert runtime <= dev
    assert {line for line in constraints if not line.startswith("torch==")} <= dev


def test_nothing_brings_cuda() -> None:
    names = {pin.name for pin, _ in _locked("requirements-dev.lock")}
    assert not {name for name in names if name.startswith(("nvidia", "cuda", "triton"))}
    assert [str(pin) for pin, _ in _locked("torch.lock")] == ["torch==2.13.0"]
    assert "torch==2.13.0" in CONSTRAINTS.splitlines()
