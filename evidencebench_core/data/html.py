"""An instance as a piece of HTML for a notebook: everything escaped, no script, no outside request."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from evidencebench_core.data.model import Aspect, Instance

_ROOT: Final = "max-width:46em;line-height:1.45;unicode-bidi:isolate"
_SMALL: Final = "font:0.8em system-ui,sans-serif;opacity:0.75"
_INDEX: Final = _SMALL + ";display:inline-block;width:3.2em;font-variant-numeric:tabular-nums"
_PAPER: Final = "font-family:Georgia,serif;max-height:28em;overflow:auto;margin-top:0.4em"
_LINE: Final = "padding-left:0.4em;border-left:4px solid transparent"
_GOLD: Final = "padding-left:0.4em;border-left:4px solid #E69F00;background:rgba(230,159,0,0.14)"
_CHIP: Final = _SMALL + ";border:1px solid currentColor;border-radius:0.6em;padding:0 0.4em;margin-left:0.3em"


def instance_html(instance: Instance) -> str:
    """One ``<div>`` with hypothesis, aspects and the whole paper; a bar and the aspects' labels at gold sentences."""
    evidence = instance.evidence
    labels: dict[int, list[Aspect]] = {}
    for aspect in evidence.aspects:
        for index in aspect.sentence_indices:
            labels.setdefault(index, []).append(aspect)
    facts = [
        f"{evidence.n_sentences} sentences",
        f"{len(evidence.aspects)} aspects",
        f"{len(evidence.focused('results'))} result aspects",
        f"optimal K {evidence.optimal}",
    ]
    if instance.synthetic:
        facts.append("synthetic: an invented paper")
    if instance.is_sufficient:
        facts.append("gold sufficient, not complete")
    return "".join(
        [
            f'<div class="evidencebench-instance" style="{_ROOT}">',
            f'<div style="{_SMALL}">{escape(instance.id)} · {escape(instance.paper_id)}</div>',
            f'<div dir="auto"><strong>{escape(instance.hypothesis)}</strong></div>',
            f'<div style="{_SMALL}">{" · ".join(facts)}</div>',
            "<details><summary>Study aspects</summary><ul>",
            *map(_aspect_html, evidence.aspects),
            f'</ul></details><div style="{_PAPER}">',
            *(
                _sentence_html(index, sentence, instance.sentence_types[index], labels.get(index, ()))
                for index, sentence in enumerate(instance.sentences)
            ),
            "</div></div>",
        ]
    )


def _aspect_html(aspect: Aspect) -> str:
    what = escape(aspect.text) if aspect.text is not None else escape(aspect.id)
    kind = " (result)" if aspect.is_result else ""
    where = ", ".join(map(str, aspect.sentence_indices)) or "no sentence"
    return f'<li dir="auto">{escape(aspect.label)}{kind}: {what} [{where}]</li>'


def _sentence_html(index: int, sentence: str, kind: str, aspects: Iterable[Aspect]) -> str:
    text = escape(sentence)
    if kind == "section_name":
        text = f"<strong>{text}</strong>"
    chips = "".join(f'<span style="{_CHIP}">{escape(aspect.label)}</span>' for aspect in aspects)
    style = _GOLD if chips else _LINE
    return f'<div dir="auto" style="{style}"><span style="{_INDEX}">{index}</span>{text}{chips}</div>'
