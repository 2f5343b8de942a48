"""The reader as a widget of a notebook; needs the extra ``notebook``."""

from __future__ import annotations

import json

import anywidget
import traitlets

from evidencebench_core.export.reader.page import FOLDER, reader_script, reader_style


class ReaderWidget(anywidget.AnyWidget):
    """The reader in a cell. What is set here is shown there, and what is clicked there stands here.

    ``place`` has the positions of the ``active`` system, of the ``selected`` sentence and of the ``aspect`` that is
    pinned, each or ``None``; ``observe`` calls back when it changes.
    """

    _esm = reader_script(
        f"const STYLE = {json.dumps(reader_style())};{(FOLDER / 'widget.js').read_text('utf-8')}"
    )
    views: traitlets.List[object] = traitlets.List().tag(sync=True)
    place = traitlets.Dict().tag(sync=True)
