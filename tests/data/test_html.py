"""A notebook shows the text, and nothing of it as markup."""

import re
from html.parser import HTMLParser

import pytest

from evidencebench_core.data.html import instance_html
from evidencebench_core.data.parse import parse_instance
from tests.factories import raw_instance


class Seen(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


ALLOWED = {"div", "span", "strong", "details", "summary", "ul", "li"}
EVIL = "\"><script>alert('x')</script><img src=x onerror=alert(1)>&lt; {x}"


def test_everything_is_escaped() -> None:
    raw = raw_instance([f"# {EVIL}", f"> {EVIL}", EVIL], {EVIL: [0, 2], "b": [1]}, (EVIL,), paper_id=EVIL)
    raw |= {"hypothesis": EVIL, "aspect_texts": {"b": EVIL}, "synthetic": True}
    seen = Seen(instance_html(parse_instance(EVIL, raw)))
    assert set(seen.tags) == ALLOWED
    assert seen.attributes == {"class", "style", "dir"}
    # id, paper id, hypothesis, the id of an aspect without text, the other's text, three sentences
    assert seen.text.count(EVIL) == 8
    assert "synthetic" in seen.text


def test_gold_is_marked_with_its_aspects() -> None:
    instance = parse_instance("x", raw_instance(6, {"a": [5, 2], "b": [2]}, ("b",)))
    markup = instance_html(instance)
    gold = re.findall(r"border-left:4px solid #E69F00[^>]*><span[^>]*>(\d+)</span>", markup)
    assert gold == ["2", "5"]
    assert "A1: a [2, 5]" in markup
    assert "A2 (result): b [2]" in markup
    assert "6 sentences · 2 aspects · 1 result aspects · optimal K 1" in markup
    assert instance._repr_html_() == markup
    assert "A2: b [no sentence]" in instance_html(parse_instance("x", raw_instance(2, {"a": [0], "b": []})))


@pytest.mark.realdata
def test_the_real_train_set(train_raw: dict[str, object]) -> None:
    for name, raw in train_raw.items():
        instance = parse_instance(name, raw)
        seen = Seen(instance_html(instance))
        assert set(seen.tags) <= ALLOWED
        assert all(sentence in seen.text for sentence in instance.sentences)
