"""The reader: a paper with its gold and what retrievers picked, drawn in a browser, of the app or of a notebook."""

from __future__ import annotations

from evidencebench_core.export.reader.page import FOLDER, PARTS, Drawing, css_variables, show
from evidencebench_core.export.reader.view import (
    PaperView,
    SentenceNote,
    SharedWords,
    System,
    paper_key,
    view_data,
    view_of,
    visible_texts,
)
