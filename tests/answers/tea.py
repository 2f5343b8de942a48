"""A paper about tea, and a scripted model that is asked about it."""

import re
from typing import Any

from tests.llm.server import reply

TEXT = "Tea\n\nAbstract\nTea was drunk.\n\nResults\nTea lowers pressure. Tea raises pressure. Tea is hot. Tea is old."
HYPOTHESIS = "Tea lowers pressure."
LABELS = {"lowers": "supports", "raises": "CONTRADICTS.", "hot": "neutral", "old": "required"}
ANSWER = "VERDICT: mixed\nANSWER: It <b>lowers</b> *pressure* [3, 999]. In some it rises [4]."


def model(sent: dict[str, Any]) -> Any:
    """Judges the sentences of `TEXT` by `LABELS`, and answers about all of it, with a citation too many."""
    text = str(sent["messages"][-1]["content"])
    source = re.search(r"<document>\n(.*)\n</document>", text)
    if source is None:
        return reply(ANSWER)
    (label,) = [label for word, label in LABELS.items() if word in source[1]]
    return reply(f"Because.\nLABEL: {label}")
