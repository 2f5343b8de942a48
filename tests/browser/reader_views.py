"""Papers to try the reader on: a short one, one as large as the data has, one that means harm."""

from dataclasses import replace

from components.browse.shared_words import shared_words
from evidencebench_core.data import instance_from
from evidencebench_core.data.model import Aspect, Instance
from evidencebench_core.export.reader import PaperView, System, view_of
from evidencebench_core.retrievers import Query
from evidencebench_core.retrievers.bm25 import Bm25
from tests.factories import raw_instance

HOSTILE = (
    "<h1>Not a <b>heading</b></h1>",
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>",
    "**bold** _italic_ [link](javascript:window.hacked=1) `code`",
    "$\\frac{1}{2}$ costs $5 or $6 \\( x \\)",
    "هذه جملة عربية عن فيتامين د لدى النساء (p = 0.01).",
    "זהו משפט בעברית עם 95% CI 1.2-3.4.",
    "Astral 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 🧬 letters",
    "control \x00 \x07 \x1b[31m \u202e overridden \u2066 isolated \x85 end",
    "x" * 20_000,
    "word " * 4_000,
    " ",
    "line\nbreak\r\tand tab",
    "after all that",
)


def short_paper() -> Instance:
    """Twelve sentences; the results are A3 and A4."""
    sentences = (
        "# Night work and vitamin D in hospital employees",
        "> We asked whether night work goes with lower vitamin D.",
        "# Methods",
        "We recruited 140 employees of one hospital.",
        "Serum was measured by immunoassay.",
        "# Results",
        "The median age was 34 years.",
        "Women on night shifts had lower levels (p = 0.01).",
        "In all, 140 employees took part.",
        "The assay was an immunoassay.",
        "Levels in men did not differ (p = 0.25).",
        "Sponsors had no part in this work.",
    )
    aspects = {"a": (3, 8), "b": (4, 9), "c": (10,), "d": (7,)}
    texts = {"a": "How many took part", "c": "No difference in men", "d": "Lower levels in women"}
    return instance_from("short", raw_instance(sentences, aspects, ("c", "d"), aspect_texts=texts))


def short_view() -> PaperView:
    """Every mark once or more.

    Picks of A are 3, 6, 4; A1 {3, 8} and A2 {4, 9} are covered, A3 {10} and A4 {7} are not. So 3 and 4
    are both, 6 is picked, 8 and 9 are gold, 7 and 10 are missed.
    """
    return view_of(short_paper(), systems=(System("bm25", (3, 6, 4)), System("dense", (7, 10))))


def stress_view(n_sentences: int = 794, n_aspects: int = 36) -> PaperView:
    """As large as the data has: 794 sentences, 36 aspects, 40 picks; every fortieth sentence is a heading."""
    sentence = "Patients with long exposure had a higher incidence than others, adjusted for age. "
    is_heading = [index % 40 == 0 for index in range(n_sentences)]
    return PaperView(
        paper="stress",
        sentences=tuple("RESULTS" if heading else sentence * 2 for heading in is_heading),
        sentence_types=tuple("section_name" if heading else "normal_paragraph" for heading in is_heading),
        aspects=tuple(
            Aspect(f"a{place}", tuple(range(place + 1, n_sentences, 100)), place % 2 == 0, f"A{place + 1}")
            for place in range(n_aspects)
        ),
        systems=(System("bm25", tuple(range(5, n_sentences, 20))),),
    )


def hostile_paper() -> Instance:
    """`HOSTILE` as sentences, the first a heading, and markup wherever else a text goes."""
    lines, aspects = (f"# {HOSTILE[0]}", *HOSTILE[1:]), {"a": (0, 1, 4, 5, 8), "b": (2, 4, 6)}
    hypothesis = f"{HOSTILE[1]} \u202e</script><script>window.hacked = 1</script>"
    instance = instance_from("<b>hostile", raw_instance(lines, aspects, ("a",), hypothesis=hypothesis))
    first, second = instance.evidence.aspects
    first = replace(first, label="<i>A1", text="<script>window.hacked = 1</script>")
    return replace(instance, evidence=replace(instance.evidence, aspects=(first, second)))


def hostile_view() -> PaperView:
    """That paper; "script" and two words more are underlined."""
    systems = (System("<img src=x onerror=window.hacked=1>", (1, 3, 4)), System("dense", (4, 5, 8)))
    paper = hostile_paper()
    query = Query("Script 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 letters", HOSTILE, paper.sentence_types, paper.sections)
    return view_of(paper, systems=systems, words=shared_words(query, Bm25()))
