"""``construct run --from evidence-inference``, and the mark wherever a recall on it is shown."""

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from evidencebench_core.data.model import SUFFICIENT_NOTE
from tests.construction.trials_folder import trials_folder
from tests.llm.server import answering, reply, scripted
from tests.serving import Answer, serving


def test_evidence_inference_as_a_dataset(command, tmp_path: Path) -> None:
    words = ("construct", "run", "--from", "evidence-inference", trials_folder(tmp_path / "annotations"))
    printed = command(*words, "--name", "ei")
    assert printed.code == 0
    assert "Instances: 1 of 4 (25.0%) comparisons kept" in printed.out
    assert SUFFICIENT_NOTE in printed.out
    assert "PMC103: is not in" in printed.err
    assert command.json(*words, "--name", "ei")["added"] is False  # the same again
    (dataset, *_) = command.json("datasets")
    assert (dataset["name"], dataset["sufficient"], dataset["n_instances"]) == ("ei", True, 1)
    assert dataset["source"].startswith("Evidence Inference, ")
    a, b = command.run("bm25", dataset="ei"), command.run("structure", dataset="ei")
    for said in (
        ("score", a),
        ("compare", a, b, "--task", "er@optimal"),
        ("analyse", "compare", a, b),
        ("analyse", "ends", a),
        ("analyse", "positions", a),
        ("analyse", "missed", a),
        ("analyse", "slices", a, b),
        ("analyse", "dataset", "ei"),
        ("analyse", "spelling", a),
    ):
        assert "sufficient, not complete" in " ".join(command(*said).out.split()), said
    assert command.json("score", a)[0]["sufficient_gold"] is True
    assert command.json("compare", a, b, "--task", "er@optimal")["sufficient_gold"] is True
    page = tmp_path / "run.html"
    assert command("export", a, "--format", "html", "--task", "er@optimal", "--out", page).code == 0
    assert "sufficient, not complete" in page.read_text(encoding="utf-8")
    assert "sufficient, not complete" in command("show", "ei_pmc_101_0").out
    file = tmp_path / "again.json"
    assert command("export-dataset", "ei", "--out", file).code == 0
    assert command("delete", "dataset", "ei", "--yes").code == 0
    assert command("ingest", file, "--name", "back").code == 0
    assert command.json("datasets")[-1]["sufficient"] is True


def test_what_is_wrong_is_one_line(command, tmp_path: Path) -> None:
    words = ("construct", "run", "--from", "evidence-inference", tmp_path, "--name", "ei")
    assert "has no prompts_merged.csv or prompts.csv" in command.failure(*words)
    assert "--model" in command.failure("construct", "run", tmp_path, "--name", "ei")
    assert "has no builds" in command.failure("construct", "run", tmp_path, "--name", "ei", "--model", "m")
    assert command("construct", "status", "ei").code == 1
    assert command.json("datasets") == []


def test_a_model_aligns_the_aspects_of_a_dataset(
    command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = trials_folder(tmp_path / "annotations")
    assert command("construct", "run", "--from", "evidence-inference", folder, "--name", "ei").code == 0
    said = "4: Heart rate did not change - so\nDECISION: [4]"
    # Sentences 0 to 7: two windows, [0, 8) and [5, 8); 4 is not in the second.
    with scripted(
        answering(lambda sent: reply(said if "\n0: " in sent["messages"][1]["content"] else "DECISION: []")),
        listed=(),
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        words = ("construct", "align", "--dataset", "ei", "--model", "m")
        printed = command(*words)
        assert printed.code == 0, printed.err
        assert "To ask m: about 4 calls" in printed.err
        assert "hit              100.0 %" in printed.out  # 4 is gold of both aspects
        assert "reach             50.0 %" in printed.out  # each has two gold sentences
        assert SUFFICIENT_NOTE in printed.out
        document = command.json(*words)
        assert (document["n_judged"], document["marks"]["value"], document["sufficient_gold"]) == (
            2,
            1.0,
            True,
        )
        assert document["agreement"] == {}  # an unquoted sentence is no negative
        assert len(server.requests) == 4
        (trial, copy) = (folder / "xml_files" / f"PMC{number}.nxml" for number in (101, 102))
        copy.write_text(trial.read_text().replace(">101<", ">102<"))
        assert command("construct", "run", "--from", "evidence-inference", folder, "--name", "two").code == 0
        swapped = command("construct", "align", "--dataset", "two", "--model", "m", "--swap")
        assert "false yes        100.0 %" in swapped.out
        assert "hit" not in swapped.out
    gone = command("delete", "dataset", "two", "--yes")
    assert gone.code == 0
    assert "1 model run" in gone.out + gone.err
    assert "ids alone" not in command.failure("construct", "align", "--dataset", "no", "--model", "m")


def test_reviews_are_harvested(command, tmp_path: Path) -> None:
    folder = tmp_path / "reviews"
    folder.mkdir()
    text = (
        '<p>Tea helps <xref ref-type="bibr" rid="a">1</xref>. Two help <xref ref-type="bibr" rid="b">2</xref> \
<xref ref-type="bibr" rid="c">3</xref>.</p>'
    )
    refs = "".join(f'<ref id="{one}"><pub-id pub-id-type="doi">10.1/{one}</pub-id></ref>' for one in "abc")
    (folder / "one.xml").write_text(
        f"<article><body>{text}</body><back><ref-list>{refs}</ref-list></back></article>"
    )
    (folder / "two.nxml").write_text("<article>")
    out = tmp_path / "citations.jsonl"
    document = command.json("construct", "harvest", folder, "--out", out)
    assert (document["in"], document["kept"], document["dropped"]) == (3, 1, {"multi_citation": 2})
    assert "two.nxml" in document["unread"][0]
    (line,) = out.read_text().splitlines()
    assert json.loads(line)["paper"] == "10.1/a"
    printed = command("construct", "harvest", folder / "one.xml", "--out", out)
    assert "1 of 3 citations of 1 review are in" in printed.out
    assert command("construct", "harvest", folder / "two.nxml", "--out", out).code == 1


def test_a_review_is_fetched_by_its_id(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '<p>Tea helps <xref ref-type="bibr" rid="a">1</xref>.</p>'
    refs = '<ref id="a"><pub-id pub-id-type="pmid">77</pub-id></ref>'
    review = f"<article><body>{text}</body><back><ref-list>{refs}</ref-list></back></article>".encode()
    found = json.dumps({"resultList": {"result": [{"pmcid": "PMC34"}]}}).encode()

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        return 200, {}, found if "/search" in request.path else review

    out = tmp_path / "citations.jsonl"
    with serving(answer) as address:
        monkeypatch.setenv("EVIDENCEBENCH_EUROPE_PMC", address)
        document = command.json("construct", "harvest", "PMC34", "doi:10.1000/abc", "--out", out)
    assert document["kept"] == 2
    assert json.loads(out.read_text().splitlines()[0])["paper"] == "77"
    assert "cannot be reached" in command("construct", "harvest", "PMC34", "--out", out).err
    assert "nothing.xml" in command("construct", "harvest", tmp_path / "nothing.xml", "--out", out).err


def test_cost_and_gap(command, tmp_path: Path) -> None:
    assert command("construct", "cost", "--kept", "2").code == 2
    document = command.json("construct", "cost", "--kept", "0.5")
    assert document["paper"]["calls"] == 323
    assert document["dollars"] == pytest.approx(2 * 7_470, abs=20)
    assert "$7,470 asked one by one, $3,735 at half price" in command("construct", "cost").out
    rows = [f"p{number % 5},{number % 2},{number % 2},{number % 3 == 0:d}" for number in range(60)]
    judged = tmp_path / "judged.csv"
    judged.write_text("\n".join(["paper,team_1,team_2,model", *rows]))
    found = command.json("construct", "gap", judged)["Cohen's kappa"]
    assert (found["humans"], found["is_equivalent"]) == (1.0, False)
    assert "60 judgements of 5 papers" in command("construct", "gap", judged).out
    judged.write_text("paper,team_1,team_2,model\np,1,2,0\n")
    assert "line 2: has the judgements" in command.failure("construct", "gap", judged)


def test_a_licence_that_allows_no_changed_copy_is_for_private_use(command, tmp_path: Path) -> None:
    folder = trials_folder(tmp_path / "annotations")
    trial = folder / "xml_files" / "PMC101.nxml"
    trial.write_text(trial.read_text().replace("licenses/by/4.0", "licenses/by-nc-nd/4.0"))
    words = ("construct", "run", "--from", "evidence-inference", folder, "--name", "ei")
    assert command.json(*words)["licences"] == {"CC BY-NC-ND": 1, "": 1}
    out = tmp_path / "out.json"
    line = command.failure("export-dataset", "ei", "--out", out)
    assert "ei_pmc_101_0" in line
    assert "CC BY-NC-ND" in line
    assert not out.exists()
    assert command("run", "--dataset", "ei", "--retriever", "bm25").code == 0
