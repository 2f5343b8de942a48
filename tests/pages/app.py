"""A page as a user sees and works it, in Streamlit's AppTest, without a browser or a sleep."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from evidencebench_core.data import Store
from evidencebench_core.retrievers import Retrieval, Setting
from evidencebench_core.runs import RunStore, execute, plan, retrieval_spec
from tests.llm.server import Handler, Step, body

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_data" / "sample_data.json"
SECRET = "sk-live-0123456789abcdef"  # noqa: S105 - made up
LISTED = b'{"object": "list", "data": [{"id": "tiny"}, {"id": "<b>bold</b>"}]}'
NOBODY = "http://127.0.0.1:9/v1"  # an address at which no server listens

OpenPage = Callable[..., "App"]
_WORDS = ("title", "markdown", "caption", "info", "warning", "error", "success", "badge", "toast")


class App:
    """An AppTest whose every step fails on an uncaught exception; what it lacks is AppTest's own."""

    def __init__(
        self, test: AppTest, kept: Mapping[str, str] | None = None, opens: str = "", **params: str
    ) -> None:
        """``kept``: what the session remembers; ``opens``: the page; ``params``: of the address."""
        self.test = test
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
        return self

    def go(self, page: str, **params: str) -> App:
        """Switch to another page."""
        self.test.switch_page(f"pages/{page}.py")
        return self.run(**params)

    def named(self, kind: str, label: str, place: int = 0) -> Any:
        """The element of that label, else the one whose label begins so."""
        elements = [one for one in self.test.get(kind) if hasattr(one, "label")]
        found = [one for one in elements if one.label == label]
        found = found or [one for one in elements if one.label.startswith(label)]
        assert len(found) > place, [one.label for one in elements]
        return found[place]

    def labels(self, kind: str = "button") -> list[str]:
        return [one.label for one in self.test.get(kind) if hasattr(one, "label")]

    def press(self, label: str, place: int = 0) -> App:
        self.named("button", label, place).click()
        return self.run()

    def fill(self, label: str, text: str | int, kind: str = "text_input") -> App:
        self.named(kind, label).set_value(text)
        return self.run()

    def finish(self, timeout: float = 60) -> App:
        """Wait for the background jobs, and draw the page again."""
        jobs_ended(timeout)
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
    def words(self) -> str:
        """The same as it is read."""
        return self.raw.replace("\\", "")

    @property
    def problems(self) -> str:
        """Its warnings and errors, as they are read."""
        return "\n".join(str(one.value) for one in (*self.warning, *self.error)).replace("\\", "")

    @property
    def address(self) -> dict[str, str]:
        """The parameters; AppTest keeps those it was given as lists, those the app wrote as text."""
        return {name: one if isinstance(one, str) else one[0] for name, one in self.query_params.items()}


def table_rows(app: App, key: str) -> dict[str, Any]:
    """The rows of the table of that key, by their ids."""
    data = [json.loads(one.proto.json) for one in app.get("bidi_component") if '"rows"' in one.proto.json]
    (table,) = [one for one in data if key in one["caption"]]
    return {row["id"]: row for row in table["rows"]}


def drawn(script: Callable[..., object], *args: object, kept: Mapping[str, str] | None = None) -> App:
    """A function that draws, on its own."""
    return App(AppTest.from_function(script, args=args, default_timeout=60), kept)


def start_run(dataset: str, task: str = "er@optimal") -> None:
    """A script: the dialog that starts a run (AppTest reruns all, a browser the dialog alone)."""
    from components.app.resources import store
    from components.runs.start import start_dialog
    from evidencebench_core.tasks import task_named

    start_dialog(store().dataset(dataset), task_named(task))


def resume_run(dataset: str, task: str) -> None:
    """A script: the dialog that goes on with the newest run."""
    from components.app.resources import runs, store
    from components.runs.start import resume_dialog
    from evidencebench_core.tasks import task_named

    info = store().dataset(dataset)
    resume_dialog(info, runs(info)[0], [task_named(task)])


def keep_runs(dataset: str) -> None:
    """A script: the dialog that renames and deletes runs."""
    from components.app.resources import runs, store
    from components.runs.start import keeping_dialog

    keeping_dialog(runs(store().dataset(dataset)))


def jobs_ended(timeout: float = 60) -> None:
    """Return once no job's thread is alive."""
    for thread in threading.enumerate():
        if thread.name.startswith("job-"):
            thread.join(timeout)
            assert not thread.is_alive()


def finished_runs(
    store: Store, *retrievers: str, dataset: str = "sample_data", **options: Any
) -> dict[str, str]:
    """Ids of runs over a dataset, by retriever."""
    for retriever in retrievers:
        for _ in execute(plan(store, dataset, retriever, **options)):
            pass
    return {run.retriever: run.id for run in RunStore(store).runs(dataset)}


def stored_run(store: Store, retriever: str, picks: tuple[int, ...], **settings: Setting) -> str:
    """Id of a run that picked the same in every sample paper, and whose retriever need not be there."""
    dataset, runs = store.dataset("sample_data"), RunStore(store)
    run = runs.create(retrieval_spec(dataset.sha256, retriever, settings))
    for instance_id in store.ids(dataset.name):
        answer = Retrieval(picks, (), picks)
        runs.add(run.id, {instance_id: dict.fromkeys(("er@10", "result-er@optimal"), answer)})
    return run.id


def with_server(url: str, **caps: str) -> dict[str, str]:
    """What a session remembers that asks the model ``tiny`` of that server, within these caps."""
    return {"llm.server": url, "llm.model": "tiny", **{f"llm.cap.{name}": cap for name, cap in caps.items()}}


def listing(then: Step) -> Step:
    """Lists models when asked for them, else takes another step."""

    def step(handler: Handler) -> None:
        (body(LISTED) if handler.path.endswith("/models") else then)(handler)

    return step


def assert_kept_nowhere(secret: str, store: Store) -> None:
    """The secret is in no file beside the store, nor in it."""
    for path in store.path.parent.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()
