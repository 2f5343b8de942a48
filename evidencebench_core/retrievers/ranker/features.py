"""A row of numbers a sentence, made of the query alone: each column has a name and a group."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.retrievers.base import Query
from evidencebench_core.retrievers.bm25 import tokens_of
from evidencebench_core.retrievers.ranker.cues import CUE_NAMES, SIGNS, WORDS, cues_of

VERSION: Final = 1
"""Raised when a column is added, removed or computed otherwise; a model file names the one it was trained on."""

_WORDS: Final = (
    "bm25",
    "bm25 standardised",
    "bm25 rank",
    "overlap by idf",
    "overlap",
    "word pairs",
    "hypothesis length",
)
_MEANING: Final = ("cosine", "cosine standardised", "cosine rank", "cosine of heading", "fused rank")
_NEIGHBOURS: Final = (
    "cosine before",
    "cosine after",
    "cosine around 1",
    "cosine around 3",
    "bm25 around 1",
    *(
        f"{name} {where}"
        for name in ("finding", "significance", "test statistic", "aim", "conclusion", "method")
        for where in ("before", "after")
    ),
)
_CENTRALITY: Final = (
    "centrality",
    "centrality standardised",
    "centrality rank",
    "centrality by relevance",
    "nearest in abstract",
    "mean with abstract",
    "abstract's last",
    "abstract's last two",
    "abstract's first",
    "title",
)
_PLACE: Final = (
    "place in paper",
    "paper length",
    "abstract length",
    "from abstract's start",
    "from abstract's end",
    "place in abstract",
    "from section's start",
    "from section's end",
    "section length",
    "place in part",
    "part length",
    "from part's start",
    "from part's end",
)
_KIND: Final = ("abstract", "heading", *(f"part: {name}" for name in SECTION_CLASSES))
_SURFACE: Final = ("length", "length standardised", "numbers", "decimals", "acronyms", "parentheses")

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "words shared": _WORDS,
    "meaning shared": _MEANING,
    "neighbours": _NEIGHBOURS,
    "centrality": _CENTRALITY,
    "place": _PLACE,
    "kind of text": _KIND,
    "surface": _SURFACE,
    "cue words": CUE_NAMES,
}
"""The columns by group, in order."""

FEATURES: Final[tuple[str, ...]] = tuple(name for names in GROUPS.values() for name in names)

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_DECIMAL: Final = re.compile(r"\d\.\d")
_ACRONYM: Final = re.compile(r"\b[A-Z][A-Z0-9]+\b")
_STEM_LENGTH: Final = 6  # truncation: "associated" and "association" are one


@dataclass(frozen=True, slots=True)
class Features:
    """The sentences of a paper as rows.

    Attributes
    ----------
    rows : array of shape (n, len(FEATURES)), float32
        All finite.
    similarities : array of shape (n, n), float32
        Cosine of every two sentences' embeddings, -1 to 1; 1 on the diagonal.
    """

    rows: NDArray[np.float32]
    similarities: NDArray[np.float32]


def features_of(query: Query, vectors: NDArray[np.float32]) -> Features:
    """The features of every sentence of a query.

    Parameters
    ----------
    query : Query
        With at least one sentence.
    vectors : array of shape (1 + n, dimensions)
        Embeddings of the hypothesis and of the sentences, of any length; zeros stay zeros.
    """
    unit = unit_vectors(vectors)
    similarities = np.clip(unit[1:] @ unit[1:].T, -1, 1)
    np.fill_diagonal(similarities, 1)
    tokens = [tokens_of(sentence, "word") for sentence in query.sentences]
    cosine = (unit[1:] @ unit[0]).astype(np.float64)
    words = _word_columns(query, tokens)
    cues = _cue_columns(query, tokens)
    place, parts = _place_columns(query)
    columns = [
        *words,
        *_meaning_columns(query, cosine, words[2]),
        *_neighbour_columns(cosine, words[0], cues),
        *_centrality_columns(query, cosine, similarities),
        *place,
        *_kind_columns(query, parts),
        *_surface_columns(query, tokens),
        *cues,
    ]
    return Features(np.stack(columns, axis=1).astype(np.float32), similarities)


def unit_vectors(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same directions with length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(
        vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0
    ).astype(np.float32, copy=False)
    return unit


def _z_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = (values - values.mean()) / (values.std() + 1e-9)
    return found


def _rank_share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """0 for the highest, towards 1 for the lowest; equal ones in the order of the paper."""
    ranks = np.empty(len(values))
    ranks[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return ranks / len(values)


@lru_cache(maxsize=65_536)
def _stem(token: str) -> str:
    kept = tokens_of(token, "word-stop")
    return kept[0][:_STEM_LENGTH] if kept else ""


def _word_columns(query: Query, tokens: Sequence[Sequence[str]]) -> list[NDArray[np.float64]]:
    """BM25 (k1 1.5, b 0.75) and overlaps, on words cut to their first six letters."""
    n = len(tokens)
    asked = [stem for token in tokens_of(query.hypothesis, "word") if (stem := _stem(token))]
    places = {stem: place for place, stem in enumerate(dict.fromkeys(asked))}
    counts = np.zeros((n, len(places)))
    asked_pairs = set(itertools.pairwise(asked))
    pairs = np.zeros(n)
    lengths = np.array([len(words) for words in tokens], dtype=float)
    for row, words in enumerate(tokens):
        stems = [stem for word in words if (stem := _stem(word))]
        for stem in stems:
            if stem in places:
                counts[row, places[stem]] += 1
        pairs[row] = len(asked_pairs.intersection(itertools.pairwise(stems)))
    having = (counts > 0).sum(axis=0)
    idf = np.log1p((n - having + 0.5) / (having + 0.5))
    weight = 0.25 + 0.75 * lengths / max(lengths.mean(), 1.0)
    bm25 = (idf * counts * 2.5 / (counts + 1.5 * weight[:, None] + 1e-9)).sum(axis=1)
    by_idf = ((counts > 0) * idf).sum(axis=1) / max(idf.sum(), 1e-9)
    overlap = (counts > 0).sum(axis=1) / max(len(places), 1)
    return [
        bm25,
        _z_scores(bm25),
        _rank_share(bm25),
        by_idf,
        overlap,
        pairs / max(len(asked_pairs), 1),
        np.full(n, float(len(asked))),
    ]


def _meaning_columns(
    query: Query, cosine: NDArray[np.float64], bm25_rank: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    n = len(cosine)
    heading = np.zeros(n)
    current = 0.0
    for index, kind in enumerate(query.sentence_types):
        current = cosine[index] if kind == "section_name" else current
        heading[index] = 0.0 if kind == "abstract" else current
    rank = _rank_share(cosine)
    return [cosine, _z_scores(cosine), rank, heading, 1 / (20 + n * rank) + 1 / (20 + n * bm25_rank)]


def _beside(values: NDArray[np.float64], offset: int) -> NDArray[np.float64]:
    """The value ``offset`` sentences further on; 0 beyond the paper's ends."""
    shifted = np.zeros_like(values)
    if offset > 0:
        shifted[:-offset] = values[offset:]
    else:
        shifted[-offset:] = values[:offset]
    return shifted


def _around(values: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    offsets = [offset for offset in range(-reach, reach + 1) if offset]
    total = sum((_beside(values, offset) for offset in offsets), values * 0)
    return total / len(offsets)


def _neighbour_columns(
    cosine: NDArray[np.float64], bm25: NDArray[np.float64], cues: Sequence[NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    cued = [
        _beside(cues[CUE_NAMES.index(name)], offset)
        for name in ("finding", "significance", "test statistic", "aim", "conclusion", "method")
        for offset in (-1, 1)
    ]
    return [
        _beside(cosine, -1),
        _beside(cosine, 1),
        _around(cosine, 1),
        _around(cosine, 3),
        _around(bm25, 1),
        *cued,
    ]


def _centrality_columns(
    query: Query, cosine: NDArray[np.float64], similarities: NDArray[np.float32]
) -> list[NDArray[np.float64]]:
    n = len(cosine)
    others: NDArray[np.float64] = similarities.astype(np.float64)
    np.fill_diagonal(others, 0)
    is_text = np.array([kind != "section_name" for kind in query.sentence_types])
    centrality = others[:, is_text].sum(axis=1) / max(int(is_text.sum()) - 1, 1)
    weights = np.maximum(cosine, 0) ** 2 * is_text
    by_relevance = others @ weights / (weights.sum() + 1e-9)
    abstract = [index for index, kind in enumerate(query.sentence_types) if kind == "abstract"]
    if abstract:
        nearest, mean = others[:, abstract].max(axis=1), others[:, abstract].mean(axis=1)
        last, first = others[:, abstract[-1]].copy(), others[:, abstract[0]].copy()
        last[abstract[-1]] = first[abstract[0]] = 1.0
        last_two = np.maximum(last, similarities[:, abstract[-2]] if abstract[1:] else 0.0)
    else:
        nearest = mean = last = first = last_two = np.zeros(n)
    return [
        centrality,
        _z_scores(centrality),
        _rank_share(centrality),
        by_relevance,
        nearest,
        mean,
        last,
        last_two,
        first,
        similarities[:, 0],
    ]


def _place_columns(query: Query) -> tuple[list[NDArray[np.float64]], Sequence[str]]:
    types, n = query.sentence_types, len(query.sentences)
    parts = section_classes(query.sentences, types)
    abstract = [index for index, kind in enumerate(types) if kind == "abstract"]
    from_start, from_end, in_abstract = np.full(n, -1.0), np.full(n, -1.0), np.full(n, -1.0)
    size = np.arange(len(abstract))
    from_start[abstract], from_end[abstract] = size, size[::-1]
    in_abstract[abstract] = size / max(len(abstract) - 1, 1)
    opens = [
        index == 0 or kind == "section_name" or (kind == "abstract") != (types[index - 1] == "abstract")
        for index, kind in enumerate(types)
    ]
    section = np.cumsum(opens) - 1
    section_start, section_end, section_size = _places(section)
    part = np.array([SECTION_CLASSES.index(name) for name in parts])
    part_start, part_end, part_size = _places(part)
    return [
        np.arange(n) / n,
        np.full(n, float(n)),
        np.full(n, float(len(abstract))),
        from_start,
        from_end,
        in_abstract,
        section_start,
        section_end,
        section_size,
        part_start / np.maximum(part_size - 1, 1),
        part_size,
        part_start,
        part_end,
    ], parts


def _places(
    labels: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """How many of the same label come before, how many after, and how many there are."""
    before, size = np.zeros(len(labels)), np.zeros(len(labels))
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        before[members], size[members] = np.arange(len(members)), len(members)
    return before, size - 1 - before, size


def _kind_columns(query: Query, parts: Sequence[str]) -> list[NDArray[np.float64]]:
    return [
        *(
            np.array([kind == wanted for kind in query.sentence_types], dtype=float)
            for wanted in ("abstract", "section_name")
        ),
        *(np.array([part == name for part in parts], dtype=float) for name in SECTION_CLASSES),
    ]


def _surface_columns(query: Query, tokens: Sequence[Sequence[str]]) -> list[NDArray[np.float64]]:
    length = np.array([len(words) for words in tokens], dtype=float)
    counted = [
        np.array([len(pattern.findall(sentence)) for sentence in query.sentences], dtype=float)
        for pattern in (_NUMBER, _DECIMAL, _ACRONYM)
    ]
    return [
        length,
        _z_scores(length),
        *counted,
        np.array([sentence.count("(") for sentence in query.sentences], dtype=float),
    ]


def _cue_columns(query: Query, tokens: Sequence[Sequence[str]]) -> list[NDArray[np.float64]]:
    counts = np.zeros((len(tokens), len(CUE_NAMES)))
    for row, words in enumerate(tokens):
        for word in words:
            for place in cues_of(word):
                counts[row, place] += 1
    for place, pattern in enumerate(SIGNS.values(), start=len(WORDS)):
        counts[:, place] = [len(pattern.findall(sentence)) for sentence in query.sentences]
    return list(counts.T)
