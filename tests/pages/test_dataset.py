"""Dataset: what it is made of."""

from __future__ import annotations

import pytest

from tests.pages.conftest import OpenPage, address, texts

pytestmark = pytest.mark.usefixtures("sample_store")


def test_it_says_what_it_stands_on(open_page: OpenPage) -> None:
    said = texts(open_page("dataset")).replace("\\", "")
    assert "6 instances from 6 papers; without result aspects: 1." in said
    assert "invented papers" in said
    assert "n = 6 instances." in said
    assert "aspects stand on one sentence alone" in said


def test_the_quantity_is_in_the_address(open_page: OpenPage) -> None:
    app = open_page("dataset", quantity="sentences per aspect", by="types")
    app.selectbox[1].set_value("tokens").run()
    assert not app.exception
    assert (address(app)["quantity"], address(app)["by"]) == ("tokens", "types")
    assert open_page("dataset", quantity="nonsense", by="nonsense").selectbox[1].value == "sentences"
