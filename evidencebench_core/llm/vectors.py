"""Vectors of texts: from the store where they are kept, from the server where not."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

import orjson

from evidencebench_core.errors import LLMAnswerError
from evidencebench_core.llm.answers import AnswerCache
from evidencebench_core.llm.budget import Budget
from evidencebench_core.llm.caller import Caller
from evidencebench_core.llm.prices import estimated_tokens
from evidencebench_core.llm.replies import Unusable, failure_of, json_body
from evidencebench_core.llm.request import json_bytes, request_key
from evidencebench_core.llm.transport import Response

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_LARGEST: Final = 128 << 20  # bytes of a reply with a batch of vectors


class Vectors:
    """The vectors of one model's texts; for any number of threads."""

    def __init__(
        self,
        model: str,
        dimensions: int | None,
        caller: Caller,
        answers: AnswerCache | None,
        budget: Budget,
        claimed: Callable[[Collection[str]], AbstractContextManager[None]],
    ) -> None:
        self._model, self._extra = model, {} if dimensions is None else {"dimensions": dimensions}
        self._caller, self._answers, self._budget, self._claimed = caller, answers, budget, claimed

    def of(self, texts: Sequence[str], batch_size: int, fresh: bool) -> NDArray[np.float32]:
        """An array of shape (number of texts, dimensions); (0, 0) for none."""
        import numpy as np

        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        requests = {text: self._request(text) for text in texts}
        keys = {text: self._key(request) for text, request in requests.items()}
        vectors = {} if fresh else self._kept(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in vectors]
        for start in range(0, len(missing), max(1, batch_size)):
            batch = {keys[text]: text for text in missing[start : start + max(1, batch_size)]}
            with self._claimed(batch):
                found = {} if fresh else self._kept(list(batch))
                asked = {key: text for key, text in batch.items() if key not in found}
                if asked:
                    found |= self._asked(asked, requests)
                vectors |= found
        lengths = {len(vector) for vector in vectors.values()}
        if len(lengths) != 1:
            raise self._caller.error(
                LLMAnswerError,
                f"{self._model} at {self._caller.connection.address}",
                f"gives vectors of different lengths ({', '.join(map(str, sorted(lengths)))})",
                "Ask again with --fresh; the model behind this name may have changed.",
            )
        return np.stack([vectors[keys[text]] for text in texts])

    def kept_of(self, texts: Sequence[str]) -> frozenset[str]:
        """Those of the texts whose vectors are in the store."""
        if self._answers is None:
            return frozenset()
        keys = {self._key(self._request(text)): text for text in texts}
        return frozenset(keys[key] for key in self._answers.known(list(keys)))

    def _request(self, text: str) -> bytes:
        return json_bytes({"model": self._model, "input": text, **self._extra})

    def _key(self, request: bytes) -> str:
        return request_key("embedding", request, self._caller.connection.address)

    def _kept(self, keys: list[str]) -> dict[str, NDArray[np.float32]]:
        import numpy as np

        found = {} if self._answers is None else self._answers.records(keys)
        if found:
            self._budget.count_cached(len(found))
        return {
            key: np.frombuffer(base64.b64decode(record["vector"]), dtype="<f4")
            for key, record in found.items()
        }

    def _asked(self, texts: dict[str, str], requests: dict[str, bytes]) -> dict[str, NDArray[np.float32]]:
        """Ask for texts by their key, all in one call, and keep each on its own."""
        asked = [text or " " for text in texts.values()]  # servers refuse an empty text
        body = {"model": self._model, "input": asked, "encoding_format": "float", **self._extra}
        reservation = self._budget.reserve(self._model, sum(map(estimated_tokens, asked)), answers=False)
        try:
            (rows, prompt_tokens), seconds, *_ = self._caller.call(
                "/embeddings", body, _reader(len(asked)), largest=_LARGEST
            )
        except BaseException:
            self._budget.release(reservation)
            raise
        self._budget.settle(reservation, prompt_tokens, 0, seconds)
        vectors = dict(zip(texts, rows, strict=True))
        if self._answers is not None:
            records = [(key, requests[texts[key]], {"vector": _packed(vectors[key])}) for key in vectors]
            self._answers.keep_records(self._model, records)
        return vectors


def _packed(vector: NDArray[np.float32]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def _reader(n_texts: int) -> Callable[[Response, Iterator[bytes]], Any]:
    def read(response: Response, pieces: Iterator[bytes]) -> Any:
        import numpy as np

        body = json_body(response.headers, b"".join(pieces))
        try:
            reply = orjson.loads(body)
            if isinstance(reply, dict) and reply.get("error"):
                return failure_of(body)
            data = sorted(enumerate(reply["data"]), key=lambda pair: pair[1].get("index", pair[0]))
            rows = [_vector(one["embedding"]) for _, one in data]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise Unusable("it holds no vectors") from error
        if len(rows) != n_texts:
            raise Unusable(f"it holds {len(rows)} vectors for {n_texts} texts")
        if any(row.ndim == 2 for row in rows):  # llama.cpp, where the model pools nothing
            raise Unusable("it holds a vector for every token, and not one for every text")
        if any(row.ndim != 1 or not len(row) or not np.isfinite(row).all() for row in rows):
            raise Unusable("its vectors are not finite numbers")
        usage = reply.get("usage")
        tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        return rows, tokens if isinstance(tokens, int) else None

    return read


def _vector(value: object) -> NDArray[np.float32]:
    import numpy as np

    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value), dtype="<f4")
    return np.asarray(value, dtype=np.float32)
