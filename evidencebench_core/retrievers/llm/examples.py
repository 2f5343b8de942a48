"""Examples in prompts: hypotheses of other papers with their gold sentences, never a whole paper."""

import random
from collections.abc import Iterable
from functools import lru_cache

from evidencebench_core.data.model import Instance, paper_key
from evidencebench_core.data.quotes import letters
from evidencebench_core.data.store import Store
from evidencebench_core.errors import RetrieverError, shown
from evidencebench_core.llm.prompts import on_one_line
from evidencebench_core.metrics import optimal_cover
from evidencebench_core.retrievers.base import Query


def example_text(hypothesis: str, sentences: Iterable[str]) -> str:
    """One example: a hypothesis and its gold sentences."""
    chosen = "\n".join(f"- {on_one_line(text)}" for text in sentences)
    return f"Hypothesis: {on_one_line(hypothesis)}\nBest choice:\n{chosen}"


class ExamplePool:
    """Examples of one dataset, in one random order for all queries, so that prompts begin alike."""

    def __init__(self, store: Store, dataset: str) -> None:
        info = store.dataset(dataset)
        self.dataset, self.sha256 = dataset, info.sha256
        self._paper_keys = store.paper_keys(info)
        self._order = sorted(self._paper_keys)
        random.Random("examples 0").shuffle(self._order)  # noqa: S311 - a reproducible draw
        self._read = lru_cache(maxsize=256)(lambda instance_id: store.get(info, instance_id))

    def draw(self, query: Query, n: int) -> tuple[str, ...]:
        """Up to ``n`` examples with gold, of other hypotheses and other papers."""
        key, hypothesis = paper_key(query.sentences, query.sentence_types), letters(query.hypothesis)
        examples: list[str] = []
        for instance_id in self._order:
            if len(examples) == n:
                break
            if self._paper_keys[instance_id] == key:
                continue
            instance = self._read(instance_id)
            sentences = _gold_sentences(instance, query)
            if sentences and letters(instance.hypothesis) != hypothesis:
                examples.append(example_text(instance.hypothesis, sentences))
        if not examples:
            problem = f"has no example for this query in dataset {shown(self.dataset)}"
            raise RetrieverError("retriever llm", problem, "Name another.")
        return tuple(examples)


def _gold_sentences(instance: Instance, query: Query) -> tuple[str, ...]:
    """The gold sentences for the query's task: the file's selection, else an optimal one."""
    family = "er" if query.focus == "all" else "result-er"
    stored = instance.stored.get(f"{family}@{query.budget}", instance.stored.get(f"{family}@optimal"))
    indices = optimal_cover(instance.evidence.covers(query.focus)) if stored is None else stored
    return tuple(instance.sentences[index] for index in indices)
