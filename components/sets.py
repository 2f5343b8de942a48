"""What people keep in the store: files brought in, renamed, deleted; named sets of questions or answers."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components import resources
from components.controls import option_box
from components.markdown import literal
from components.state import PageState, flash
from evidencebench_core.data.named_sets import NamedSets
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.words import enumerated, quantity


def draw_rename_and_delete(
    name: str,
    rename: Callable[[str], object],
    delete: Callable[[], object],
    dependents: Mapping[str, int],
    key: str,
) -> None:
    """A field for another name; then what would be deleted with it, to be confirmed."""
    new = st.text_input("Name", value=name, max_chars=200, key=f"rename.{key}").strip()
    if st.button("Rename", key=f"rename-it.{key}", disabled=new == name):
        try:
            rename(new)
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
            return
        flash(f"Renamed to {literal(new, 80)}." if new else "Renamed.")
        st.rerun()
    counts = [quantity(count, noun) for noun, count in dependents.items() if count]
    deleted = f"{literal(name, 80)} with {enumerated(counts) or 'nothing else'}"
    sure = st.checkbox(
        f"Delete {deleted}", help="Links to it will stop working. This cannot be undone.", key=f"sure.{key}"
    )
    if st.button("Delete", key=f"delete-it.{key}", disabled=not sure):
        with st.spinner("Deleting …"):
            delete()
        flash(f"Deleted {deleted}.")
        st.rerun()


def safe_name(name: str) -> str:
    """The last part of a file's name in harmless letters, at most 100."""
    return re.sub(r"[^\w.-]+", "_", name.replace("\\", "/").rsplit("/", 1)[-1]).lstrip(".")[-100:] or "file"


@contextmanager
def uploaded_paths(*uploads: UploadedFile) -> Iterator[list[Path]]:
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


@dataclass(frozen=True, kw_only=True)
class SetKind:
    """A kind of named sets, with a sample."""

    param: str  # of the page's address, with the name
    noun: str  # "set of questions"
    sets: NamedSets[Any]
    size: Callable[[Any], str]  # of an info: "24 questions"
    form: str  # what a file may be, as Markdown
    most_bytes: int  # of a file
    ingest: Callable[[Sequence[Path], str], Any]  # keeps files; without a name under the first's
    add_sample: Callable[[], Any]
    sample: str  # "24 sample questions"


def picked_set(state: PageState, kind: SetKind) -> Any:
    """The info of the set that the address names, with a picker; ``None`` where there is no set yet."""
    known = {info.name: info for info in kind.sets.all(resources.store())}
    if not known:
        return None
    others = set(state.defaults) - {kind.param, "part", "dataset", "task", "runs"}
    names = {name: f"{name} ({kind.size(info)})" for name, info in known.items()}
    label = literal(kind.noun.capitalize())
    return known[option_box(state, kind.param, label, names, noun=kind.noun, reset=others)]


def draw_files(state: PageState, kind: SetKind, is_first: bool = True) -> None:
    """The sample, and files of one's own, read and checked as a whole; nothing of a wrong one is kept."""

    def keep(info: Any) -> None:
        flash(f"{kind.size(info)}, kept as {literal(info.name)}.")
        state.put(**{kind.param: info.name}, part=None)

    st.button(
        f"Load the {literal(kind.sample)}",
        type="primary" if is_first else "secondary",
        on_click=lambda: keep(kind.add_sample()),
    )
    st.markdown(kind.form)
    most = kind.most_bytes >> 20
    uploads = st.file_uploader(
        f"Files, up to {most} MiB each",
        accept_multiple_files=True,
        max_upload_size=most,
        key=f"{kind.param}.files",
    )
    name = st.text_input("Name", placeholder="the file's name", max_chars=100, key=f"{kind.param}.name")
    if st.button("Read", disabled=not uploads, key=f"{kind.param}.read"):
        with st.spinner("Reading …"), uploaded_paths(*uploads) as paths:
            keep(kind.ingest(paths, name.strip()))
            st.rerun()


def draw_keeping(state: PageState, kind: SetKind, info: Any, dependents: Mapping[str, int]) -> None:
    """Renaming, deleting with what depends on the set, by noun, and the way to other sets."""

    def rename(new: str) -> None:
        kind.sets.rename(resources.store(), info.name, new)
        state.put(**{kind.param: new})

    def delete() -> None:
        kind.sets.delete(resources.store(), info.name)
        state.put(**{kind.param: None})

    with st.popover("Rename or delete", key=f"keeping.{kind.param}.{info.name}"):
        draw_rename_and_delete(info.name, rename, delete, dependents, info.sha256)
    st.markdown("## Another set")
    draw_files(state, kind, is_first=False)
