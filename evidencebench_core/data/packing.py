"""How a paper and the rest of a raw instance become bytes, and come back exactly.

A paper's body is the JSON list of its sentences and the list of their types. An instance's body is
its raw object as JSON, with null in the place of what the paper's body has, and of
``sentence_index2aspects`` where it follows from ``aspect2sentence_indices``. Key order, list order
and keys we do not know are kept. Both are stored compressed with zstd.

What scores need of an instance stands apart, so that they read nothing else: the ids of its aspects (and their
texts, where there are some) as JSON lists, and which sentences cover them, as unsigned 32-bit numbers in little
endian: for every aspect twice the number of its sentences, plus 1 for a result aspect; then the sentences of all
aspects, of each ascending.

A ranking's nearest sentences stand apart for the same reason: for every aspect the covering sentence that it ranks
best (the first where it ranks none, -1 where there is none) and its rank (from 1, else 0) as 32-bit numbers, and
its score (else NaN) as a 64-bit float; then the same of the last pick.
"""

from __future__ import annotations

import math
import re
import struct
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
import zstandard

from evidencebench_core.errors import DamageError, InstanceError

_SENTENCES: Final = "paper_as_candidate_pool"
_TYPES: Final = "sentence_types_in_candidate_pool"
_LETTER_ESCAPE: Final = re.compile(rb"\\[a-z]")
_RESTORE: Final = "Restore the store from a backup, or make a new one from the same files."
_MAX_BODY: Final = 1 << 30  # what a stored body may unpack to: more is damage

_local = threading.local()


def zstd_frames(bodies: Sequence[bytes], level: int = 3) -> list[bytes]:
    """Each of them as a zstd frame with a checksum; the interpreter is free for other threads meanwhile."""
    if not bodies:
        return []
    frames = zstandard.ZstdCompressor(level=level, write_checksum=True).multi_compress_to_buffer(list(bodies))
    return [frames[number].tobytes() for number in range(len(frames))]


def unpacked(frame: bytes) -> bytes:
    """The inverse of `zstd_frames`; ``ZstdError`` where the frame is damaged."""
    if not hasattr(_local, "unpack"):
        _local.unpack = zstandard.ZstdDecompressor().decompress
    content: bytes = _local.unpack(frame, max_output_size=_MAX_BODY)
    return content


def _content(frame: bytes) -> Any:
    try:
        return orjson.loads(unpacked(frame))
    except (zstandard.ZstdError, orjson.JSONDecodeError) as error:
        raise DamageError("a paper or instance in the store", f"is damaged ({error})", _RESTORE) from error


def packed_paper(sentences: Sequence[str], types: Sequence[str]) -> tuple[bytes, bytes]:
    """A paper's body, and its text for the index of words."""
    text = orjson.dumps(sentences)
    # An escape that is a letter, as that of a line break, would pass for the beginning of a word.
    words = "\n".join(sentences).encode() if b"\\" in text and _LETTER_ESCAPE.search(text) else text
    return b"[%b,%b]" % (text, orjson.dumps(types)), words


def unpacked_paper(frame: bytes) -> tuple[list[str], list[str]]:
    """Sentences and their types."""
    sentences, types = _content(frame)
    return sentences, types


def packed_instance(instance_id: str, raw: Mapping[str, Any]) -> bytes:
    """A raw instance without its paper, which is stored elsewhere."""
    try:
        return orjson.dumps({**raw, _SENTENCES: None, _TYPES: None})
    except (TypeError, RecursionError) as error:
        problem = f"has a value that cannot be stored: {error}"
        raise InstanceError(instance_id, problem, "Fix or leave out that key.") from error


def unpacked_instance(frame: bytes, paper: bytes) -> dict[str, Any]:
    """The raw object as it stood in its file."""
    raw = unpacked_rest(frame)
    raw[_SENTENCES], raw[_TYPES] = unpacked_paper(paper)
    return raw


def unpacked_rest(frame: bytes) -> dict[str, Any]:
    """The raw object without its paper: enough for the evidence set."""
    raw: dict[str, Any] = _content(frame)
    return raw


def packed_evidence(raw: Mapping[str, Any]) -> tuple[bytes, bytes | None, bytes]:
    """Ids and texts of the aspects, and what covers them, of a raw instance that has been checked."""
    ids, covering = raw["aspect_list_ids"], raw["aspect2sentence_indices"]
    results, texts = frozenset(raw["results_aspect_list_ids"] or ()), raw.get("aspect_texts")
    return (
        orjson.dumps(ids),
        orjson.dumps([texts.get(aspect) for aspect in ids]) if texts else None,
        packed_covering([(covering[aspect], aspect in results) for aspect in ids]),
    )


def packed_covering(aspects: Sequence[tuple[Sequence[int], bool]]) -> bytes:
    """The covering sentences of every aspect, and whether it is a result aspect."""
    values = [2 * len(covering) + is_result for covering, is_result in aspects]
    for covering, _ in aspects:
        values += sorted(covering)
    return struct.pack(f"<{len(values)}I", *values)


def unpacked_covering(body: bytes, n_aspects: int) -> list[tuple[tuple[int, ...], bool]]:
    """The inverse of `packed_covering`."""
    values = struct.unpack(f"<{len(body) // 4}I", body)
    aspects, end = [], n_aspects
    for head in values[:n_aspects]:
        start, end = end, end + (head >> 1)
        aspects.append((values[start:end], bool(head & 1)))
    return aspects


def packed_nearest(
    ranking: Sequence[int], scores: Sequence[float], selection: Sequence[int], covering: bytes, n_aspects: int
) -> bytes:
    """Where a ranking has each aspect of a `packed_covering`."""
    places = {sentence: place for place, sentence in enumerate(ranking)}
    nearest = [
        min(sentences, key=lambda sentence: places.get(sentence, len(ranking)), default=-1)
        for sentences, _ in unpacked_covering(covering, n_aspects)
    ]
    values: list[float] = []
    for sentence in (*nearest, selection[-1] if selection else -1):
        place = places.get(sentence, -1)
        values += sentence, place + 1, scores[place] if 0 <= place < len(scores) else math.nan
    return struct.pack(f"<{'iid' * (n_aspects + 1)}", *values)
