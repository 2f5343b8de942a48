"""The way to a server is the one that users of the openai package know: seen from the server and the proxy."""

from __future__ import annotations

import base64
import os

import openai
import pytest

from evidencebench_core.errors import LLMRejectedError
from evidencebench_core.llm import LLM, ChatRequest, Message
from tests.llm import server as s

REQUEST = ChatRequest("scripted", (Message("user", "Größe?"),), max_tokens=5)
CREDENTIALS = "Basic " + base64.b64encode(b"user:pw").decode()
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _nothing_but_what_the_test_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.lower() in PROXIES or name.startswith(("OPENAI_", "SSL_CERT_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")


def ask_both(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same question, by us and by the package, both from the environment."""
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with LLM() as ours:
        assert ours.chat(REQUEST).text == "DECISION: [1]"
    with openai.OpenAI(max_retries=0) as theirs:
        theirs.chat.completions.create(**REQUEST.body())


@pytest.mark.parametrize(
    "more",
    [
        {},
        {
            "OPENAI_ORG_ID": "org-1",
            "OPENAI_PROJECT_ID": "proj_2",
            "OPENAI_CUSTOM_HEADERS": "X-Team: a\nX-Id: 7",
        },
        {"OPENAI_CUSTOM_HEADERS": "Authorization: Bearer other"},
    ],
)
@pytest.mark.parametrize("path", ["/v1", "/v1/", "/api/deep/v1", ""])
def test_what_the_server_gets_is_what_the_package_sends(
    path: str, more: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    with s.scripted(s.reply()) as server:
        ask_both(server.url.removesuffix("/v1") + path, monkeypatch)
        ours, theirs = server.requests
    assert (ours.method, ours.path, ours.json) == (theirs.method, theirs.path, theirs.json)
    own = ("user-agent", "accept-encoding", "connection", "x-stainless-")
    said = [
        {name: value for name, value in one.headers.items() if not name.startswith(own)}
        for one in (ours, theirs)
    ]
    assert {**said[0], "content-length": ""} == {**said[1], "content-length": ""}
    assert int(ours.headers["content-length"]) > 0


def test_a_server_without_a_key_gets_no_made_up_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    with s.scripted(s.reply()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        LLM().chat(REQUEST)
    assert "authorization" not in server.requests[0].headers
    assert server.requests[0].headers["openai-organization"] == "org-1"


def test_a_certificate_that_nobody_vouches_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with s.scripted(s.reply(), secure=True) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with pytest.raises(LLMRejectedError, match="certificate is not to be trusted") as caught:
            LLM().chat(REQUEST)
    assert caught.value.stops_run
    assert server.requests == []


def test_a_proxy_between_two_ends_of_tls_sees_neither_key_nor_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    with s.scripted(s.reply(), secure=True) as server, s.scripted(s.reply()) as proxy:
        monkeypatch.setenv("SSL_CERT_FILE", str(s.AUTHORITY))
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.removesuffix("/v1").replace("//", "//user:pw@"))
        ask_both(server.url, monkeypatch)
    host = server.url.removeprefix("https://").removesuffix("/v1")
    assert [(one.method, one.path) for one in proxy.requests] == [("CONNECT", host)] * 2
    for seen in proxy.requests:
        assert seen.headers["proxy-authorization"] == CREDENTIALS
        assert "authorization" not in seen.headers
    for got in server.requests:
        assert got.headers["authorization"] == "Bearer secret"
        assert "proxy-authorization" not in got.headers


@pytest.mark.parametrize(
    ("environment", "through_proxy"),
    [
        ({"HTTP_PROXY": "{}"}, True),
        ({"ALL_PROXY": "{}"}, True),
        ({"HTTPS_PROXY": "{}"}, False),
        ({"HTTP_PROXY": "{}", "NO_PROXY": "127.0.0.1"}, False),
        ({"HTTP_PROXY": "{}", "NO_PROXY": "example.org, 127.0.0.1"}, False),
        ({"HTTP_PROXY": "{}", "NO_PROXY": "*"}, False),
        ({"HTTP_PROXY": "{}", "NO_PROXY": "example.org"}, True),
    ],
)
def test_proxies_of_the_environment(
    environment: dict[str, str], through_proxy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s.scripted(s.reply()) as server, s.scripted(s.reply()) as proxy:
        for name, value in environment.items():
            monkeypatch.setenv(name, value.format(proxy.url.removesuffix("/v1").replace("//", "//user:pw@")))
        ask_both(server.url, monkeypatch)
    assert (len(proxy.requests), len(server.requests)) == ((2, 0) if through_proxy else (0, 2))
    for seen in proxy.requests:
        assert seen.path == f"{server.url}/chat/completions"
        assert seen.headers["proxy-authorization"] == CREDENTIALS


def test_a_kind_of_proxy_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://example.org/v1")
    with pytest.raises(LLMRejectedError, match=r"not known here \(socks5\)"):
        LLM().chat(REQUEST)
