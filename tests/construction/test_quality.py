"""What can be said of a gold alone, and what people say of it in sheets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidencebench_core.cli import main
from evidencebench_core.construction import BuildInput, BuildState, ConstructionSettings, Pool, windows
from evidencebench_core.construction.decisions import Decision
from evidencebench_core.construction.orders import system_order
from evidencebench_core.construction.quality import (
    Marks,
    build_marks,
    decision_checks,
    gold_checks,
    instance_marks,
    model_checks,
)
from evidencebench_core.construction.review import Review
from evidencebench_core.construction.sheets import QUESTIONS, UNPROPOSED, sheet_figures, sheet_rows
from evidencebench_core.construction.store import add_builds, use_settings
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, SettingError
from evidencebench_core.stats.proportion import exact_interval
from evidencebench_core.tasks import task_named


@pytest.mark.parametrize(
    ("n_yes", "n", "printed"),
    [
        (50, 50, (92.9, 100)),
        (47, 50, (83.5, 98.7)),
        (49, 50, (89.4, 99.9)),
        (3, 50, (1.3, 16.5)),
        (0, 200, (0, 1.8)),
    ],
)
def test_exact_intervals_of_rule_44(n_yes: int, n: int, printed: tuple[float, float]) -> None:
    assert [round(100 * one, 1) for one in exact_interval(n_yes, n) or ()] == list(printed)
    assert exact_interval(0, 0) is None


def test_gold_by_hand() -> None:
    sentences = ("T", "a", "T", "b", "c", "d", "e", "f", "g", "h")
    one = Marks(
        "x",
        "p",
        sentences,
        {0: frozenset({0, 2}), 1: frozenset({0}), 2: frozenset({0, 2}), 4: frozenset()},
        5,
    )
    found = gold_checks([one, Marks("y", "q", sentences, {0: frozenset({0, 2})}, 1)])
    assert found.coverage == {"below 70": 1, "70-79": 0, "80-89": 0, "90-99": 0, "100": 1}
    assert (found.n_dropped_aspects, found.n_with_gaps, found.mean_coverage) == (2, 1, 0.8)
    assert (found.n_same, found.n_different, found.different) == (1, 1, (("x", (0, 2)),))
    assert (found.n_twins, found.n_with_twins, found.twins) == (1, 1, (("x", (0, 2)),))
    assert (found.n_aspects, found.mean_spread, found.most_spread, found.share_single) == (4, 7 / 4, 2, 1 / 4)
    assert found.share_positive == 7 / 40
    assert found.n_wide == 3  # 2 of 10 sentences
    none = gold_checks([])
    assert (none.n_instances, none.mean_coverage, none.share_positive) == (0, None, None)


@pytest.mark.parametrize(
    ("n", "of", "band"), [(7, 10, "70-79"), (2, 3, "below 70"), (9, 10, "90-99"), (4, 5, "80-89")]
)
def test_coverage_is_banded_by_integers(n: int, of: int, band: str) -> None:
    covers = {number: frozenset({number}) for number in range(n)}
    found = gold_checks([Marks("x", "p", tuple(map(str, range(20))), covers, of)])
    assert found.coverage[band] == 1


def test_train_set_has_the_verified_figures(train_store: Store) -> None:
    """Rules 17, 56 and 57."""
    found = gold_checks(map(instance_marks, train_store.iter("train")))
    assert [found.coverage[name] for name in ("70-79", "80-89", "90-99", "100")] == [5, 17, 7, 67]
    assert round(100 * (found.mean_coverage or 0), 1) == 95.2
    assert (found.n_with_gaps, found.n_dropped_aspects, found.n_aspects) == (29, 60, 747)
    assert (found.n_same, found.n_different) == (160, 5)
    assert (found.n_twins, found.n_with_twins) == (89, 43)
    assert (round(found.mean_spread or 0, 1), found.most_spread) == (4.2, 36)
    assert (round(100 * (found.share_single or 0), 1), round(100 * (found.share_positive or 0), 2)) == (
        24.5,
        2.55,
    )


# -- builds ---------------------------------------------------------------------------------------

ASPECTS = ("Tea lowers blood pressure", "Of 40 people who drank it none slept")


def build(
    name: str = "a",
    covers: Mapping[int, frozenset[int]] | None = None,
    second: Mapping[int, frozenset[int]] | None = None,
    n: int = 40,
) -> BuildState:
    """A build of two aspects in a paper of so many sentences; every look at a sentence says the same."""
    covers = covers or {0: frozenset({3, 7}), 1: frozenset({20})}
    sentences = tuple(f"Sentence {index} of {name} says =that." for index in range(n))
    pool = Pool("0" * 64, f"pmc_{name}", "Tea", "CC BY", sentences, ("sentence",) * n)  # type: ignore[arg-type]
    settings = ConstructionSettings("m", second_model="other" if second else "")
    given = BuildInput(name, "p", summary="Tea is good: =1+1.", hypothesis="Tea is good.", aspects=ASPECTS)
    results: Any = {"results": {"outcome": "done", "results": [0]}}

    def aligned(by: Mapping[int, frozenset[int]]) -> dict[int, dict[Any, Any]]:
        return {
            number: {
                window: {"yes": sorted(of & set(range(*window))), "failed": False, "n_unknown": 0}
                for window in windows(n)
            }
            for number, of in by.items()
        }

    return BuildState(
        given,
        settings,
        pool=pool,
        results=results,
        aligned=aligned(covers),
        second=aligned(second or {}),
    )


def test_two_models_and_two_looks() -> None:
    states = [
        build("a", second={0: frozenset({3, 8}), 1: frozenset({20})}),
        build("b", second=build("b").covers()),
    ]
    found = model_checks(states, n_resamples=200)
    assert found.n_compared == 160
    assert found.disputed == (("a", 0, 7, True), ("a", 0, 8, False))
    # both 5 (3, 20; 3, 7, 20), first only 1, second only 1: F1 = 10/12
    assert found.agreement["binary F1"]["value"] == pytest.approx(10 / 12)
    assert found.looks["m"]["all"]["kappa"] == 1
    assert found.greedy == ()
    wide = build(covers={0: frozenset(range(6)), 1: frozenset({20})})
    assert model_checks([wide], n_resamples=9).greedy == (("a", 0),)  # six of ten
    assert sorted(found.looks["m"]) == ["4 words", "5 to 8 words", "all"]
    marks = build_marks(states[0])
    assert marks is not None
    assert (marks.covers, marks.n_decomposed) == (states[0].covers(), 2)
    assert (
        build_marks(replace(states[0], aligned={0: states[0].aligned[0]})) is None
    )  # a missing look is no no


def test_people_and_either_model() -> None:
    state = build("a", second={0: frozenset({3, 8}), 1: frozenset({20})})
    rows = filled(sheet_rows([state], "marks", every_sentence=True), lambda _: "no")
    found = sheet_figures([state], rows, n_resamples=9)
    assert [(one["a"], one["b"]) for one in found.raters] == [("Ada", "model"), ("Ada", "second model")]
    ann = Review(state, (Decision("a", "uncovered:0", "accept", "ann", "blind", about=ASPECTS[0]),))
    values = [one["measures"]["exact accuracy"]["value"] for one in decision_checks([ann], 9).raters]
    assert values == [38 / 40, 38 / 40]


def test_disputes_go_to_people() -> None:
    state = build("a", second={0: frozenset({3, 8}), 1: frozenset({20})})
    rows = list(sheet_rows([state], "disputes"))
    assert [row["item"] for row in rows] == ["mark:0:7", "mark:0:8"]
    said = sheet_figures(
        [state], filled(iter(rows), lambda row: "yes" if ":7" in row["item"] else "no")
    ).raters
    assert {one["b"]: (one["n"], one["measures"]["exact accuracy"]["value"]) for one in said} == {
        "model": (2, 1), "second model": (2, 0),
    }  # fmt: skip


def test_systems_under_either_gold() -> None:
    """Rule 48, by hand: aspects {3, 7} and {20} against {8} and {20}; a third build lacks a system's selection."""
    states = [build(name, second={0: frozenset({8}), 1: frozenset({20})}) for name in "abc"]
    picks = {
        "both": dict.fromkeys("abc", (3, 20)),
        "first": dict.fromkeys("abc", (7, 1)),
        "other": dict.fromkeys("ab", (8, 2, 3, 20)),
    }
    found = system_order(states, picks, task_named("er@3"), n_resamples=50)
    assert found.n_instances == 2
    # of four picks three are drawn: 3 in 4 each
    assert found.recalls == {"both": (1, 0.5), "first": (0.5, 0), "other": (0.75, 0.75)}
    assert found.correlation.tau == pytest.approx(
        1 / 3
    )  # both over first, other over first; both and other turn
    assert system_order(states[:1], {"x": {"a": (3,)}}, task_named("result-er@5"), 9).recalls == {"x": (1, 0)}
    for systems, task in ((picks, "er@optimal"), ({"x": {}}, "er@3"), ({}, "er@3")):
        with pytest.raises(SettingError):
            system_order(states, systems, task_named(task))


def test_blind_work_is_agreement_and_assisted_work_acceptance() -> None:
    """Rule 51, by hand: the model says 3 and 7 of aspect 0, and 20 of aspect 1, of 40 sentences."""
    before = Review(build(), ())

    def on(item: str, verdict: Any, by: str = "ann", mode: Any = "blind") -> Decision:
        return Decision("a", item, verdict, by, mode, about=before.about(item) or "")

    review = before.after([
        on("mark:0:3", "add"), on("mark:0:9", "add"), on("mark:0:9", "reject", mode="assisted"),
        on("mark:0:3", "add", "bob"), on("uncovered:1", "accept", "bob"),
        on("mark:0:7", "accept", mode="assisted"), on("mark:1:20", "reject", mode="assisted"),
        on("mark:0:3", "unsure", "cy", "assisted"), on("mark:0:3", "accept", "model:m 1", "assisted"),
        on("aspect:0", "accept", mode="assisted"),  # of the user's own, so no proposal
    ])  # fmt: skip
    found = decision_checks([review], n_resamples=50)
    assert list(found.acceptance) == ["mark"]
    assert (found.acceptance["mark"]["n"], found.acceptance["mark"]["value"]) == (2, 0.5)
    f1 = {(one["a"], one["b"]): (one["n"], one["measures"]["binary F1"]["value"]) for one in found.raters}
    assert f1 == {
        ("ann", "bob"): (40, pytest.approx(2 / 3)),
        ("ann", "model"): (40, 0.5),
        ("bob", "model"): (80, 0.5),  # 3 in common, 7 and 20 of the model only
    }
    assert found.gaps["binary F1"].gap == pytest.approx(2 / 3 - (1 / 2 + 2 / 3) / 2)
    none = decision_checks([before])
    assert (none.acceptance, none.raters, none.gaps) == ({}, (), {})


def test_a_sheet_hides_what_was_proposed() -> None:
    rows = list(sheet_rows([build()], "marks"))
    assert len(rows) == 3 + 2 * UNPROPOSED
    assert {*rows[0]} == {
        "kind",
        "build",
        "item",
        "summary",
        "aspect",
        "sentence",
        "drawn",
        "rater",
        "covers",
    }
    assert rows == list(sheet_rows([build()], "marks"))
    assert rows != list(sheet_rows([build()], "marks", seed=1))
    first = [int(row["item"].split(":")[2]) for row in rows[:12]]
    assert first != sorted(first)
    assert not {3, 7} <= set(first[:2])
    every = list(sheet_rows([build()], "marks", every_sentence=True))
    assert [row["item"].split(":")[2] for row in every] == [str(index) for index in range(40)]
    assert "summary" not in next(sheet_rows([build()], "hypotheses"))


def _columns(row: Mapping[str, str]) -> list[str]:
    return [name for kind, questions in QUESTIONS.items() if kind == row["kind"] for name in questions]


def filled(rows: Iterator[dict[str, str]], answer: Any, rater: str = "Ada") -> list[dict[str, str]]:
    return [{**row, "rater": rater, **{name: answer(row) for name in _columns(row)}} for row in rows]


def test_precision_and_estimated_recall_are_unbiased() -> None:
    """Rule 50: over seeds the estimate has the mean of the truth: 8, of which 2 proposed."""
    true = {0: {3, *range(10, 16)}, 1: {20}}

    def answer(row: Mapping[str, str]) -> str:
        _, number, index = row["item"].split(":")
        return "yes" if int(index) in true[int(number)] else "no"

    recalls = []
    for seed in range(200):  # the standard error of the mean is 0.4
        found = sheet_figures([build()], filled(sheet_rows([build()], "marks", seed), answer), n_resamples=2)
        assert found.precision is not None
        assert found.recall is not None
        assert found.precision["value"] == 2 / 3
        recalls.append(2 / found.recall["value"])  # all that are right, estimated
        assert not found.raters  # a sample is no agreement
    assert np.mean(recalls) == pytest.approx(8, abs=1.5)


def test_a_sheet_knows_what_was_drawn() -> None:
    """Whatever its seed all its rows count; after other proposals none does, as its weights are no longer so."""
    rows = filled(sheet_rows([build()], "marks", seed=-1), lambda _: "yes")
    found = sheet_figures([build()], rows, n_resamples=2)
    assert (found.n_changed, found.recall["n"] if found.recall else 0) == (0, 2 * UNPROPOSED)
    other = build(covers={0: frozenset({3, 8}), 1: frozenset({20})})
    assert sheet_figures([other], rows, n_resamples=2).n_changed == UNPROPOSED + 2
    every = filled(sheet_rows([build()], "marks", every_sentence=True), lambda _: "yes")
    found = sheet_figures([build()], every, n_resamples=2)
    assert found.recall is not None
    assert found.recall["value"] in (
        2 / 40,
        1 / 40,
    )  # of the one aspect that was drawn, and nothing is estimated
    assert sheet_figures([build()], [{**rows[0], "drawn": "prose"}]).n_changed == 1


def test_two_people_and_the_model() -> None:
    states = [build("a"), build("b")]

    def rows(wrong: int, rater: str) -> list[dict[str, str]]:
        def answer(row: Mapping[str, str]) -> str:
            _, number, index = map(str, row["item"].split(":"))
            return "yes" if int(index) in build().covers()[int(number)] or int(index) == wrong else "No "

        return filled(sheet_rows(states, "marks", every_sentence=True), answer, rater)

    found = sheet_figures(states, [*rows(1, "Ada"), *rows(2, "Bo")], n_resamples=200)
    assert [(one["a"], one["b"], one["n"]) for one in found.raters] == [
        ("Ada", "Bo", 80), ("Ada", "model", 80), ("Bo", "model", 80),
    ]  # fmt: skip
    f1 = [one["measures"]["binary F1"]["value"] for one in found.raters]
    assert f1[0] < f1[1] == f1[2]
    assert found.gaps["binary F1"].gap == pytest.approx(f1[0] - f1[1])


def test_other_sheets() -> None:
    """Rules 52 to 55; answers in words, and about texts that have changed."""
    states = [build("a"), build("b")]
    rows = filled(sheet_rows(states, "hypotheses"), lambda row: "yes" if row["build"] == "a" else "too broad")
    rows += filled(sheet_rows(states, "aspects"), lambda row: "no" if row["item"] == "aspect:1" else "yes")
    rows += filled(sheet_rows(states, "results"), lambda row: "yes" if row["item"] == "aspect:0" else "no")
    rows += filled(
        sheet_rows(states, "stances"), lambda row: "supports" if row["build"] == "a" else "neither"
    )
    rows += filled(sheet_rows(states, "lists"), lambda _: "")
    rows += rows[:1]
    rows.append({**rows[2], "rater": "Bo", "aspect": "Another"})
    rows.append({**rows[2], "build": "gone"})
    found = sheet_figures(states, rows, n_resamples=100)
    assert (found.n_blank, found.n_changed, found.n_doubled) == (2, 2, 1)
    assert found.questions["hypotheses: value"]["words"] == ["too broad"]
    assert found.questions["hypotheses: value"]["exact"] == exact_interval(1, 1)
    assert (found.questions["aspects: atomic"]["share"], found.questions["aspects: atomic"]["exact"]) == (
        0.5,
        None,
    )
    assert found.questions["aspects: faithful"]["exact"] is None
    assert sheet_figures(states, rows[2:3], n_resamples=9).questions["aspects: alone"][
        "exact"
    ] == exact_interval(1, 1)
    assert found.stances == {"supports": 0.5, "refutes": 0, "neither": 0.5}
    (labels,) = (one for one in found.raters if one["what"] == "results: result")
    assert labels["measures"]["Cohen's kappa"]["value"] == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"covers": "perhaps"}, "row 2: answers"),
        ({"kind": "prose"}, "row 2: is of no sheet"),
        ({"rater": "model:m"}, "row 2: has the rater"),
    ],
)
def test_a_bad_answer_is_named_by_row(change: Mapping[str, str], problem: str) -> None:
    row = next(sheet_rows([build()], "marks"))
    with pytest.raises(DataError, match=problem):
        sheet_figures([build()], [{**row, "covers": "yes", **change}])


@pytest.mark.parametrize(
    "item", ["", "mark", "mark:0", "mark:9:3", "mark:0:999", "mark:0:-1", "mark:x:y", "aspect:0"]
)
def test_an_item_that_is_not_there_is_counted(item: str) -> None:
    row = next(sheet_rows([build()], "marks"))
    assert sheet_figures([build()], [{**row, "covers": "yes", "item": item}]).n_changed == 1


# -- the verb -------------------------------------------------------------------------------------


def test_the_verb(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from evidencebench_core.construction.pipeline import Construction
    from evidencebench_core.construction.state import Position

    add_builds(store, "lab", [build().input, build("b").input])
    use_settings(store, "lab", ConstructionSettings("m"))
    at, sheet = f"--store={store.path}", tmp_path / "sheet.csv"
    with monkeypatch.context() as few:
        few.setattr("evidencebench_core.construction.pipeline._MOST_DERIVED", 0)  # there are more builds
        assert main(["construct", "quality", "lab", at]) == 1
    assert "2 builds not looked at with these settings, and left out" in capsys.readouterr().err
    assert main(["construct", "quality", "lab", at]) == 1
    assert "no build whose aspects" in capsys.readouterr().err
    states = {name: build(name) for name in ("a", "b")}
    monkeypatch.setattr(Construction, "states", lambda _, ids=None: (states[one] for one in ids or states))
    monkeypatch.setattr(
        Construction, "positions", lambda _, status=None: dict.fromkeys(states, Position("coverage", "kept"))
    )
    assert main(["construct", "quality", "lab", "--json", at]) == 0
    assert json.loads(capsys.readouterr().out)["gold"]["coverage"]["100"] == 2
    assert main(["construct", "quality", "lab", at]) == 0
    assert main(["construct", "quality", "lab", "--sheet", "marks", "--out", str(sheet), at]) == 0
    capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(sheet.read_text(), newline="")))
    assert len(rows) == 46
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), delimiter=";")  # as a spreadsheet in Europe saves it
    writer.writeheader()
    writer.writerows({**row, "covers": "yes", "rater": "=Ada"} for row in rows)
    sheet.write_text(text.getvalue())
    assert main(["construct", "quality", "lab", "--read", str(sheet), "--json", at]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_changed"], found["precision"]["value"]) == (0, 1)
    assert main(["construct", "quality", "lab", "--read", str(sheet), at]) == 0
    assert "estimated from" in capsys.readouterr().out


def test_plan_and_bad_calls(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    at = f"--store={store.path}"
    assert main(["construct", "quality", "--plan", "--json", at]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert 550 <= plan["aspects"] <= 570  # rule 58: some 560 aspects, 91,000 pairs
    assert 90_000 <= plan["pairs"] <= 92_000
    for line in (["--plan", "0"], [], ["n", "--dataset", "d"], ["--dataset", "d", "--read", "x.csv"]):
        assert main(["construct", "quality", *line, at]) == 1
