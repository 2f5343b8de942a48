import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from evidencebench_core.data import open_store
from evidencebench_core.retrievers import Query, Retrieval, ServedRetriever, encoding, make_retriever
from tests.retrievers.llm.stand_in import StandIn, retrieved
from tests.retrievers.queries import make_query


def answer_of(name: str, server: StandIn, query: Query) -> Retrieval:
    """The answer of the retriever with the local model, or of the one that asks a server."""
    retriever = make_retriever(name, {"model": "minilm"}, store=open_store())
    if isinstance(retriever, ServedRetriever):
        return retrieved(server, retriever, query)
    return retriever.retrieve(query)


@pytest.mark.parametrize("name", ["dense", "embeddings"])
def test_scores_are_cosines(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Against (3, 4): (4, 3) has 24/25, (6, 8) has 1, (-3, -4) has -1, (0, 0) has no direction and gets 0.
    table = {"h": (3, 4), "a": (4, 3), "b": (6, 8), "c": (-3, -4), "d": (0, 0)}
    monkeypatch.setattr(encoding, "encode", lambda _, texts, __: np.float32([table[text] for text in texts]))
    server = StandIn(vector=lambda text: [*table[text]])
    retrieval = answer_of(name, server, make_query("abcd", hypothesis="h", budget=2))
    assert retrieval.ranking == (1, 0, 3, 2)
    assert retrieval.scores == (1.0, 0.96, 0.0, -1.0)
    assert retrieval.selection == (1, 0)


def test_threads_that_ask_for_the_same_paper_encode_it_once(encoded_texts: list[str]) -> None:
    query = make_query([f"s{number}" for number in range(50)])
    together = threading.Barrier(8)

    def ask(_: int) -> tuple[int, ...]:
        together.wait()
        return make_retriever("dense").retrieve(query).ranking

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert sorted(encoded_texts) == sorted({query.hypothesis, *query.sentences})


def test_settings_and_a_cached_look_import_nothing_heavy(encoded_texts: list[str]) -> None:
    expected = make_retriever("dense").retrieve(make_query(["s1", "s2", "s3"], hypothesis="h"))
    code = """
import sys
from evidencebench_core.retrievers import RETRIEVERS, Query, make_retriever, read_settings
print(len(list(RETRIEVERS)), list(read_settings("hybrid").values())[:1])
query = Query("h", ("s1", "s2", "s3"), ("abstract",) * 3, ("",) * 3)
print(make_retriever("dense").retrieve(query).ranking)
heavy = {"torch", "sentence_transformers", "huggingface_hub", "scipy", "sklearn", "openai", "lightgbm"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"12 ['of']\n{expected.ranking}\n[]\n"
    assert done.stderr == ""
