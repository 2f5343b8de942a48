"""Write ``sample_data.json``, in the benchmark's format, from the texts in ``sources/``.

usage: python sample_data/build.py

A source is a header of ``key: value`` lines, then ``aspect N [(result)]: text`` lines, then the
paper: ``@abstract``, headings after ``#``, one sentence a line, and at its end in braces the
numbers of the aspects that it covers.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evidencebench_core.data.formats import instance_from
from evidencebench_core.metrics import best_cover, optimal_cover

HERE = Path(__file__).resolve().parent
TARGET = HERE / "sample_data.json"
ORDER = ("cohort", "case_control", "trial", "animal", "in_vitro", "exposure")
PARAPHRASES = ("lexical", "syntactic", "formal", "plain")

_HEADER = re.compile(r"(\w+): (.+)")
_ASPECT = re.compile(r"aspect (\d+)( \(result\))?: (.+)")
_COVERS = re.compile(r"\s*\{([\d, ]+)\}$")


@dataclass
class Source:
    """One source file, taken apart."""

    header: dict[str, str] = field(default_factory=dict)
    aspect_texts: list[str] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    covers: list[list[int]] = field(default_factory=list)


def read_source(path: Path) -> Source:
    source, kind = Source(), ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.strip()
        if not text:
            continue
        if text == "@abstract":
            kind = "abstract"
        elif match := (_ASPECT.fullmatch(text) if not kind else None):
            if int(match[1]) != len(source.aspect_texts):
                raise SystemExit(f"{path.name}:{number}: aspects are numbered 0, 1, 2, ...")
            source.aspect_texts.append(match[3])
            if match[2]:
                source.results.append(int(match[1]))
        elif match := (_HEADER.fullmatch(text) if not kind else None):
            source.header[match[1]] = match[2]
        elif not kind:
            raise SystemExit(f"{path.name}:{number}: {text!r} stands before @abstract")
        elif text.startswith("#"):
            kind = "normal_paragraph"
            add_sentence(source, text.lstrip("# "), "section_name")
        else:
            add_sentence(source, text, kind)
    return source


def add_sentence(source: Source, text: str, kind: str) -> None:
    match = _COVERS.search(text)
    source.sentences.append(_COVERS.sub("", text))
    source.types.append(kind)
    source.covers.append(sorted({int(n) for n in match[1].split(",")}) if match else [])


def instance(source: Source) -> tuple[str, dict[str, Any]]:
    """Id and raw instance, with the keys in the order of the released files."""
    name = source.header["id"]
    ids = [f"{name}_aspect_{number}" for number in range(len(source.aspect_texts))]
    covering = [[i for i, covered in enumerate(source.covers) if n in covered] for n in range(len(ids))]
    results = source.results or None
    return name, {
        "hypothesis": source.header["hypothesis"],
        "paper_as_candidate_pool": source.sentences,
        "aspect_list_ids": ids,
        "results_aspect_list_ids": results and [ids[n] for n in results],
        "aspect2sentence_indices": dict(zip(ids, covering, strict=True)),
        "sentence_index2aspects": {
            str(index): [ids[n] for n in covered] for index, covered in enumerate(source.covers)
        },
        "evidence_retrieval_at_optimal_evaluation": evaluation(ids, covering, range(len(ids)), None),
        "evidence_retrieval_at_10_evaluation": evaluation(ids, covering, range(len(ids)), 10),
        "results_evidence_retrieval_at_optimal_evaluation": results
        and evaluation(ids, covering, results, None),
        "results_evidence_retrieval_at_5_evaluation": results and evaluation(ids, covering, results, 5),
        "sentence_types_in_candidate_pool": source.types,
        "paper_id": source.header["paper_id"],
        "aspect_texts": dict(zip(ids, source.aspect_texts, strict=True)),
        "hypothesis_paraphrases": {key: source.header[key] for key in PARAPHRASES},
        "hypothesis_negation": source.header["negation"],
        "study_design": source.header["design"],
        "synthetic": True,
    }


def evaluation(
    ids: list[str], covering: list[list[int]], wanted: list[int] | range, budget: int | None
) -> dict[str, Any]:
    covers = [frozenset(covering[n]) for n in wanted]
    picks = list(optimal_cover(covers) if budget is None else best_cover(covers, budget))
    if budget is not None:  # the released files fill the budget: first with other evidence, then in order
        others = sorted(frozenset().union(*covers) - set(picks))
        picks = (picks + others + [i for i in range(budget * 2) if i not in {*picks, *others}])[:budget]
    covered = [ids[n] for n, cover in zip(wanted, covers, strict=True) if not cover.isdisjoint(picks)]
    head = {"optimal": len(picks)} if budget is None else {}
    return {**head, "one_selection_of_sentences": picks, "covered_aspects": covered}


def main() -> None:
    instances = dict(instance(read_source(HERE / "sources" / f"{name}.md")) for name in ORDER)
    for name, raw in instances.items():
        instance_from(name, raw)
    text = json.dumps(instances, ensure_ascii=False, indent=1)
    TARGET.write_text(text + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(instances)} instances")


if __name__ == "__main__":
    main()
