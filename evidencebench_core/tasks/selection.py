"""Somebody's list of sentence indices, checked."""

from __future__ import annotations

from numbers import Integral

from evidencebench_core.errors import SelectionError, shown


def validated_selection(picks: object, n_sentences: int, place: str) -> tuple[int, ...]:
    """The picks as sentence indices of a paper, each at most once, in the order of the picks.

    A repeated index does not help, so only its first place is kept.

    Parameters
    ----------
    picks : object
        A list or tuple of integers; numpy integers will do, ``True``, ``3.0`` and ``"3"`` will not.
    n_sentences : int
        Size of the candidate pool; `SelectionError` for an index beyond it.
    place : str
        For the message: whose selection it is.
    """
    if not isinstance(picks, list | tuple):
        raise SelectionError(
            place, f"has {shown(picks)} for a selection", "Give a list of 0-based sentence indices."
        )
    if {int}.issuperset(map(type, picks)) and (not picks or 0 <= min(picks) <= max(picks) < n_sentences):
        return tuple(dict.fromkeys(picks))
    indices: list[int] = []
    for pick in picks:
        if type(pick) is not int and (isinstance(pick, bool) or not isinstance(pick, Integral)):
            raise SelectionError(
                place, f"selects {shown(pick)}, not an integer", "Sentence indices are integers from 0 up."
            )
        index = int(pick)
        if not 0 <= index < n_sentences:
            raise SelectionError(
                place,
                f"selects sentence {index}, but the paper has {n_sentences} sentences",
                f"Indices run from 0 to {n_sentences - 1}.",
            )
        indices.append(index)
    return tuple(dict.fromkeys(indices))
