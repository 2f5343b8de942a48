"""The authors' log on a stand-in of the test set: systems as runs of scores, and what they cannot do."""

import csv
import json
from pathlib import Path
from statistics import fmean

import pytest

from evidencebench_core.analyses.comparison import compare
from evidencebench_core.analyses.missed import missed
from evidencebench_core.analyses.slices import slices
from evidencebench_core.data import Store
from evidencebench_core.errors import DataError, EvidenceBenchError, SettingError
from evidencebench_core.export import rows
from evidencebench_core.runs import RunStore, execute, plan, score_run
from evidencebench_core.runs.official import import_official
from evidencebench_core.tasks import task_named
from tests.factories import raw_dataset, store_with

COLUMNS = ["Experiment Name", "Time", "Cov@", "Model", "Coverage List", "Average Coverage", "Recall List"]
TEN = [1 / 3, 2 / 3, 0.0, 1.0, 1 / 3, 1 / 3, 0.0, 0.0, 1.0, 1.0]  # of 3 aspects each
EIGHT = [0.5, 0.0, 1.0, 0.5, 0.5, 1.0, 0.0, 0.0]  # of 2 result aspects; tiny_4 and tiny_9 have none
LINES = [  # name, Cov@, model, coverage, recall
    ("gpt4o__ICL__10__filter", "10", "gpt-4o", [0.0] * 10, None),
    ("gpt4o__ICL__10__filter", "10", "gpt-4o", TEN, None),
    ("claude_3_5__10__ICL", "-1", "claude", TEN[::-1], None),
    ("gpt_4o__result_SBS__opt_k_filter", "", "gpt-4o", None, EIGHT),
    ("gpt_4o__result_SBS__5__filter", "", "gpt-4o", None, EIGHT[::-1]),
    ("gpt_4o__result_ICL_filter", "", "gpt-4o", None, EIGHT),
    ("e5__-O__opt_k__filter", "-1", "e5", TEN, None),
    ("pipeline_test1", "-1", "gpt-4o", [0.5] * 3, None),
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return store_with(raw_dataset(10) | raw_dataset(5, n_sentences=16), tmp_path)


def log(folder: Path, lines: list[tuple[str, str, str, list[float] | None, list[float] | None]]) -> Path:
    path = folder / "logs.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for name, at, model, coverage, recall in lines:
            lists = [json.dumps(values) if values else "" for values in (coverage, recall)]
            writer.writerow([name, "06_05", at, model, lists[0], "", lists[1]])
    return path


def test_systems_become_runs_of_scores_by_task(store: Store, tmp_path: Path) -> None:
    infos, notes = import_official(store, "tiny", log(tmp_path, LINES))
    assert {info.label: dict(info.tasks) for info in infos} == {
        "gpt-4o, icl (official)": {"er@10": 10, "result-er@unconstrained": 8},
        "claude, icl (official)": {"er@optimal": 10},
        "gpt-4o, sec-by-sec (official)": {"result-er@optimal": 8, "result-er@5": 8},
        "e5, no instruction (official)": {"er@optimal": 10},
    }
    assert len(notes) == 2
    icl, _, sections, _ = infos
    score = score_run(store, icl, "er@10")
    assert list(score.per_instance.values()) == TEN
    assert score.aspect_recall == pytest.approx(fmean(TEN))
    assert score.ci95 is not None
    assert score.measures["precision"].value is None
    score = score_run(store, sections, "result-er@5")
    assert (score.n_scored, score.n_skipped, score.per_instance["tiny_5"]) == (8, 2, EIGHT[3])
    assert import_official(store, "tiny", log(tmp_path, LINES))[0] == tuple(map(RunStore(store).run, infos))


def test_they_are_compared_and_sliced_with_others(store: Store, tmp_path: Path) -> None:
    infos, _ = import_official(store, "tiny", log(tmp_path, LINES))
    for _ in execute(plan(store, "tiny", "lead")):
        pass
    (lead,) = [run for run in RunStore(store).runs("tiny") if run.retriever == "lead"]
    report = compare(store, [infos[1], infos[3], lead], "er@optimal")
    assert list(report.tables["systems"]["recall"][:2]) == pytest.approx([fmean(TEN)] * 2)
    assert report.tables["systems"]["picks"].isna().tolist() == [True, True, False]
    assert report.tables["pairs"]["n"].tolist() == [10] * 3
    assert len(slices(store, [infos[1], lead], "er@optimal").tables["recall"])
    for needs_picks in (
        lambda: missed(store, infos[0], "er@10"),
        lambda: list(rows(store, infos[0], task_named("er@10"))),
        lambda: RunStore(store).retrieval(infos[0], "er@10", "tiny_0"),
    ):
        with pytest.raises(SettingError, match="has scores only") as error:
            needs_picks()
        assert "\n" not in str(error.value)


def test_another_log_is_refused(store: Store, tmp_path: Path) -> None:
    # of another dataset; no shares of three; nothing
    for shares in (TEN[:9], [0.25] * 10, [7.0] * 10, None):
        lines = [("bm25__10__filter", "10", "bm25", shares, None)] if shares else []
        with pytest.raises(DataError):
            import_official(store, "tiny", log(tmp_path, lines))
    for content in (b"a,b\n1,2\n", b"\xff\xfe", b""):
        path = tmp_path / "other.csv"
        path.write_bytes(content)
        with pytest.raises(EvidenceBenchError):
            import_official(store, "tiny", path)
    assert RunStore(store).runs("tiny") == ()
