"""The sentences that were picked, in their order, each with its section and its neighbours."""

from components.paper.picks_list.picks_list import Pick, explanations, picks_list, picks_of

__all__ = ["Pick", "explanations", "picks_list", "picks_of"]
