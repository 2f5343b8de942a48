"""README and the manual are right: files are written, commands and Python run as printed, page by page."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from reportlab.pdfgen.canvas import Canvas

from evidencebench_core import ingest, make_retriever, open_store, score_run
from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.cli import main
from evidencebench_core.cli.frame import app
from evidencebench_core.data import Store, formats
from evidencebench_core.data.formats.simple import SimpleRecord
from evidencebench_core.metrics.measures import MEASURES, Measure
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.reliability.read_items import SAMPLE, read_items
from evidencebench_core.retrievers import RETRIEVERS, table
from evidencebench_core.runs import RunStore, run
from evidencebench_core.tasks import scoring
from tests.annotation.scripted_model import paper_text, scripted_answer
from tests.annotation.trials_folder import trials_folder
from tests.answers.medaesqa import main_file
from tests.cli.test_verbs import VERBS
from tests.factories import tiny_dataset, written
from tests.llm.server import answering, reply, scripted
from tests.reliability.scripted_models import step

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUNNABLE = [
    path for path in PAGES if re.search("^```(bash|python|json)", path.read_text("utf-8"), re.MULTILINE)
]


def blocks(path: Path) -> Iterator[tuple[str, str, str]]:
    """Language, name of the file and content of each block of code."""
    text = path.read_text(encoding="utf-8")
    yield from re.findall(r"^```(\w*) ?(\S*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands(content: str) -> Iterator[list[str]]:
    """The words behind ``evidencebench`` of every line, without the environment before it."""
    for line in content.splitlines():
        words = shlex.split(line, comments=True)
        if "evidencebench" in words:
            yield words[words.index("evidencebench") + 1 :]


FORMS = {  # what a prompt holds, and the answer in the form that it asks for
    "VERDICT:": "ANSWER: Tea lowers it [0].",
    "FACTS:": "FACTS:\nsupport: tea helps",
    "<nuggets>": "1: support",
    "<document>": "LABEL: supports",
    "LABEL:": "LABEL: required",
}


def model_answer(sent: dict[str, Any]) -> Any:
    """Answers in the form that is asked for; reliability's questions are answered by rule."""
    text = sent["messages"][-1]["content"]
    for mark, answer in FORMS.items():
        if mark in text:
            return reply(answer)
    if "NEW CONTEXT:" in text or "NEW QUESTION:" in text:
        mark = "NEW CONTEXT" if "NEW CONTEXT:" in text else "NEW QUESTION"
        return reply(f"{mark}: {re.split('<(?:context|question)>', text)[-1][:60]} again?")
    if "<aspect>" in text or "ASPECTS:" in text or "HYPOTHESIS:" in text:
        return reply(scripted_answer(sent))
    return reply("DECISION: [0]") if "DECISION" in text else step(sent)


def bring(folder: Path, store: Store) -> None:
    """What the commands read, small: datasets, papers, PubMedQA, MedAESQA with its documents, runs of BioGen."""
    (folder / "sample_data").symlink_to(ROOT / "sample_data")
    ingest(store, ROOT / "sample_data" / "sample_data.json")
    ingest(store, written(tiny_dataset(), folder / "train.json"))
    written({key: [0, 1, 2] for key in store.ids("sample_data")}, folder / "mine.json")
    (folder / "papers").mkdir()
    for path in (folder / "paper.txt", folder / "papers" / "tea.txt"):
        path.write_text(paper_text(), encoding="utf-8")
    canvas = Canvas(str(folder / "paper.pdf"))
    for line in range(20):
        canvas.drawString(72, 750 - 20 * line, f"Night work was followed by diabetes in {line} of 40 nurses.")
    canvas.save()
    kept = OwnPapers(store).save(read_paper(paper_text().encode(), "tea.txt"), "Tea", "Tea is good.")
    for annotator, indices in (("Ada", [3]), ("Ben", [3, 7])):
        marks = Annotation(annotator, kept.hypothesis, kept.n_sentences).add_aspect("It is about blood")
        Annotations(store).save(kept.key, marks.mark("aspect_0", indices))
    key = instance_key(store.dataset("train"), "tiny_0")
    Annotations(store).save(key, Annotation("Ada", "", 12).add_aspect("Dose", sentences=[1]))
    trials_folder(folder / "annotations")

    pubmedqa = {}
    for item in read_items(SAMPLE)[1]:
        pubmedqa[item.id] = {
            "QUESTION": item.question, "CONTEXTS": item.context, "LONG_ANSWER": item.long_answer[0],
            "final_decision": item.answer,
        }  # fmt: skip
    written(pubmedqa, folder / "ori_pqal.json")
    written(main_file(), folder / "medaesqa_v1.json")
    written({str(n): {"title": "", "abstract": "So."} for n in range(1001, 1060)}, folder / "abstracts.json")
    for name in ("run1", "run2"):
        sentence = {"text": "Tea helps.", "citations": [12]}
        item = {"metadata": {"run_id": name, "topic_id": "1"}, "responses": [sentence]}
        written([item], folder / f"{name}.json")
    written({"1": ["tea helps"]}, folder / "nuggets.json")
    written({"12": {"title": "Tea", "abstract": "It helps."}}, folder / "biogen_abstracts.json")


@pytest.mark.slow
@pytest.mark.usefixtures("hashing_encoder")
@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.name)
def test_a_page_as_printed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A block of ``bash`` or ``python`` is run, one with the name of a file is written; RUN is the newest run."""
    store, names, runs = open_store(), dict[str, Any](), RunStore(open_store())
    monkeypatch.chdir(tmp_path)
    bring(tmp_path, store)
    words_for, known = dict[str, str](), set[str]()

    def note_runs() -> None:
        made = [run.id for run in runs.runs_of() if run.id not in known and not run.variant]
        known.update(made)
        if made:
            words_for.update({"OTHER_RUN": words_for.get("RUN", ""), "RUN": made[0]})

    with scripted(answering(model_answer), listed=("M", "J")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        for _, file, content in blocks(path):
            if file:
                Path(file).write_text(content, encoding="utf-8")
        for language, file, content in blocks(path):
            if language == "python" and not file:
                exec(content, names)  # noqa: S102
                note_runs()
            for words in commands(content) if language == "bash" else ():
                given = [words_for.get(word, word) for word in words]
                assert main(given) == 0, (words, capsys.readouterr())
                printed = capsys.readouterr()
                assert printed.out.strip() or printed.err.strip()
                if words[:2] != ["answers", "judge"]:
                    note_runs()
    if path.name == "data.md":
        _check_data(store, path.read_text("utf-8"))


NOT_RUN = ("app", "download", "analyse mesh", "train-ranker", "finetune-encoder")  # network, files, minutes


@pytest.mark.slow
@pytest.mark.usefixtures("hashing_encoder")
def test_the_examples_of_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store()
    monkeypatch.chdir(tmp_path)
    bring(tmp_path, store)
    for name in ("bm25", "lead"):
        run(store, "train", name)
    for copy, original in (("evidencebench_train_set", "train"), ("pubmedqa", "ori_pqal")):
        Path(f"{copy}.json").write_bytes(Path(f"{original}.json").read_bytes())
    written({key: [0, 1] for key in store.ids("train")}, tmp_path / "mine.json")
    main(["annotate", "export", "--marks", "marks.json"])
    examples = [line.partition("Example: ")[2] for line in VERBS.values()]
    examples.sort(key=lambda line: line.startswith(("evidencebench rename", "evidencebench delete")))
    with scripted(answering(model_answer), listed=("M",)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        for words in commands("\n".join(examples)):
            if not " ".join(words).startswith(NOT_RUN):
                assert main(words) == 0, (words, capsys.readouterr())


def _check_data(store: Store, text: str) -> None:
    """What the manual's files hold, and that its table of keys is whole."""
    counts = {info.name: (info.n_instances, info.sufficient) for info in store.datasets()}
    assert counts.items() >= {
        "mine": (1, True), "table": (2, False), "scifact": (1, True), "qasper-dev": (1, True), "released": (1, False)
    }.items()  # fmt: skip
    instance = store.get("mine", "tea_1")
    assert [aspect.sentence_indices for aspect in instance.evidence.aspects] == [(1, 5), (6,)]
    table = " ".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE))
    assert set(SimpleRecord.model_fields) == set(re.findall(r"`(\w+)`", table))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_command_parses_and_every_link_leads_somewhere(path: Path) -> None:
    """Those that are not run, too: they need a network, Ray or a person."""
    text = path.read_text(encoding="utf-8")
    for _, _, content in blocks(path):
        for words in commands(content):
            command, rest = typer.main.get_command(app), list(words)
            while hasattr(command, "commands"):
                command = command.commands[rest.pop(0)]
            with command.make_context(command.name, rest) as context:  # parses, and runs nothing
                assert context.params
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (path.parent / target).exists(), target


def test_a_retriever_measure_or_format_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, dict[str, Any]] = {}
    for _, file, content in blocks(ROOT / "CONTRIBUTING.md"):
        if file:
            names[file] = {"Measure": Measure}
            exec(content, names[file])  # noqa: S102
    monkeypatch.setattr(table, "RETRIEVERS", {**RETRIEVERS, "longest": names["longest.py"]["Longest"]})
    monkeypatch.setattr(scoring, "MEASURES", (*MEASURES, names["blanks.py"]["row"]))
    pairs = formats.Format(names["pairs.py"]["instances"], frozenset({"claim_text"}))
    monkeypatch.setitem(formats.FORMATS, "pairs", pairs)

    record = {"claim_text": "Tea helps.", "passage": ["No.", "It does help."], "marked": [1]}
    (tmp_path / "p.jsonl").write_text(json.dumps(record))
    store = open_store()
    ingest(store, tmp_path / "p.jsonl")
    assert make_retriever("longest").retrieve  # by its name, everywhere
    score = score_run(store, run(store, "p", "longest"), "er@1")
    assert (score.aspect_recall, score.measures["blanks"].value) == (1.0, 0.0)
    assert table.read_settings("longest").values() == {}
