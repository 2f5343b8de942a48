"""CSV, JSON and prediction files."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from evidencebench_core.data import instance_from
from evidencebench_core.export import Row, csv_text, rows, write_csv, write_json
from evidencebench_core.export.tables import cell
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunStore, score_run
from evidencebench_core.runs import run as run_of
from evidencebench_core.tasks import task_named
from tests.factories import raw_instance, store_with, tiny_dataset

SENTENCES = ["# Results", "=1+1 was found.", "Blood pressure fell.", "-5 mmHg, it fell.", "The end."]
# x is covered by 1 and 2, y by 2, z by 4
PAPER = instance_from("i", raw_instance(SENTENCES, {"x": [1, 2], "y": [2], "z": [4]}))


def answer(picks: Sequence[int] | None, name: str) -> Row:
    """The picks, and behind them the other sentences."""
    if picks is None:
        return Row(name, PAPER.evidence, None, "=it broke", PAPER)
    ranking = (*picks, *(index for index in range(5) if index not in picks))
    retrieval = Retrieval(ranking, (0.5, -0.25, -0.25, -1.0, -2.0), len(picks))
    return Row(name, PAPER.evidence, retrieval, "", PAPER)


def test_picks_by_hand_and_why_an_instance_has_none() -> None:
    """1 covers x; 2 covers x again and y newly; 4 covers z. Formulas are text and numbers stay numbers."""
    answers = [answer([1, 2, 4], "@sum"), answer([], "empty"), answer(None, "broken")]
    write_csv({task_named("er@3"): answers}, stream := io.StringIO(newline=""), "run-1")
    assert stream.getvalue().split("\n") == [
        "run,task,instance,pick,rank,sentence,score,picked,covers,newly_covered,note,section,text",
        "run-1,er@3,'@sum,1,1,1,0.5,1,A1,A1,,Results,'=1+1 was found.",
        "run-1,er@3,'@sum,2,2,2,-0.25,1,A1 A2,A2,,Results,Blood pressure fell.",
        "run-1,er@3,'@sum,3,3,4,-0.25,1,A3,A3,,Results,The end.",
        "run-1,er@3,empty,,,,,,,,no sentence was picked,,",
        "run-1,er@3,broken,,,,,,,,no answer: =it broke,,",
        "",
    ]


def test_every_beginning_of_a_formula_is_quoted_and_other_texts_stay() -> None:
    for text in ("=1", "+1", "-1", "@x", "\t=1", "\r=1", "  =1", "\n=1", "＝1", "－1"):
        assert cell(text) == f"'{text}".replace("\r", "\n")
    for text in ("", "1-2", "p = 0.05", "'quoted'", "a\t=1"):
        assert cell(text) == text
    # but for what could steer a terminal
    assert cell("x\x1b[31m\u202e\x00\x9b\n") == "x[U+001B][31m[U+202E][U+0000][U+009B]\n"


def test_a_frame_as_csv() -> None:
    """No text is a formula, be it a heading or a category; no cell is Python."""
    frame = pd.DataFrame({
        "=1+1": ["=cmd()", None], "name": pd.Categorical(["@x", "\tx"]), "both": [-1.5, "-1.5 \u202e"], "n": [-2, 3],
    })  # fmt: skip
    csv = "'=1+1,name,both,n\r\n'=cmd(),'@x,-1.5,-2\r\n,'\tx,'-1.5 [U+202E],3\r\n"
    assert csv_text(frame) == csv
    assert csv_text(frame.head(0)) == "'=1+1,name,both,n\r\n"
    frame = pd.DataFrame({"sections": [("abstract", "results"), ()], "share": [0.1487320000000001, 0.5]})
    assert csv_text(frame) == "sections,share\r\nabstract; results,0.148732\r\n,0.5\r\n"


def test_json_has_what_it_takes_to_trust_a_run(tmp_path: Path) -> None:
    store = store_with(tiny_dataset(), tmp_path)
    tasks = [task_named("er@3"), task_named("result-er@5")]
    run, stream = run_of(store, "tiny", "bm25", {"k1": 1.2}, tasks, 5), io.StringIO()
    answers = [(task, score_run(store, run.id, task), rows(store, run, task)) for task in tasks]
    info = store.dataset("tiny")
    write_json(run, info, answers, stream)
    document = json.loads(stream.getvalue())
    assert (document["run"], document["settings"]) == (run.id, {"k1": 1.2, "b": 0.75})
    assert document["dataset"] == {"name": "tiny", "sha256": info.sha256, "n_instances": 6}
    first, score = document["tasks"]["er@3"], answers[0][1]
    assert first["score"]["aspect_recall"] == score.aspect_recall
    retrieval, record = RunStore(store).retrieval(run.id, "er@3", "tiny_0"), first["instances"]["tiny_0"]
    assert (tuple(record["selection"]), tuple(record["scores"])) == (retrieval.selection, retrieval.scores)
    assert record["aspect_recall"] == score.per_instance["tiny_0"]
    assert first["instances"]["tiny_5"] == {"error": "it was not asked"}
    assert document["tasks"]["result-er@5"]["instances"]["tiny_4"] == {"error": "it has no result aspects"}
