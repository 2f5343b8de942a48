"""What "at most two picks from the abstract" costs: ER@10 of retrievers on a dataset, with the rule and without.

python -m benchmarks.abstract_rule STORE DATASET RETRIEVER...
"""

import sys

from evidencebench_core.data import open_store
from evidencebench_core.metrics import aspect_recall
from evidencebench_core.papers import Paper
from evidencebench_core.papers.find import picks_in
from evidencebench_core.retrievers import make_retriever, query_of

if len(sys.argv) < 4:
    raise SystemExit(__doc__)
store, dataset = open_store(sys.argv[1]), sys.argv[2]
for name in sys.argv[3:]:
    retriever, recalls = make_retriever(name), {True: 0.0, False: 0.0}
    for instance in store.get_many(dataset, store.ids(dataset)):
        paper = Paper(instance.paper_id, "", instance.sentences, instance.sentence_types, "text", {}, ())
        for abstract_too in recalls:
            n_asked = 10 if abstract_too else 10 + paper.sentence_types.count("abstract")
            query = query_of(instance, "all", n_asked)
            picks = picks_in(paper, retriever.retrieve(query), 10, abstract_too=abstract_too)
            recalls[abstract_too] += aspect_recall(picks, instance.evidence.covers("all"))
    n = store.dataset(dataset).n_instances
    print(
        f"{name}: {100 * recalls[True] / n:.1f} without the rule, {100 * recalls[False] / n:.1f} with it, n={n}"
    )
