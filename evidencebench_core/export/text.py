"""Papers as plain text, for a terminal: an instance with its gold, and what was found in papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from evidencebench_core.answers.cited import NO_ANSWER, CitedAnswer
from evidencebench_core.data.model import Instance
from evidencebench_core.export.findings import STANCE_WORDS, left_out_text, passage_documents
from evidencebench_core.papers.find import Findings
from evidencebench_core.words import one_line, quantity, wrapped

WHOLE: Final = 3  # papers of several whose picks are printed in full


def instance_text(instance: Instance, dataset: str, width: int) -> Iterator[str]:
    """The lines of an instance: hypothesis, study aspects, and the paper with a bar beside what covers one."""
    evidence = instance.evidence
    notes = ", synthetic" if instance.synthetic else ""
    notes += ", gold sufficient, not complete" if instance.is_sufficient else ""
    yield one_line(f"{instance.id}  ({dataset}, paper {instance.paper_id}{notes})")
    yield from wrapped(f"Hypothesis: {instance.hypothesis}", width)
    n_results = quantity(len(evidence.focused("results")), "result aspect")
    n_aspects = f"{quantity(len(evidence.aspects), 'study aspect')} ({n_results})"
    results = f", for the results {evidence.results_optimal}" if evidence.results_optimal else ""
    yield f"{quantity(evidence.n_sentences, 'sentence')}, {n_aspects}, optimal K {evidence.optimal}{results}"
    yield "\nStudy aspects, and the sentences that cover them"
    labels: list[list[str]] = [[] for _ in instance.sentences]
    for aspect in evidence.aspects:
        indices = ", ".join(map(str, aspect.sentence_indices)) or "none"
        kind = "result" if aspect.is_result else ""
        yield from wrapped(f"{indices}  {aspect.text or ''}", width, f"  {aspect.label:<4}{kind:<6}  ")
        for index in aspect.sentence_indices:
            labels[index].append(aspect.label)
    yield "\nThe paper (█ covers the aspects named behind it)"
    section = None
    for index, sentence in enumerate(instance.sentences):
        if instance.sections[index] != section:
            section = instance.sections[index]
            yield ""
            if instance.sentence_types[index] != "section_name":
                yield f"        [{one_line(section).strip() or 'before the first heading'}]"
        mark = "█" if labels[index] else " "
        covers = f"  [{' '.join(labels[index])}]" if labels[index] else ""
        text = sentence if sentence.strip() else "(blank)"
        yield from wrapped(f"{text}{covers}", width, f"{mark} {index:>4}  ", f"{mark}       ")


def findings_text(
    results: Sequence[Findings], width: int, answers: Sequence[CitedAnswer] = ()
) -> Iterator[str]:
    """The lines of what was found for one hypothesis, paper by paper, the closest first.

    ``answers`` are a model's, one a paper, where it was asked.
    """
    yield from wrapped(f"Hypothesis: {results[0].hypothesis}", width)
    for number, findings in enumerate(results, start=1):
        paper = findings.read.paper
        head = paper.title or findings.read.name
        best = "" if findings.best is None else f" (closest {findings.best:.2f} of 1)"
        yield ""
        yield from wrapped(f"{number}. {head}{best}" if len(results) > 1 else head, width)
        yield from _answer_text(answers[number - 1], width) if answers else ()
        if not findings.is_close:
            nothing = f"No sentence comes close to it{best}: the paper may say nothing on it."
            yield from wrapped(nothing, width, "   ")
        elif number <= WHOLE:
            for passage in passage_documents(findings):
                yield f"\n{passage['number']:>3}  {one_line(passage['place'])}"
                text = " ".join(paper.sentences[sentence["index"]] for sentence in passage["sentences"])
                yield from wrapped(text, width, "     ")
                for sentence in passage["sentences"]:
                    if sentence["stance"]:
                        yield f"     {STANCE_WORDS[sentence['stance']]}"
                for item in passage["floats"]:
                    yield from wrapped(f"{item['label']}: {item['caption']}", width, "     ")
                if passage["why"]:
                    yield from wrapped(f"Why: {passage['why']}", width, "     ")


def _answer_text(answer: CitedAnswer, width: int) -> Iterator[str]:
    yield ""
    yield from wrapped(
        f"The model's verdict: {answer.verdict or 'none'}. {NO_ANSWER.get(answer.outcome, '')}", width
    )
    for sentence in answer.sentences:
        cited = "".join(f" [{index}]" for index in sentence.citations)
        unknown = "".join(f" [{index}: not in this paper]" for index in sentence.unknown)
        yield from wrapped(f"{sentence.text}{cited}{unknown}", width, "     ")


def remarks(findings: Findings) -> list[str]:
    """What was searched, what was left out of the paper, and where its text is doubtful."""
    paper = findings.read.paper
    searched = f"{quantity(len(paper.sentences), 'sentence')} searched by {findings.retriever.name}"
    left_out = left_out_text(paper.left_out)
    doubts = [f"Doubtful text in {doubt.place}: {doubt.text}" for doubt in paper.doubts]
    return [f"{searched}; left out: {left_out}" if left_out else searched, *paper.notes, *doubts]
