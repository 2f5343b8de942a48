"""Citations in brackets."""

from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.answers import brackets
from evidencebench_core.answers.brackets import CitedSentence, cited_sentences, index_sentences

FORMS: dict[str, dict[str, tuple[str, ...]]] = {
    "A lowers B [11, 12]. C rises. [13] D [95% CI 1-2] falls [x].":
        {"A lowers B.": ("11", "12"), "C rises.": ("13",), "D [95% CI 1-2] falls [x].": ()},
    "[7] The first one. The second[8].[9][PMID: 0010; 8]\n\nA new paragraph [12-14] ends.":
        {"The first one.": ("7",), "The second.": ("8", "9", "10"), "A new paragraph [12-14] ends.": ()},
    "[1] One fell in group C. Two rose.[2] [3, 4] Three fell [5] in hepatitis B.":
        {"One fell in group C.": ("1",), "Two rose.": ("2",), "Three fell in hepatitis B.": ("3", "4", "5")},
    "": {}, "[12]": {},
}  # fmt: skip


def test_citations_in_all_forms() -> None:
    for text, sentences in FORMS.items():
        assert {sentence.text: sentence.citations for sentence in cited_sentences(text)} == sentences


def test_a_claim_loses_its_citations_and_nothing_else() -> None:
    assert brackets.without_citations("A[11]and  [PMID: 12] b [see 3] .") == "A and b [see 3] ."
    assert brackets.citations_in("A [0012] and [12, 7].") == ("12", "7")
    ids = {" 0012 ": "12", "000": "0", "PAPER#07": "PAPER#07", "٠١": "٠١"}
    assert {text: brackets.document_id(text) for text in ids} == ids


def test_indices_with_ranges_and_words() -> None:
    text = "A lowers B [2, 5-7]. C [S12] rises [sentences 3 and 7]. D fell [1.2] and [99]. E [95% CI 1-2] is 【4】."
    assert index_sentences(text, range(13)) == (
        CitedSentence("A lowers B.", (2, 5, 6, 7)),
        CitedSentence("C rises.", (12, 3, 7)),
        CitedSentence("D fell [1.2] and.", (), 1, (99,)),
        CitedSentence("E [95% CI 1-2] is.", (4,)),
    )
    whole = CitedSentence("All.", (0, 1, 2), 999_999_997, (3, 4, 5, 6, 7))
    assert index_sentences("All [0-999999999].", range(3)) == (whole,)


@given(st.text("ab [],.13\n\ue000", max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    for sentence in cited_sentences(text):
        assert sentence.text
        assert set(sentence.citations) <= set(brackets.citations_in(text))
