"""The answers behind a figure: the table with its filters, and one item in every test, with all that was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import pandas as pd
import streamlit as st

from components.app.state import PageState
from components.models.calls import plain_text
from components.reliability import cached
from components.reliability.changes import changed_text
from components.reliability.view import PROBE_FILTERS, View, system_of
from components.widgets.frame_table import csv_and_json, frame_table
from components.widgets.markdown import literal
from components.widgets.switches import on_off_switch
from components.widgets.table import Column
from components.widgets.table.paging import paging
from evidencebench_core.reliability.items import Item
from evidencebench_core.reliability.probes import Probe
from evidencebench_core.reliability.reads import ProbeRead
from evidencebench_core.reliability.runs import ReliabilityRun
from evidencebench_core.reliability.score import TaskScore
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS
from evidencebench_core.words import quantity

_COLUMNS: Final = (
    Column("question", "Question", "title", lines=2),
    Column("variant", "Variant", "id"),
    Column("expected", "Expected", "id", "The label of a right answer"),
    Column("label", "Read as", "id", "By our reader; as published by RAmBLA's own"),
    Column("official", "Official", "id", "By RAmBLA's own reader"),
    Column("why", "By", "id", "The rule that took the label, or why there is none"),
    Column("before", "Baseline", "id", "What came of the same item with nothing changed"),
    Column("answer", "Answer", lines=2),
)
_NAMED: Final = 10  # outcomes in the heading of a task


def draw_answers(state: PageState, view: View, run: ReliabilityRun, score: TaskScore) -> None:
    """The probes of a run, by the filters of the address; a click opens the item in every test."""
    st.markdown("### Answers")
    frame = _with_answers(run, score)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _choice(state, "cell", "Baseline to this test", _cells(frame), lambda cell: cell.replace("-", " → "))
        _choice(state, "variant", "Variant", sorted(set(frame["variant"]) - {""}))
        _choice(state, "label", "Read as", sorted({one for one in frame["label"] if isinstance(one, str)}))
        _choice(state, "null", "Without a label", sorted({one for one in frame["reason"] if one}), _plain)
        on_off_switch(state, "differ", "The two readers differ", reset=("page",))
    shown = frame[_passing(state, frame)]
    pages = paging(state, len(shown))
    questions = {item.id: item.question for item in view.items.items}
    rows = shown.iloc[pages.rows]
    rows = rows.assign(
        question=rows["item"].map(questions),
        why=[
            _plain(reason) if reason else rule
            for rule, reason in zip(rows["rule"], rows["reason"], strict=True)
        ],
        answer=rows["answer"].str.slice(0, 300),
    )
    columns = [
        column for column in _COLUMNS if column.key in rows and (rows[column.key].fillna("") != "").any()
    ]
    frame_table(
        columns,
        rows,
        key=f"answers-{run.id}",
        ids="item",
        on_open=lambda item: state.put(item=item),
        caption="Answers; a click opens the item in every test",
        empty="No answer is left by these filters.",
        height=560,
    )
    pages.draw(state)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{len(shown):,} of {quantity(len(frame), 'answer')}.", width="content")
        if any(state[name] for name in PROBE_FILTERS if name != "page") and st.button("Clear filters"):
            state.put(**dict.fromkeys(PROBE_FILTERS))
            st.rerun()
        csv_and_json(f"reliability-{run.id}", lambda: shown.assign(question=shown["item"].map(questions)))


def _with_answers(run: ReliabilityRun, score: TaskScore) -> pd.DataFrame:
    """`TaskScore.frame` with the model's own words, and whether the readers differ."""
    texts = cached.texts(run)
    frame = score.frame()
    return frame.assign(
        answer=[texts.get(one.probe.id, "") for one in score.reads],
        differ=[one.official != one.ours.label for one in score.reads],
        label=pd.Series([one.label for one in score.reads], dtype=object),
        reason=[one.reason for one in score.reads],
    )


def _passing(state: PageState, frame: pd.DataFrame) -> pd.Series[bool]:
    passing = pd.Series(True, index=frame.index)
    before, _, after = state["cell"].partition("-")
    if after:
        passing &= (frame["before"] == before) & (frame["state"] == after)
    for param, column in (("variant", "variant"), ("label", "label"), ("null", "reason")):
        if state[param]:
            passing &= frame[column] == state[param]
    if state["differ"] == "1":
        passing &= frame["differ"]
    return passing


def _cells(frame: pd.DataFrame) -> list[str]:
    pairs = zip(frame["before"], frame["state"], strict=True)
    return sorted({f"{before}-{after}" for before, after in pairs if isinstance(before, str) and before})


def _choice(
    state: PageState, param: str, label: str, options: Sequence[str], title: Callable[[str], str] = str
) -> None:
    """A choice of one, or any; nothing to choose from: nothing drawn."""
    value = state[param]
    known = [*options] if not value or value in options else [*options, value]
    if known:
        widget = state.widget(param, value, reset=("page",))
        st.selectbox(label, ["", *known], format_func=lambda one: title(one) if one else "any", **widget)


def _plain(name: str) -> str:
    return name.replace("_", " ")


# -- one item in every test ---------------------------------------------------------------------------


def draw_item(state: PageState, view: View) -> None:
    """An item across all tasks of one model: what was changed, the whole prompt, the raw answer, both readings."""
    item = next((one for one in view.items.items if one.id == state["item"]), None)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("All answers"):
            state.put(item=None)
            st.rerun()
        if item is not None:
            st.caption(f"{literal(item.id)} · right answer: {literal(item.answer or 'none given')}")
    if item is None:
        st.warning(f"There is no item {literal(state['item'], 80)} among these questions.")
        return
    st.markdown(f"## {literal(item.question)}")
    with st.expander("Its context and reference answer"):
        for part in item.context:
            st.markdown(literal(part))
        for text in item.long_answer:
            st.markdown(f"> {literal(text)}")
    named, systems = view.run(state["run"]), view.systems
    if not systems:
        st.info("Nothing was asked about it yet. Start runs above.")
        return
    system = state["card"] if state["card"] in systems else system_of(named) if named else next(iter(systems))
    if len(systems) > 1:
        st.selectbox("Model", list(systems), **state.widget("card", system))
    runs = {row.score.run: view.run(row.score.run) for row in view.card(system).rows}
    if named is not None and system_of(named) == system:
        runs.setdefault(named.id, named)
    for run in filter(None, runs.values()):
        _draw_probes(view, run, item, opened=run.id == state["run"] or run.task.name == state["task"])


def _draw_probes(view: View, run: ReliabilityRun, item: Item, opened: bool) -> None:
    reads = [one for one in view.score(run).reads if one.probe.item_id == item.id]
    if not reads:
        return
    said = [" ".join(filter(None, (one.probe.variant, _outcome(run.task.name, one)))) for one in reads]
    heading = ", ".join(said[:_NAMED]) + (" …" if len(said) > _NAMED else "")
    with st.expander(f"**{run.task.title}** · {literal(heading)}", expanded=opened):
        place = 0
        if len(reads) > 1:
            place = st.selectbox(
                "Variant",
                range(len(reads)),
                format_func=said.__getitem__,
                key=f"variant-of-{run.id}-{item.id}",
            )
        _draw_probe(run, reads[place], item)


def _outcome(task: str, one: ProbeRead) -> str:
    if one.label is None:
        return f"null, {_plain(one.reason)}"
    if RELIABILITY_TASKS[task].judge_prompt:
        return f"judged {one.label}"
    return f"{one.label} ({one.state})"


def _draw_probe(run: ReliabilityRun, one: ProbeRead, item: Item) -> None:
    probe = one.probe
    rule = f", by the rule *{one.ours.rule}*" if one.ours.rule else ""
    facts = [
        f"Read as **{literal(one.label or f'no label, {_plain(one.reason)}')}**{rule}",
        f"by RAmBLA's reader: {literal(one.official or 'no label')}",
        f"expected: {literal(probe.expected or 'free text')}",
        f"right answer of the item: {literal(probe.gold or 'none')}",
    ]
    if not isinstance(one.result, str):
        tokens, seconds = one.result.get("completion_tokens"), one.result.get("seconds")
        facts += [f"{tokens:,} tokens"] if tokens is not None else []
        facts += [f"{seconds:.1f} s"] if seconds is not None else []
    st.markdown(" · ".join(facts))
    _draw_changes(probe, item)
    if isinstance(one.result, str):
        st.error(f"No answer came. {literal(one.result)}")
    else:
        for name, text in (("Thoughts", one.result.get("reasoning")), ("Refusal", one.result.get("refusal"))):
            if text:
                st.caption(name)
                plain_text(str(text), 200)
        st.caption("Raw answer")
        text = cached.texts(run).get(probe.id, "")
        plain_text(text or "(empty)", 200)
        if run.task.judge_prompt and one.result["text"] != text:
            st.caption("What the judge said of it")
            plain_text(str(one.result["text"]) or "(empty)", 120)
    if st.toggle("Show the whole prompt", key=f"prompt-{run.id}-{probe.id}"):
        for message in probe.messages(run.as_published):
            st.caption(literal(message.role))
            plain_text(message.content, 360)


def _draw_changes(probe: Probe, item: Item) -> None:
    """The changes to the item as it is."""
    details = {name: value for name, value in probe.details.items() if value or type(value) is int}
    if details:
        named = (
            f"{_plain(name)}: {', '.join(map(str, value)) if isinstance(value, (list, tuple)) else value}"
            for name, value in details.items()
        )
        st.caption(literal(" · ".join(named)))
    for field, original in (("question", item.question), ("context", item.text)):
        if field in probe.fields and (text := changed_text(original, probe.fields[field])):
            st.caption(f"What was changed in the {field}")
            st.markdown(text)
