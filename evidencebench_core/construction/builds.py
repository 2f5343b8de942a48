"""The input of builds: JSON lines, a CSV file, or a folder of papers with their summaries beside them.

A line has ``id, paper`` and ``summary`` (or ``paragraph`` with ``citing``, as `harvest` writes them, or ``aspects``),
and maybe ``hypothesis, review, section, context_before, context_after, title, licence``. In CSV a list is a cell with
one item a line. Of a folder every readable paper ``NAME.*`` counts that has ``NAME.summary.txt`` beside it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from evidencebench_core.construction.state import BuildInput
from evidencebench_core.data.files import file_content
from evidencebench_core.data.strict_json import unique_keys
from evidencebench_core.errors import DataError, EvidenceBenchError, did_you_mean, shown
from evidencebench_core.papers.blocks import clean_text
from evidencebench_core.papers.licence import LICENCES, licence_named
from evidencebench_core.words import one_line

_MOST_BYTES: Final = 2 << 30
_MOST_TEXT: Final = 20_000  # characters of a text
_MOST_ID: Final = 200
_MOST_ASPECTS: Final = 60
_SUMMARY: Final = ".summary.txt"
FORM: Final = (
    "Give JSON lines or CSV with id, paper and summary, or a folder of papers with NAME.summary.txt beside."
)
_LISTS: Final = ("aspects", "section", "paragraph")
_REVIEW: Final = ("id", "title", "doi", "licence")
_KEYS: Final = frozenset(field.name for field in fields(BuildInput))


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no build, and why."""

    place: str  # "row 3", or a file
    problem: str


def read_builds(path: Path) -> Iterator[BuildInput | BadLine]:
    """The builds of a file or a folder, in their order; a line that is none is named, and the others go on.

    A path of a paper is made absolute: in a file it is relative to that file.

    Raises
    ------
    DataError
        If the file cannot be read, or is none of the formats.
    """
    path = Path(path)
    rows = _of_folder(path) if path.is_dir() else _of_file(path)
    base, seen = (path if path.is_dir() else path.parent).resolve(), dict[str, str]()
    for place, row in rows:
        try:
            build = row if isinstance(row, BuildInput) else build_input(row, base)
        except EvidenceBenchError as error:
            yield BadLine(place, str(error))
            continue
        except ValueError as error:
            yield BadLine(place, f"is not JSON: {shown(error)}")
            continue
        if (first := seen.setdefault(build.id, place)) != place:
            yield BadLine(place, f"has the id {shown(build.id)}, as {first} has. Give every build its own.")
        else:
            yield build


def build_input(row: object, base: Path | None = None) -> BuildInput:
    """The build of a line's object; `DataError` names the key, what is wrong, and what to do."""
    if isinstance(row, str | bytes):
        row = json.loads(row, object_pairs_hook=unique_keys)
    if not isinstance(row, Mapping):
        raise DataError("line", f"is {shown(row)}, not an object", FORM)
    review = row.get("review") or {}
    if isinstance(review, str):
        review = {"id": review}
    if not isinstance(review, Mapping):
        raise DataError("review", f"is {shown(review)}", "Give its id, or an object with id, title, licence.")
    _check_keys(row, _KEYS | {"review"}, "")
    _check_keys(review, _REVIEW, "review.")
    values = {name: value for name, value in row.items() if name in _KEYS}
    values |= {f"review_{name}": review[name] for name in _REVIEW if name in review}
    texts: dict[str, Any] = {
        name: _text(name, values.get(name)) for name in _KEYS.difference(_LISTS, ("citing",))
    }
    texts |= {name: _texts(name, values.get(name)) for name in _LISTS}
    texts["id"] = one_line(texts["id"]).strip()
    texts["paper"] = _paper(texts["paper"], base)
    texts["licence"] = _licence(texts["licence"])
    texts["review_licence"] = licence_named(texts["review_licence"]) or texts["review_licence"]
    return _checked(BuildInput(**texts, citing=_citing(values.get("citing"), len(texts["paragraph"]))))


def _checked(build: BuildInput) -> BuildInput:
    for name, value, most in (("id", build.id, _MOST_ID), ("paper", build.paper, 4096)):
        if not 0 < len(value) <= most:
            problem = f"has {len(value):,} characters" if value else "is missing"
            raise DataError(name, problem, f"Give it one of at most {most} characters.")
    if not (build.summary or build.paragraph or build.aspects or build.hypothesis):
        remedy = "Give what the review says of the paper, or a hypothesis of your own."
        raise DataError("summary", "is missing", remedy)
    if len(build.aspects) > _MOST_ASPECTS:
        raise DataError("aspects", f"are {len(build.aspects)}", f"Give at most {_MOST_ASPECTS}.")
    if build.aspects and not (build.hypothesis or build.summary or build.paragraph):
        raise DataError("hypothesis", "is missing", "Without a summary, give a hypothesis with the aspects.")
    return build


def _check_keys(row: Mapping[str, object], known: Iterable[str], place: str) -> None:
    for name in sorted(row.keys() - set(known), key=str):
        remedy = did_you_mean(str(name), known, 0.6) + f"Known are: {', '.join(sorted(known))}."
        raise DataError(f"{place}{name}", "is no key of a build", remedy)


def _text(name: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str | int):
        raise DataError(name, f"is {shown(value)}, not a text", FORM)
    text = str(value).strip() if name == "paper" else clean_text(str(value))
    if len(text) > _MOST_TEXT:
        raise DataError(name, f"has {len(text):,} characters", f"Give at most {_MOST_TEXT:,}.")
    return text


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.splitlines()
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > 1_000:
        raise DataError(name, f"is {shown(value)}, not a list of texts", FORM)
    return tuple(text for one in value if (text := _text(name, one)))


def _licence(said: str) -> str:
    if said and not licence_named(said):
        remedy = f"Give one of: {', '.join(LICENCES)}; or leave it out, and that of the paper's file counts."
        raise DataError("licence", f"is {shown(said)}, under which no paper can be kept", remedy)
    return licence_named(said)


def _citing(value: object, n_sentences: int) -> int | None:
    if value in (None, ""):
        return None
    try:
        index = int(str(value))
    except ValueError:
        index = -1
    if not 0 <= index < n_sentences:
        remedy = f"Give the number of the citing sentence, 0 to {n_sentences - 1}."
        raise DataError("citing", f"is {shown(value)}", remedy)
    return index


def _paper(said: str, base: Path | None) -> str:
    """A file's whole path; anything else stays as it is."""
    if base is None or not said or "\0" in said or "\n" in said:
        return said
    file = base / said
    return str(file) if file.is_file() else said


def _of_folder(folder: Path) -> Iterator[tuple[str, object]]:
    names = sorted(one.name for one in folder.iterdir() if one.is_file() and not one.name.startswith("."))
    papers = [name for name in names if not name.endswith((_SUMMARY, ".hypothesis.txt"))]
    for name in papers:
        stem = Path(name).stem
        texts = {}
        for key in ("summary", "hypothesis"):
            beside = folder / f"{stem}.{key}.txt"
            if beside.is_file():
                texts[key] = file_content(beside, 4 * _MOST_TEXT, "Write it as text.").decode(
                    "utf-8", "replace"
                )
        yield name, {"id": stem, "paper": name, **texts}
    stems = {Path(name).stem for name in papers}
    for name in names:
        if name.endswith(_SUMMARY) and name.removesuffix(_SUMMARY) not in stems:
            yield name, {"id": name.removesuffix(_SUMMARY), "summary": "-"}


def _of_file(path: Path) -> Iterator[tuple[str, object]]:
    content = file_content(path, _MOST_BYTES, FORM)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error}", "Save it as UTF-8.") from error
    if path.suffix.casefold() in (".csv", ".tsv"):
        yield from _of_table(path, text)
    elif path.suffix.casefold() in (".jsonl", ".ndjson", ".json"):
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield f"row {number}", line
    else:
        raise DataError(str(path), f"ends in {shown(path.suffix)}", FORM)


def _of_table(path: Path, text: str) -> Iterator[tuple[str, object]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if path.suffix == ".tsv" else ",")
    try:
        header = [name.strip().casefold() for name in next(reader, [])]
        if not {"id", "paper"} <= set(header) or len(set(header)) < len(header):
            raise DataError(f"{path}, row 1", f"has the columns {shown(', '.join(header))}", FORM)
        for number, cells in enumerate(reader, start=2):
            if len(cells) > len(header):
                yield f"row {number}", [f"{len(cells)} cells for {len(header)} columns"]
            elif any(cell.strip() for cell in cells):
                yield f"row {number}", dict(zip(header, cells, strict=False))
    except csv.Error as error:
        raise DataError(str(path), f"is not CSV: {error}", FORM) from error
