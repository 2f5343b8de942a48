"""Recall of what *Your paper* shows: ten picks for results, up to three of them from the abstract.

python -m benchmarks.abstract_rule STORE DATASET RETRIEVER...
"""

import sys

from evidencebench_core.data import open_store
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
    for focus in ("all", "results"):
        recalls, papers = [], []
        for instance in store.get_many(dataset, store.ids(dataset)):
            paper = Paper(instance.paper_id, "", instance.sentences, instance.sentence_types, "text", {}, ())
            query = query_of(instance, "results", 10 + paper.sentence_types.count("abstract"))
            recall = aspect_recall(
                picks_in(paper, retriever.retrieve(query).ranking, 10), instance.evidence.covers(focus)
            )
            if recall is not None:
                recalls.append(recall)
                papers.append(instance.paper_id)
        print(f"{name}, aspects of {focus}: {interval(recalls, papers).text()}, n={len(recalls)}")
