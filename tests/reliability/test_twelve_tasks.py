"""Every task's figure, with a model that is right 80% of the time, refuses, and breaks off: against scikit-learn."""

import random
from collections import Counter
from typing import Any, Final

import pytest
from sklearn.metrics import accuracy_score, f1_score

from evidencebench_core.reliability.figures import BIAS, JUDGED_ACCURACY, REFRAIN_RATE, WEIGHTED_F1
from evidencebench_core.reliability.items import Item, ItemSet, Kind, new_item_set
from evidencebench_core.reliability.probes import Probe
from evidencebench_core.reliability.read_items import read_items
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, reliability_task
from tests.conftest import real_file
from tests.reliability.asking import scored

N: Final = 60
UNREAD: Final = {
    "failed": ConnectionError("no server"),
    "refusal": {"text": "I'm sorry, I cannot tell.", "finish_reason": "stop"},
    "cut_off": {"text": "Yes, since no", "finish_reason": "length"},
    "no_label": {"text": "It was tried.", "finish_reason": "stop"},
}


def items(kind: Kind) -> ItemSet:
    made = []
    for n in range(N):
        text, answer = f"Tea {n} was tried in {n + 20} people who drank it daily.", "no" if n % 3 else "yes"
        wordings = {"paraphrase:p": f"Is tea {n} of help?", "negation": f"Tea {n} was not tried."}
        context = () if kind == "pairs" else (text,)
        made.append(Item(str(n), f"Does tea {n} help?", context, answer, (text,), "", wordings))  # type: ignore[arg-type]
    return new_item_set("teas", made, kind)


def answer_to(expected: str, labels: tuple[str, ...], key: str) -> tuple[Any, str]:
    """A result, and how it should be read."""
    rng = random.Random(f"answers {key}")  # noqa: S311 - reproducible
    draw = rng.random()
    if draw < 0.2:
        reason = rng.choice(["wrong", *UNREAD])
        if reason != "wrong":
            return UNREAD[reason], reason
        expected = rng.choice([label for label in labels if label != expected])
    form = rng.choice(["{}.", "**{}** - the text says so", "The answer is {}"])
    return form.format(expected.capitalize()), expected


@pytest.mark.parametrize("name", RELIABILITY_TASKS)
def test_the_figure_of_a_task(name: str) -> None:
    task = reliability_task(name)
    read: dict[str, str] = {}
    gold: dict[str, str] = {}

    def say(probe: Probe) -> Any:
        expected = task.expected(probe) or "yes"
        gold[probe.id] = expected
        result, read[probe.id] = answer_to(expected, task.read_labels, f"{name} {probe.id}")
        if task.judge:  # which is sound; only texts that came whole are put to it
            return f"{probe.id}: {result}" if read[probe.id] in (*task.read_labels, "no_label") else result
        return result

    def judge(fields: Any) -> Any:
        text = fields.get("summary") or fields["statement_1"]
        return read[text.partition(":")[0]].replace("no_label", "Well.")

    score = scored(items(task.kind), name, say, judge=judge if task.judge else None)
    answers = score.answers.set_index("probe")
    expected = {probe: label if label in task.read_labels else None for probe, label in read.items()}
    assert answers["label"].astype(object).where(answers["label"].notna(), None).to_dict() == expected
    reasons = Counter(label for label in read.values() if label in UNREAD)
    assert Counter(reason for reason in answers["reason"] if reason) == reasons
    ids = list(score.headline["probe"])
    truth, labels = [gold[probe] for probe in ids], [expected[probe] or "none" for probe in ids]
    weighted = f1_score(truth, labels, labels=sorted(set(truth)), average="weighted", zero_division=0)
    orders = {variant: rows["label"].dropna() for variant, rows in score.answers.groupby("variant")}
    figures = {
        WEIGHTED_F1: weighted,
        JUDGED_ACCURACY: accuracy_score(truth, labels),
        REFRAIN_RATE: labels.count("unknown") / len(labels),
        BIAS: sum(abs((found == "yes").mean() - 0.5) for found in orders.values()) / len(orders),
    }
    assert score.value.value == pytest.approx(figures[task.figure])
    assert score.null_rate == pytest.approx(labels.count("none") / len(labels))
    assert (task.figure is BIAS) == (score.value.low is None)
    assert score.value.n == score.headline["item"].nunique()
    assert task.headline in ((), tuple(score.headline["variant"].unique()))


@pytest.mark.realdata
def test_one_that_always_says_yes() -> None:
    """The figures of the manual, by independent code on PubMedQA's file."""
    pubmedqa = new_item_set("pubmedqa", read_items(real_file("pubmedqa/ori_pqal.json"))[1])
    baseline = scored(pubmedqa, "baseline", lambda _: "Yes.")
    assert baseline.value.text(decimals=1) == "47.5% (43.5 to 51.4)"  # of the binomial exactly: 43.6 to 51.4
    assert (baseline.value.n, baseline.left_out) == (890, {"the answer is maybe": 110})
    assert baseline.constants == pytest.approx({"yes": 0.4748, "no": 0.2091}, abs=5e-5)
