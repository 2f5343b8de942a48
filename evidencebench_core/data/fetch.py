"""One file over HTTP: resumed where it was cut off, checked, and only then put in its place."""

from __future__ import annotations

import hashlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from evidencebench_core.data.files import move_into_place
from evidencebench_core.errors import DownloadError

if TYPE_CHECKING:
    import httpx

Report = Callable[[str], None]
Progress = Callable[[int, int | None], None]

TIMEOUT: Final = 30.0  # seconds without a byte
_MOST_BYTES: Final = 16 << 30  # of a file; the largest that is released has some 4 GB
_SLOWEST: Final = 4 << 10  # bytes a second, over all of a download but the first
_PATIENCE: Final = 60.0  # seconds, which are also those until the content begins
_CHUNK: Final = 1 << 18
_RANGE: Final = re.compile(r"bytes (\d+)-\d*/(\d+|\*)")
_GO_ON: Final = "Check the network, then start the download again: it goes on where it stopped."


@dataclass(frozen=True, slots=True)
class Checksum:
    """The hash of the whole file: git's id of a blob (SHA-1), or the SHA-256 of its content."""

    kind: Literal["git-blob", "sha256"]
    value: str

    def matches(self, path: Path) -> bool:
        """Whether a file's content is the expected one."""
        if self.kind == "sha256":
            digest = hashlib.sha256()
        else:  # what git calls an object: no protection against an attacker is asked of it here
            digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        return digest.hexdigest() == self.value.lower()


def fetch(
    url: str,
    target: Path,
    expected: Checksum | None,
    report: Report | None = None,
    progress: Progress | None = None,
) -> None:
    """Download a file to ``target``, by way of ``<target>.part``.

    An earlier, unfinished part is continued, if the server says that the file is still the same
    (or says nothing). If anything goes wrong nothing stands at ``target``; the part stays, to be
    continued the next time, unless its content turned out to be wrong.
    """
    import httpx

    part = _Part(target)
    try:
        with httpx.Client(timeout=TIMEOUT, follow_redirects=True) as client:
            _receive(client, url, part, report, progress)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        problem = f"broke off after {part.size():,} bytes ({str(error) or type(error).__name__})"
        raise DownloadError(url, problem, _GO_ON) from error
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise DownloadError(str(part.path), problem, "Free some space, or name another folder.") from error
    if expected is not None and not expected.matches(part.path):
        part.discard()
        problem = f"sent something else than expected (its {expected.kind} hash is not {expected.value})"
        raise DownloadError(url, problem, "Nothing was kept. Try again, or check --base-url.")
    move_into_place(part.path, target)
    part.note.unlink(missing_ok=True)


def _receive(
    client: httpx.Client, url: str, part: _Part, report: Report | None, progress: Progress | None
) -> None:
    have = part.size()
    headers = {"Accept-Encoding": "identity"}  # or lengths and offsets would be those of a compressed stream
    if have:
        headers["Range"] = f"bytes={have}-"
        if part.note.is_file():
            headers["If-Range"] = part.note.read_text(encoding="utf-8")
    with ExitStack() as opened:
        with time_limit(client, _PATIENCE):
            response = opened.enter_context(client.stream("GET", url, headers=headers))
        if have and response.status_code == 416:
            if response.headers.get("Content-Range", "") == f"bytes */{have}":
                return  # it was all there already
            part.discard()
            problem = f"has no byte {have:,}: the part that was here is not of it"
            raise DownloadError(url, problem, "Nothing was kept. Try again.")
        if response.status_code not in (200, 206):
            raise status_error(url, response.status_code, response.reason_phrase)
        start, total = _extent(response, have)
        _check_pace(url, total or 0)
        if start not in (0, have):
            part.discard()
            raise DownloadError(url, f"sends bytes from {start:,} on, not {have:,}", "Try again.")
        if report is not None:
            size = "unknown size" if total is None else f"{total:,} bytes"
            going_on = f", going on from {start:,}" if start else ""
            report(f"{part.path.stem}: {size}{going_on}")
        etag = response.headers.get("ETag", "")
        part.note.unlink(missing_ok=True)
        if etag.startswith('"'):  # a weak one must not be used to continue
            part.note.write_text(etag, encoding="utf-8")
        with part.path.open("r+b" if start else "wb") as file:
            file.seek(start)
            file.truncate()
            began = time.monotonic()
            for chunk in response.iter_raw():
                file.write(chunk)
                _check_pace(url, file.tell(), file.tell() - start, time.monotonic() - began)
                if progress is not None:
                    progress(file.tell(), total)
    if total is not None and part.size() != total:
        raise DownloadError(url, f"broke off after {part.size():,} of {total:,} bytes", _GO_ON)


def _check_pace(url: str, size: int, n_received: int = 0, seconds: float = 0.0) -> None:
    """Refuse what is too large, or comes so slowly that it would never end."""
    if size > _MOST_BYTES:
        raise DownloadError(url, f"sends more than {_MOST_BYTES:,} bytes", "Check the address.")
    if seconds > _PATIENCE and n_received < _SLOWEST * (seconds - _PATIENCE):
        problem = f"sends less than {_SLOWEST:,} bytes a second: {n_received:,} in {seconds:.0f} seconds"
        raise DownloadError(url, problem, _GO_ON)


@contextmanager
def time_limit(client: httpx.Client, seconds: float) -> Iterator[None]:
    """`httpx.ReadTimeout` once the block has taken so long; httpx itself limits each wait for bytes only."""
    import httpx

    sockets: list[socket.socket] = []
    late = threading.Event()

    def cut() -> None:
        late.set()
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def remember(event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            sockets.append(info["return_value"].get_extra_info("socket"))
            if late.is_set():
                cut()

    def watch(request: httpx.Request) -> None:
        request.extensions["trace"] = remember

    client.event_hooks = {**client.event_hooks, "request": [*client.event_hooks["request"], watch]}
    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception:
        if not late.is_set():  # else it is what is made of an answer that was cut
            raise
    finally:
        timer.cancel()
    if late.is_set():  # an answer without a length just ends when it is cut
        raise httpx.ReadTimeout(f"took longer than {seconds:g} seconds")


def status_error(url: str, status: int, reason: str) -> DownloadError:
    return DownloadError(url, f"answers {status} {reason}", "Check the network and the address (--base-url).")


def _extent(response: httpx.Response, have: int) -> tuple[int, int | None]:
    """From which byte the response's content counts, and the size of the whole file if it is said."""
    if response.status_code == 206:
        match = _RANGE.match(response.headers.get("Content-Range", ""))
        if match is None:
            return have, None
        return int(match[1]), None if match[2] == "*" else int(match[2])
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdecimal() else None


class _Part:
    """The unfinished file beside its target, and a note of the server's name for its version."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f"{target.name}.part")
        self.note = target.with_name(f"{target.name}.part.etag")

    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)
