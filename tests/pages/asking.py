"""What tests of pages that ask a model share."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.llm.server import Handler, Step, body
from tests.pages.conftest import texts

SECRET = "sk-live-0123456789abcdef"  # noqa: S105 - made up
LISTED = b'{"object": "list", "data": [{"id": "tiny"}, {"id": "<b>bold</b>"}]}'


def type_into(app: AppTest, label: str, text: str) -> None:
    next(one for one in app.text_input if one.label.startswith(label)).set_value(text).run()
    assert not app.exception


def click(app: AppTest, label: str) -> None:
    next(b for b in app.button if b.label == label).click().run()
    assert not app.exception


def said(app: AppTest) -> str:
    return "\n".join((texts(app), *(str(one.value) for one in app.success))).replace("\\", "")


def listing(then: Step) -> Step:
    """Lists models when asked for them, else takes another step."""

    def step(handler: Handler) -> None:
        (body(LISTED) if handler.path.endswith("/models") else then)(handler)

    return step


def with_model(app: AppTest, server_url: str, **caps: str) -> AppTest:
    """The app drawn in a session with that server, the model ``tiny`` and these caps."""
    app.session_state["kept.llm.server"] = server_url
    app.session_state["kept.llm.model"] = "tiny"
    for name, cap in caps.items():
        app.session_state[f"kept.llm.cap.{name}"] = cap
    app.run()
    assert not app.exception
    return app


def run_dialog(dataset: str) -> None:
    """A script for AppTest: the dialog that starts a run (AppTest reruns all, a browser the dialog alone)."""
    from components.app.resources import named_dataset
    from components.leaderboard import start
    from evidencebench_core.tasks import task_named

    start.run_dialog(named_dataset(dataset), task_named("er@optimal"))
