"""PubMedQA-L; figures are those of independent code on the raw file."""

from collections import Counter

import pytest

from evidencebench_core.reliability.items import ItemSet, new_item_set
from evidencebench_core.reliability.read_items import read_items
from tests.conftest import real_file
from tests.reliability.asking import scored

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def pubmedqa() -> ItemSet:
    kind, items = read_items(real_file("pubmedqa/ori_pqal.json"))
    return new_item_set("pubmedqa", items, kind)


def test_one_that_always_says_yes(pubmedqa: ItemSet) -> None:
    assert Counter(item.answer for item in pubmedqa.items) == {"yes": 552, "no": 338, "maybe": 110}
    baseline = scored(pubmedqa, "baseline", lambda _: "Yes.")
    assert baseline.value.text(decimals=1) == "47.5% (43.5 to 51.4)"
    # The exact interval, of the binomial with 552 of 890, is 0.4364 to 0.5143.
    assert (baseline.value.low, baseline.value.high) == pytest.approx((0.4364, 0.5143), abs=0.002)
    assert (baseline.value.n, baseline.left_out) == (890, {"the answer is maybe": 110})
    assert baseline.constants == pytest.approx({"yes": 0.4748, "no": 0.2091}, abs=5e-5)
