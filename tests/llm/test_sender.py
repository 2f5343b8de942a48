"""The way to a server is the one that users of the openai package know: seen from the server and the proxy."""

from __future__ import annotations

import asyncio
import base64
import os
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from evidencebench_core.errors import LLMRejectedError
from evidencebench_core.llm import LLM, ChatRequest, Limits, Message
from tests.llm import server as s

REQUEST = ChatRequest("scripted", (Message("user", "Größe?"),), max_tokens=5)
CREDENTIALS = "Basic " + base64.b64encode(b"user:pw").decode()
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _nothing_but_what_the_test_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower() in PROXIES or name.startswith(("OPENAI_", "SSL_CERT_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")


def ask(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A question to whom the environment says."""

    async def text() -> str:
        async with LLM(limits=Limits(first_wait=0.001, give_up=0.2)) as llm:
            return (await llm.reply(REQUEST)).text

    monkeypatch.setenv("OPENAI_BASE_URL", url)
    return asyncio.run(text())


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("", "/chat/completions"),
        ("/openai/deployments/d?api-version=7", "/openai/deployments/d/chat/completions?api-version=7"),
    ],
)
def test_addresses(path: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with s.scripted(s.reply()) as server:
        assert ask(server.url.removesuffix("/v1") + path, monkeypatch) == "DECISION: [1]"
    (got,) = server.requests
    assert (got.method, got.path, got.json) == ("POST", target, REQUEST.body())
    assert got.headers["content-type"] == "application/json"
    assert int(got.headers["content-length"]) > 0


def test_headers_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj_2")
    with s.scripted(s.reply()) as server:
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "api-key: azure\nX-Id: 7")
        ask(server.url, monkeypatch)
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer other")
        ask(server.url, monkeypatch)
        monkeypatch.delenv("OPENAI_CUSTOM_HEADERS")
        monkeypatch.delenv("OPENAI_API_KEY")
        ask(server.url, monkeypatch)
    first, second, keyless = (request.headers for request in server.requests)
    assert (first["openai-organization"], first["openai-project"]) == ("org-1", "proj_2")
    assert (first["authorization"], first["api-key"], first["x-id"]) == ("Bearer secret", "azure", "7")
    assert second["authorization"] == "Bearer other"
    assert "authorization" not in keyless  # no made-up one


def test_a_certificate_that_nobody_vouches_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        s.scripted(s.reply(), secure=True) as server,
        pytest.raises(LLMRejectedError, match="certificate cannot be trusted") as caught,
    ):
        ask(server.url, monkeypatch)
    assert caught.value.stops_run
    assert server.requests == []


def test_a_proxy_between_two_ends_of_tls_sees_neither_key_nor_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    with s.scripted(s.reply(), secure=True) as server, s.scripted(s.reply()) as proxy:
        monkeypatch.setenv("SSL_CERT_FILE", str(s.AUTHORITY))
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.removesuffix("/v1").replace("//", "//user:pw@"))
        ask(server.url, monkeypatch)
    (seen,), (got,) = proxy.requests, server.requests
    assert (seen.method, seen.path) == ("CONNECT", server.url.removeprefix("https://").removesuffix("/v1"))
    assert seen.headers["proxy-authorization"] == CREDENTIALS
    assert "authorization" not in seen.headers
    assert got.headers["authorization"] == "Bearer secret"
    assert "proxy-authorization" not in got.headers


@pytest.mark.parametrize("secure", [True, False])
@pytest.mark.parametrize(
    ("environment", "through_proxy"),
    [
        ({"HTTP_PROXY": "{}"}, True),
        ({"ALL_PROXY": "{}"}, True),
        ({"HTTPS_PROXY": "{}"}, False),
        ({"HTTP_PROXY": "{}", "NO_PROXY": "example.org, 127.0.0.1"}, False),
        ({"HTTP_PROXY": "{}", "NO_PROXY": "example.org"}, True),
    ],
)
def test_proxies_of_the_environment(
    environment: dict[str, str], through_proxy: bool, secure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(s.AUTHORITY))
    with s.scripted(s.reply()) as server, s.scripted(s.reply(), secure=secure) as proxy:
        for name, value in environment.items():
            monkeypatch.setenv(name, value.format(proxy.url.removesuffix("/v1").replace("//", "//user:pw@")))
        ask(server.url, monkeypatch)
    assert (len(proxy.requests), len(server.requests)) == ((1, 0) if through_proxy else (0, 1))
    for seen in proxy.requests:
        assert seen.path == f"{server.url}/chat/completions"
        assert seen.headers["proxy-authorization"] == CREDENTIALS


def test_a_socks_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with s.scripted(s.reply()) as server, socks() as (url, seen):
        monkeypatch.setenv("ALL_PROXY", url)
        assert ask(server.url, monkeypatch) == "DECISION: [1]"
    assert seen == [("127.0.0.1", int(server.url.rpartition(":")[2].removesuffix("/v1")))]


def test_a_kind_of_proxy_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    with pytest.raises(LLMRejectedError, match=r"cannot be used \(.*gopher"):
        ask("http://example.org/v1", monkeypatch)


@contextmanager
def socks() -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """A SOCKS5 proxy for one connection, and whereto it was asked to lead."""
    seen: list[tuple[str, int]] = []

    def serve() -> None:
        here, _ = listening.accept()
        with here:
            here.recv(2 + here.recv(2)[1])
            here.sendall(b"\x05\x00")
            request = here.recv(1024)  # version, command, 0, kind 1 (IPv4), address, port
            seen.append((socket.inet_ntoa(request[4:8]), int.from_bytes(request[8:10])))
            with socket.create_connection(seen[0]) as there:
                here.sendall(b"\x05\x00\x00\x01" + bytes(6))
                while ready := select.select([here, there], [], [], 30)[0]:
                    if not (piece := ready[0].recv(1 << 16)):
                        break
                    (there if ready[0] is here else here).sendall(piece)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"socks5://127.0.0.1:{listening.getsockname()[1]}", seen
        thread.join(30)
