"""Browse: a list to search, a set carried to it, an instance to read, a miss to work through, another hypothesis."""

import pytest

from components.carried import instance_set, read_set
from evidencebench_core.analyses.missed import outcomes, queue_of
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.data import Store, open_store
from evidencebench_core.runs import score_run
from tests.pages.app import OpenPage, table_rows

READ = {"instance": "sample_cohort"}
sample = pytest.mark.usefixtures("sample_store")


def test_a_list_is_searched_filtered_and_sorted_by_recall(open_page: OpenPage, runs: dict[str, str]) -> None:
    app = open_page("browse")
    app.text_input[0].set_value("night shift diabetes")
    assert "1 of 6" in app.run().words
    assert app.address["q"] == "night shift diabetes"
    assert "6 of 6" in app.press("Clear").words
    assert "q" not in app.address
    here = {"task": "er@10", "runs": f"{runs['bm25']},{runs['abstract-tail']}"}
    recall = score_run(open_store(), runs["bm25"], "er@10").per_instance
    rows = table_rows(app.run(**here, sort=runs["bm25"], desc="1"), "Instances of")
    assert [rows[name]["cells"][1] for name in rows] == sorted(recall.values(), reverse=True)
    least = sorted(recall.values())[3] - 1e-3
    app.run(where=f"{runs['bm25']}:{least:.3f}-1,n_sentences:1-")
    assert set(table_rows(app, "Instances of")) == {name for name, of in recall.items() if of >= least}
    flag = Note(instance_id="sample_trial", author="ml", dataset="sample_data", flagged=True)
    NoteStore(open_store()).add(flag)
    assert list(table_rows(app.run(where="noted:Flagged"), "Instances of")) == ["sample_trial"]
    assert len(table_rows(app.run(where="noted:None"), "Instances of")) == 5
    app.run(instance="sample_cohort", where="")
    assert list(table_rows(app, "Aspect Recall on this instance")) == ["A", "B", "ceiling", "random"]


@sample
def test_an_instance_is_read_and_its_neighbour_opened(open_page: OpenPage) -> None:
    assert "Ranks side by side" not in open_page("browse", **READ, live="bm25").words
    app = open_page("browse", **READ, live="bm25~lead", task="er@7")
    assert all(len(row["cells"]) == 5 for row in table_rows(app, "Ranks of the picked").values())
    for text in ("Longer cumulative exposure to rotating night", "Synthetic paper", "**1** of 6", "K = 7"):
        assert text in app.words, text
    assert app.named("selectbox", "Task").value == "er@7"
    app.named("toggle", "Underline the words").set_value(True).run()
    assert app.address["words"] == "1"
    assert not app.problems
    app.pagination[0].set_value(2)
    app.run()
    assert app.address["instance"] == "sample_case_control"
    # without result aspects a result task is skipped, not zero
    assert (
        "skipped on Result-ER@5, never scored 0"
        in app.run(instance="sample_exposure", task="result-er@5").words
    )


def test_retrievers_asked_now_have_settings_of_their_own(open_page: OpenPage, runs: dict[str, str]) -> None:
    live = "bm25;k1=0.9~bm25"
    app = open_page("browse", **READ, task="er@10", live=live, runs=runs["lead"])
    names = [row["cells"][0] for row in table_rows(app, "Aspect Recall on this instance").values()]
    assert names[:3] == [f"A lead ({runs['lead'][:4]})", "B bm25 k1=0.9", "C bm25"]
    assert app.address["live"] == live
    # a fourth system is not drawn, which is said; a typed one that cannot be is said where it is typed
    app.run(runs=f"{runs['lead']},{runs['abstract-tail']}")
    assert f"Not drawn: abstract-tail ({runs['abstract-tail'][:4]})." in app.words
    app.named("multiselect", "Retrievers asked now").set_value(["bm25;k1=0.9", "bm25 k1=lots"])
    assert "k1" in app.run().error[0].value
    app.named("multiselect", "Retrievers asked now").set_value(["bm25;k1=0.9", "bm25 k1=1.2"])
    assert app.run().address["live"] == "bm25;k1=0.9~bm25;k1=1.2"


@sample
def test_a_set_is_carried_and_one_of_other_data_let_go(open_page: OpenPage, sample_store: Store) -> None:
    dataset, ids = sample_store.dataset("sample_data"), sample_store.ids("sample_data")
    text = instance_set("<b> . :red[x]", dataset, reversed(ids[1:4]))
    app = open_page("browse", among=text)
    assert list(table_rows(app, "Instances of")) == list(ids[1:4])
    assert "<b> . :red[x]: 3 instances" in app.words.replace("**", "")
    assert "**2** of 3" in app.run(instance=ids[2]).words
    assert "among" not in app.run(instance="").press("All instances").address
    for stale in ("0" + text if text[0] != "0" else "1" + text, text[:12], f"{text[:9]}AAAA.x", "é"):
        assert read_set(stale, dataset) is None
    app.run(among=f"00000000{text[8:]}")
    assert "from other data" in app.problems
    assert len(table_rows(app, "Instances of")) == 6
    app.run(q="night shift diabetes").press("Keep as a set")
    read = read_set(app.address["among"], dataset)
    assert read is not None
    assert (read.name, read.ids, "q" in app.address) == ("“night shift diabetes”", (ids[0],), False)


def test_a_miss_is_worked_through_where_the_paper_is_read(open_page: OpenPage, runs: dict[str, str]) -> None:
    store, task, run = open_store(), "result-er@optimal", runs["lead"]
    misses = queue_of(outcomes(store, run, task))
    first, second = misses.head(2).to_dict("records")
    here = {"task": task, "runs": run, "instance": first["instance"], "aspect": first["label"]}
    app = open_page("browse", **here)
    assert f"Why lead missed {first['label']}" in app.words
    others = table_rows(app, "What other runs made")
    assert set(others) == {runs["bm25"], runs["abstract-tail"]}
    passages = table_rows(app, "Sentences that cover")
    assert set(map(int, passages)) == set(first["covering"])
    app.press("Save and next")  # nobody's note
    assert "author" in app.error[0].value
    assert not NoteStore(store).notes(run, task)
    app.named("text_input", "Author", 1).set_value("ml")  # behind the one of the whole instance
    app.named("text_area", "Comment", 1).set_value("Why?")
    app.press("Save and next")
    assert (app.address["instance"], app.address["aspect"]) == (second["instance"], second["label"])
    (note,) = NoteStore(store).notes(run, task)
    assert (note.author, note.text, note.aspect_id) == ("ml", "Why?", first["aspect"])
    assert note.cause == first["cause"]
    # within a set the next miss is of that set
    among = instance_set("one", store.dataset("sample_data"), [misses["instance"].iloc[-1]])
    app.run(among=among, **here).press("Next miss")
    assert app.address["instance"] == misses["instance"].iloc[-1]


@sample
def test_a_typed_hypothesis_is_scored_only_once_the_reader_says_so(open_page: OpenPage) -> None:
    app = open_page("browse", **READ).press("negation")
    assert "The gold was made for the original" in app.words
    assert "The gold was made for the original" not in app.press("Back to the original").words
    edited = dict(READ, live="lead~bm25", system="1", task="er@10", h="Night shifts harm hospital employees")
    app = open_page("browse", **edited)
    assert "Not scored" in app.words
    assert "Aspect Recall was" not in app.words
    app.named("checkbox", "Score it as if the gold still applied").check().run()
    assert app.address["asif"] == "1"
    # the same figures as in the scores of the two hypotheses
    assert "4 picks kept, 6 gained, 6 lost. Aspect Recall was **35.7%** and is **42.9%**." in app.words
    assert len(table_rows(app, "Original, Edited")) >= 10
    # another edit asks again
    app.text_area[0].set_value("Night work helps.").run()
    assert app.address["h"] == "Night work helps."
    assert "asif" not in app.address
    # the agreement belongs to one instance
    app.checkbox[0].check().run()
    app.pagination[0].set_value(2)
    assert {"h", "asif"}.isdisjoint(app.run().address)
