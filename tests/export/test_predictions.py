"""One's own system as a run: what comes in, what is refused, and that a refused file leaves nothing."""

import io
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import Store
from evidencebench_core.errors import EvidenceBenchError, PaperError, SettingError, StoreError
from evidencebench_core.export import rows, write_predictions, write_run
from evidencebench_core.export.predictions import import_annotator, import_run
from evidencebench_core.runs import RunStore, run, score_run
from evidencebench_core.tasks import TASKS, task_named
from tests.factories import raw_dataset, store_with

FOUR = [name for name, task in TASKS.items() if task.budget is not None]
ID = "tiny_0"  # of 12 sentences, K is 2
TREC = "tiny_0 Q0 {} 1 1.0 me\n"
Content = str | bytes | Mapping[str, object]


@pytest.fixture
def bm25(store: Store) -> str:
    """Id of a finished run."""
    return run(store, "tiny", "bm25").id


def text_of(store: Store, run_id: str, task: str, form: str = "predictions") -> str:
    """The run as a prediction file, or as a TREC run."""
    run, stream = RunStore(store).run(run_id), io.StringIO()
    answers = rows(store, run, task_named(task))
    if form == "predictions":
        write_predictions(answers, stream)
    else:
        write_run(answers, task_named(task), stream, "mine")
    return stream.getvalue()


def saved(tmp_path: Path, content: Content) -> Path:
    path = tmp_path / "mine.file"
    data = json.dumps(content) if isinstance(content, Mapping) else content
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_an_exported_ranking_comes_back_with_the_same_scores(store: Store, bm25: str, tmp_path: Path) -> None:
    path = saved(tmp_path, text_of(store, bm25, "er@99", "trec"))
    found = import_run(store, "tiny", path, " my  system ")
    assert found.label == "my system (imported)"
    for task in (*FOUR, "er@3"):
        assert score_run(store, found.id, task) == score_run(store, bm25, task)
    assert score_run(store, found.id, "result-er@unconstrained").aspect_recall == 1


@pytest.mark.parametrize("form", ["predictions", "trec"])
@pytest.mark.parametrize("task", FOUR)
def test_exported_selections_come_back(store: Store, bm25: str, tmp_path: Path, task: str, form: str) -> None:
    found = import_run(store, "tiny", saved(tmp_path, text_of(store, bm25, task, form)), "mine", [task])
    assert list(found.tasks) == ([task] if form == "predictions" else FOUR)
    assert score_run(store, found.id, task) == score_run(store, bm25, task)


def test_ids_that_a_line_cannot_hold(tmp_path: Path) -> None:
    (raw,) = raw_dataset(1).values()
    store = store_with({"a b%20c": raw, "plain%41": raw}, tmp_path)
    mine = import_run(store, "tiny", saved(tmp_path, "plain%41 Q0 3 1 1 me\na%20b%2520c Q0 4 1 1 me"), "mine")
    assert RunStore(store).selections(mine, "er@10") == {"plain%41": (3,), "a b%20c": (4,)}


def test_scores_order_a_ranking_and_ranks_where_they_are_equal(store: Store, tmp_path: Path) -> None:
    lines = ("3 9 0.5", "4 2 0.5", "5 7 -1e-3", "6 1 2")
    text = "\r\n".join(f"tiny_0\tQ0 {line} me" for line in lines)
    mine = import_run(store, "tiny", saved(tmp_path, b"\xef\xbb\xbf" + text.encode()), "mine")
    answer = RunStore(store).retrieval(mine.id, "er@3", ID)
    assert answer
    assert (answer.ranking, answer.selection) == ((6, 4, 3, 5), (6, 4, 3))
    assert answer.scores == (2, 0.5, 0.5, -0.001)


def test_scores_of_sentences_are_a_ranking(store: Store, tmp_path: Path) -> None:
    scores = {ID: {"7": 11.0, "2": 0.5, "10": 0.5, "0": -1}, "tiny_4": {"1": 1}}  # tiny_4 has no results
    mine = import_run(store, "tiny", saved(tmp_path, scores), "mine")
    assert mine.tasks == {"er@optimal": 2, "er@10": 2, "result-er@optimal": 1, "result-er@5": 1}
    assert RunStore(store).selections(mine, "er@3") == {ID: (7, 2, 10), "tiny_4": (1,)}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"tiny_9": [1]}, "'tiny_9' is no instance of the dataset. Its ids are like 'tiny_0'"),
        ({ID: [12]}, "'tiny_0' selects sentence 12, but the paper has 12 sentences"),
        ({ID: [True]}, "True, not an integer"),
        ({ID: 3}, "has 3 for a selection"),
        ({ID: [1, 2, 3, 4]}, "holds selections, which are for one task"),
        ({ID: {"x": 1.0}}, "'tiny_0' has {'x': 1.0} for scores"),
        ({}, "holds no answer"),
        ('{"tiny_0": [1], "tiny_0": [2]}', "'tiny_0' more than once"),
        (b"\x89PNG\xff\xfe\x00", "is not UTF-8"),
        (TREC.format(1) + "tiny_0 Q0 2 2 0.5", "line 2 is 'tiny_0 Q0 2 2 0.5'"),
        (TREC.format(1) + "\n" + TREC.format(1), "line 3, 'tiny_0' ranks sentence 1 again"),
        *((TREC.format(text), "line 1") for text in ("-1", "d3", "9" * 5_000)),
        *((f"tiny_0 Q0 1 1 {text} me", "line 1 is ") for text in ("nan", "inf", "1e999", "high")),
    ],
)
def test_no_row_counts_if_one_is_wrong(store: Store, tmp_path: Path, content: Content, problem: str) -> None:
    path = saved(tmp_path, content)
    with pytest.raises(EvidenceBenchError) as error:
        import_run(store, "tiny", path, "mine")
    assert str(error.value).startswith(str(path))
    assert problem in str(error.value)
    assert len(str(error.value)) < 600
    assert RunStore(store).runs() == ()


def test_a_name_that_is_taken_or_cannot_be(store: Store, bm25: str, tmp_path: Path) -> None:
    ten, five = (saved(tmp_path, text_of(store, bm25, task)).read_text() for task in ("er@10", "result-er@5"))
    first = import_run(store, "tiny", saved(tmp_path, ten), "mine", ["er@10"])
    both = import_run(store, "tiny", saved(tmp_path, five), "mine", ["result-er@5"])
    assert (both.id, both.tasks) == (first.id, {"er@10": 6, "result-er@5": 5})
    one = saved(tmp_path, {ID: [0]})
    with pytest.raises(SettingError, match=r"answers for er@10"):
        import_run(store, "tiny", one, "mine", ["er@optimal", "er@10"])
    for name in ("  ", "x" * 101):
        with pytest.raises(StoreError, match="at most 100 characters"):
            import_run(store, "tiny", one, name, ["er@10"])
    assert RunStore(store).run(first.id) == both


def test_marks_of_a_person_are_a_run_in_the_order_of_marking(store: Store) -> None:
    annotations, info = Annotations(store), store.dataset("tiny")
    with pytest.raises(PaperError):
        import_annotator(store, "tiny", "Ada")
    blank = Annotation("Ada", "Tea.", 12).add_aspect("Design").add_aspect("Harm", is_result=True)
    first = blank.mark("aspect_1", [9]).mark("aspect_0", [4])
    last = first.mark("aspect_1", [1]).mark("aspect_0", [2])
    for state in (blank, first, first.mark("aspect_0", [7, 2]), last):
        annotations.save(instance_key(info, ID), state)
    annotations.save(instance_key(info, "tiny_1"), blank)  # no mark
    marks = import_annotator(store, "tiny", "Ada")
    assert (marks.label, marks.tasks["er@10"], marks.tasks["result-er@5"]) == ("Ada (annotator)", 1, 1)
    picks = {task: RunStore(store).selections(marks, task) for task in ("er@10", "er@3", "result-er@5")}
    assert picks == {"er@10": {ID: (4, 9, 2, 1)}, "er@3": {ID: (4, 9, 2)}, "result-er@5": {ID: (9, 1)}}
    annotations.save(instance_key(info, ID), first)
    again = import_annotator(store, "tiny", "Ada")
    assert again.id == marks.id
    assert RunStore(store).selections(again, "er@10") == {ID: (4, 9)}
