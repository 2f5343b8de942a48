"""Words that tell whether a hyphen at a line's end belongs to the word, where the paper itself does not."""

from __future__ import annotations

from typing import Final

__all__ = ["ADJECTIVE_ENDS", "BROKEN_ENDS", "KEPT_AFTER", "KEPT_BEFORE", "SUSPENDED_BEFORE", "TOGETHER"]

_KEPT_AFTER = """
age all anti case community cross dose double early eight evidence ex fast first five follow four full growth half
health high hospital ice large late life long low meta mid nine non one part placebo population post pre quasi
second self seven sex short single six sleep slow small ten third three time two vice well wild year
"""
_KEPT_BEFORE = """
adjusted associated based binding blind blinded dependent derived exposed exposure fold free induced level matched
mediated negative old phase poor positive resistant response rich risk scale specific stage term wave year
"""
_BROKEN_ENDS = """
able ably al ally ance ant ants ate ated ates ation ations den der ding ed ence ent ents er ers ful ing ion ions ity
ive less ling ly ment ments ness ning ous red ring sion sions ted ten tic tics ting tion tions tive tor tors
"""
_TOGETHER = """
although another became become before beside between cannot decrease decreased furthermore himself however increase
increased moreover outcome outside overall therefore whereas within without
"""

KEPT_AFTER: Final = frozenset(_KEPT_AFTER.split())
"""First parts of words that are written with a hyphen more often than not."""
KEPT_BEFORE: Final = frozenset(_KEPT_BEFORE.split())
"""Last parts of such words."""
BROKEN_ENDS: Final = frozenset(_BROKEN_ENDS.split())
"""What typesetters leave of a word for the next line, although some are words themselves."""
TOGETHER: Final = frozenset(_TOGETHER.split())
"""Words made of two words, and written without a hyphen."""
SUSPENDED_BEFORE: Final = frozenset({"and", "or", "to", "und", "nor", "versus", "vs", "but", "through"})
"""After a hyphen that stands for the rest of a word: "pre- and post-test"."""
ADJECTIVE_ENDS: Final = ("ed", "ing", "ory", "ive", "ent", "ant")
"""Ends of long last parts: "site-directed"."""
