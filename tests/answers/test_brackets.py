"""Citations in brackets."""

from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.answers.brackets import (
    CitedSentence,
    citations_in,
    cited_sentences,
    document_id,
    index_sentences,
    without_citations,
)


def test_citations_in_all_forms() -> None:
    assert cited_sentences("A lowers B [11, 12]. C rises. [13] D [95% CI 1-2] falls [x].") == (
        CitedSentence("A lowers B.", ("11", "12")),
        CitedSentence("C rises.", ("13",)),
        CitedSentence("D [95% CI 1-2] falls [x].", ()),
    )
    text = "[7] The first one. The second[8].[9][PMID: 0010; 8]\n\nA new paragraph [12-14] ends."
    assert cited_sentences(text) == (
        CitedSentence("The first one.", ("7",)),
        CitedSentence("The second.", ("8", "9", "10")),
        CitedSentence("A new paragraph [12-14] ends.", ()),
    )
    text = "[1] One fell in group C. Two rose.[2] [3, 4] Three fell [5] in hepatitis B. [6] Four rose."
    citations = {sentence.text: sentence.citations for sentence in cited_sentences(text)}
    assert list(citations) == [
        "One fell in group C.",
        "Two rose.",
        "Three fell in hepatitis B.",
        "Four rose.",
    ]
    assert list(citations.values()) == [("1",), ("2",), ("3", "4", "5"), ("6",)]
    assert cited_sentences("") == cited_sentences("[12]") == ()


def test_a_claim_loses_its_citations_and_nothing_else() -> None:
    assert without_citations("A[11]and  [PMID: 12] b [see 3] .") == "A and b [see 3] ."
    assert citations_in("A [0012] and [12, 7].") == ("12", "7")
    assert [document_id(one) for one in (" 0012 ", "000", "PAPER#07", "٠١")] == ["12", "0", "PAPER#07", "٠١"]


def test_indices_with_ranges_and_words() -> None:
    text = "A lowers B [2, 5-7]. C [S12] rises [sentences 3 and 7]. D fell [1.2] and [99]. E [95% CI 1-2] is 【4】."
    assert index_sentences(text, range(13)) == (
        CitedSentence("A lowers B.", (2, 5, 6, 7)),
        CitedSentence("C rises.", (12, 3, 7)),
        CitedSentence("D fell [1.2] and.", (), 1, (99,)),
        CitedSentence("E [95% CI 1-2] is.", (4,)),
    )
    (one,) = index_sentences("All [0-999999999].", range(3))
    assert one == CitedSentence("All.", (0, 1, 2), 999_999_997, (3, 4, 5, 6, 7))


@given(st.text("ab [],.13\n\ue000", max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    for one in cited_sentences(text):
        assert one.text
        assert set(one.citations) <= set(citations_in(text))
