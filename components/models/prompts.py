"""Prompts: ours to read, a user's own to write."""

from __future__ import annotations

import re
import secrets
from typing import Final

import streamlit as st

from components.app.session import flash, local_widget
from components.app.state import PageState
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Prompt, prompt, prompt_folder, prompt_names

_SUFFIXES: Final = (".txt", ".md")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_USED: Final = {  # by the beginning of the names of ours
    "cot": "whole paper, all aspects",
    "cot-results": "whole paper, results only",
    "icl": "whole paper with examples",
    "icl-results": "whole paper with examples, results only",
    "section": "each section, all aspects",
    "result-section": "each section, results only",
    "unconstrained": "any number of sentences",
    "unconstrained-results": "any number of sentences, results only",
    "regenerate": "when too many came back",
    "as-json": "where the answer is to be JSON",
    "guided": "guided, our own strategy",
    "paraphrase": "makes paraphrases",
    "negation": "makes negations",
    "cited-answer": "answers that cite sentences",
    "answer-relevance": "Answers: judges sentences",
    "citation-judge": "Answers: judges citations",
    "answer-nuggets": "Answers: nuggets of an answer",
    "document-nuggets": "Answers: nuggets of a document",
    "nugget-assign": "Answers: nuggets that an answer gives",
    "construct": "Mark evidence: makes instances",
    "reliability": "Reliability: its tests",
}


_COLUMNS: Final = (
    Column("name", "Prompt", "title"),
    Column("version", "Version", "id", "Number of the file, and the beginning of its content's SHA-256"),
    Column("whose", "Whose"),
    Column("use", "Used for"),
)


def prompt_use(name: str) -> str:
    """What a prompt of ours is for."""
    return next((use for start, use in reversed(_USED.items()) if name.startswith(start)), "")


def prompt_text(shown: Prompt) -> str:
    """A prompt as a file holds it."""
    parts = "\n\n".join(f"=== {role} ===\n{body}" for role, body in shown.parts)
    return f"version: {shown.version.rpartition('-')[0]}\n\n{parts}\n"


def save_prompt(name: str, text: str, new: bool) -> None:
    """Keep a prompt of the user's, once it can be read as one."""
    name = name.strip()
    if new and name in prompt_names():
        raise SettingError("prompt", f"there is one called {name} already", "Give the copy another name.")
    if not _NAME.fullmatch(name):
        remedy = "Use letters, digits and hyphens, at most 64."
        raise SettingError(f"prompt {name}", "is no name for a prompt", remedy)
    folder = prompt_folder()
    trial = folder / f"trial-{secrets.token_hex(4)}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial.write_text(text, encoding="utf-8", newline="\n")
        prompt(trial.stem)
        own = (folder / f"{name}{suffix}" for suffix in _SUFFIXES)
        trial.replace(next((path for path in own if path.is_file()), folder / f"{name}.txt"))
    except SettingError as error:
        raise SettingError(f"prompt {name}", error.problem, error.remedy) from error
    except (OSError, UnicodeEncodeError) as error:
        remedy = f"Check that {folder} can be written."
        raise SettingError(f"prompt {name}", "cannot be saved", remedy) from error
    finally:
        trial.unlink(missing_ok=True)


def draw_prompts(state: PageState) -> None:
    """The table of prompts; the one that was clicked, to read and to copy, or to edit if it is the user's."""
    names, folder, chosen = prompt_names(), prompt_folder(), state["prompt"]
    own = {path.stem for path in folder.iterdir() if path.suffix in _SUFFIXES} if folder.is_dir() else set()
    rows, broken = [], {}
    for name in names:
        try:
            version = prompt(name).version
        except SettingError as error:
            version, broken[name] = "cannot be used", error
        origin = ("yours", "where a run's settings name it") if name in own else ("ours", prompt_use(name))
        rows.append(Row(name, (name, version, *origin)))
    st.markdown(
        "Every prompt that a run may use, with its version; both go into the run's settings, so a changed prompt "
        "is another run. Click one to read it and to make a copy of your own."
    )
    table(
        _COLUMNS,
        rows,
        key="prompts",
        on_event=lambda event: state.put(prompt=event.value if event.kind == "open" else None),
        caption="Prompts",
    )
    st.caption(f"Yours are files in {literal(str(folder))}.")
    if not chosen:
        return
    if chosen not in names:
        st.warning(f"There is no prompt {literal(chosen, 80)}.")
        return
    st.markdown(f"## {literal(chosen)}")
    if chosen in broken:
        st.error(literal(str(broken[chosen])))
        return
    text = prompt_text(prompt(chosen))
    if chosen in own:
        _draw_editor(chosen, text)
    else:
        st.code(text, language=None, wrap_lines=True, height=420)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        copy = st.text_input("Name of the copy", **local_widget(f"prompt.copy.{chosen}", f"my-{chosen}"))
        clicked = st.button("Copy to edit", key="prompt.copy")
    if clicked and _save_here(copy, text, new=True):
        state.put(prompt=copy.strip())
        st.rerun()


def _draw_editor(name: str, text: str) -> None:
    edited = st.text_area(
        "Text of the prompt",
        height=420,
        help="$name stands for what is put in; $$ is a dollar sign. Raise the version when you change it.",
        **local_widget(f"prompt.text.{name}.{hash(text)}", text),
    )
    if st.button("Save", type="primary", key="prompt.save") and _save_here(name, edited, new=False):
        flash(f"{literal(name)} is saved.")
        st.rerun()


def _save_here(name: str, text: str, new: bool) -> bool:
    """Save a prompt, or draw the reason why not; whether it was saved."""
    try:
        save_prompt(name, text, new)
    except SettingError as error:
        st.error(literal(str(error)))
        return False
    return True
