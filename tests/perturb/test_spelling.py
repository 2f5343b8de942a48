import re
import string

from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.perturb import misspellings

TEXT = "Night-shift work increases IL6 by 12% – in women."


def kind(character: str) -> int:
    classes = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
    return next((place for place, letters in enumerate(classes) if character in letters), -1)


@given(st.text(st.characters(codec="utf-8"), max_size=80), st.integers(0, 12), st.integers(0, 5))
def test_each_error_hits_another_word_and_keeps_the_class(text: str, n: int, seed: int) -> None:
    (made,) = misspellings(text, (n,), seed)
    places = [place for place, (a, b) in enumerate(zip(text, made.text, strict=True)) if a != b]
    assert len(places) == made.n_mutated == min(n, len(re.findall(r"\S*[A-Za-z0-9]\S*", text)))
    assert all(kind(text[place]) == kind(made.text[place]) >= 0 for place in places)
    words = [word.span() for word in re.finditer(r"\S+", text)]
    assert all(sum(start <= place < end for place in places) <= 1 for start, end in words)
    # in the same order those of a smaller number are among them
    assert misspellings(text, (n, n + 2), seed)[0] == made


def test_seeds_differ_and_each_gives_the_same_errors_everywhere() -> None:
    assert len({misspellings(TEXT, (3,), seed) for seed in range(5)}) == 5
    (tea,) = misspellings("Tea helps 12 women", (4,))
    assert (tea.text, tea.n_mutated, tea.n_digits) == ("Tex helpm 19 wocen", 4, 1)
    (kept,) = misspellings("Tea helps 12 women", (4,), keep_digits=True)
    assert (kept.n_mutated, kept.n_digits, kept.text.split()[2]) == (3, 0, "12")
    assert misspellings(TEXT, (20,))[0].n_mutated == 8  # a dash alone is no word
