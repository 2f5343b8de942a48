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


@contextmanager
def cluster(address: str | None, workers: int | None) -> Iterator[Any]:
    """Ray, connected; a connection that was there before is used, and stays."""
    if importlib.util.find_spec("ray") is None:
        raise RetrieverError(
            "Ray engine", "is not installed", "Install it: pip install 'evidencebench-explorer[ray]'."
        )
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
    address = address or os.environ.get("RAY_ADDRESS") or None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address is None or address == "local":
            ray.init(
                address="local",
                num_cpus=workers,
                object_store_memory=_QUESTION_MEMORY,
                include_dashboard=False,
                **quiet,
            )
        else:
            _check(address)
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise SettingError(
            f"Ray address {shown(address or 'local')}",
            f"does not answer ({reason.rstrip('.')})",
            "Start Ray there (ray start --head), and on this machine too (ray start --address=HOST:6379).",
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _check(address: str) -> None:
    """Raise unless something listens at an address; Ray itself would try for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdigit():
        raise SettingError(
            f"Ray address {shown(address)}",
            "is not of the form HOST:PORT",
            "Give the cluster's own address, usually port 6379, and start Ray on this machine too"
            " (ray start --address=HOST:6379).",
        )
    socket.create_connection((host, int(port)), timeout=10).close()
    # in a process of its own, as Ray ends the one that finds something else there
    check = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    try:
        done = subprocess.run(check, capture_output=True, timeout=_ANSWERS_WITHIN, check=False)  # noqa: S603
        healthy = done.returncode == 0
    except subprocess.TimeoutExpired:
        healthy = False
    if not healthy:
        raise ConnectionError("what listens there is no Ray cluster")
