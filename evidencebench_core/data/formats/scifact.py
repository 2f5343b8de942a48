"""SciFact's family: claims, and abstracts in a corpus beside them (Wadden et al. 2020; as MultiVerS has others).

A claim with a document that it has evidence in is an instance. A rationale, of which all sentences together suffice, is
an aspect that any of them covers: the gold is sufficient, not complete.
"""

from collections.abc import Iterator

from evidencebench_core.data.formats.base import Checked, Id, Pool, Source, Text, checked
from evidencebench_core.data.formats.simple import simple_instance
from evidencebench_core.data.model import SUFFICIENT, Instance
from evidencebench_core.data.sections import ABSTRACT
from evidencebench_core.data.stream import DatasetFile
from evidencebench_core.errors import InstanceError, shown


class Rationale(Checked):
    sentences: list[int]
    label: str | None = None


class Claim(Checked):
    id: Id
    claim: Text
    evidence: dict[str, list[Rationale]] | None = None


class Document(Checked):
    doc_id: Id
    abstract: Pool
    title: str = ""


def instances(source: Source) -> Iterator[Instance]:
    """The claims with evidence, one instance a document; its id is ``CLAIM_DOCUMENT``."""
    corpus = source.corpus or source.file.path.with_name("corpus.jsonl")
    documents: dict[str, Document] = {}
    with DatasetFile(corpus) as file:
        for place, _, value in file.records():
            document = checked(Document, value, f"{corpus.name}, {place}")
            documents[document.doc_id] = document
    for place, _, value in source.file.records():
        claim = checked(Claim, value, place)
        evidence = {doc_id: rationales for doc_id, rationales in (claim.evidence or {}).items() if rationales}
        if not evidence:
            source.left_out["claims without evidence"] += 1
        for doc_id, rationales in evidence.items():
            if doc_id not in documents:
                problem = f"names document {shown(doc_id)}, which is not in {corpus}"
                remedy = "Name the corpus of these claims with --corpus."
                raise InstanceError(f"{place}, evidence", problem, remedy)
            record = {
                "hypothesis": claim.claim,
                "sentences": documents[doc_id].abstract,
                "sections": [ABSTRACT] * len(documents[doc_id].abstract),
                "evidence": [rationale.sentences for rationale in rationales],
                "paper_id": doc_id,
                "construction": {"gold": SUFFICIENT},
                "label": " or ".join(dict.fromkeys(r.label for r in rationales if r.label)),
                "title": documents[doc_id].title,
            }
            yield simple_instance(record, f"{place}, document {doc_id}", f"{claim.id}_{doc_id}")
