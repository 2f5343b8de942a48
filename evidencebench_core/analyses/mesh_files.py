"""MeSH headings of papers, and the tree of descriptors, from the files that users have of them (rule 60)."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from evidencebench_core.data.files import file_content
from evidencebench_core.errors import DataError, shown

_MOST_BYTES: Final = 1 << 30
_TREE_NUMBER: Final = re.compile(r"[A-Z]\d{2}(?:\.\d{3})*")
_HEADINGS: Final = (
    "Give CSV, TSV or JSON lines with paper_id and descriptor, or what PubMed exports as XML or MEDLINE."
)
_TREE: Final = "Give mtreesYYYY.bin or descYYYY.xml of the National Library of Medicine."


@dataclass(frozen=True, slots=True)
class MeshTree:
    """Descriptors with their tree numbers; by their name without case, and by their UI."""

    numbers: Mapping[str, tuple[str, ...]]  # by key
    key_of_ui: Mapping[str, str]

    @property
    def n_descriptors(self) -> int:
        return len(self.numbers)

    def key(self, heading: str) -> str | None:
        """The descriptor of a heading (name or UI; qualifiers and stars are cut), ``None`` where it is unknown."""
        name = heading.split("/", maxsplit=1)[0].replace("*", "").strip()
        key = self.key_of_ui.get(name, name.casefold())
        return key if key in self.numbers else None


Heading = tuple[tuple[str, ...], str]
"""The ids under which a paper may be known, and one of its headings."""


def read_tree(path: Path) -> MeshTree:
    """Read a tree; `DataError` where a file is none."""
    content = file_content(path, _MOST_BYTES, _TREE)
    numbers: dict[str, list[str]] = {}
    uis: dict[str, str] = {}
    if content[:200].lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<"):
        for record in _records(content, "DescriptorRecord", str(path)):
            names = record.get("DescriptorName/String", [""])
            key = names[0].casefold()
            numbers.setdefault(key, []).extend(record.get("TreeNumber", ()))
            uis[record.get("DescriptorUI", [""])[0]] = key
    else:
        for line in content.decode("utf-8", errors="replace").splitlines():
            name, _, number = line.rpartition(";")
            if name.strip() and _TREE_NUMBER.fullmatch(number.strip()):
                numbers.setdefault(name.strip().casefold(), []).append(number.strip())
    numbers.pop("", None)
    if not numbers:
        raise DataError(str(path), "has no descriptor with a tree number", _TREE)
    return MeshTree(
        MappingProxyType({key: tuple(dict.fromkeys(of)) for key, of in numbers.items()}),
        MappingProxyType(uis),
    )


def read_headings(path: Path) -> tuple[Heading, ...]:
    """Read the headings of papers; `DataError`, with the line, where the file is none of the kinds that are read."""
    content = file_content(path, _MOST_BYTES, _HEADINGS)
    text = content.decode("utf-8-sig", errors="replace")
    start = text.lstrip()[:2000]
    read: Callable[[str, str], Iterable[Heading]]
    if start.startswith("<"):
        read = _from_xml
    elif start.startswith("{"):
        read = _from_json
    elif re.search(r"^PMID ?- ", start, re.MULTILINE):
        read = _from_medline
    else:
        read = _from_table
    found = tuple(read(text, str(path)))
    if not found:
        raise DataError(str(path), "has no heading of any paper", _HEADINGS)
    return found


def _from_table(text: str, place: str) -> Iterator[Heading]:
    first = text.partition("\n")[0]
    lines = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in first else ",")
    for row in lines:
        paper, heading = row.get("paper_id"), row.get("descriptor")
        if paper is None or heading is None:
            problem = f"has no paper_id and descriptor in line {lines.line_num}"
            raise DataError(place, problem, _HEADINGS)
        yield (paper.strip(),), heading


def _from_json(text: str, place: str) -> Iterator[Heading]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
            paper, said = str(row["paper_id"]), row["descriptor"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DataError(f"{place}, line {number}", f"is {shown(line, 40)}", _HEADINGS) from error
        for heading in said if isinstance(said, list) else [said]:
            yield (paper,), str(heading)


def _from_medline(text: str, _: str) -> Iterator[Heading]:
    for record in re.split(r"\n\s*\n", text):
        lines = re.findall(r"^([A-Z]{2,4}) *- (.*(?:\n {6}.*)*)", record, re.MULTILINE)
        ids = [f"pubmed_{value.strip()}" for tag, value in lines if tag == "PMID"]
        ids += [value.strip().replace("PMC", "pmc_") for tag, value in lines if tag == "PMC"]
        for tag, value in lines:
            if tag == "MH":
                yield tuple(ids), " ".join(value.split())


def _from_xml(text: str, place: str) -> Iterator[Heading]:
    for record in _records(text.encode(), "PubmedArticle", place):
        ids = [f"pubmed_{one}" for one in record.get("MedlineCitation/PMID", ())]
        ids += [one.strip().replace("PMC", "pmc_") for one in record.get("ArticleId[pmc]", ())]
        for heading in record.get("DescriptorName", ()):
            yield tuple(dict.fromkeys(ids)), heading


def _records(content: bytes, tag: str, place: str) -> list[dict[str, list[str]]]:
    """The texts of the elements in every element of that tag, by their own and by "parent/own" tags.

    No entity can be declared, so none can grow; what a DOCTYPE names is not loaded.
    """
    from xml.parsers import expat

    records: list[dict[str, list[str]]] = []
    open_tags: list[str] = []
    text: list[str] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if name == tag:
            records.append({})
        open_tags.append(f"{name}[{attributes['IdType']}]" if "IdType" in attributes else name)
        text.clear()

    def end(_: str) -> None:
        own = open_tags.pop()
        said = "".join(text).strip()
        # What a paper cites has ids too, which are none of its own.
        if said and records and tag in open_tags and "ReferenceList" not in open_tags:
            for key in (own, f"{open_tags[-1]}/{own}"):
                # Concepts and allowed qualifiers of a descriptor have the same elements: the first counts.
                records[-1].setdefault(key, []).append(said)
        text.clear()

    def declared(name: str, *_: Any) -> None:
        raise DataError(place, f"declares an entity of its own ({shown(name)})", "Save it without.")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = text.append
    parser.EntityDeclHandler = declared
    try:
        parser.Parse(content, True)
    except expat.ExpatError as broken:
        raise DataError(place, f"is no well-formed XML ({broken})", "Download it again.") from broken
    return records
