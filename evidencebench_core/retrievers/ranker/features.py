"""A row of numbers a sentence, made of the query alone; ``features.txt`` has their names."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.retrievers.base import Query
from evidencebench_core.retrievers.bm25 import tokens_of
from evidencebench_core.retrievers.encoding import Encoder

FEATURES: Final = tuple(Path(__file__).with_name("features.txt").read_text("utf-8").splitlines())
_NUMBERS: Final = {
    "numbers": re.compile(r"\d+(?:\.\d+)?"),
    "decimals": re.compile(r"\d\.\d"),
    "acronyms": re.compile(r"\b[A-Z][A-Z0-9]+\b"),
    "parentheses": re.compile(r"\("),
}
_CUES_BESIDE: Final = ("finding", "significance", "test statistic", "aim", "conclusion", "method")
_TABLES: Final = tomllib.loads(Path(__file__).with_name("cues.toml").read_text("utf-8"))
_WORDS: Final = {name: words.split() for name, words in _TABLES["words"].items()}
_PATTERNS: Final = {name: re.compile(pattern) for name, pattern in _TABLES["patterns"].items()}
_WHOLE: Final = {name: {word for word in words if word[-1] != "*"} for name, words in _WORDS.items()}
_STEMS: Final = {name: tuple(w[:-1] for w in words if w[-1] == "*") for name, words in _WORDS.items()}
_STEM_LENGTH: Final = 6  # truncation: "associated" and "association" are one

_Column = NDArray[np.float64]
_Columns = dict[str, _Column]


@dataclass(frozen=True, slots=True)
class Features:
    """The sentences of a paper as rows."""

    rows: NDArray[np.float32]  # (n, len(FEATURES)), all finite
    similarities: NDArray[np.float32]  # (n, n): cosine of every two sentences' embeddings, 1 on the diagonal


def features_of(query: Query, vectors: NDArray[np.float32]) -> Features:
    """The features of a query's sentences, of which there is at least one.

    ``vectors`` are the embeddings of the hypothesis and of the sentences, of any length; zeros stay zeros.
    """
    unit = unit_vectors(vectors).astype(np.float64)
    similarities = np.clip(unit[1:] @ unit[1:].T, -1, 1).astype(np.float32)
    np.fill_diagonal(similarities, 1)
    tokens = [tokens_of(sentence, "word") for sentence in query.sentences]
    cosine = unit[1:] @ unit[0]
    words, cues = _word_columns(query.hypothesis, tokens), cue_counts(query.sentences, tokens)
    columns = {
        **words,
        **_meaning_columns(query, cosine, words["bm25 rank"]),
        **_neighbour_columns(cosine, words["bm25"], cues),
        **_centrality_columns(query, cosine, similarities),
        **_place_columns(query),
        **_surface_columns(query.sentences, tokens),
        **cues,
    }
    rows = np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float32)
    return Features(rows, similarities)


@lru_cache(maxsize=4)  # a paper is ranked for one focus after the other
def _features_at(encoder: Encoder, query: Query) -> tuple[Features, NDArray[np.float32]]:
    vectors = encoder.vectors(query.hypothesis, query.sentences)
    return features_of(query, vectors), unit_vectors(vectors)


def features_at(encoder: Encoder, query: Query) -> tuple[Features, NDArray[np.float32]]:
    """The features of a query's sentences, and the `unit_vectors` of hypothesis and sentences, of no focus."""
    return _features_at(encoder, replace(query, focus="all", budget=None))


def unit_vectors(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same directions with length 1; zeros stay zeros."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    unit = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    return np.asarray(unit, dtype=np.float32)


def standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """In standard deviations from the mean, rounded so that the same sentence twice is a tie."""
    return np.asarray(np.round((scores - scores.mean()) / (scores.std() or 1.0), 9))


def _z_scores(values: _Column) -> _Column:
    return np.asarray((values - values.mean()) / (values.std() + 1e-9))


def _rank_share(values: _Column) -> _Column:
    """0 for the highest, towards 1 for the lowest; equal ones in the order of the paper."""
    order = np.argsort(-values, kind="stable")
    return np.argsort(order) / len(values)


@lru_cache(maxsize=65_536)
def _stem(token: str) -> str:
    words = tokens_of(token, "word-stop")
    return words[0][:_STEM_LENGTH] if words else ""


def _word_columns(hypothesis: str, tokens: Sequence[Sequence[str]]) -> _Columns:
    """BM25 (k1 1.5, b 0.75) and overlaps, on words cut to their first six letters."""
    n = len(tokens)
    query = [stem for token in tokens_of(hypothesis, "word") if (stem := _stem(token))]
    query_pairs = set(pairwise(query))
    places = {stem: place for place, stem in enumerate(dict.fromkeys(query))}
    counts, pairs = np.zeros((n, len(places))), np.zeros(n)
    lengths = np.array([len(words) for words in tokens], dtype=float)
    for row, words in enumerate(tokens):
        stems = [stem for word in words if (stem := _stem(word))]
        for stem in stems:
            if stem in places:
                counts[row, places[stem]] += 1
        pairs[row] = len(query_pairs.intersection(pairwise(stems)))
    present = counts > 0
    n_having = present.sum(axis=0)
    idf = np.log1p((n - n_having + 0.5) / (n_having + 0.5))
    weight = 0.25 + 0.75 * lengths / max(lengths.mean(), 1.0)
    bm25 = (idf * counts * 2.5 / (counts + 1.5 * weight[:, None] + 1e-9)).sum(axis=1)
    return {
        "bm25": bm25,
        "bm25 standardised": _z_scores(bm25),
        "bm25 rank": _rank_share(bm25),
        "overlap by idf": (present * idf).sum(axis=1) / max(idf.sum(), 1e-9),
        "overlap": present.sum(axis=1) / max(len(places), 1),
        "word pairs": pairs / max(len(query_pairs), 1),
        "hypothesis length": np.full(n, float(len(query))),
    }


def _meaning_columns(query: Query, cosine: _Column, bm25_rank: _Column) -> _Columns:
    n, current = len(cosine), 0.0
    of_heading, rank = np.zeros(n), _rank_share(cosine)
    for index, kind in enumerate(query.sentence_types):
        current = cosine[index] if kind == "section_name" else current
        of_heading[index] = 0.0 if kind == "abstract" else current
    return {
        "cosine": cosine,
        "cosine standardised": _z_scores(cosine),
        "cosine rank": rank,
        "cosine of heading": of_heading,
        "fused rank": 1 / (20 + n * rank) + 1 / (20 + n * bm25_rank),
    }


def _beside(values: _Column, offset: int) -> _Column:
    """The value ``offset`` sentences further on; 0 beyond the paper's ends."""
    width = abs(offset)
    return np.pad(values, width)[width + offset :][: len(values)]


def _around(values: _Column, width: int) -> _Column:
    offsets = [offset for offset in range(-width, width + 1) if offset]
    return sum((_beside(values, offset) for offset in offsets), values * 0) / len(offsets)


def _neighbour_columns(cosine: _Column, bm25: _Column, cues: _Columns) -> _Columns:
    columns = {
        "cosine around 1": _around(cosine, 1),
        "cosine around 3": _around(cosine, 3),
        "bm25 around 1": _around(bm25, 1),
    }
    for where, offset in (("before", -1), ("after", 1)):
        columns[f"cosine {where}"] = _beside(cosine, offset)
        columns |= {f"{name} {where}": _beside(cues[name], offset) for name in _CUES_BESIDE}
    return columns


def _centrality_columns(query: Query, cosine: _Column, similarities: NDArray[np.float32]) -> _Columns:
    n = len(cosine)
    others: NDArray[np.float64] = similarities.astype(np.float64)
    np.fill_diagonal(others, 0)
    is_text = np.array([kind != "section_name" for kind in query.sentence_types])
    centrality = others[:, is_text].sum(axis=1) / max(int(is_text.sum()) - 1, 1)
    weights = np.maximum(cosine, 0) ** 2 * is_text
    abstract = [index for index, kind in enumerate(query.sentence_types) if kind == "abstract"]
    if abstract:
        nearest, mean = others[:, abstract].max(axis=1), others[:, abstract].mean(axis=1)
        last, first = others[:, abstract[-1]].copy(), others[:, abstract[0]].copy()
        last[abstract[-1]] = first[abstract[0]] = 1.0
        last_two = np.maximum(last, similarities[:, abstract[-2]] if abstract[1:] else 0.0)
    else:
        nearest = mean = last = first = last_two = np.zeros(n)
    return {
        "centrality": centrality,
        "centrality standardised": _z_scores(centrality),
        "centrality rank": _rank_share(centrality),
        "centrality by relevance": others @ weights / (weights.sum() + 1e-9),
        "nearest in abstract": nearest,
        "mean with abstract": mean,
        "abstract's last": last,
        "abstract's last two": last_two,
        "abstract's first": first,
        "title": similarities[:, 0].astype(np.float64),
    }


def _place_columns(query: Query) -> _Columns:
    types, n = query.sentence_types, len(query.sentences)
    abstract = [index for index, kind in enumerate(types) if kind == "abstract"]
    from_start, from_end, in_abstract = np.full((3, n), -1.0)
    order = np.arange(len(abstract))
    from_start[abstract], from_end[abstract] = order, order[::-1]
    in_abstract[abstract] = order / max(len(abstract) - 1, 1)
    opens = [
        index == 0 or kind == "section_name" or (kind == "abstract") != (types[index - 1] == "abstract")
        for index, kind in enumerate(types)
    ]
    parts = section_classes(query.sentences, types)
    section_start, section_end, section_size = _places(np.cumsum(opens))
    part_start, part_end, part_size = _places(np.array([SECTION_CLASSES.index(part) for part in parts]))
    return {
        "place in paper": np.arange(n) / n,
        "paper length": np.full(n, float(n)),
        "abstract length": np.full(n, float(len(abstract))),
        "from abstract's start": from_start,
        "from abstract's end": from_end,
        "place in abstract": in_abstract,
        "from section's start": section_start,
        "from section's end": section_end,
        "section length": section_size,
        "place in part": part_start / np.maximum(part_size - 1, 1),
        "part length": part_size,
        "from part's start": part_start,
        "from part's end": part_end,
        "abstract": np.array([kind == "abstract" for kind in types], dtype=float),
        "heading": np.array([kind == "section_name" for kind in types], dtype=float),
        **{
            f"part: {name}": np.array([part == name for part in parts], dtype=float)
            for name in SECTION_CLASSES
        },
    }


def _places(labels: NDArray[np.int64]) -> tuple[_Column, _Column, _Column]:
    """How many of the same label come before, how many after, and how many there are."""
    before, size = np.zeros(len(labels)), np.zeros(len(labels))
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        before[members], size[members] = np.arange(len(members)), len(members)
    return before, size - 1 - before, size


def _surface_columns(sentences: Sequence[str], tokens: Sequence[Sequence[str]]) -> _Columns:
    length = np.array([len(words) for words in tokens], dtype=float)
    return {
        "length": length,
        "length standardised": _z_scores(length),
        **{name: occurrences(pattern, sentences) for name, pattern in _NUMBERS.items()},
    }


@lru_cache(maxsize=65_536)
def cues_of(token: str) -> tuple[str, ...]:
    """The names of the cues that a lower-case token is one of."""
    return tuple(name for name in _WORDS if token in _WHOLE[name] or token.startswith(_STEMS[name]))


def cue_counts(sentences: Sequence[str], tokens: Sequence[Sequence[str]]) -> dict[str, NDArray[np.float64]]:
    """How many of each cue every sentence has, by the cue's name."""
    counts = {name: np.zeros(len(sentences)) for name in _WORDS}
    for row, words in enumerate(tokens):
        for word in words:
            for name in cues_of(word):
                counts[name][row] += 1
    return counts | {name: occurrences(pattern, sentences) for name, pattern in _PATTERNS.items()}


def occurrences(pattern: re.Pattern[str], sentences: Sequence[str]) -> NDArray[np.float64]:
    """How often a pattern stands in each sentence."""
    return np.array([len(pattern.findall(sentence)) for sentence in sentences], dtype=np.float64)
