"""Who is served, over the network: foreign hosts and origins on pages and websockets, and the token."""

import http.client
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from components import serving
from tests.browser.serving import calling_nobody, served_app

TOKEN = "correct-horse-battery"  # noqa: S105 - made up
SOCKET = {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "A" * 22 + "=="}
TARGETS = {  # the method, the headers, and the answer's status where nothing is refused
    "/_stcore/stream": ("GET", {"Connection": "Upgrade", "Upgrade": "websocket", **SOCKET}, 101),
    "/": ("GET", {}, 200),
    "/browse?dataset=sample_data": ("GET", {}, 200),
    "/favicon.png": ("GET", {}, 200),
    "/_stcore/health": ("GET", {}, 200),
    "/media/0.pdf": ("GET", {}, 404),
    "/_stcore/upload_file/0/0": ("PUT", {}, 403),
}


class Answer:
    """Of a server to one request; the method and some headers are those of the path in `TARGETS`."""

    def __init__(self, address: str, path: str, **headers: str) -> None:
        place = urlsplit(address).netloc
        method, more, _ = TARGETS.get(path, ("GET", {}, 0))
        connection = http.client.HTTPConnection(place, timeout=20)
        connection.putrequest(method, path, skip_host=True)
        own = {"Host": place, "Content-Length": "0", "Cookie": cookie(address)}
        for name, value in {**own, **more, **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        self.status, self.headers = response.status, response.headers
        self.text = "" if self.status == 101 else response.read().decode("utf-8", "replace")
        connection.close()
        if self.status != 101:  # every answer forbids frames of other origins
            assert self.headers["X-Frame-Options"] == "SAMEORIGIN"
            assert "frame-ancestors 'self';" in self.headers["Content-Security-Policy"]


def cookie(address: str, token: str = TOKEN) -> str:
    return f"evidencebench_{urlsplit(address).port}={token}"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app behind a token, which listens everywhere and connects to nobody whatever it is asked."""
    folder, everywhere = tmp_path_factory.mktemp("app"), "0.0.0.0"  # noqa: S104 - behind the token
    with (
        calling_nobody(folder) as watched,
        served_app(folder, listen=everywhere, EVIDENCEBENCH_TOKEN=TOKEN, **watched) as address,
    ):
        yield address


@pytest.mark.parametrize("path", TARGETS)
def test_foreign_hosts_foreign_origins_and_strangers_are_refused(app: str, path: str) -> None:
    port = urlsplit(app).port
    for name in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST."):
        assert Answer(app, path, Host=f"{name}:{port}").status == TARGETS[path][2]
    for name in ("evil.example", "localhost.evil.example", "evil.example:80@localhost", "localhost:x", ""):
        answer = Answer(app, path, Host=f"{name}:{port}")
        assert (answer.status, "not served under" in answer.text) in [(403, True), (400, False)]
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://localhost", "file://"):
        answer = Answer(app, path, Origin=origin)
        assert (answer.status, "another site" in answer.text) == (403, True)
    assert Answer(app, path, Origin=app).status == TARGETS[path][2]
    for wrong in ("", cookie(app, ""), cookie(app, f"{TOKEN}x")):
        answer = Answer(app, path, Cookie=wrong)
        assert answer.status == 403
        assert "static/js" not in answer.text


def test_the_link_with_the_token_leads_on_without_it(app: str) -> None:
    for wrong in ("", "token=", f"token={TOKEN}x", "token=%ff"):
        answer = Answer(app, f"/browse?dataset=x&{wrong}", Cookie="")
        assert (answer.status, answer.headers["Set-Cookie"], answer.text.count("\n")) == (403, None, 0)
    answer = Answer(app, f"//evil.example/browse?dataset=x&token={TOKEN}", Cookie="")
    assert (answer.status, answer.headers["Refresh"]) == (200, "0; url=./browse?dataset=x")
    assert {"HttpOnly", "SameSite=strict"} <= set(answer.headers["Set-Cookie"].split("; "))
    led = {"Sec-Fetch-Site": "cross-site"}  # by a link elsewhere: the cookie is sent at the second try
    assert Answer(app, "/browse", Cookie="", **led).headers["Refresh"] == "0"
    foreign = Answer(app, f"/?token={TOKEN}", Cookie="", Origin="http://evil.example")
    assert (foreign.status, foreign.headers["Set-Cookie"]) == (403, None)


@pytest.mark.parametrize(
    ("hosts", "host", "origin", "status"),
    [
        (["localhost", "lab.example"], "lab.example", "https://lab.example", 200),
        (["localhost", "*.lab.example"], "a.lab.example", "https://a.lab.example", 200),
        # the proxy keeps the host back
        (["localhost", "lab.example"], "localhost:8501", "https://lab.example", 403),
        (["localhost", "lab.example"], "lab.example", "https://lab.example:8443", 403),
        (["localhost", "lab.example"], "lab.example", "http://localhost:3000", 403),
        (["localhost", "lab.example"], "192.168.1.5", None, 403),  # what is not named, once there are names
        (["*"], "any.example", None, 200),
        (["*"], "any.example", "https://evil.example", 403),
        ([], "192.168.1.5:8501", "http://192.168.1.5:8501", 200),
        ([], "lab.example", None, 403),
    ],
)
def test_names_of_proxies(hosts: list[str], host: str, origin: str | None, status: int) -> None:
    seen: list[str | None] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(HTTPConnection(scope).headers.get("origin"))
        await PlainTextResponse("inside")(scope, receive, send)

    client = TestClient(serving.Guard(inside, hosts, "localhost", None), "http://localhost")
    headers = {"Host": host} | ({"Origin": origin} if origin else {})
    assert client.get("/", headers=headers).status_code == status
    if status == 200 and origin:
        assert seen == [f"{urlsplit(origin).scheme}://{host}"]  # never foreign to Streamlit


@pytest.mark.parametrize(("given", "expected"), [(None, "made"), ("", None), (f" {TOKEN}", TOKEN)])
def test_a_token_is_asked_unless_an_empty_one_is_given(
    monkeypatch: pytest.MonkeyPatch, given: str | None, expected: str | None
) -> None:
    monkeypatch.delenv("EVIDENCEBENCH_TOKEN", raising=False)
    if given is not None:
        monkeypatch.setenv("EVIDENCEBENCH_TOKEN", given)
    serving._token.cache_clear()
    (middleware,) = serving.middleware()
    serving._token.cache_clear()
    token = middleware.args[-1]
    assert len(token) >= 16 if expected == "made" else token == expected
