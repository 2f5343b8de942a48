"""``evidencebench app``"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from typer import Option

from evidencebench_core.cli.emit import note
from evidencebench_core.cli.frame import Store, verb

_THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE: Final = ("0.0.0.0", "::", "")  # noqa: S104 - told apart, not listened on


@verb("app --sample", creates=True)
def serve(
    store: Store,
    port: int | None = Option(None, metavar="N", min=1, max=65535, help="default: 8501, or a free one"),
    sample: bool = Option(False, "--sample", help="with six invented papers in the store"),
    host: str = Option("localhost", metavar="ADDRESS", help="to listen on; see docs/safety.md first"),
    allow_host: list[str] | None = Option(None, metavar="NAME", help="a name of a proxy's"),
    no_token: bool = Option(False, "--no-token", help="let in whoever is logged in to this machine"),
    no_browser: bool = Option(False, "--no-browser", help="do not open a browser, only serve"),
) -> None:
    """Open the app in the browser. It serves this machine only, until Ctrl-C."""
    from evidencebench_core.analyses.sample import APP_FOLDER
    from evidencebench_core.analyses.sample import sample as add_sample

    environment = {**os.environ, "EVIDENCEBENCH_STORE": str(store.path)}
    if sample:
        note(f"The sample papers are in {store.path}, as {add_sample(store).name}.")
    if no_token and host in _THIS_MACHINE:
        environment["EVIDENCEBENCH_TOKEN"] = ""
    elif not environment.get("EVIDENCEBENCH_TOKEN"):
        environment.pop("EVIDENCEBENCH_TOKEN", None)  # the server makes one
    words = command(APP_FOLDER / "app.py", host, port, allow_host or (), browser=not no_browser)
    sys.stderr.flush()
    os.execve(words[0], words, environment)  # noqa: S606 - the server itself: who stops this process stops it


def command(script: Path, host: str, port: int | None, names: Sequence[str], *, browser: bool) -> list[str]:
    """The words that start Streamlit: nothing sent to anybody, no question asked.

    ``names`` are those of proxies. Under others no session opens (DNS rebinding); an app that listens everywhere
    allows this machine's own and every address in digits, unless there are some.
    """
    everywhere = host in _EVERYWHERE
    words = [
        *(sys.executable, "-m", "streamlit", "run", str(script)),
        f"--server.address={host}",
        f"--browser.serverAddress={'localhost' if everywhere else host}",  # else an outside address is asked
        "--browser.gatherUsageStats=false",
        "--server.showEmailPrompt=false",
    ]
    if names or not everywhere:
        hosts = dict.fromkeys((*(() if everywhere else (host,)), *_THIS_MACHINE, *names))
        words += [f"--server.allowedHosts={name}" for name in hosts]
    if not browser:
        words.append("--server.headless=true")
    if port is not None:
        words.append(f"--server.port={port}")
    return words
