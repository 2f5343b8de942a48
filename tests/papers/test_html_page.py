"""What sites do to an article, beside the pages of publishers in gold."""

import pytest

from evidencebench_core.papers.read import paper_of_file
from tests.papers.rendering import outline

TEXT = "Tea was drunk by many people who could not sleep well afterwards, and by others who slept long."
ARTICLE = f"<h1>Tea</h1><h2>Abstract</h2><p>It is hot.</p><h2>Results</h2><p>{TEXT}</p>"
READ = ["# Tea", "> It is hot.", "# Results", TEXT]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # Not closed, in a form, in a layout table, in a part that is called like a figure or a menu.
        (f"<form>{ARTICLE.replace('</p>', '')}", READ),
        (f"<table><tr><td>{ARTICLE}</td></tr></table>", READ),
        (f"<div class='figure menu'><font>{ARTICLE}</font></div>", READ),
        (f"<div><p>Skip</p><nav><p>Home</p></nav></div><main>{ARTICLE}<div hidden>x</div></main><p>Legal</p>", READ),
        (f"{ARTICLE}<ul><li><a href='/x'>Open</a></li></ul><script>x</script><h2>References</h2><p>A.</p><p>B.", READ),
        # Text is text, never markup.
        (f"{ARTICLE}<p>&lt;b&gt; p &lt;.05 &amp;lt; <i>m</i><sup>2</sup> &lt;script&gt;x&lt;/script&gt; &nosuch;", [
            *READ, "<b> p <.05 &lt; m2 <script>x</script> &nosuch;",
        ]),
        (f"<head><meta name='Citation_Title' content='&lt;i&gt;Tea&lt;/i&gt; &amp;amp; &lt;3'></head>{ARTICLE}", [
            "# Tea &amp; <3", *READ[1:],
        ]),
        (f"<div class='abstract'><p>Hot tea.</p></div><div class='abstract'><h3>Plain words</h3><p>Eh.</p></div>"
         f"<h2>Results</h2><p>{TEXT}", ["> Hot tea.", *READ[2:]]),
    ],
)  # fmt: skip
def test_the_article_alone_is_read(html: str, expected: list[str]) -> None:
    assert outline(paper_of_file(f"<!DOCTYPE html><html>{html}".encode())) == expected
