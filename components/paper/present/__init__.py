"""Presenter mode: one paper, one question, large type and plain words."""

from components.paper.present.present import draw_presenting

__all__ = ["draw_presenting"]
