"""``evidencebench app``"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evidencebench_core.cli.arguments import store_of
from evidencebench_core.cli.output import note
from evidencebench_core.errors import StoreError

_THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE: Final = ("0.0.0.0", "::", "")  # noqa: S104 - told apart, not listened on


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=_port, metavar="N", help="default: 8501, or the next free one")
    parser.add_argument(
        "--sample",
        action="store_true",
        help="bring the six synthetic sample papers into the store first; the app then runs retrievers over them",
    )
    parser.add_argument(
        "--host",
        default="localhost",
        metavar="ADDRESS",
        help="address to listen on; default: localhost, this machine only. Read the README before you change it",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name under which a proxy serves the app; may be given again",
    )
    parser.add_argument(
        "--token",
        action="store_true",
        help="print a link with a token that the app asks for, on this machine too, whose other users can reach the "
        "port; with --host it is always asked. The token is $EVIDENCEBENCH_TOKEN, else a new one",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser, only serve")


def _run(args: argparse.Namespace) -> int:
    """Serve the app on this machine only, until Ctrl-C."""
    folder = app_folder()
    store = store_of(args)
    if args.sample:
        from evidencebench_core.data.ingest import ingest

        result = ingest(store, folder / "sample_data" / "sample_data.json")
        when = "now" if result.added else "already"
        note(f"The sample papers are {when} in {store.path}, as {result.dataset.name}.")
    environment = {**os.environ, "EVIDENCEBENCH_STORE": str(store.path)}
    if args.sample:
        environment["EVIDENCEBENCH_SAMPLE"] = "1"
    if args.token:
        environment.setdefault("EVIDENCEBENCH_TOKEN", "")  # the server makes one
    words = command(folder / "app.py", args.host, args.port, args.allow_host, browser=not args.no_browser)
    return _serve(words, environment)


def app_folder() -> Path:
    """Where ``app.py`` and its pages are: inside an installed package, or at the root of the repository."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_app", package.parent):
        if (folder / "app.py").is_file() and (folder / "pages").is_dir():
            return folder
    raise StoreError(
        str(package),
        "has no app beside it",
        "Install evidencebench-explorer again, or run the command in a clone of the repository.",
    )


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


def _serve(words: list[str], environment: dict[str, str]) -> int:
    """Become the server, so that whoever stops this process stops it too; on Windows wait for it."""
    if os.name == "posix":
        sys.stderr.flush()
        os.execve(words[0], words, environment)  # noqa: S606 - our own words, no shell
    try:
        return 1 if subprocess.run(words, env=environment, check=False).returncode else 0  # noqa: S603
    except KeyboardInterrupt:
        return 0


def _port(text: str) -> int:
    port = int(text) if text.isdecimal() else 0
    if not 1 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 1 to 65535")
    return port


VERBS: Final = {"app": (_add_arguments, _run)}
