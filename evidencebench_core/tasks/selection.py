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
        A list, tuple or numpy array of integers; ``True``, ``3.0`` and ``"3"`` are none.
    n_sentences : int
        Size of the candidate pool; `SelectionError` for an index beyond it.
    place : str
        For the message: whose selection it is.
    """
    if hasattr(picks, "tolist"):
        picks = picks.tolist()
    if not isinstance(picks, list | tuple):
        raise SelectionError(
            place, f"has {shown(picks)} for a selection", "Give a list of 0-based sentence indices."
        )
    for pick in picks:
        if type(pick) is not int and (isinstance(pick, bool) or not isinstance(pick, Integral)):
            raise SelectionError(
                place, f"selects {shown(pick)}, not an integer", "Sentence indices are integers from 0 up."
            )
        if not 0 <= int(pick) < n_sentences:
            raise SelectionError(
                place,
                f"selects sentence {pick}, but the paper has {n_sentences} sentences",
                f"Indices run from 0 to {n_sentences - 1}.",
            )
    return tuple(dict.fromkeys(map(int, picks)))
