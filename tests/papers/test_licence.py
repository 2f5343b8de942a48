"""The licence of an article."""

import pytest

from evidencebench_core.papers.licence import LICENCES, allows_changed_copies, licence_in
from evidencebench_core.papers.read import paper_of_file
from tests.papers.rendering import PHRASES


def licence_of(permissions: str, body: str = "<p>Text.</p>") -> str:
    article = f"""<article xmlns:xlink="x" xmlns:ali="y"><front><article-meta><permissions>{permissions}</permissions>
    </article-meta></front><body>{body}</body></article>"""
    return paper_of_file(article.encode(), "a.xml").licence


@pytest.mark.parametrize(("permissions", "licence"), PHRASES["licence_of_article"])
def test_licence_of_an_article(permissions: str, licence: str) -> None:
    assert licence_of(permissions) == licence


def test_a_borrowed_picture_says_nothing_of_the_article() -> None:
    (permissions, _), *_ = PHRASES["licence_of_article"]
    assert licence_of("", f"<fig><permissions>{permissions}</permissions></fig><p>Text.</p>") == ""


@pytest.mark.parametrize(("text", "licence"), PHRASES["licence_in_words"])
def test_licences_in_words(text: str, licence: str) -> None:
    assert licence_in([text]) == licence


def test_what_may_be_passed_on() -> None:
    assert [name for name in LICENCES if not allows_changed_copies(name)] == ["CC BY-ND", "CC BY-NC-ND"]
    assert not allows_changed_copies("")
