"""XML of strangers: what is read, and every way to blow up or to reach outside that is refused."""

import tracemalloc
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.limits import Limits
from evidencebench_core.papers.xml_tree import xml_root
from tests.serving import Answer, serving

LIMITS = Limits()


def text_of(content: bytes) -> str:
    return xml_root(content, LIMITS, "file").text()


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine, and what it was asked for."""
    paths: list[str] = []

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        paths.append(request.path)
        return 200, {}, b""

    with serving(answer) as address:
        yield address, paths


def test_names_lose_their_prefix_and_order_is_kept() -> None:
    root = xml_root(b'<a xmlns:m="u"><m:b x="1">one</m:b> two<b/></a>', LIMITS, "file")
    assert [element.tag for element in root.walk()] == ["a", "b", "b"]
    assert root.text() == "one two"
    assert root.text("b") == " two"
    assert root.first("b").attributes == {"x": "1"}  # type: ignore[union-attr]
    assert root.first("b", "c") is None


def test_a_doctype_is_read_over_and_its_names_are_those_of_html(asked: tuple[str, list[str]]) -> None:
    base, paths = asked
    content = f'<!DOCTYPE a PUBLIC "-//NLM//DTD" "{base}/jats.dtd"><a>&alpha;&thinsp;&lt;&#946;&nonsense;</a>'
    assert text_of(content.encode()) == "α\u2009<β&nonsense;"
    assert text_of(b"<a>&alpha;</a>") == "α"
    content = (  # XInclude and stylesheets are words like others
        f'<?xml-stylesheet href="{base}/x.xsl"?><a xmlns:xi="http://www.w3.org/2001/XInclude">'
        f'<xi:include href="{base}/x"/>text</a>'
    )
    assert text_of(content.encode()) == "text"
    assert paths == []


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY x SYSTEM "file:///etc/hostname">',
        '<!ENTITY x SYSTEM "{base}/secret">',
        '<!ENTITY % x SYSTEM "{base}/dtd"> %x;',
        '<!ENTITY x "y">',
    ],
)
def test_no_entity_can_be_declared(declared: str, asked: tuple[str, list[str]]) -> None:
    base, paths = asked
    content = f"<!DOCTYPE a [{declared.replace('{base}', base)}]><a>&x;</a>"
    with pytest.raises(PaperError, match="declares an entity of its own"):
        text_of(content.encode())
    assert paths == []


def test_billion_laughs_costs_nothing() -> None:
    lines = ['<!DOCTYPE a [<!ENTITY l0 "ha">']
    lines += [f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10)]
    content = "".join([*lines, "]><a>&l9;</a>"]).encode()
    tracemalloc.start()
    with pytest.raises(PaperError, match="declares an entity"):
        text_of(content)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_very_many_elements_and_levels() -> None:
    with pytest.raises(PaperError, match="more than 1,000 elements"):
        xml_root(b"<a>" + b"<b/>" * 1000 + b"</a>", Limits(max_nodes=1000), "file")
    content = b"<a>" * 100_000 + b"</a>" * 100_000
    with pytest.raises(PaperError, match="more than 200 deep"):
        text_of(content)
    assert text_of(b"<a>" * 200 + b"x" + b"</a>" * 200) == "x"  # as deep as may be


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "iso-8859-1", "windows-1252"]
)
def test_encodings(encoding: str) -> None:
    named = "utf-8" if encoding == "utf-8-sig" else encoding.removesuffix("-be")
    assert text_of(f'<?xml version="1.0" encoding="{named}"?><a>Größe é</a>'.encode(encoding)) == "Größe é"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<a>\x00</a>", "is no well-formed XML .*line 1, column 3"),
        (b"<a>&#xD800;</a>", "is no well-formed XML"),
        (b"<a>&#0;</a>", "is no well-formed XML"),
        (b"<a>caf\xe9</a>", "is no well-formed XML"),
        (b"<a>", "is no well-formed XML .*no element found"),
        (b"", "is no well-formed XML"),
        (b"<a/><b/>", "is no well-formed XML .*junk"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "is in an encoding that cannot be read"),
        (b'<?xml version="1.0" encoding="shift_jis"?><a/>', "is in an encoding that cannot be read"),
    ],
)
def test_what_is_broken_is_said(content: bytes, message: str) -> None:
    with pytest.raises(PaperError, match=f"^file: {message}"):
        text_of(content)


def test_nothing_but_this_module_parses_xml() -> None:
    room = Path(__file__).parents[2] / "evidencebench_core" / "papers"
    users = [path.name for path in room.rglob("*.py") if "expat" in path.read_text(encoding="utf-8")]
    assert users == ["xml_tree.py"]
