"""Packed formats that a few callers still have."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import zstandard

from evidencebench_core.data.format import evidence_of
from evidencebench_core.data.records import from_blob

unpacked_rest = from_blob


def zstd_frames(bodies: Sequence[bytes], level: int = 3) -> list[bytes]:
    """Each of them as a zstd frame with a checksum."""
    compress = zstandard.ZstdCompressor(level=level, write_checksum=True).compress
    return [compress(body) for body in bodies]


def unpacked(frame: bytes) -> bytes:
    """The inverse of `zstd_frames`; ``ZstdError`` where the frame is damaged."""
    return zstandard.ZstdDecompressor().decompress(frame, max_output_size=1 << 30)


def packed_nearest(
    ranking: Sequence[int], scores: Sequence[float], selection: Sequence[int], body: bytes
) -> bytes:
    """Where a ranking has each aspect of an instance."""
    aspects = evidence_of(from_blob(body), 0).aspects
    places = {sentence: place for place, sentence in enumerate(ranking)}
    nearest = [
        min(aspect.sentence_indices, key=lambda sentence: places.get(sentence, len(ranking)), default=-1)
        for aspect in aspects
    ]
    values: list[float] = []
    for sentence in (*nearest, selection[-1] if selection else -1):
        place = places.get(sentence, -1)
        values += sentence, place + 1, scores[place] if 0 <= place < len(scores) else math.nan
    return struct.pack(f"<{'iid' * (len(aspects) + 1)}", *values)
