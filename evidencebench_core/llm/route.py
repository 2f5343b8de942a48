"""The way to a server: address, headers, proxy and certificates, as the openai package has them."""

from __future__ import annotations

import base64
import http.client
import os
import ssl
import urllib.request
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from evidencebench_core.llm.connection import DEFAULT_ADDRESS, Connection

_OURS: Final = frozenset({"OPENAI_API_KEY", "OPENAI_BASE_URL"})  # read into the `Connection`
_NO_ADDRESS: Final = "the address is not of the form http://host:port/v1"


class ConnectionBroken(Exception):  # noqa: N818 - never leaves this package
    """No whole answer came; ``for_good`` if trying again cannot help."""

    def __init__(self, reason: str, for_good: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.for_good = reason, for_good


@dataclass(frozen=True, slots=True)
class Route:
    """Where requests go, and what goes with each."""

    address: SplitResult
    head: str
    proxy: SplitResult | None
    certificates: ssl.SSLContext | None

    def target(self, path: str) -> str:
        """The target of the request line: the whole address for a proxy without TLS."""
        host = self.address.netloc.rpartition("@")[2]
        before = f"http://{host}" if self.proxy and self.certificates is None else ""
        query = f"?{self.address.query}" if self.address.query else ""
        return f"{before}{self.address.path.rstrip('/')}{path}{query}"

    def connection(self) -> http.client.HTTPConnection:
        """Not yet connected."""
        host, port = self.address.hostname or "", self.address.port
        to = (host, port) if self.proxy is None else (self.proxy.hostname or "", self.proxy.port or 80)
        if self.certificates is None:
            return http.client.HTTPConnection(*to)
        connection = http.client.HTTPSConnection(*to, context=self.certificates)
        if self.proxy is not None:
            secret = {"Proxy-Authorization": _basic(self.proxy)} if self.proxy.username else {}
            connection.set_tunnel(host, port, headers=secret)
        return connection


def route_of(connection: Connection) -> Route:
    """The way to a server, from its address and key and from the environment."""
    address = _split(connection.base_url or DEFAULT_ADDRESS)
    proxy = _proxy_for(address)
    headers = {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "User-Agent": "evidencebench",
        **_said_by_openai(connection),
    }
    names = {name.lower() for name in headers}
    if connection.api_key is not None and "authorization" not in names:
        headers["Authorization"] = f"Bearer {connection.api_key}"
    elif address.username and "authorization" not in names:
        headers["Authorization"] = _basic(address)
    headers |= {"Host": address.netloc.rpartition("@")[2], "Accept-Encoding": "identity"}
    if proxy and proxy.username and address.scheme == "http":
        headers["Proxy-Authorization"] = _basic(proxy)
    if not all(text.isascii() and text.isprintable() for pair in headers.items() for text in pair):
        raise ConnectionBroken("the key holds characters that no key has", for_good=True)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return Route(address, head, proxy, _certificates() if address.scheme == "https" else None)


def _said_by_openai(connection: Connection) -> dict[str, str]:
    """Headers that the openai package reads from the environment besides address and key: organisation, project, ...

    Without any of it the package is not asked: to import it takes a third of a second.
    """
    if not any(name.startswith("OPENAI_") and name not in _OURS for name in os.environ):
        return {}
    import openai

    try:
        with openai.OpenAI(api_key=connection.api_key or "none", base_url=connection.base_url) as client:
            headers = client.default_headers
    except (openai.OpenAIError, ValueError, TypeError) as error:
        raise ConnectionBroken(f"the openai package refuses it ({error})", for_good=True) from None
    common = ("accept", "content-type", "user-agent", "x-stainless")
    return {
        name: value
        for name, value in headers.items()
        if isinstance(value, str)
        and not name.lower().startswith(common)
        and (connection.api_key is not None or value != "Bearer none")
    }


def _split(base_url: str) -> SplitResult:
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ConnectionBroken(_NO_ADDRESS, for_good=True) from None
    if (
        not host
        or parts.scheme not in ("http", "https")
        or not (base_url.isprintable() and base_url.isascii())
    ):
        raise ConnectionBroken(_NO_ADDRESS, for_good=True)
    return parts


def _certificates() -> ssl.SSLContext:
    """The system's, or those of SSL_CERT_FILE; where the system has none, those of certifi."""
    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"] and not ssl.get_default_verify_paths().capath:
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _proxy_for(address: SplitResult) -> SplitResult | None:
    """The proxy that the environment (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY) wants for an address."""
    proxies = urllib.request.getproxies()
    url = proxies.get(address.scheme) or proxies.get("all")
    if not url or urllib.request.proxy_bypass(address.netloc.rpartition("@")[2]):
        return None
    proxy = urlsplit(url if "://" in url else f"http://{url}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise ConnectionBroken(
            f"the proxy of the environment is of a kind not known here ({proxy.scheme})", for_good=True
        )
    return proxy


def _basic(parts: SplitResult) -> str:
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode("ascii")
