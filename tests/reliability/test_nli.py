"""Inference as a judge: example 62 of RAmBLA's specification, and a tiny model whose classes stand in another order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidencebench_core.cli import main
from evidencebench_core.data import open_store
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.reliability.card import run_score
from evidencebench_core.reliability.items import Item, add_items
from evidencebench_core.reliability.nli import nli_runs, nli_verdicts
from tests.factories import tiny_classifier


def test_62_verdicts_both_ways() -> None:
    verdicts = nli_verdicts([[2, 1, 0], [2, 1, 0], [2, 1, 0]], [[0, 1, 0], [3, 0, 0], [0, 1, 2]])
    assert verdicts.strict.tolist() == [False, True, False]
    assert verdicts.relaxed.tolist() == [True, True, False]
    assert verdicts.average[0] == pytest.approx((0.6652 + 0.2119) / 2, abs=5e-5)
    assert verdicts.average[0] == pytest.approx(0.4386, abs=5e-5)


def test_pairs_are_judged_and_scored_like_any_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(tmp_path / "store.sqlite")
    pairs = [
        Item(f"p{place}", "tea helps", (), "yes" if place % 2 else "no", (f"{word} sleep",))
        for place, word in enumerate(["tea helps", "tea harms", "harms", "helps"])
    ]
    add_items(store, "pairs", pairs, "pairs")
    folder = tiny_classifier(tmp_path / "nli", ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"])
    runs = nli_runs(store, "pairs", str(folder))
    assert (
        main(["reliability", "nli", "pairs", "--model", str(folder), "--store", str(store.path), "--json"])
        == 0
    )
    assert [one["id"] for one in json.loads(capsys.readouterr().out)["runs"]] == list(runs)
    scores = [run_score(store, run) for run in runs]
    assert [score.model.rsplit(" ", 1)[1] for score in scores] == ["strict", "relaxed", "average"]
    assert [score.n_scored for score in scores] == [4, 4, 4]
    assert scores[0].labels["yes"] <= scores[1].labels["yes"]
    with pytest.raises(SettingError, match="names its classes 'label_0'"):
        nli_runs(
            store, "pairs", str(tiny_classifier(tmp_path / "unnamed", ["LABEL_0", "LABEL_1", "LABEL_2"]))
        )
    with pytest.raises(RetrieverError):
        nli_runs(store, "pairs", str(tmp_path))
