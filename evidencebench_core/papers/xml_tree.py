"""XML of strangers, into a small tree: expat of the standard library, with everything dangerous refused.

No entity can be declared, so none can grow or read a file; a DOCTYPE may be there, as PubMed Central's
files have one, and what it names is not loaded. Names that need that DTD (``&alpha;``) are read as HTML's.
Depth and number of elements are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html.entities import html5
from types import MappingProxyType
from typing import Any, Final

from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.limits import Limits

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Element:
    """An element: its name without prefix, attributes as written, and what stands in it in order."""

    __slots__ = ("attributes", "children", "tag")

    def __init__(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Element | str] = []

    def __repr__(self) -> str:
        return f"<{self.tag}>"

    @property
    def elements(self) -> Iterator[Element]:
        """The elements that stand directly in it."""
        return (child for child in self.children if isinstance(child, Element))

    def first(self, *path: str) -> Element | None:
        """The first element down a path of tags, each directly in the one before; ``None`` if there is none."""
        found: Element | None = self
        for tag in path:
            if found is None:
                return None
            found = next((child for child in found.elements if child.tag == tag), None)
        return found

    def walk(self, *without: str) -> Iterator[Element]:
        """The element and all within, in order, but for elements of these tags and what is in them."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += [child for child in reversed(list(element.elements)) if child.tag not in without]

    def text(self, *without: str) -> str:
        """All text within, as it stands, but for elements of these tags."""
        pieces: list[str] = []
        waiting: list[Element | str] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                pieces.append(node)
            elif node is self or node.tag not in without:
                waiting += reversed(node.children)
        return "".join(pieces)


class _Builder:
    """The tree, as expat reports it."""

    def __init__(self, limits: Limits, place: str) -> None:
        self.limits, self.place = limits, place
        self.root: Element | None = None
        self.open: list[Element] = []
        self.n_nodes = 0

    def count(self) -> None:
        self.n_nodes += 1
        if self.n_nodes > 500_000:
            problem = f"has more than {500_000:,} elements and pieces of text"
            raise PaperError(self.place, problem, "Give one paper alone.")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count()
        if len(self.open) >= 200:
            problem = f"has elements more than {200} deep in each other"
            raise PaperError(self.place, problem, "That is no paper; papers stay below 40.")
        element = Element(tag.rpartition(":")[2], attributes or _NONE)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, _tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        if self.open:
            self.count()
            self.open[-1].children.append(text)

    def skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self.data(html5.get(f"{name};", f"&{name};"))

    def declared(self, name: str, *_: Any) -> None:
        remedy = "Such files can grow without bound or reach for others, so none is read: save it without."
        raise PaperError(self.place, f"declares an entity of its own ({shown(name)})", remedy)


def xml_root(content: bytes, limits: Limits, place: str) -> Element:
    """The root element of an XML file; `PaperError` if it is broken, declares entities or goes beyond a bound."""
    from xml.parsers import expat

    builder = _Builder(limits, place)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.UseForeignDTD(True)  # nothing is loaded; names that nobody declared are reported, not refused
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.SkippedEntityHandler = builder.skipped
    parser.EntityDeclHandler = builder.declared
    try:
        parser.Parse(content, True)
    except expat.ExpatError as broken:
        remedy = "Download it again; it may be cut or edited."
        raise PaperError(place, f"is no well-formed XML ({broken})", remedy) from broken
    except (LookupError, ValueError) as unknown:
        problem = f"is in an encoding that cannot be read ({unknown})"
        raise PaperError(place, problem, "Save it as UTF-8.") from unknown
    if builder.root is None:
        raise PaperError(place, "has no element", "Download it again.")
    return builder.root
