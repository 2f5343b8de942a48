"""Waiting for the app's background jobs, without sleeping."""

from __future__ import annotations

import threading


def jobs_ended(timeout: float = 60.0) -> None:
    """Return once no job's thread is alive."""
    for thread in threading.enumerate():
        if thread.name.startswith("job-"):
            thread.join(timeout)
            assert not thread.is_alive()
