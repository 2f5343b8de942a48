import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.perturb import Opposite, Refusal, opposite
from evidencebench_core.perturb.negation import OPPOSITES, VERBS, is_singular, lemma_of, third_person


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        ("Tea increases the risk of cancer.", "Tea decreases the risk of cancer."),
        ("High doses decrease sleep.", "High doses increase sleep."),
        ("Tea causes cancer.", "Tea does not cause cancer."),
        ("Two drugs cause cancer.", "Two drugs do not cause cancer."),
        ("Tea does not affect sleep.", "Tea affects sleep."),
        ("Organs do not significantly elevate risk.", "Organs significantly elevate risk."),
        ("Tea is associated with cancer.", "Tea is not associated with cancer."),
        ("Tea is not causally associated with cancer.", "Tea is causally associated with cancer."),
        ("Tea has no effect on sleep.", "Tea has an effect on sleep."),
        ("Tea has no significant effect on sleep.", "Tea has a significant effect on sleep."),
        ("Tea plays a key role in sleep.", "Tea plays no key role in sleep."),
        ("Tea has no effects on sleep.", "Tea has effects on sleep."),
        ("Tea can enhance sleep.", "Tea cannot enhance sleep."),
        ("Tea cannot enhance sleep.", "Tea can enhance sleep."),
        ("Mortality is higher among painters than others.", "Mortality is lower among painters than others."),
        ("Distance is inversely related to dose.", "Distance is positively related to dose."),
        ("Tea adversely affects growth.", "Tea does not adversely affect growth."),
        # Every claim of one subject is turned, or none.
        ("Tea inhibits growth and induces sleep.", "Tea promotes growth and suppresses sleep."),
        # A mechanism, a clause, a direction of its own, or "some" depends on it: only "not" is honest.
        ("Tea inhibits growth by blocking X.", "Tea does not inhibit growth by blocking X."),
        ("Tea induces increased activity.", "Tea does not induce increased activity."),
        ("Tea raises pressure in some patients.", "Tea does not raise pressure in any patients."),
        ("Tea induces cells to release X.", "Tea does not induce cells to release X."),
        # A noun that looks like a verb is passed over.
        ("The increase in tea reduces sleep.", "The increase in tea increases sleep."),
        ("Routine releases from plants cause little.", "Routine releases from plants do not cause little."),
    ],
)
def test_it_says_the_opposite(hypothesis: str, expected: str) -> None:
    made = opposite(hypothesis)
    assert isinstance(made, Opposite), made
    assert made.text == expected
    assert "→" in made.rule


@pytest.mark.parametrize(
    ("hypothesis", "reason"),
    [
        ("", "no text"),
        ("Tea", "no verb"),
        ("Tea and sleep.", "no verb"),
        ("Tea may cause cancer.", "hedged ('may')"),
        ("Tea should reduce sleep.", "ought to be ('should')"),
        ("Most teas cause cancer.", "begins with 'most'"),
        ("No tea causes cancer.", "begins with 'no'"),
        ("Tea that is hot causes cancer.", "a clause ('that')"),
        ("Tea causes cancer, whereas coffee does not.", "more than one claim ('whereas')"),
        ("Tea increases sleep but not weight.", "more than one claim ('but')"),
        ("Tea harms cells, causing death, and alters sleep.", "no verb"),
        ("Tea alters cells, causing death.", "after a comma ('causing')"),
        ("Tea increases risk, with more tea leading to more risk.", "after a comma ('with')"),
        ("Tea causes cancer and impairs sleep.", "a second verb"),
        ("Tea is no help.", "in a way that the rules do not know"),
        ("Tea reduces no risk.", "in a way that the rules do not know"),
        ("Tea does help.", "emphatic"),
        ("Tea does not", "nothing follows"),
    ],
)
def test_it_refuses_with_a_reason(hypothesis: str, reason: str) -> None:
    made = opposite(hypothesis)
    assert isinstance(made, Refusal), made
    assert reason in made.reason


@given(st.text(max_size=60) | st.lists(st.sampled_from(sorted(VERBS)), max_size=6).map(" ".join))
def test_any_text_is_negated_or_refused(text: str) -> None:
    made = opposite(text)
    if isinstance(made, Opposite):
        assert made.text != " ".join(text.split())


def test_forms_of_verbs() -> None:
    assert [third_person(v) for v in ("affect", "modify", "reach", "have", "undergo", "play")] == [
        "affects", "modifies", "reaches", "has", "undergoes", "plays",
    ]  # fmt: skip
    assert (lemma_of("modifies"), lemma_of("has"), lemma_of("tea")) == ("modify", "have", None)
    assert (is_singular("causes"), is_singular("cause"), is_singular("tea")) == (True, False, False)
    # An opposite must be a verb whose forms we know.
    assert set(OPPOSITES.values()) <= VERBS


# How the hand-written negations of the train set deny their originals, read one by one: these six take a
# negation away, these reverse a direction ("increase" to "decrease"), all others say that there is nothing.
_AFFIRM = {4, 13, 15, 66, 80, 93}
_REVERSE = {
    *(0, 1, 3, 5, 7, 8, 9, 10, 11, 12, 16, 17, 18, 19, 20, 22, 23, 24, 25, 26, 27, 29, 30, 32, 33, 35, 38),
    *(41, 45, 47, 48, 49, 53, 54, 55, 60, 61, 64, 65, 67, 68, 69, 75, 78, 79, 83, 85, 86, 89, 94, 95),
}


@pytest.mark.realdata
def test_against_the_hand_written_negations(train_path: Path) -> None:
    train = json.loads(train_path.read_text(encoding="utf-8"))
    made = {int(one.rpartition("_")[2]): opposite(raw["hypothesis"]) for one, raw in train.items()}
    # The figures were made with these very texts.
    texts = [[one.text, one.rule] if isinstance(one, Opposite) else None for one in made.values()]
    digest = hashlib.sha256(json.dumps(texts, ensure_ascii=False).encode()).hexdigest()
    assert digest == "3d5ec58657b2e8ffc37559172ce34ab97030fa50ba10fb1411b21f59e67d6c99"
    refused = {number for number, answer in made.items() if isinstance(answer, Refusal)}
    # Two have no verb or no opposite, the others several claims.
    assert refused == {2, 6, 45, 49, 60, 62, 70, 92}
    pairs: Counter[tuple[str, str]] = Counter()
    for number, answer in made.items():
        if isinstance(answer, Opposite):
            denies = any(f" {word} " in f" {answer.text} " for word in ("not", "cannot"))
            was_denied = number in _AFFIRM
            ours = "affirmed" if was_denied and not denies else "denied" if denies else "reversed"
            theirs = "affirmed" if was_denied else "reversed" if number in _REVERSE else "denied"
            pairs[ours, theirs] += 1
    assert dict(pairs) == {
        ("denied", "denied"): 32,
        ("reversed", "reversed"): 23,
        ("affirmed", "affirmed"): 6,
        ("denied", "reversed"): 25,  # weaker than by hand: "does not cause" for "prevents"
        ("reversed", "denied"): 2,  # stronger: "suppresses" for "is free of"
    }
