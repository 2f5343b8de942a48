"""Recall of what *Your paper* shows: ten picks for results, up to three of them from the abstract.

python -m benchmarks.abstract_rule STORE DATASET RETRIEVER...
"""

import sys

from evidencebench_core.data import open_store
from evidencebench_core.data.model import Focus
from evidencebench_core.metrics import aspect_recall
from evidencebench_core.papers import Paper
from evidencebench_core.papers.find import picks_in
from evidencebench_core.retrievers import make_retriever, query_of
from evidencebench_core.stats import interval

if len(sys.argv) < 4:
    raise SystemExit(__doc__)
store, dataset = open_store(sys.argv[1]), sys.argv[2]
for name in sys.argv[3:]:
    retriever = make_retriever(name)
    recalls: dict[Focus, list[float]] = {"all": [], "results": []}
    papers: dict[Focus, list[str]] = {"all": [], "results": []}
    for instance in store.get_many(dataset, store.ids(dataset)):
        paper = Paper(instance.paper_id, "", instance.sentences, instance.sentence_types, "text", {}, ())
        query = query_of(instance, "results", 10 + paper.sentence_types.count("abstract"))
        picks = picks_in(paper, retriever.retrieve(query).ranking, 10)
        for focus, values in recalls.items():
            recall = aspect_recall(picks, instance.evidence.covers(focus))
            if recall is not None:
                values.append(recall)
                papers[focus].append(instance.paper_id)
    for focus, values in recalls.items():
        print(f"{name}, aspects of {focus}: {interval(values, papers[focus]).text()}, n={len(values)}")
