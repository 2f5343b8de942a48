"""Prompts: ours to read, a user's own to write."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

import streamlit as st

from components.app.state import PageState, flash, local_widget
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, TableEvent, table
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Prompt, prompt, prompt_folder, prompt_names

_SUFFIXES: Final = (".txt", ".md")
_USED: Final = {  # by the beginning of the names of ours
    "cot": "whole paper, all aspects",
    "icl": "whole paper with examples",
    "section": "each section, all aspects",
    "result-section": "each section, results only",
    "unconstrained": "any number of sentences",
    "regenerate": "when too many came back",
    "as-json": "where the answer is to be JSON",
    "guided": "guided, our own strategy",
    "paraphrase": "makes paraphrases",
    "negation": "makes negations",
}


def own_prompts() -> tuple[str, ...]:
    """The names of the user's files."""
    folder = prompt_folder()
    there = {path.stem for path in folder.iterdir() if path.suffix in _SUFFIXES} if folder.is_dir() else set()
    return tuple(name for name in prompt_names() if name in there)


def prompt_text(found: Prompt) -> str:
    """A prompt as a file holds it."""
    version = found.version.rpartition("-")[0]
    parts = "\n\n".join(f"=== {role} ===\n{body}" for role, body in found.parts)
    return f"version: {version}\n\n{parts}\n"


def save_prompt(name: str, text: str, new: bool) -> Path:
    """Keep a prompt of the user's, once it is found to be one."""
    name = name.strip()
    if new and name in prompt_names():
        raise SettingError("prompt", f"there is one called {name} already", "Give the copy another name.")
    folder = prompt_folder()
    trial = f"trial-{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{trial}.txt").write_text(text, encoding="utf-8", newline="\n")
        try:
            prompt(trial)
            _check_name(name)
            path = next(
                (p for s in _SUFFIXES if (p := folder / f"{name}{s}").is_file()), folder / f"{name}.txt"
            )
            (folder / f"{trial}.txt").replace(path)
        finally:
            (folder / f"{trial}.txt").unlink(missing_ok=True)
    except SettingError as error:
        raise SettingError(f"prompt {name}", error.problem, error.remedy) from error
    except (OSError, UnicodeEncodeError) as error:
        raise SettingError(
            f"prompt {name}", "cannot be saved", f"Check that {folder} can be written."
        ) from error
    return path


def _check_name(name: str) -> None:
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    if not (plain.isascii() and plain.isalnum() and name[0].isalnum() and len(name) <= 64):
        raise SettingError(
            f"prompt {name}", "is no name for a prompt", "Use letters, digits and hyphens, at most 64."
        )


def draw_prompts(state: PageState) -> None:
    """The table of prompts; the one that was clicked, to read and to copy, or to edit if it is the user's."""
    own = own_prompts()
    names = prompt_names()
    rows, broken = [], {}
    for name in names:
        try:
            version = prompt(name).version
        except SettingError as error:
            version, broken[name] = "cannot be used", error
        rows.append(
            Row(name, (name, version, "yours" if name in own else "ours", _purpose(name, name in own)))
        )

    def choose(event: TableEvent) -> None:
        state.put(prompt=event.value if event.kind == "open" else None)

    st.markdown(
        "Every prompt that a run may use, with its version; both go into the run's settings, so a changed prompt "
        "is another run. Click one to read it and to make a copy of your own."
    )
    table(
        (
            Column("name", "Prompt", "title"),
            Column(
                "version", "Version", "id", "Number of the file, and the beginning of its content's SHA-256"
            ),
            Column("whose", "Whose"),
            Column("use", "Used for"),
        ),
        rows,
        key="prompts",
        on_event=choose,
        caption="Prompts",
    )
    st.caption(f"Yours are files in {literal(str(prompt_folder()))}.")
    chosen = state["prompt"]
    if not chosen:
        return
    if chosen not in names:
        st.warning(f"There is no prompt {literal(chosen, 80)}.")
        return
    st.markdown(f"### {literal(chosen)}")
    if chosen in broken:
        st.error(literal(str(broken[chosen])))
        return
    text = prompt_text(prompt(chosen))
    if chosen in own:
        _draw_editor(chosen, text)
    else:
        st.code(text, language=None, wrap_lines=True, height=420)
    _draw_copy(state, chosen, text)


def _purpose(name: str, own: bool) -> str:
    if own:
        return "where a run's settings name it"
    return next((use for start, use in reversed(_USED.items()) if name.startswith(start)), "")


def _draw_editor(name: str, text: str) -> None:
    edited = st.text_area(
        "Text of the prompt",
        height=420,
        help="$name stands for what is put in; $$ is a dollar sign. Raise the version when you change it.",
        **local_widget(f"prompt.text.{name}.{hash(text)}", text),
    )
    if st.button("Save", type="primary", key="prompt.save"):
        try:
            save_prompt(name, edited, new=False)
        except SettingError as error:
            st.error(literal(str(error)))
        else:
            flash(f"{literal(name)} is saved.")
            st.rerun()


def _draw_copy(state: PageState, name: str, text: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        copied = st.text_input("Name of the copy", **local_widget(f"prompt.copy.{name}", f"my-{name}"))
        clicked = st.button("Copy to edit", key="prompt.copy")
    if clicked:
        try:
            save_prompt(copied, text, new=True)
        except SettingError as error:
            st.error(literal(str(error)))
        else:
            state.put(prompt=copied.strip())
            st.rerun()
