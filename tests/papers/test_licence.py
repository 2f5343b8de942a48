"""The licence of an article."""

import pytest

from evidencebench_core.papers.licence import LICENCES, allows_changed_copies, licence_in
from evidencebench_core.papers.read import paper_of_file

CC = "http://creativecommons.org/licenses"


def licence_of(permissions: str, body: str = "<p>Text.</p>") -> str:
    article = f"""<article xmlns:xlink="x" xmlns:ali="y"><front><article-meta><permissions>{permissions}</permissions>
    </article-meta></front><body>{body}</body></article>"""
    return paper_of_file(article.encode(), "a.xml").licence


@pytest.mark.parametrize(
    ("permissions", "licence"),
    [
        (f'<license xlink:href="{CC}/by/4.0/"/>', "CC BY"),
        (f"<license><license-p>See {CC}/by-nc-sa/3.0.</license-p></license>", "CC BY-NC-SA"),
        (f"<ali:license_ref>{CC.upper()}/BY-NC-ND/4.0</ali:license_ref>", "CC BY-NC-ND"),
        (f'<license><p><a xlink:href="{CC}/by-nd/2.0/uk"/></p></license>', "CC BY-ND"),
        ('<license xlink:href="https://creativecommons.org/publicdomain/zero/1.0/"/>', "CC0"),
        (f"<copyright-statement>Articles are under {CC}/by/2.0/.</copyright-statement>", "CC BY"),
        ("<license><license-p>Creative Commons, of some kind</license-p></license>", ""),
        ("", ""),
    ],
)
def test_licence_of_an_article(permissions: str, licence: str) -> None:
    assert licence_of(permissions) == licence


def test_a_borrowed_picture_says_nothing_of_the_article() -> None:
    figure = f'<fig><permissions><license xlink:href="{CC}/by/4.0"/></permissions></fig><p>Text.</p>'
    assert licence_of("", figure) == ""


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("distributed under the terms of the Creative Commons Attribution License", "CC BY"),
        ("the Creative Commons Attribution-NonCommercial-ShareAlike 4.0 License", "CC BY-NC-SA"),
        ("Creative Commons Attribution Non-Commercial No Derivatives license", "CC BY-NC-ND"),
        ("Creative Commons Attribution-NoDerivs", "CC BY-ND"),
        ("published as CC BY-NC-ND 4.0", "CC BY-NC-ND"),
        ("Creative Commons Attribution 3.0, Noncommercial and No Derivative Works", "CC BY-NC-ND"),
        ("CC-BY 4.0", "CC BY"),
        ("Dedicated to everybody by CC0.", "CC0"),
        ("All rights reserved. We accept no attribution.", ""),
    ],
)
def test_licences_in_words(text: str, licence: str) -> None:
    assert licence_in([text]) == licence


def test_what_may_be_passed_on() -> None:
    assert [name for name in LICENCES if not allows_changed_copies(name)] == ["CC BY-ND", "CC BY-NC-ND"]
    assert not allows_changed_copies("")
