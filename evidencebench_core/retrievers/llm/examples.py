"""Examples in prompts: hypotheses of other papers with their gold sentences, never a whole paper."""

from __future__ import annotations

import random
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from evidencebench_core.data.model import paper_key
from evidencebench_core.errors import RetrieverError, shown
from evidencebench_core.llm.prompts import example_text
from evidencebench_core.metrics import optimal_cover

if TYPE_CHECKING:
    from evidencebench_core.data.model import Instance
    from evidencebench_core.data.store import Store
    from evidencebench_core.retrievers.base import Query

MADE_UP: Final = example_text(
    "Regular afternoon naps improve the working memory of older adults.",
    (
        "After twelve weeks the nap group recalled 7.9 of 12 digits and the control group 6.8 "
        "(difference 1.1, 95% confidence interval 0.4 to 1.8, p = 0.003).",
        "The benefit was confined to participants who slept less than 60 minutes; longer naps made no difference.",
        "In a mediation analysis, time in slow-wave sleep accounted for 38% of the effect on recall.",
        "Attention, reaction time and mood did not differ between the groups at any visit.",
    ),
)
"""The one shot of `result-section` where no dataset of examples is named: invented, so that it is in none."""


class ExamplePool:
    """Examples of one dataset, in one random order for all queries, so that the beginnings of prompts are alike."""

    def __init__(self, store: Store, dataset: str) -> None:
        info = store.dataset(dataset)
        self.dataset, self.sha256 = dataset, info.sha256
        self._paper_keys = store.paper_keys(info)
        self._order = sorted(self._paper_keys)
        random.Random("examples 0").shuffle(self._order)  # noqa: S311 - a reproducible draw
        self._read = lru_cache(maxsize=256)(lambda instance_id: store.get(info, instance_id))

    def draw(self, query: Query, n: int) -> tuple[str, ...]:
        """``n`` examples, or as many as there are, of other hypotheses and papers and with something to cover."""
        key, hypothesis = paper_key(query.sentences, query.sentence_types), _words(query.hypothesis)
        examples: list[str] = []
        for instance_id in self._order:
            if len(examples) == n:
                break
            if self._paper_keys[instance_id] == key:
                continue
            instance = self._read(instance_id)
            sentences = _gold(instance, query)
            if sentences and _words(instance.hypothesis) != hypothesis:
                examples.append(example_text(instance.hypothesis, sentences))
        if not examples:
            problem = f"dataset {shown(self.dataset)} has no example for this query"
            raise RetrieverError("retriever llm", problem, "Name another.")
        return tuple(examples)


def _words(text: str) -> str:
    """Letters and digits only: copies of a hypothesis differ in blanks, dashes and quotation marks."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _gold(instance: Instance, query: Query) -> tuple[str, ...]:
    """The gold list of the query's task: the file's own selection, or one as small that covers as much."""
    family = "er" if query.focus == "all" else "result-er"
    stored = instance.stored.get(f"{family}@{query.budget}", instance.stored.get(f"{family}@optimal"))
    indices = optimal_cover(instance.evidence.covers(query.focus)) if stored is None else stored
    return tuple(instance.sentences[index] for index in indices)
