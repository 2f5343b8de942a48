"""Which models a server says that it has."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Final

from evidencebench_core.llm.policy import RetryPolicy
from evidencebench_core.llm.replies import Unusable, json_body
from evidencebench_core.llm.transport import Response

LISTING: Final = RetryPolicy(attempts=2, total_seconds=20.0)


def read_models(response: Response, pieces: Iterator[bytes]) -> tuple[str, ...]:
    """The names in the reply to ``/v1/models``, sorted."""
    try:
        reply = json.loads(json_body(response.headers, b"".join(pieces)))
    except (ValueError, RecursionError) as error:
        raise Unusable("it is not whole JSON") from error
    listed = reply.get("data") or reply.get("models") or [] if isinstance(reply, dict) else reply
    if not isinstance(listed, list):
        raise Unusable("it lists no models")
    names = (one.get("id") or one.get("name") if isinstance(one, dict) else one for one in listed)
    return tuple(sorted({name for name in names if isinstance(name, str) and name}))


def has_model(listed: Collection[str], model: str) -> bool:
    """Whether a model is listed, be it with a tag or revision that need not be given."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)
