"""The sentences that were found, in their order, each with its section and what stands around it."""

from components.paper.picks_list.picks_list import Pick, pick_from, picks_list, picks_of, telling

__all__ = ["Pick", "pick_from", "picks_list", "picks_of", "telling"]
