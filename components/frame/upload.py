"""A file that was uploaded, as a path."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import streamlit as st

from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError


class Upload(Protocol):
    """What `st.file_uploader` returns."""

    name: str

    def getvalue(self) -> bytes: ...


def safe_name(name: str) -> str:
    """The last part of a file's name in harmless letters, at most 100."""
    return re.sub(r"[^\w.-]+", "_", name.replace("\\", "/").rsplit("/", 1)[-1]).lstrip(".")[-100:] or "file"


@contextmanager
def uploaded_path(upload: Upload) -> Iterator[Path]:
    """The upload as a file in a folder that goes at the end; an error in reading it names the upload, and is shown."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / safe_name(upload.name)
        path.write_bytes(upload.getvalue())
        try:
            yield path
        except EvidenceBenchError as error:
            st.error(literal(str(error).replace(str(path), upload.name)))
