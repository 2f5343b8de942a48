"""A page as a user sees and works it, in Streamlit's AppTest, without a browser or a sleep."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest

from evidencebench_core.data import Store
from evidencebench_core.runs import run

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_data" / "sample_data.json"

OpenPage = Callable[..., "App"]
_WORDS = ("title", "markdown", "caption", "info", "warning", "error", "success", "badge", "toast")


class App:
    """An AppTest whose every step fails on an uncaught exception; what it lacks is AppTest's own."""

    def __init__(
        self, test: AppTest, kept: Mapping[str, str] | None = None, opens: str = "", **params: str
    ) -> None:
        """``kept``: what the session remembers; ``opens``: the page; ``params``: of the address."""
        self.test = test
        test._bidi_component_manager = BidiComponentManager()  # else it looks through all installed packages
        if opens:
            test.switch_page(f"pages/{opens}.py")
        for name, value in (kept or {}).items():
            test.session_state[f"kept.{name}"] = value
        self.run(**params)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.test, name)

    def run(self, **params: str) -> App:
        """Draw the page again; with parameters, as a link with these opens it."""
        if params:
            self.test.session_state["shown-page"] = "none"
        for name, value in params.items():
            self.test.query_params[name] = value
        self.test.run()
        assert not self.test.exception
        assert "failed unexpectedly" not in self.problems
        return self

    def named(self, kind: str, label: str, place: int = 0) -> Any:
        """The element of that label, else the one whose label begins so."""
        elements = [element for element in self.test.get(kind) if hasattr(element, "label")]
        named = [element for element in elements if element.label == label]
        named = named or [element for element in elements if element.label.startswith(label)]
        assert len(named) > place, self.labels(kind)
        return named[place]

    def labels(self, kind: str = "button") -> list[str]:
        return [element.label for element in self.test.get(kind) if hasattr(element, "label")]

    def press(self, label: str, place: int = 0) -> App:
        self.named("button", label, place).click()
        return self.run()

    def fill(self, label: str, text: str | int, kind: str = "text_input") -> App:
        self.named(kind, label).set_value(text)
        return self.run()

    def finish(self) -> App:
        """Wait for the background jobs, and draw the page again."""
        for thread in threading.enumerate():
            if thread.name.startswith("job-"):
                thread.join(60)
                assert not thread.is_alive()
        return self.run()

    def ask(self, label: str = "Ask the model") -> App:
        """Press a button that starts a job, and wait for that."""
        return self.press(label).finish()

    @property
    def raw(self) -> str:
        """Everything that the page says, as the Markdown it is."""
        elements = (element for kind in _WORDS for element in self.test.get(kind))
        return "\n".join(str(element.value) for element in elements if hasattr(element, "value"))

    @property
    def marked(self) -> str:
        """All that Streamlit reads as Markdown: texts, labels, options, tooltips; as protobuf writes it."""

        def texts(block: Any) -> Iterator[str]:
            for element in block.children.values():
                yield from re.findall("(?:label|help|body|content): (.*)", str(getattr(element, "proto", "")))
                yield from texts(element) if hasattr(element, "children") else ()

        return "\n".join(texts(self.test._tree))

    @property
    def words(self) -> str:
        """The same as it is read."""
        return self.raw.replace("\\", "")

    @property
    def problems(self) -> str:
        """Its warnings and errors, as they are read."""
        return "\n".join(str(one.value) for one in (*self.warning, *self.error)).replace("\\", "")

    @property
    def component_data(self) -> list[Any]:
        """What our components were given to draw, in the order of the page."""
        return [json.loads(component.proto.json) for component in self.get("bidi_component")]

    @property
    def address(self) -> dict[str, str]:
        """The parameters; AppTest keeps those it was given as lists, those the app wrote as text."""
        return {name: text if isinstance(text, str) else text[0] for name, text in self.query_params.items()}


def table_rows(app: App, key: str) -> dict[str, Any]:
    """The rows of the table of that key, by their ids."""
    tables = [data for data in app.component_data if "rows" in data]
    (table,) = [data for data in tables if key in data["caption"]]
    return {row["id"]: row for row in table["rows"]}


def drawn(script: Callable[..., object], *args: object, kept: Mapping[str, str] | None = None) -> App:
    """A function that draws, on its own."""
    return App(AppTest.from_function(script, args=args, default_timeout=60), kept)


def run_dialog(name: str, dataset: str, task: str = "er@optimal") -> None:
    """A script: a dialog of the page Runs (AppTest reruns all, a browser the dialog alone)."""
    from components.ask import open_dialog
    from components.resources import runs, store
    from components.runs import start
    from evidencebench_core.tasks import task_named

    info = store().dataset(dataset)
    if name == "start":
        open_dialog(start.start_ask(info, task_named(task)))
    elif name == "resume":
        open_dialog(start.resume_ask(start.unfinished(runs(info))))
    else:
        start.import_dialog(info)


def raising(error: Exception) -> Callable[..., None]:
    """A function that fails so."""

    def fail(*_: object) -> None:
        raise error

    return fail


def finished_runs(store: Store, *names: str, dataset: str = "sample_data", **options: Any) -> dict[str, str]:
    """Ids of runs over a dataset, by retriever."""
    return {name: run(store, dataset, name, **options).id for name in names}


def with_server(url: str, **caps: int) -> dict[str, Any]:
    """What a session remembers that asks the model ``tiny`` of that server, within these caps."""
    return {"llm.server": url, "llm.model": "tiny", **{f"llm.cap.{name}": cap for name, cap in caps.items()}}
