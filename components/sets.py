"""What people keep in the store: files brought in, renamed, deleted; named sets of questions or answers."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import streamlit as st

from components.markdown import literal
from components.state import PageState, flash
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.words import enumerated, quantity


def draw_rename(name: str, rename: Callable[[str], object], key: str, label: str = "Name") -> None:
    """A field with the name, and the button that takes another."""
    new = st.text_input(label, value=name, max_chars=200, key=f"rename.{key}").strip()
    if st.button("Rename", key=f"rename-it.{key}", disabled=new == name):
        try:
            rename(new)
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
            return
        flash(f"Renamed to {literal(new, 80)}." if new else "Renamed.")
        st.rerun()


def draw_delete(name: str, dependents: Mapping[str, int], delete: Callable[[], object], key: str) -> None:
    """The confirmation that names what goes, and the button that deletes."""
    counts = [quantity(count, noun) for noun, count in dependents.items()]
    sure = st.checkbox(
        f"Delete {literal(name, 80)}, with {enumerated(counts) or 'nothing else'}",
        help="Links to it end too. It cannot be undone.",
        key=f"sure.{key}",
    )
    if st.button("Delete", key=f"delete-it.{key}", disabled=not sure):
        with st.spinner("Deleting …"):
            delete()
        flash(f"Deleted {literal(name, 80)}, with {enumerated(counts) or 'nothing else'}.")
        st.rerun()


class Upload(Protocol):
    """What `st.file_uploader` returns."""

    name: str

    def getvalue(self) -> bytes: ...


def safe_name(name: str) -> str:
    """The last part of a file's name in harmless letters, at most 100."""
    return re.sub(r"[^\w.-]+", "_", name.replace("\\", "/").rsplit("/", 1)[-1]).lstrip(".")[-100:] or "file"


@contextmanager
def uploaded_paths(*uploads: Upload) -> Iterator[list[Path]]:
    """The uploads as files in a folder that goes at the end; an error in reading one names it, and is shown."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {Path(folder) / str(n) / safe_name(upload.name): upload for n, upload in enumerate(uploads)}
        for path, upload in paths.items():
            path.parent.mkdir()
            path.write_bytes(upload.getvalue())
        try:
            yield list(paths)
        except EvidenceBenchError as error:
            message = str(error)
            for path, upload in paths.items():
                message = message.replace(str(path), upload.name)
            st.error(literal(message))


@dataclass(frozen=True)
class SetKind:
    """A kind of named sets."""

    param: str  # of the page's address, with the name
    label: str  # over the picker
    noun: str  # "set of questions"
    form: str  # what a file may be, as Markdown
    ingest: Callable[
        [Sequence[Path], str], Any
    ]  # keeps files under a name (empty: the first's); returns the info
    size: Callable[[Any], str]  # of an info: "24 questions"
    rename: Callable[[str, str], object]
    delete: Callable[[str], object]
    most_bytes: int  # of a file


def picked_set(state: PageState, kind: SetKind, infos: Sequence[Any]) -> Any:
    """The info of the set that the address names, with a picker; ``None`` where there is no set yet."""
    known = {info.name: info for info in infos}
    if not known:
        return None
    name = state[kind.param] or next(iter(known))
    if name not in known:
        st.warning(f"There is no {kind.noun} {literal(name, 80)}; another is shown.")
        name = next(iter(known))
    others = set(state.defaults) - {kind.param, "part", "dataset", "task", "runs"}
    st.selectbox(
        kind.label,
        list(known),
        format_func=lambda name: f"{name} ({kind.size(known[name])})",
        **state.widget(kind.param, name, reset=others),
    )
    return known[name]


def draw_files(state: PageState, kind: SetKind) -> None:
    """Files of one's own, read and checked as a whole; nothing of a wrong one is kept."""
    st.markdown(kind.form)
    most = kind.most_bytes >> 20
    uploads = st.file_uploader(
        f"Files, up to {most} MiB each",
        accept_multiple_files=True,
        max_upload_size=most,
        key=f"{kind.param}.files",
    )
    name = st.text_input(
        "Name", placeholder="the file's name", max_chars=100, key=f"{kind.param}.name"
    ).strip()
    if st.button("Read", disabled=not uploads, key=f"{kind.param}.read"):
        with st.spinner("Reading …"), uploaded_paths(*uploads) as paths:
            keep(state, kind, kind.ingest(paths, name))
            st.rerun()


def keep(state: PageState, kind: SetKind, info: Any) -> None:
    """Go to a set that has just come in."""
    flash(f"{kind.size(info)}, kept as {literal(info.name)}.")
    state.put(**{kind.param: info.name}, part=None)


def draw_keeping(state: PageState, kind: SetKind, info: Any, dependents: Mapping[str, int]) -> None:
    """Renaming, and deleting with what depends on the set, by noun."""
    with st.popover("Rename or delete", key=f"keeping.{kind.param}.{info.name}"):

        def rename(new: str) -> None:
            kind.rename(info.name, new)
            state.put(**{kind.param: new})

        def delete() -> None:
            kind.delete(info.name)
            state.put(**{kind.param: None})

        draw_rename(info.name, rename, info.sha256)
        draw_delete(info.name, {noun: n for noun, n in dependents.items() if n}, delete, info.sha256)
