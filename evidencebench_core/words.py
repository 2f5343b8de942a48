"""Numbers and long texts, the same on a page, in the terminal and in a report."""


def quantity(number: int, noun: str) -> str:
    """``1 instance``, ``96 batches``, ``107,461 instances``."""
    return f"{number:,} {noun}{'' if number == 1 else 'es' if noun.endswith('ch') else 's'}"


def clipped_text(text: str, limit: int) -> str:
    """At most so many characters, the last one an ellipsis where something was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
