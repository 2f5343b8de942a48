"""The parts of the page "Missed aspects": filters, charts, queue, one miss, and what is said of it."""

from components.missed.detail import draw_miss
from components.missed.filters import draw_filters
from components.missed.queue import QUEUE_DEFAULTS, Queue, queue_from
from components.missed.shares import draw_shares
from components.missed.table import draw_queue

__all__ = ["QUEUE_DEFAULTS", "Queue", "draw_filters", "draw_miss", "draw_queue", "draw_shares", "queue_from"]
