"""The connection to a Ray cluster, or a cluster of this machine alone."""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from evidencebench_core.errors import RetrieverError, SettingError, shown

_QUESTION_MEMORY: Final = 512 << 20  # bytes of the object store of a cluster that is started here
_ANSWERS_WITHIN: Final = 30.0  # seconds
_QUIET: Final = {  # nothing is sent to Ray's makers, and what it logs stays in its files
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}


def check_cluster(address: str | None) -> None:
    """Raise unless Ray is installed, and a cluster answers at the address; Ray itself would try for minutes."""
    if importlib.util.find_spec("ray") is None:
        raise RetrieverError(
            "Ray engine", "is not installed", "Install it: pip install 'evidencebench-explorer[ray]'."
        )
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    if address in ("local", "auto") or ("ray" in sys.modules and sys.modules["ray"].is_initialized()):
        return
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdigit():
        raise SettingError(
            f"Ray address {shown(address)}",
            "is not of the form HOST:PORT",
            "Give the cluster's own address, usually port 6379, and start Ray on this machine too"
            " (ray start --address=HOST:6379).",
        )
    # in a process of its own, as Ray ends the one that finds something else there
    check = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
        done = subprocess.run(check, capture_output=True, timeout=_ANSWERS_WITHIN, check=False)  # noqa: S603
        healthy = done.returncode == 0
    except subprocess.TimeoutExpired:
        healthy = False
    except (OSError, OverflowError) as error:
        raise _no_answer(address, error) from error
    if not healthy:
        raise _no_answer(address, "what listens there is no Ray cluster")


@contextmanager
def cluster(address: str | None, workers: int | None) -> Iterator[Any]:
    """Ray, connected; a connection that was there before is used, and stays."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    import ray
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    if ray.is_initialized():
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    own: dict[str, Any] = {}
    if address == "local":
        own = {"num_cpus": workers, "object_store_memory": _QUESTION_MEMORY, "include_dashboard": False}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise _no_answer(address, error) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _no_answer(address: str, reason: object) -> SettingError:
    words = " ".join(str(reason).split())[:200]
    return SettingError(
        f"Ray address {shown(address)}",
        f"does not answer ({words.rstrip('.')})",
        "Start Ray there (ray start --head), and on this machine too (ray start --address=HOST:6379).",
    )
