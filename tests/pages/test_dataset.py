"""Dataset: what it is made of."""

from __future__ import annotations

import pytest

from tests.pages.app import OpenPage

pytestmark = pytest.mark.usefixtures("sample_store")


def test_it_says_what_it_stands_on(open_page: OpenPage) -> None:
    app = open_page("dataset", quantity="nonsense", by="nonsense")
    assert app.selectbox[1].value == "sentences"
    for text in (
        "6 instances from 6 papers; without result aspects: 1.",
        "invented papers",
        "n = 6 instances.",
    ):
        assert text in app.words


def test_the_quantity_is_in_the_address(open_page: OpenPage) -> None:
    app = open_page("dataset", quantity="sentences per aspect", by="types")
    app.selectbox[1].set_value("tokens")
    assert app.run().address.items() >= {"quantity": "tokens", "by": "types"}.items()
