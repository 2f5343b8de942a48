"""Mark evidence: study aspects and the sentences that cover them, written by hand; two annotators compared."""

from components.annotate.choose import draw_choice
from components.annotate.comparing import draw_comparing
from components.annotate.marking import draw_marking, draw_title, page_bar
from components.annotate.who import annotator_here, draw_who

__all__ = [
    "annotator_here",
    "draw_choice",
    "draw_comparing",
    "draw_marking",
    "draw_title",
    "draw_who",
    "page_bar",
]
