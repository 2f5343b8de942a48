"""Lost in the middle: its three views, with runs and without, and links to them."""

from __future__ import annotations

import pytest

from evidencebench_core.data import Store
from tests.pages.app import OpenPage, finished_runs


@pytest.fixture
def lead(sample_store: Store) -> str:
    """Id of a run of lead over the sample papers."""
    return finished_runs(sample_store, "lead", tasks=["er@10", "result-er@5"])["lead"]


@pytest.mark.usefixtures("sample_store")
@pytest.mark.parametrize(("view", "n_charts"), [("along", 1), ("ends", 2)])
def test_without_a_run_the_gold_speaks(open_page: OpenPage, view: str, n_charts: int) -> None:
    app = open_page("middle", view=view)
    assert "the Leaderboard starts runs" in app.words
    assert len(app.get("plotly_chart")) == n_charts
    said = {"along": "can be found in 0 to 10% (", "ends": "Of 6 instances, "}[view]
    assert said.removesuffix(" (") in app.words


def test_along_the_paper(open_page: OpenPage, lead: str) -> None:
    app = open_page("middle", task="er@10", buckets="4", stand="every", mark=f"recall,{lead},1")
    assert "6 instances from 6 papers" in app.words
    assert "In the middle of papers (25 to 75%), compared with elsewhere: " in app.words
    assert "; random picks would differ by " in app.words
    assert "every bucket with a sentence that covers it" in app.words
    assert not app.dataframe  # its code is loaded once it is asked for
    app.session_state["numbers"] = True
    app.run()
    assert app.dataframe[0].value["Bucket"].tolist() == [1, 2, 3, 4]
    assert not any("_" in heading for table in app.dataframe for heading in table.value)
    app.number_input[0].set_value(5).run()
    assert app.address["buckets"] == "5"
    assert "mark" not in app.address  # it meant one of four


@pytest.mark.parametrize(
    ("mark", "title"),
    [
        ("can,,1", "0 to 10% of the paper"),
        ("picks,{run},1", "0 to 10% of the paper, lead"),
        # Links with a mark that is none still open.
        ("recall,gone,1", ""),
        ("recall,{run},77", ""),
        ("nonsense", ""),
        ("can,,x", ""),
        ("ends,{run},above", ""),
    ],
)
def test_a_mark_lists_its_instances(open_page: OpenPage, lead: str, mark: str, title: str) -> None:
    words = open_page("middle", task="er@10", mark=mark.format(run=lead)).words
    assert title in words
    assert ("A click opens one in the reader" in words) == bool(title)


def test_ends_against_middle(open_page: OpenPage, lead: str) -> None:
    app = open_page("middle", task="er@10", view="ends", mark=f"ends,{lead},neither", bar="coverage,,19")
    for text in (
        "all aspects count, whatever the task",
        "Group neither, lead",
        "Ends cover 95 to 100% of the",
        "Where the ends cover much, compared with where they cover little: there is nothing to compare for lead",
    ):
        assert text in app.words
    app = open_page("middle", task="er@10", view="ends", above="10", below="90", mark=",,", bar="")
    assert "Give shares from 0 to 1" in app.words
