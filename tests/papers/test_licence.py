"""The licence of an article."""

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.licence import LICENCES, allows_export, article_licence, strictest

CC = "http://creativecommons.org/licenses"


def article(permissions: str, body: str = "") -> bytes:
    return f"""<article xmlns:xlink="x" xmlns:ali="y"><front><article-meta><permissions>{permissions}</permissions>
    </article-meta></front><body>{body}</body></article>""".encode()


@pytest.mark.parametrize(
    ("permissions", "licence"),
    [
        (f'<license xlink:href="{CC}/by/4.0/"/>', "CC BY"),
        (f"<license><license-p>See {CC}/by-nc-sa/3.0.</license-p></license>", "CC BY-NC-SA"),
        (f"<ali:license_ref>{CC.upper()}/BY-NC-ND/4.0</ali:license_ref>", "CC BY-NC-ND"),
        (f'<license><p><a xlink:href="{CC}/by-nd/2.0/uk"/></p></license>', "CC BY-ND"),
        ('<license xlink:href="https://creativecommons.org/publicdomain/zero/1.0/"/>', "CC0"),
        ('<license xlink:href="https://creativecommons.org/publicdomain/mark/1.0/"/>', "public domain"),
        (f"<copyright-statement>Articles are under {CC}/by/2.0/.</copyright-statement>", "CC BY"),
        ("<license><license-p>Creative Commons, of some kind</license-p></license>", ""),
        ("<license xlink:href='http://creativecommons.org/licenses/sampling/1.0'/>", ""),
        ("", ""),
    ],
)
def test_article_licence(permissions: str, licence: str) -> None:
    assert article_licence(article(permissions)) == licence


def test_a_borrowed_picture_says_nothing_of_the_article() -> None:
    figure = f'<fig><permissions><license xlink:href="{CC}/by/4.0"/></permissions></fig>'
    assert article_licence(article("", figure)) == ""
    with pytest.raises(PaperError, match="well-formed"):
        article_licence(b"<article>", "a.nxml")


def test_the_strictest_of_several() -> None:
    assert strictest(["CC BY", "CC BY-NC", "CC0"]) == "CC BY-NC"
    assert strictest(["CC BY", ""]) == strictest([]) == ""
    assert [one for one in LICENCES if not allows_export(one)] == ["CC BY-ND", "CC BY-NC-ND"]
    assert not allows_export("")
