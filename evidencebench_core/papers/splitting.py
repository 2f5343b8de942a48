"""Text into sentences: syntok, with the rules of biomedical prose in `boundaries` on top."""

from __future__ import annotations

from evidencebench_core.papers.boundaries import boundary_at, inside_brackets

__all__ = ["sentences_of"]


def sentences_of(text: str) -> list[str]:
    """The sentences of one paragraph, in order.

    Joined by spaces they are the paragraph with each white space made one space. No sentence is empty;
    text without a word has none.
    """
    words = text.split()
    if not words:
        return []
    general = _general_boundaries(" ".join(words))
    inside = inside_brackets(words)
    starts, offset = [0], 0
    for gap in range(1, len(words)):
        offset += len(words[gap - 1]) + 1
        if inside[gap]:
            continue
        known = boundary_at(words, gap, starts[-1])
        if known or (known is None and offset in general):
            starts.append(gap)
    return [" ".join(words[a:b]) for a, b in zip(starts, [*starts[1:], len(words)], strict=True)]


def _general_boundaries(text: str) -> frozenset[int]:
    """Offsets at which a sentence begins by the general rules of English, German and Spanish."""
    from syntok import segmenter
    from syntok.tokenizer import Tokenizer

    tokens = Tokenizer(emit_hyphen_or_underscore_sep=True, replace_not_contraction=False).tokenize(text)
    return frozenset(sentence[0].offset for sentence in segmenter.segment(tokens) if sentence)
