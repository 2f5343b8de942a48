"""Papers to try the reader on: a short one, one as large as the data has, one that means harm."""

from components.browse.shared_words import shared_words
from evidencebench_core.data.model import Aspect, EvidenceSet, Instance
from evidencebench_core.export.reader import PaperView, System
from evidencebench_core.retrievers import Query
from evidencebench_core.retrievers.bm25 import Bm25

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


def short_view() -> PaperView:
    """Twelve sentences, every mark once or more.

    Picks of A are 3, 6, 4; A1 {3, 8} and A2 {4, 9} are covered, A3 {10} and A4 {7} are not. So 3 and 4
    are both, 6 is picked, 8 and 9 are gold, 7 and 10 are missed.
    """
    sentences = (
        "Night work and vitamin D in hospital employees",
        "We asked whether night work goes with lower vitamin D.",
        "Methods",
        "We recruited 140 employees of one hospital.",
        "Serum was measured by immunoassay.",
        "Results",
        "The median age was 34 years.",
        "Women on night shifts had lower levels (p = 0.01).",
        "In all, 140 employees took part.",
        "The assay was an immunoassay.",
        "Levels in men did not differ (p = 0.25).",
        "Sponsors had no part in this work.",
    )
    headings = {0, 2, 5}
    return PaperView(
        paper="short",
        sentences=sentences,
        sentence_types=tuple(
            "section_name" if i in headings else "abstract" if i == 1 else "normal_paragraph"
            for i in range(len(sentences))
        ),
        aspects=(
            Aspect("a", (3, 8), False, "A1", "How many took part"),
            Aspect("b", (4, 9), False, "A2"),
            Aspect("c", (10,), True, "A3", "No difference in men"),
            Aspect("d", (7,), True, "A4", "Lower levels in women"),
        ),
        systems=(System("bm25", (3, 6, 4)), System("dense", (7, 10))),
    )


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


def hostile_view() -> PaperView:
    """`HOSTILE` as sentences, and markup wherever else a text goes; "script" and two words more are underlined."""
    query = Query(
        "Script 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 letters", HOSTILE, ("normal_paragraph",) * len(HOSTILE), ("",) * len(HOSTILE)
    )
    return PaperView(
        paper="<b>hostile",
        sentences=HOSTILE,
        sentence_types=("section_name", *("normal_paragraph" for _ in HOSTILE[1:])),
        aspects=(
            Aspect("a", (0, 1, 4, 5, 8), True, "<i>A1", "<script>window.hacked = 1</script>"),
            Aspect("b", (2, 4, 6), False, "A2"),
        ),
        systems=(System("<img src=x onerror=window.hacked=1>", (1, 3, 4)), System("dense", (4, 5, 8))),
        words=shared_words(query, Bm25()),
    )


def instance_of(view: PaperView) -> Instance:
    """A view's paper and aspects as an instance, whose hypothesis means harm."""
    n = len(view.sentences)
    gold = EvidenceSet(n, view.aspects, n, n)
    hypothesis = f"{HOSTILE[1]} \u202e</script><script>window.hacked = 1</script>"
    return Instance(
        view.paper, hypothesis, "a paper", view.sentences, view.sentence_types, ("",) * n, gold, {}
    )
