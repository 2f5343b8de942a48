"""Lines of input: what is a build, and what is named and left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.construction import BadLine, BuildInput, build_input, read_builds
from evidencebench_core.errors import DataError


def test_json_lines_name_a_bad_one_and_go_on(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("A paper.")
    rows: list[Any] = [
        {"id": "a", "paper": "p.txt", "summary": "It fell.", "review": {"id": "PMC1", "licence": "CC BY"}},
        {"id": "b", "paper": "PMC123"},
        {"id": "a", "paper": "PMC123", "summary": "Again."},
        ["no object"],
        {"id": "c", "paper": "10.1000/x", "paragraph": ["One.", "Two [1]."], "citing": 1},
        {"id": "d", "paper": "PMC1", "paragraph": ["One."], "citing": 1},
        {"id": "e", "paper": "PMC1", "aspects": ["x"] * 61, "hypothesis": "H."},
        {"id": "f", "paper": "PMC1", "summary": "s" * 20_001},
        {"id": "g", "paper": "PMC1", "summary": ["s"]},
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join([*map(json.dumps, rows), '{"id": "z", "id": "z"}', "{"]))
    found = list(read_builds(path))
    a, c = (one for one in found if isinstance(one, BuildInput))
    assert (a.paper, a.review_id, a.review_licence) == (str(tmp_path / "p.txt"), "PMC1", "CC BY")
    assert (c.paragraph, c.citing, c.paper) == (("One.", "Two [1]."), 1, "10.1000/x")
    bad = [(one.place, one.problem.split(" ")[0].rstrip(":")) for one in found if isinstance(one, BadLine)]
    assert bad == [
        *(("row 2", "summary"), ("row 3", "has"), ("row 4", "line"), ("row 6", "citing")),
        *(("row 7", "aspects"), ("row 8", "summary"), ("row 9", "summary"), ("row 10", "is"), ("row 11", "is")),
    ]  # fmt: skip


def test_csv_and_folder(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text('ID,paper,summary,aspects\n1,PMC1,"It fell, they say.","One\nTwo"\n2,PMC1,a,b,c\n')
    build, bad = read_builds(path)
    assert isinstance(build, BuildInput)
    assert (build.id, build.summary, build.aspects) == ("1", "It fell, they say.", ("One", "Two"))
    assert isinstance(bad, BadLine)
    assert bad.place == "row 3"
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("x.txt", "x.summary.txt", "x.hypothesis.txt", "y.pdf", "z.summary.txt"):
        (folder / name).write_text(f"Text of {name}.")
    x, y, z = read_builds(folder)
    assert isinstance(x, BuildInput)
    assert (x.summary, x.hypothesis) == ("Text of x.summary.txt.", "Text of x.hypothesis.txt.")
    assert isinstance(y, BadLine)
    assert isinstance(z, BadLine)
    assert (y.place, z.place) == ("y.pdf", "z.summary.txt")


def test_what_is_no_file_of_builds(tmp_path: Path) -> None:
    for name, text in (("a.txt", "x"), ("b.csv", "name,paper\n"), ("c.csv", "id,paper,id\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError):
            list(read_builds(tmp_path / name))
    hostile = build_input({"id": "../../x\n\x1b[31m", "paper": "\0", "summary": "=1+1 \u202e"}, tmp_path)
    assert "\n" not in hostile.id
    assert "\x1b" not in hostile.id


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({"sumary": "It fell."}, "sumary: is no key of a build. Did you mean 'summary'"),
        ({"review": {"license": "CC BY"}}, "review.license: is no key"),
        ({"n": 1}, "n: is no key of a build. Known are: aspects"),
    ],
)
def test_a_key_that_is_none_is_named(row: dict[str, Any], named: str) -> None:
    with pytest.raises(DataError, match=named):
        build_input({"id": "a", "paper": "PMC1", "summary": "S.", **row})


@pytest.mark.parametrize(
    ("said", "licence"),
    [
        ("cc-by 4.0", "CC BY"),
        ("CC BY-NC-ND", "CC BY-NC-ND"),
        ("https://creativecommons.org/licenses/by-sa/3.0/", "CC BY-SA"),
        ("Public Domain", "public domain"),
        ("", ""),
        ("All rights reserved", None),
        ("CC BY or better", None),
        ("=CC0", None),
    ],
)
def test_a_licence_is_one_or_the_line_is_refused(said: str, licence: str | None) -> None:
    """Rule 6: a paper with another licence is not taken on somebody's word."""
    row = {"id": "a", "paper": "PMC1", "summary": "S.", "licence": said}
    if licence is None:
        with pytest.raises(
            DataError, match=r"licence: is .*under which no paper can be kept\. Give one of: public"
        ):
            build_input(row)
    else:
        assert build_input(row).licence == licence
