"""What records of the store are stamped with: a time, a digest, a name, the process that makes them."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from datetime import UTC, datetime
from typing import Literal

from evidencebench_core.errors import StoreError
from evidencebench_core.words import one_line


def now(timespec: Literal["seconds", "microseconds"] = "seconds") -> str:
    """The time in ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec=timespec)


def digest(value: object) -> str:
    """SHA-256 of a JSON-able value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def checked_name(name: str, noun: str) -> str:
    """A name in one line of at most 100 characters; `StoreError` if it is blank or longer."""
    name = one_line(name).strip()
    if not 0 < len(name) <= 100:
        problem = f"has {len(name):,} characters" if name else "is blank"
        raise StoreError(f"name of the {noun}", problem, "Give it a name of at most 100 characters.")
    return name


def is_running(pid: int) -> bool:
    """Whether a process of this machine is there."""
    if sys.platform == "win32":  # there a signal would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
