"""Lost in the middle: its three views, with runs and without, and links to them."""

from __future__ import annotations

import pytest

from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore
from tests.pages.asking import click
from tests.pages.conftest import OpenPage, address, finished_runs, texts
from tests.pages.waiting import jobs_ended


@pytest.fixture
def lead(sample_store: Store) -> str:
    """Id of a run of lead over the sample papers."""
    return finished_runs(sample_store, "lead", tasks=["er@10", "result-er@5"])["lead"]


@pytest.mark.usefixtures("sample_store")
@pytest.mark.parametrize("view", ["along", "ends", "needle"])
def test_without_a_run_the_gold_speaks(open_page: OpenPage, view: str) -> None:
    app = open_page("middle", view=view)
    assert "the Leaderboard starts runs" in texts(app)
    assert len(app.get("plotly_chart")) == {"along": 1, "ends": 2, "needle": 0}[view]


def test_along_the_paper(open_page: OpenPage, lead: str) -> None:
    app = open_page("middle", task="er@10", buckets="4", stand="every")
    said = texts(app)
    assert "6 instances from 6 papers" in said
    assert "every bucket with a sentence that covers it" in said
    assert len(app.dataframe) == 3
    assert app.dataframe[0].value["bucket"].tolist() == [1, 2, 3, 4]


def test_the_controls_go_into_the_address_and_clear_the_mark(open_page: OpenPage, lead: str) -> None:
    app = open_page("middle", task="er@10", mark=f"recall,{lead},1")
    assert "0 to 10% of the paper, lead" in texts(app)
    app.number_input[0].set_value(5).run()
    assert address(app)["buckets"] == "5"
    assert "mark" not in address(app)


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
    said = texts(open_page("middle", task="er@10", mark=mark.format(run=lead)))
    assert title in said
    assert ("A click opens one in the reader" in said) == bool(title)


def test_ends_against_middle(open_page: OpenPage, lead: str) -> None:
    app = open_page("middle", task="er@10", view="ends", mark=f"ends,{lead},neither", bar="coverage,,19")
    said = texts(app)
    assert "all aspects count, whatever the task" in said
    assert "appendix K" in said
    assert "other instances" in said
    assert "Group neither, lead" in said
    assert "Ends cover 95 to 100% of the aspects" in said
    app = open_page("middle", task="er@10", view="ends", above="10", below="90", mark=",,", bar="")
    assert "Give shares from 0 to 1" in texts(app).replace("\\", "")


def test_a_part_is_moved_from_the_page(open_page: OpenPage, lead: str, sample_store: Store) -> None:
    app = open_page("middle", task="er@10", view="needle")
    assert "No arrangement of the chosen part has been run yet" in texts(app)
    click(app, "Run the abstract at its four places: lead")
    jobs_ended()
    app = open_page("middle", task="er@10", view="needle", scope="all", mark=f"needle,{lead},end")
    assert "mean over instances" in texts(app)
    assert not any(button.label.startswith("Run the abstract") for button in app.button)
    assert len(RunStore(sample_store).runs("sample_data", variants=True)) == 5
    assert "lead, abstract at the end: largest differences first" in texts(app)
