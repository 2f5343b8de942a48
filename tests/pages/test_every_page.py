"""Every page on every kind of store, and links that name what is not there: said once, and never an exception."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest
from tests.factories import written
from tests.pages.app import SAMPLE, OpenPage, finished_runs

HOSTILE = "<b>nonsense</b> :red[x]"
PAGES = {  # the parameters of a link that name something
    "home": ("shown",),
    "browse": ("dataset", "task", "runs", "instance", "r"),
    "runs": ("dataset", "task", "runs"),
    "analyse": ("dataset", "task", "runs"),
    "paper": (),
    "annotate": (),
    "reliability": (),
    "answers": (),
}
LINKS = [(page, name) for page, names in PAGES.items() for name in names]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("content", ["empty", "sample", "hostile"])
def test_a_page_is_drawn(
    open_page: OpenPage, empty_store: Store, tmp_path: Path, page: str, content: str
) -> None:
    if content == "sample":
        ingest(empty_store, SAMPLE)
        finished_runs(empty_store, "bm25", "abstract-tail")
    elif content == "hostile":
        raw = json.loads(SAMPLE.read_text("utf-8"))["sample_in_vitro"] | {"hypothesis": HOSTILE}
        name = ingest(empty_store, written({HOSTILE: raw}, tmp_path / "hostile.json")).dataset.name
        finished_runs(empty_store, "bm25", "abstract-tail", dataset=name)
    app = open_page(page)
    assert not app.error
    assert ":red[x]" not in app.raw.replace("\\:red\\[x\\]", "")


@pytest.mark.parametrize(("page", "parameter"), LINKS)
def test_a_link_to_what_is_not_there_says_so_once(
    open_page: OpenPage, sample_store: Store, page: str, parameter: str
) -> None:
    finished_runs(sample_store, "bm25", "abstract-tail")
    instance = {"instance": "sample_cohort"} if parameter == "r" else {}
    app = open_page(page, **instance, **{parameter: HOSTILE})
    warnings = [warning.value for warning in app.warning]
    assert [text for text in warnings if "nonsense" in text]
    assert not app.error
    assert not [warning for warning in app.run().warning if "nonsense" in warning.value]
