"""The report on wording, on six small instances."""

from pathlib import Path

import pandas as pd
import pytest

from evidencebench_core.analyses.wording import MEAN, finding, unanswered, variants_for, wording
from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.perturb import Wording, add_wordings
from evidencebench_core.runs import RunStore, score_run
from evidencebench_core.tasks import task_named
from tests.analyses.stores import complete_run
from tests.factories import store_with, tiny_dataset

TASK = task_named("result-er@5")
WORDINGS = {
    "paraphrase:one": {f"tiny_{n}": "Salt and sleep." for n in range(6)},
    "paraphrase:two": {f"tiny_{n}": "Water, diet." for n in range(4)},
    "negation": {"tiny_0": "Tea raises pressure.", "tiny_1": "Tea raises pressure."},
}


@pytest.fixture
def store(store: Store) -> Store:
    wordings = [Wording(one, name, text) for name, texts in WORDINGS.items() for one, text in texts.items()]
    add_wordings(store, "tiny", wordings, "by hand")
    return store


def ask(store: Store, retriever: str, *questions: str) -> str:
    """Id of a run over the original hypotheses, with the answers in other wordings beside it."""
    for question in questions:
        for variant in variants_for(store, "tiny", question):
            complete_run(store, "tiny", retriever, tasks=[TASK], variant=variant)
    return complete_run(store, "tiny", retriever, tasks=[TASK])


def test_what_is_missing_is_counted(store: Store) -> None:
    run = RunStore(store).run(ask(store, "bm25"))
    variants = variants_for(store, "tiny", "paraphrases")
    # tiny_4 has no result aspects: 5 of the first, 4 of the second
    assert unanswered(store, run, TASK, variants) == 9
    before = wording(store, [run.id], TASK).tables["wordings"]  # everything is missing, not zero
    assert list(before["n"]) == [0, 0, 0]
    assert list(before["n_missing"])[:2] == [5, 4]
    ask(store, "bm25", "paraphrases")
    assert unanswered(store, run, TASK, variants) == 0


def test_paraphrases(store: Store) -> None:
    run, lead = (ask(store, retriever, "paraphrases") for retriever in ("bm25", "lead"))
    tables = wording(store, [run], TASK).tables
    table = tables["wordings"]
    assert list(table["wording"]) == ["paraphrase:one", "paraphrase:two", MEAN]
    assert list(table["n"]) == [5, 4, 4]
    assert list(table["n_left_out"]) == [0, 1, 1]
    recalls = score_run(store, run, TASK).per_instance
    first = tables["instances"][tables["instances"]["wording"] == "paraphrase:one"]
    assert dict(zip(first["instance"], first["original"], strict=True)) == pytest.approx(dict(recalls))
    assert table["difference"].iloc[0] == pytest.approx(first["difference"].mean())
    # A retriever that does not read the hypothesis does not move.
    table = wording(store, [lead, run], TASK).tables["wordings"]
    of_lead = table[table["label"] == "lead"]
    assert list(of_lead["difference"]) == [0, 0, 0]
    assert list(of_lead["overlap"])[:2] == [1, 1]
    assert finding(table, "paraphrases").startswith("Rewording changes nothing for lead; ")


def test_what_it_refuses(tmp_path: Path) -> None:
    store = store_with(tiny_dataset(), tmp_path)
    run = complete_run(store, "tiny", "bm25", tasks=[TASK])
    for runs, question in (([run], "negation"), ([run], "rhyme"), ([], "paraphrases")):
        with pytest.raises(SettingError):
            wording(store, runs, TASK, question)
    nothing = pd.DataFrame({"n": [0], "label": ["x"]})
    assert finding(nothing, "negation") == "No wording has been answered yet."
