"""Reports to test with: one harmless, one hostile in every text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evidencebench_core.data import Aspect, EvidenceSet, Instance
from evidencebench_core.export import ReportInput
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import task_named

HOSTILE = (
    "</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>"
    "--><!--]]>\"'><a href=javascript:alert(1)>&lt;b&gt; ${body} \x00\x1b[31m\u202eevil\u2066\ufeff\u0085 `'"
)
NO_GOLD = EvidenceSet(8, (), optimal=0, results_optimal=None)
SENTENCES = (
    "A title",
    "Background.",
    "Tea was drunk.",
    "Results",
    "Salt rose.",
    "Pressure fell.",
    "It hurt.",
    "End.",
)
TYPES = ("section_name", "abstract", "abstract", "section_name", *["normal_paragraph"] * 4)
SECTIONS = ("A title", "Abstract", "Abstract", *["Results"] * 5)


def report(text: str = "", paper: dict[str, Any] | None = None, **others: object) -> ReportInput:
    """A paper of eight sentences; ``text`` stands at the end of every text there is.

    x is covered by 2 and 5, y by 5, z by 6 and w by none; the picks are 5, 2, 4. ``paper`` changes the instance.
    """
    aspects = tuple(
        Aspect(f"{name}{text}", indices, name == "y", f"A{number}{text}", f"what {name} says{text}")
        for number, (name, indices) in enumerate(
            [("x", (2, 5)), ("y", (5,)), ("z", (6,)), ("w", ())], start=1
        )
    )
    instance = Instance(
        id="i",
        hypothesis=f"Tea lowers pressure.{text}",
        paper_id=f"PMC1{text}",
        sentences=tuple(f"{sentence}{text}" for sentence in SENTENCES),
        sentence_types=TYPES,
        sections=tuple(f"{section}{text}" for section in SECTIONS),
        evidence=EvidenceSet(8, aspects, optimal=2, results_optimal=1),
        stored={},
    )
    details = {f"prompt{text}": f"line one\nline two{text}"}
    fields: dict[str, object] = {
        "retrieval": Retrieval((5, 2, 7, 4), (0.9, 0.5, 0.25, 0.125), (5, 2, 4), 0.25, details),
        "task": task_named("er@3"),
        "source": f"J. Tea{text}",
        "retriever": f"bm25{text}",
        "settings": {f"k1{text}": 1.5, "of": (f"a{text}", "b")},
        "left_out": {f"tables{text}": 2, "figures": 1, "references": 0},
        "notes": (f"No abstract was recognised.{text}",),
        "explanations": {5: f"It names the outcome.{text}"},
        "command": f"evidencebench find 'a b.pdf'{text}",
        "created_at": f"2026-11-21T10:48:30+00:00{text}",
        "versions": {f"python{text}": f"3.11{text}"},
    }
    return ReportInput(replace(instance, **(paper or {})), **(fields | others))  # type: ignore[arg-type]
