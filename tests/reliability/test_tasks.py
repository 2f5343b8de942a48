"""What each task asks of each item; the table of tasks and their settings."""

from collections import Counter
from collections.abc import Sequence

import pytest

from evidencebench_core.errors import SettingError
from evidencebench_core.reliability.items import Item, Kind, new_item_set
from evidencebench_core.reliability.read_items import SAMPLE, read_items
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, Probes, probes_of, reliability_task

LETTERS = [
    Item(letter, f"{letter}?", (letter,), answer)  # type: ignore[arg-type]
    for letter, answer in zip("ABCDE", ("yes", "yes", "yes", "no", "no"), strict=True)
]


def built(items: Sequence[Item], task: str, kind: Kind = "questions", **settings: object) -> Probes:
    return probes_of(new_item_set("own", items, kind), reliability_task(task), settings)


def test_tasks_by_name_and_number() -> None:
    """Every one but the judge's own runs on the sample."""
    assert reliability_task("T10") is reliability_task("freeform")
    with pytest.raises(SettingError, match="Did you mean 'few-shot'"):
        reliability_task("fewshot")
    spelling = built(read_items(SAMPLE)[1], "spelling", errors="3, 5").probes
    assert {probe.variant for probe in spelling} == {"3", "5"}
    sample = new_item_set("sample", read_items(SAMPLE)[1])
    for name, task in RELIABILITY_TASKS.items():
        assert bool(task.labels) != bool(task.judge)
        if name != "judge":
            assert len({probe.item.id for probe in probes_of(sample, task, {}).probes}) == 24


def test_wordings_of_the_data_and_those_still_to_be_written() -> None:
    wordings = {"paraphrase:x": "a??", "paraphrase:y": "aa?", "negation": "not a"}
    items = [Item("A", "A?", ("A",), "yes", wordings=wordings), *LETTERS[3:4]]
    made = built(items, "paraphrase").probes
    assert [probe.id for probe in made] == ["paraphrase:x A", "paraphrase:y A", "paraphrase D"]
    assert [probe.fields["question"] for probe in made] == ["a??", "aa?", "D?"]
    assert [probe.reworded for probe in made] == ["", "", "question"]
    first, second = built(items, "negation").probes
    assert (first.fields["context"], first.expected, first.reworded) == ("not a", "no", "")
    assert (second.fields["context"], second.expected, second.reworded) == ("D", "yes", "context")


def test_few_shot_examples() -> None:
    items = [
        Item(f"{n}", f"Question {n % 9}?", (f"Context {n}",), "yes" if n % 2 else "no", group=f"g{n // 4}")
        for n in range(40)
    ]
    made = built(items, "few-shot")
    assert len(made.probes) == 8 * 40
    by_id = {item.id: item for item in items}
    drawn: dict[tuple[str, int], set[str]] = {}
    for probe in made.probes:
        examples = [by_id[one] for one in probe.details["examples"]]
        assert all(one.question != probe.item.question and one.group != probe.item.group for one in examples)
        key = probe.item.id, probe.variant.count("Y")
        assert drawn.setdefault(key, set(probe.details["examples"])) == set(probe.details["examples"])
        answers = [line[8:] for line in probe.fields["examples"].splitlines() if line.startswith("Answer: ")]
        assert answers == ["Yes" if letter == "Y" else "No" for letter in probe.variant]


def test_distractors_stand_at_every_place() -> None:
    items = [Item(str(n), f"{n}?", (f"text {n}",), "yes", group=f"g{n // 2}") for n in range(8)]
    made = built(items, "distraction")
    assert Counter(probe.variant for probe in made.probes) == {"0": 8, "1": 8, "2": 8}
    for probe in made.probes:
        parts = [items[int(other)].text for other in probe.details["distractors"]]
        assert all(items[int(other)].group != probe.item.group for other in probe.details["distractors"])
        parts.insert(int(probe.variant), probe.item.text)
        assert probe.fields["context"] == "\n\n".join(parts)


def test_a_wrong_context_is_never_ones_own() -> None:
    items = [Item(str(place), f"{place}?", (text,)) for place, text in enumerate(("a", "B ", "b", "a", "c"))]
    for seed in range(20):
        made = built(items, "unknown", seed=seed).probes
        assert [probe.expected for probe in made] == ["unknown"] * 5 + [None] * 5
        for probe, mirror in zip(made[:5], made[5:], strict=True):
            assert probe.fields["context"].strip().lower() != mirror.fields["context"].strip().lower()


@pytest.mark.parametrize(
    ("task", "items", "settings", "message"),
    [
        ("judge", LETTERS, {}, "cannot be run on questions"),
        ("spelling", LETTERS, {"error": 7}, "Did you mean 'errors'"),
        ("freeform", LETTERS, {}, r"nothing to ask about 5 items: no long_answer \(5\)"),
        ("unknown", LETTERS[:1], {}, "has 0 contexts other than that of item 'A'. It needs 1"),
        ("distraction", LETTERS[:2], {}, "has 1 context other than that of item 'A'. It needs 2"),
        ("few-shot", LETTERS, {"orders": "YY"}, "has 1 example with the answer yes to show with item 'A'"),
        ("few-shot", LETTERS[:3], {}, "has 3 items with the answer yes and 0 with no"),
        ("few-shot", LETTERS, {"orders": "YX"}, "'YX' for orders.* such as NNNY"),
        ("spelling", LETTERS, {"errors": "3,-1"}, "'-1' for errors.* How many words"),
    ],
)
def test_what_cannot_be_run(task: str, items: list[Item], settings: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        built(items, task, **settings)
