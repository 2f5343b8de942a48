"""Which fields of a request a server does not take, learnt from its refusals."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

_RENAMED: Final = {"max_tokens": "max_completion_tokens"}


class FieldsTaken:
    """The fields that a server takes, model by model; thread-safe."""

    def __init__(self) -> None:
        self._not_taken: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def leave_out(self, model: str, name: str) -> None:
        """Do not send this field to this model any more, or send it under its other name."""
        with self._lock:
            known = self._not_taken.get(model, ())
            if name not in known:
                self._not_taken[model] = (*known, name)

    def fitting(self, body: Mapping[str, Any], model: str) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """The request without what is not taken (itself, if all is), and the fields left out."""
        fitting, left_out = body, []
        for name in self._not_taken.get(model, ()):
            if name in fitting:
                value, fitting = fitting[name], {one: fitting[one] for one in fitting if one != name}
                if name in _RENAMED:
                    fitting = {**fitting, _RENAMED[name]: value}
                else:
                    left_out.append(name)
        return fitting, tuple(left_out)
