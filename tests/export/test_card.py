"""The card of a model as a page in plain words and as a table: hostile names are text, and every figure says its n."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data import Store, open_store
from evidencebench_core.export import card_frame, card_html, csv_text
from evidencebench_core.reliability.card import Card, model_card
from evidencebench_core.reliability.items import add_items
from evidencebench_core.reliability.runs import run_plan
from evidencebench_core.reliability.sample import sample_items
from tests.reliability.asking import ask_scripted, carry_out

TASKS = ("baseline", "paraphrase", "few-shot", "spelling", "negation", "distraction", "freeform", "unknown")
HOSTILE = "=<script>alert(1)</script>"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = open_store(Path(tmp_path_factory.mktemp("card")) / "store.sqlite")
    add_items(store, "sample <b>", sample_items())
    ask_scripted(store, "sample <b>", TASKS, ("always-yes",))
    carry_out(store, run_plan(store, "sample <b>", "baseline", HOSTILE), lambda _: HOSTILE)
    return store


@pytest.fixture(scope="module")
def card(store: Store) -> Card:
    return model_card(store, "sample <b>", "always-yes")


def test_the_page_says_in_plain_words_what_a_constant_answer_is_worth(card: Card) -> None:
    page = card_html(card, "2026-11-22T21:00:00+00:00")
    assert (
        "It was right on 50 of 100 questions. Always giving the same answer would be right on 50 of 100."
        in page
    )
    assert "Not clearly better than always giving the same answer." in page
    assert "With a text about something else it said so 0 of 100 times." in page
    assert "Of 12 questions that it had right, it changed its answer with the text on 0." in page
    assert "was 50 points away from that on average; on the whole it leans to yes." in page
    assert "word-overlap, as a judge, found that" in page
    assert "22 November 2026" in page
    assert page.count('<section class="test">') == len(TASKS)
    assert page == card_html(card, "2026-11-22T21:00:00+00:00")


def test_names_are_text_and_no_request_leaves_the_page(store: Store) -> None:
    page = card_html(model_card(store, "sample <b>", HOSTILE))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
    assert "default-src 'none'" in page
    assert "24 answers with no label" in page


def test_the_table_has_a_row_a_test_and_no_formula(store: Store, card: Card) -> None:
    frame = card_frame(card)
    assert list(frame["task"]) == list(TASKS)
    baseline = frame.iloc[0]
    assert (baseline["n_scored"], baseline["accuracy"], baseline["always_yes"]) == (
        24,
        0.5,
        pytest.approx(1 / 3),
    )
    text = csv_text(card_frame(model_card(store, "sample <b>", HOSTILE)))
    assert f"'{HOSTILE}" in text
