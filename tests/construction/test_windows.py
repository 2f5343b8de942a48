"""Windows, looks and what they add up to: rules 11 to 15, edge cases 85 and 88, examples 96 and 97."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.construction import (
    AspectLooks,
    WindowLook,
    covers_of,
    echo_check,
    echo_lines,
    look_of,
    looks_due,
    windows,
)
from evidencebench_core.errors import SettingError
from evidencebench_core.stats.raters import cohen_kappa, cross_table, spearman
from tests.conftest import real_file


def test_windows_by_hand() -> None:
    assert windows(23) == ((0, 10), (5, 15), (10, 20), (15, 23), (20, 23))
    assert windows(20) == ((0, 10), (5, 15), (10, 20), (15, 20))
    assert windows(6) == ((0, 6), (5, 6))
    assert windows(5) == windows(5, 10) == ((0, 5),)
    assert windows(1) == ((0, 1),)
    assert windows(0) == ()
    assert (len(windows(168)), windows(168)[-1]) == (34, (165, 168))
    assert sum(stop - start for start, stop in windows(168)) == 331
    assert windows(23, head=True)[-1] == (0, 5)


@given(st.integers(1, 400), st.integers(2, 60), st.data())
def test_every_sentence_has_the_looks_of_the_formula(n: int, length: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(1, length))
    made = windows(n, length, stride)
    assert all(start < stop for start, stop in made)
    assert len(set(made)) == len(made) == -(-n // stride)
    seen = [sum(start <= index < stop for start, stop in made) for index in range(n)]
    assert seen == [looks_due(index, length, stride) for index in range(n)]
    if (length, stride) == (10, 5):
        assert sum(seen) == 2 * n - min(n, 5)


@pytest.mark.parametrize(("length", "stride"), [(1, 1), (61, 5), (10, 0), (10, 11)])
def test_settings_have_bounds(length: int, stride: int) -> None:
    with pytest.raises(SettingError):
        windows(20, length, stride)


@pytest.mark.realdata
def test_windows_of_the_train_set() -> None:
    raws = json.loads(real_file("evidencebench/evidencebench_train_set.json").read_text(encoding="utf-8"))
    sizes = [(len(raw["aspect_list_ids"]), len(raw["paper_as_candidate_pool"])) for raw in raws.values()]
    assert sum(aspects * len(windows(n)) for aspects, n in sizes) == 24_937


def looks(*answers: list[int] | None, n: int = 23) -> AspectLooks:
    return AspectLooks(
        n,
        tuple(
            WindowLook(window, failed=True) if answer is None else look_of(window, answer)
            for window, answer in zip(windows(n), answers, strict=True)
        ),
    )


def test_looks_by_hand() -> None:
    aspect = looks([3, 7], [7, 9], [], [19, 25, 4], [22])
    assert sum(look.n_unknown for look in aspect.looks) == 2  # 25 is no sentence, 4 is not in [15, 23)
    assert aspect.covering() == (3, 7, 9, 19, 22)
    assert aspect.covering("all") == aspect.covering("majority") == (3, 7)
    pairs = aspect.repeats()
    assert len(pairs) == 18
    earlier, later = ([pair[place] for pair in pairs] for place in (0, 1))
    table = cross_table(earlier, later)
    assert sum(a == b for a, b in pairs) == 15
    assert float(cohen_kappa(table)) == pytest.approx(0.341, abs=5e-4)
    assert float(spearman(table)) == pytest.approx(0.454, abs=5e-4)
    assert (aspect.is_judged, aspect.is_doubly_judged, aspect.missing) == (True, True, 0)


def test_a_missing_look_is_not_a_no() -> None:
    one = looks([3, 7], [7, 9], None, [19], [22])
    assert (one.is_judged, one.is_doubly_judged, one.missing) == (True, False, 10)
    two = looks([3, 7], [7, 9], None, None, [22])
    assert two.unjudged == (15, 16, 17, 18, 19)
    with pytest.raises(SettingError, match=r"aspect 0: has 5 sentences without a look, the first is 15"):
        covers_of([two])
    first = looks(None, [], [], [], [])
    assert first.unjudged == (0, 1, 2, 3, 4)
    head = AspectLooks(23, (*first.looks, look_of((0, 5), [2])))
    assert (head.is_judged, head.covering()) == (True, (2,))
    assert covers_of([one, head]) == (frozenset({3, 7, 9, 19, 22}), frozenset({2}))


def test_only_indices_that_were_not_shown_are_no_look() -> None:
    assert look_of((5, 15), [2, 20]) == WindowLook((5, 15), frozenset(), True, 2)
    assert look_of((5, 15), []).failed is False
    assert AspectLooks(10, (look_of((0, 10), range(6)),)).is_greedy
    assert not AspectLooks(10, (look_of((0, 10), range(5)),)).is_greedy


SENTENCES = tuple(f"Alpha{name} beta{name} gamma{name} of it." for name in "abcdefghijklmnopqrst")


def test_a_model_that_counts_within_the_window_is_caught() -> None:
    answer = "6: alphaL betaL gammaL of it - it says so\n**12**: Alpham betam gammam - too\nDECISION: [6, 12]"
    assert echo_lines(answer) == {
        6: "alphaL betaL gammaL of it - it says so",
        12: "Alpham betam gammam - too",
    }
    checked = echo_check(SENTENCES, (5, 15), [6, 12], echo_lines(answer))
    assert (checked.chosen, checked.n_mended, checked.failed) == ((11, 12), 1, False)


@pytest.mark.parametrize(
    "index",
    [
        "6:",
        "6.",
        "[6]:",
        "(6)",
        "index: 6:",
        "Index 6:",
        "S6:",
        "- **Sentence 6**:",
        "`6`:",
        '"6":',
        "6 -",
        "6 –",
    ],
)
def test_lines_in_other_forms_than_asked_for(index: str) -> None:
    echoes = echo_lines(f"2.5 mg were given\n{index} alphaL betaL gammaL of it - it says so\nDECISION: [6]")
    assert set(echoes) == {6}
    assert echo_check(SENTENCES, (5, 15), [6], echoes).chosen == (11,)


@pytest.mark.parametrize(
    ("echo", "chosen", "unfound"),
    [
        ("ALPHAg, betag gammag", (6,), ()),  # three words suffice
        ("Alphag betag was never here", (), (6,)),  # two do not
        ("Nothing of the kind is there", (), (6,)),
        ("", (6,), ()),  # no words: kept, and counted
    ],
)
def test_echoes(echo: str, chosen: tuple[int, ...], unfound: tuple[int, ...]) -> None:
    checked = echo_check(SENTENCES, (5, 15), [6], {6: echo})
    assert (checked.chosen, checked.unfound, checked.n_without) == (chosen, unfound, int(not echo))


def test_words_that_begin_two_sentences_are_none(tmp_path: Path) -> None:
    same = (*SENTENCES[:5], "Twice the same words here.", "Once.", "Twice the same words here.")
    assert echo_check(same, (5, 8), [6], {6: "Twice the same words here"}).unfound == (6,)
    assert echo_check(same, (5, 8), [7], {7: "Twice the same words here"}).chosen == (7,)
    assert echo_check(same, (5, 8), [6], {6: "once"}).chosen == (6,)  # a sentence of one word


@given(st.text(max_size=300), st.lists(st.integers(-5, 40)))
def test_any_answer_is_read(answer: str, chosen: list[int]) -> None:
    checked = echo_check(SENTENCES, (5, 15), chosen, echo_lines(answer))
    assert len(checked.chosen) + len(checked.unfound) <= len(set(chosen))
