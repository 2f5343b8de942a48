"""The reader: one paper with its gold and what retrievers picked, marked as on a page."""

from components.widgets.paper_view.data import PaperView, System, heading_level, view_data, view_of
from components.widgets.paper_view.paper_view import PaperEvent, event_from, paper_view

__all__ = [
    "PaperEvent",
    "PaperView",
    "System",
    "event_from",
    "heading_level",
    "paper_view",
    "view_data",
    "view_of",
]
