"""User input as an FTS5 expression.

Words must all occur, "a quoted phrase" as it stands; the last word, if it is not quoted, may be the beginning of one.
"""

import re
from typing import Final

_WORDS: Final = re.compile(r'"([^"]*)"?|([^\s"]+)')


def fts_terms(words: str) -> list[str]:
    """The words and phrases of user input, each an FTS5 expression that cannot be a syntax error."""
    cleaned = words.replace("\x00", " ").encode("utf-8", "replace").decode()
    matches = [match for match in _WORDS.finditer(cleaned) if any(map(str.isalnum, match[0]))]
    terms = [f'"{match[1] or match[2]}"' for match in matches]
    if matches and matches[-1][2] and cleaned.endswith(matches[-1][2]):
        terms[-1] += "*"
    return terms
