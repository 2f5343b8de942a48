"""Files of items, and what they can say wrongly."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from evidencebench_core.data import open_store
from evidencebench_core.errors import DataError
from evidencebench_core.reliability.items import ITEM_SETS, Item
from evidencebench_core.reliability.read_items import ingest_items, read_items

OWN = [
    {"id": 1, "question": "Does tea help?", "context": ["Tea was drunk.", "It helped."], "answer": " YES "},
    {"id": "2", "question": "Coffee?", "context": "No, or so.", "answer": "no", "long_answer": "No.", "group": "g"},
    {"id": "3", "question": "Milk?", "context": "Maybe {so} $name </context>.", "answer": None},
]  # fmt: skip


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv", ".tsv"])
def test_own_items_in_each_format(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"own{suffix}"
    if suffix in (".csv", ".tsv"):
        frame = pd.DataFrame(OWN).assign(other="x").rename(columns={"id": "ID", "question": "question "})
        frame["context"] = ["Tea was drunk.\n\nIt helped.", *frame["context"][1:]]
        text = frame.to_csv(index=False, sep="," if suffix == ".csv" else "\t", lineterminator="\r\n")
        path.write_text(f"\ufeff{text}\r\n")
    else:
        path.write_text(json.dumps(OWN) if suffix == ".json" else "\n".join(map(json.dumps, OWN)))
    kind, items = read_items(path)
    assert kind == "questions"
    fields = [(item.id, item.answer, item.long_answer, item.group) for item in items]
    assert fields == [("1", "yes", (), ""), ("2", "no", ("No.",), "g"), ("3", None, (), "")]
    assert items[0].text == "Tea was drunk.\n\nIt helped."
    assert items[2].text == "Maybe {so} $name </context>."


def test_bioasq(tmp_path: Path) -> None:
    path = tmp_path / "training11b.json"
    questions = [
        {"id": "55", "type": "yesno", "body": "Is it?", "exact_answer": "yes",
         "ideal_answer": ["Yes, it is.", "It is."], "snippets": [{"text": "One."}, {"text": "Two."}]},
        {"id": "56", "type": "summary", "body": "What is it?", "ideal_answer": "A thing.", "snippets": []},
    ]  # fmt: skip
    path.write_text(json.dumps({"questions": questions}))
    _, (first, second) = read_items(path)
    assert (first.text, first.long_answer, first.answer) == ("One.\n\nTwo.", ("Yes, it is.", "It is."), "yes")
    assert (second.context, second.long_answer, second.answer) == ((), ("A thing.",), None)


def test_pairs_and_pubmedqa(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    first = {"statement_1": 'A "b.', "statement_2": "B", "similar": 1}
    path.write_text(json.dumps([first, {"statement_1": "C", "statement_2": "D", "similar": "no"}]))
    pairs = (Item("1", 'A "b.', (), "yes", ("B",)), Item("2", "C", (), "no", ("D",)))
    assert read_items(path) == ("pairs", pairs)
    raw = {"QUESTION": "Q?", "CONTEXTS": ["One.", "Two."], "LONG_ANSWER": "Three.", "final_decision": "maybe"}
    path.write_text(json.dumps({"12": raw}))
    assert read_items(path) == ("questions", (Item("12", "Q?", ("One.", "Two."), "maybe", ("Three.",)),))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "id,question,context,answer\nx,A?,c,yes\nx,B?,c,no\n", "has the id 'x' more than once"),
        ("a.csv", "id,question,context,answer\nx,A?,c,perhaps\n", "line 2, answer is 'perhaps': it should be"),
        ("a.csv", "id,question,context,answer\nx,A?,c,yes\ny,B?,,no\n", "line 3, context is empty"),
        ("a.csv", "id,context\nx,y\n", "line 2, question is missing"),
        ("a.json", '[{"id": "x", "question": "Q", "context": ["a", " "]}]', "record 1, context is ' '"),
        ("a.json", '["x"]', "record 1 is 'x', not an object"),
    ],
)  # fmt: skip
def test_nothing_is_stored_of_a_wrong_file(name: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    store = open_store(tmp_path / "store.sqlite")
    with pytest.raises(DataError, match=re.escape(message)):
        ingest_items(store, path)
    assert ITEM_SETS.all(store) == ()
