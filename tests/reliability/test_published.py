"""The paper's figures are all there, and what can be computed from them is what the specification says."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from evidencebench_core import metrics
from evidencebench_core.reliability.published import neighbours, published_figures
from evidencebench_core.reliability.tasks import ORDERS, RELIABILITY_TASKS
from tests.conftest import real_file

MODELS = ("GPT-4", "GPT-3.5", "Llama-2-7b-Chat", "Mistral-Instruct-v01")


def test_a_figure_of_every_table() -> None:
    figures = published_figures()
    assert len(figures) == 208
    assert {one.source for one in figures} == {*(f"Table {n}" for n in range(1, 9)), "Section 4"}
    assert {one.task for one in figures} <= set(RELIABILITY_TASKS)
    assert [(one.model, one.remark) for one in figures if "misprint" in one.remark] == [
        ("GPT-3.5", "misprint 0.87"),
        ("Llama-2-7b-Chat", "misprint 0.85"),
    ]


def test_neighbours_are_one_figure_a_model() -> None:
    assert {one.model for one in neighbours("baseline")} == set(MODELS)
    assert {one.variant for one in neighbours("freeform")} == {"", "BioASQ"}
    assert [one.value for one in neighbours("spelling")] == [0.831, 0.848, 0.753, 0.781]


# Rules 13, 14 and 42: bias, signed bias, primacy and recency follow from Tables 6 and 7, the drops from Table 1.
@pytest.mark.parametrize(
    ("model", "bias", "signed", "primacy", "recency"),
    [
        ("GPT-4", 0.0353, 0.0285, 0.048, -0.002),
        ("GPT-3.5", 0.0736, 0.0736, -0.005, -0.009),
        ("Llama-2-7b-Chat", 0.3360, 0.1502, 0.672, -0.410),
        ("Mistral-Instruct-v01", 0.1931, -0.1931, 0.296, -0.176),
    ],
)
def test_the_printed_bias(model: str, bias: float, signed: float, primacy: float, recency: float) -> None:
    by_order = {
        one.variant: one.value
        for one in published_figures("few-shot")
        if (one.model, one.figure) == (model, "share_of_yes")
    }
    shares = [by_order[order] for order in ORDERS]
    assert metrics.bias(shares) == pytest.approx(bias, abs=6e-5)
    assert metrics.signed_bias(shares) == pytest.approx(signed, abs=6e-5)
    assert metrics.place_contrast(shares, ORDERS, 0) == pytest.approx(primacy, abs=6e-4)
    assert metrics.place_contrast(shares, ORDERS, -1) == pytest.approx(recency, abs=6e-4)
    printed = [one.value for one in neighbours("few-shot") if one.model == model]
    assert printed == [pytest.approx(bias, abs=6e-4)]


def test_the_printed_drops() -> None:
    for task, model, drop in [
        ("distraction", "Llama-2-7b-Chat", -0.2045),
        ("distraction", "Mistral-Instruct-v01", -0.3803),
    ]:
        (value,) = (one.value for one in neighbours(task) if one.model == model)
        (baseline,) = (one.value for one in neighbours("baseline") if one.model == model)
        assert metrics.relative_change(value, baseline) == pytest.approx(drop, abs=5e-5)
    curve = {(one.model, one.variant): one.value for one in published_figures("spelling") if one.ci95}
    changes = [metrics.relative_change(curve[model, "50"], curve[model, "1"]) for model in MODELS]
    assert np.round(np.array(changes, dtype=float), 3).tolist() == [-0.042, -0.046, -0.117, -0.101]


@pytest.mark.realdata
def test_they_are_those_of_the_source() -> None:
    with real_file("published_rambla.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, one in zip(rows, published_figures(), strict=True):
        value = float(row["value"].rstrip("%")) / (100 if row["value"].endswith("%") else 1)
        spread = [float(end) for end in row["spread"].strip("[]").split(",")] if row["spread"] else None
        assert one.value == pytest.approx(value)
        assert (list(one.ci95) if one.ci95 else None) == spread
        assert one.source.removeprefix("Table ").lower() == row["table"]
        assert str(one.n or "") == row["n"]
        assert one.model in row["model"] or one.model.startswith("deberta")
