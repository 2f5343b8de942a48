"""Annotations as instances of the benchmark's format: what people decided."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from evidencebench_core.annotation.agreement import consensus_figures
from evidencebench_core.annotation.guidelines import guidelines
from evidencebench_core.annotation.marked import MarkedPaper, marked_papers
from evidencebench_core.annotation.model import CONSENSUS, MODEL, annotated_instance
from evidencebench_core.annotation.provenance import construction_of
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import EvidenceBenchError, PaperError
from evidencebench_core.papers.licence import allows_changed_copies


@dataclass(slots=True)
class ExportedAnnotations:
    """Instances by id, and by paper why others were left out."""

    instances: dict[str, Instance] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    licences: Counter[str] = field(default_factory=Counter)
    covered: dict[str, float] = field(default_factory=dict)  # by paper, the share of aspects with a sentence


def exported_annotations(
    store: Store, *, annotator: str = "", undecided: bool = False, min_covered: float = 0.0
) -> ExportedAnnotations:
    """The annotated papers of a store as instances.

    Parameters
    ----------
    annotator : str
        Whose marks count; without it the consensus, else those of the only person who marked the paper.
    undecided : bool
        Take a model's proposal where nobody has decided on it.
    min_covered : float
        Leave a paper out if a smaller share of its aspects got a sentence; EvidenceBench keeps 0.7 and more.
    """
    annotations = Annotations(store)
    exported = ExportedAnnotations()
    for marked in marked_papers(store):
        try:
            name = _annotator(annotations.annotators(marked.key), annotator, undecided)
            instance = exported_annotation(annotations, marked, name)
        except EvidenceBenchError as error:
            exported.left_out[marked.name] = f"{error.problem}. {error.remedy}"
            continue
        coverage = instance.construction["coverage"]
        share = coverage["n_covered"] / coverage["n_aspects"]
        exported.covered[marked.name] = share
        if share < min_covered:
            exported.left_out[marked.name] = f"has sentences for {share:.0%} of its aspects"
            continue
        if instance.id in exported.instances:
            instance_id = f"{instance.id}_{marked.key.rpartition(':')[2]}"
            instance = exported_annotation(annotations, marked, name, instance_id)
        exported.instances[instance.id] = instance
        exported.licences[marked.paper.licence or "none named"] += 1
    return exported


def exported_annotation(
    annotations: Annotations, marked: MarkedPaper, annotator: str, instance_id: str = ""
) -> Instance:
    """The instance of an annotation; `PaperError` where it is not complete, or may not be passed on."""
    licence = marked.paper.licence
    if licence and not allows_changed_copies(licence):
        problem = f"is under {licence}, which allows no changed copy"
        raise PaperError(marked.name, problem, "It stays in your store for your own use.")
    annotation = annotations.get(marked.key, annotator)
    if annotation is None:
        raise PaperError(marked.name, f"has no marks by {annotator}", "Name somebody who has marked it.")
    proposals = list(annotations.proposals(marked.key).values())
    construction = construction_of(annotation, proposals, licence)
    if not annotation.annotator.startswith(MODEL):
        construction["guidelines"] = guidelines(annotations.store)
    names = annotation.origin.get("consensus_of")
    if isinstance(names, list):
        makers = [annotations.get(marked.key, str(name)) for name in names]
        known = [maker for maker in makers if maker is not None]
        figures = consensus_figures(known, annotation) if len(known) == 2 else {}
        construction["consensus"] = {"of": names} | figures
    if annotation.annotator.startswith(MODEL):  # aspects that no window covers are no part of the evidence
        for aspect in annotation.uncovered:
            annotation = annotation.remove_aspect(aspect.id)
    paper_id = marked.paper.id if isinstance(marked.paper, Instance) else marked.paper.paper_id
    return annotated_instance(marked.paper, annotation, instance_id or paper_id, construction)


def _annotator(names: tuple[str, ...], wanted: str, undecided: bool) -> str:
    """Whose marks count: the one that is wanted, the consensus, the only person, and then a model."""
    people = [name for name in names if not name.startswith(MODEL)]
    models = [name for name in names if name.startswith(MODEL) and undecided]
    first = [wanted] if wanted else [CONSENSUS] if CONSENSUS in people else people
    if len(first) > 1:
        problem = f"was marked by {', '.join(people)}"
        raise PaperError("the paper", problem, "Make a consensus, or name the annotator.")
    for name in (*first, *models):
        if name in names:
            return name
    if wanted:
        raise PaperError("the store", f"has no marks by {wanted}", "Name somebody who has marked it.")
    problem = "has a proposal that nobody decided on"
    raise PaperError("the paper", problem, "Decide on it, or say --undecided.")
