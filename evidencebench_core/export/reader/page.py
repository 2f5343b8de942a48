"""The reader in a notebook: a widget, or a frame, that holds the app's own drawing, and asks nothing outside."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidencebench_core.data.model import Aspect, Instance
from evidencebench_core.errors import SettingError
from evidencebench_core.export.reader.view import PaperView, System, view_data, view_of
from evidencebench_core.palette import ASPECTS, MARKS
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import Task, task_named, validated_selection
from evidencebench_core.words import one_line

if TYPE_CHECKING:
    from evidencebench_core.export.reader.widget import ReaderWidget

FOLDER: Final = Path(__file__).parent  # of the reader's scripts and style
PARTS: Final = ("draw.js", "minimap.js", "sheet.js")  # of ``reader.js``, in this order, after ``dom.js``

_PER_SYSTEM: Final = ("active", "marks", "aspects")
_POLICY: Final = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
_SHOW: Final = 'showPaper(document.body, JSON.parse(document.getElementById("data").textContent));'

Picks = Retrieval | Sequence[int]


class Selected(NamedTuple):
    """What is selected in a drawing: a sentence by its index, an aspect, and the system whose picks are marked."""

    sentence: int | None
    aspect: Aspect | None
    system: str | None


@dataclass(frozen=True, eq=False)
class Drawing:
    """A paper as the app draws it; the last line of a notebook's cell shows it.

    With the extra ``notebook`` it is a widget: `selected` has what is clicked. Elsewhere, as in a notebook that is only
    looked at, it is a frame.
    """

    view: PaperView
    hypothesis: str
    height: int  # in pixels
    views: Sequence[Mapping[str, Any]]  # `views_data` of the view

    def __repr__(self) -> str:
        return f"Drawing({self.title!r})"

    @property
    def title(self) -> str:
        return one_line(f"{self.view.paper}: {self.hypothesis}")

    @cached_property
    def page(self) -> str:
        """A whole HTML page, with its scripts and style: it can be saved as a file, too."""
        data = json.dumps(self.views).replace("<", "\\u003c")  # so that no text of a paper can end the script
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>EvidenceBench</title>'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
            f"<style>{reader_style()}</style></head><body>"
            f'<header class="over"><h1 dir="auto">{escape(one_line(self.hypothesis))}</h1></header>'
            f'<script type="application/json" id="data">{data}</script>'
            f"<script>{reader_script(_SHOW)}</script></body></html>"
        )

    @cached_property
    def widget(self) -> ReaderWidget | None:
        """What talks to the browser; `None` without anywidget."""
        try:
            from evidencebench_core.export.reader.widget import ReaderWidget
        except ImportError:
            return None
        first = {**self.views[0], "keys": "", "height": self.height}  # the page has keys of its own
        place = {"active": self.view.active, "selected": None, "aspect": None}
        return ReaderWidget(views=[first, *self.views[1:]], place=place)

    @property
    def selected(self) -> Selected:
        """What was clicked last; `SettingError` where it cannot come back, without the extra ``notebook``."""
        if self.widget is None:
            remedy = "Install it: pip install anywidget."
            raise SettingError("selected", "needs anywidget, which is not installed", remedy)
        sentence, aspect, system = map(self.widget.place.get, ("selected", "aspect", "active"))
        return Selected(
            sentence,
            None if aspect is None else self.view.aspects[aspect],
            None if system is None else self.view.systems[system].name,
        )

    def _repr_mimebundle_(self, **_: Any) -> Any:
        bundle = None if self.widget is None else self.widget._repr_mimebundle_()
        return {} if bundle is None else (bundle[0] | {"text/plain": repr(self)}, bundle[1])

    def _repr_html_(self) -> str:
        # In a sandbox without the notebook's origin: the page reaches nothing of the notebook.
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.page)}" sandbox="allow-scripts"'
            f' style="width:100%;height:{self.height}px;border:0"></iframe>'
        )


def show(
    instance: Instance,
    picks: Picks | Mapping[str, Picks] | None = None,
    task: str | Task = "er@optimal",
    *,
    height: int = 720,
) -> Drawing:
    """An instance in the reader: the paper with its gold, and what up to three systems picked.

    ``picks`` is a `Retrieval`, a sequence of sentence indices, or a mapping of names to those; without any the gold is
    shown alone. Of several, a click on a name in the legend shows that one's marks. The task says which aspects count:
    marks stand on those only. The height is in pixels. What is clicked is `Drawing.selected` of what is returned.

    `SelectionError` for a sentence that the paper does not have, or more than three systems.
    """
    named = picks if isinstance(picks, Mapping) else {} if picks is None else {"picks": picks}
    systems = [System(name, _selection(instance, name, one)) for name, one in named.items()]
    chosen = task_named(task)
    view = view_of(instance, focus=chosen.focus, systems=systems, active=0 if systems else None)
    return Drawing(view, instance.hypothesis, height, views_data(view))


def views_data(view: PaperView) -> list[dict[str, Any]]:
    """The view with the marks of its first system, and of each other what differs."""
    first, *others = (view_data(replace(view, active=place)) for place in range(max(len(view.systems), 1)))
    return [first, *({key: data[key] for key in _PER_SYSTEM} for data in others)]


def reader_script(last: str) -> str:
    """The reader's scripts as one classic script, which ``last`` ends: the app's export is left out."""
    return _texts("dom.js", *PARTS, "reader.js", "page.js").replace("export default ", "void ") + last


def reader_style() -> str:
    """The reader's style, its colours, and the page round it."""
    return css_variables(".reader", ".reader.dark") + _texts("dom.css", "reader.css", "page.css")


def css_variables(selector: str, dark_selector: str) -> str:
    """All colours as CSS custom properties: ``--gold`` ... and ``--aspect-0`` ..."""
    hues = {**MARKS, **{f"aspect-{place}": hue for place, hue in enumerate(ASPECTS)}}

    def block(where: str, dark: bool) -> str:
        lines = (f"  --{name}: {hue.on(dark)};" for name, hue in hues.items())
        return "\n".join((f"{where} {{", *lines, "}"))

    return f"{block(selector, dark=False)}\n{block(dark_selector, dark=True)}\n"


def _selection(instance: Instance, name: str, picks: Picks) -> tuple[int, ...]:
    raw = picks.selection if isinstance(picks, Retrieval) else picks
    return validated_selection(raw, len(instance.sentences), f"{instance.id}, {name}")


def _texts(*names: str) -> str:
    return "".join((FOLDER / name).read_text("utf-8") for name in names)
