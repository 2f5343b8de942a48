"""Progress bars, on stderr, so that stdout holds data only."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from evidencebench_core.cli.emit import note

if TYPE_CHECKING:
    from evidencebench_core.runs import Step

_Result = TypeVar("_Result")


def progress_bar(total: int | None, unit: str, done: int = 0, *, n_bytes: bool = False) -> Any:
    """A tqdm bar with the remaining time; where stderr is no terminal, it is drawn every ten seconds.

    What was ``done`` earlier counts for the bar, not for the pace; with ``n_bytes`` 1024 is 1.0k, and nothing is
    drawn for what is done in a moment.
    """
    from tqdm import tqdm

    return tqdm(
        total=total,
        initial=done,
        unit="B" if n_bytes else f" {unit}",
        unit_scale=n_bytes,
        unit_divisor=1024 if n_bytes else 1000,
        file=sys.stderr,
        mininterval=0.2 if sys.stderr.isatty() else 10,
        miniters=0,  # where only the words beside it change
        dynamic_ncols=True,
        delay=0.3 if n_bytes else 0,
    )


def advance(bar: Any, done: int, total: int) -> None:
    """Move a bar to what is done of a total that may have changed."""
    bar.total = total
    bar.update(done - bar.n)


@contextmanager
def stopping(how: str) -> Iterator[Callable[[], bool]]:
    """Within it the first Ctrl+C makes the yielded function say true, and the second ends the work at once.

    ``how`` is the rest of the sentence that the first one is answered with.
    """
    pressed = False

    def press(*_: object) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        note(f"Stopping: {how}. Ctrl+C again stops now.")

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


def print_steps(steps: Generator[Step, None, _Result]) -> _Result:
    """The result of the work; every text is printed once, and units that are counted have a bar."""
    from evidencebench_core.runs import drive

    text = ""
    bar: Any = None

    def draw(step: Step) -> None:
        nonlocal text, bar
        if step.text != text:
            if bar is not None:
                bar.close()
            note(step.text)
            text, bar = step.text, progress_bar(step.total, step.unit) if step.total else None
        if bar is not None:
            bar.update(step.done - bar.n)

    try:
        return drive(steps, draw)
    finally:
        if bar is not None:
            bar.close()
