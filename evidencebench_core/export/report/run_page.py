"""A run as one page: its score, and its instances folded below, as many as a page should hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

from evidencebench_core.export.report.page import counted, facts_table, moment, page_of, versions_line
from evidencebench_core.export.report.picks import percent, section_name
from evidencebench_core.export.report.text import clipped, element, joined, preformatted, safe
from evidencebench_core.metrics import marginal_gains

if TYPE_CHECKING:
    from evidencebench_core.export.answers import Answer
    from evidencebench_core.runs import RunInfo
    from evidencebench_core.tasks import Score

__all__ = ["run_html"]

_PICKS: Final = 30  # an instance, at most
_LONGEST: Final = 600  # characters of a sentence


def run_html(
    run: RunInfo,
    score: Score,
    answers: Iterable[Answer],
    command: str = "",
    versions: Mapping[str, str] | None = None,
    limit: int = 200,
) -> str:
    """The page of a run on a task.

    Parameters
    ----------
    run : RunInfo
    score : Score
        On the task that the answers are to.
    answers : iterable of Answer
        With their papers; only as many as fit are taken from it.
    command : str
        What makes the page again.
    versions : mapping of str to str, optional
    limit : int
        Instances on the page; how many more there are is said.
    """
    shown = "\n".join(_instance_html(answer, score) for answer in islice(answers, limit))
    total = score.n_scored + score.n_skipped + (0 if _zeros(score) else score.n_missing)
    count = counted(total, "instances")
    rest = f"The first {limit:,} of {count}." if total > limit else f"{count[0].upper()}{count[1:]}."
    settings = ", ".join(f"{name}={value}" for name, value in run.settings.items())
    facts = {
        "run": run.id,
        "settings": settings or "none",
        "dataset": run.dataset,
        "started": moment(run.created_at),
        **_score_facts(score),
        **({"versions": versions_line(versions)} if versions else {}),
    }
    body = (
        "<header>",
        element("p", "A run", "kicker"),
        f'<h1 dir="auto">{safe(run.label)}, {safe(score.task.title)}</h1>',
        "</header>",
        facts_table(facts),
        f"<pre>{preformatted(command)}</pre>" if command else "",
        "<h2>Instance by instance</h2>",
        f'<p class="facts">{rest} Recall in percent; the picks unfold. For the whole paper with its marks:'
        " export the run with --instance.</p>",
        shown,
        "<footer><p>Highlights can miss evidence. They are no medical advice.</p></footer>",
    )
    return page_of(f"{run.label}, {score.task.title}, {run.dataset}", joined(body, "\n"), "run")


def _zeros(score: Score) -> bool:
    return bool(score.missing) and set(score.missing) <= score.per_instance.keys()


def _score_facts(score: Score) -> dict[str, str]:
    def share(value: float | None) -> str:
        return "undefined" if value is None else percent(value)

    interval = ""
    if score.ci95 is not None:
        interval = f" (95% interval {percent(score.ci95[0])} to {percent(score.ci95[1])})"
    return {
        "Aspect Recall": f"{share(score.aspect_recall)}{interval}",
        "ceiling": share(score.ceiling),
        "random expectation": share(score.random_expectation),
        "instances": f"{score.n_scored:,} scored, {score.n_skipped:,} skipped, {score.n_missing:,} without an answer,"
        f" {score.n_empty:,} answered with no sentence",
    }


def _instance_html(answer: Answer, score: Score) -> str:
    instance, name = answer.instance, answer.instance_id
    recall = score.per_instance.get(name)
    figure = "–" if recall is None else f"{100 * recall:.1f}"
    hypothesis = safe(clipped(instance.hypothesis, _LONGEST)) if instance else ""
    return (
        f'<details><summary><b>{figure}</b><span dir="auto">{hypothesis}</span>'
        f"<small>{safe(name)} · {safe(_found(answer, score))}</small></summary>{_picks_html(answer, score)}</details>"
    )


def _found(answer: Answer, score: Score) -> str:
    if answer.instance_id in score.skipped:
        return f"skipped: {score.skipped[answer.instance_id]}"
    if answer.retrieval is None:
        return f"no answer: {answer.reason}"
    gains = marginal_gains(answer.retrieval.selection, answer.evidence.covers(score.task.focus))
    n_found = sum(len(gain.new) for gain in gains)
    n_aspects = len(answer.evidence.focused(score.task.focus))
    return f"{counted(len(gains), 'picks')}, {n_found} of {counted(n_aspects, 'aspects')} covered"


def _picks_html(answer: Answer, score: Score) -> str:
    instance, retrieval = answer.instance, answer.retrieval
    if instance is None or retrieval is None:
        return ""
    labels = tuple(aspect.label for aspect in answer.evidence.focused(score.task.focus))
    gains = marginal_gains(retrieval.selection, answer.evidence.covers(score.task.focus))
    items = []
    for gain in gains[:_PICKS]:
        new = ", ".join(labels[position] for position in gain.new)
        adds = f" · adds {new}" if new else ""
        where = f"{section_name(instance.sections[gain.sentence])} · sentence {gain.sentence}{adds}"
        text = clipped(instance.sentences[gain.sentence], _LONGEST)
        items.append(f'<li dir="auto">{safe(text)} <small>{safe(where)}</small></li>')
    if len(gains) > _PICKS:
        items.append(f"<li>and {len(gains) - _PICKS:,} more</li>")
    return element("ol", "".join(items))
