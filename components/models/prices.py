"""The table of prices, which the user can edit; what differs from ours is kept in the user's own file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from components.app.session import flash
from components.models.server import session_model
from components.widgets.markdown import literal
from evidencebench_core.data.files import whole_file
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Price, price_of, prices, prices_path

_COLUMNS = ("model", "prompt", "completion", "batch", "date", "source")


def own_prices(edited: pd.DataFrame) -> dict[str, Price]:
    """The rows of an edited table that differ from ours."""
    ours = prices(Path(os.devnull))
    own: dict[str, Price] = {}
    for place, row in enumerate(edited.to_dict("records"), start=1):
        cells: dict[str, Any] = {name: row.get(name) for name in _COLUMNS}
        if all(pd.isna(value) or value == "" for value in cells.values()):
            continue
        model = "" if pd.isna(cells["model"]) else str(cells["model"]).strip()
        if not model or not model.isprintable():
            raise SettingError(f"row {place} of the prices", "names no model", "Write it, or remove the row.")
        figures = [0.0 if pd.isna(cells[name]) else float(cells[name]) for name in ("prompt", "completion")]
        if not all(0 <= figure < 1e6 for figure in figures):
            raise SettingError(
                f"price of {model}", "is no price", "Give dollars for a million tokens, from 0 on."
            )
        batch = 1.0 if pd.isna(cells["batch"]) else float(cells["batch"])
        if not 0 <= batch <= 1:
            raise SettingError(
                f"price of {model}",
                "has no such share for batches",
                "Give a number from 0 to 1, such as 0.5.",
            )
        price = Price(figures[0], figures[1], _printable(cells["date"]), _printable(cells["source"]), batch)
        if ours.get(model) != price:
            own[model] = price
    return own


def prices_text(own: Mapping[str, Price]) -> str:
    """A table of prices as TOML."""
    lines = [
        "# Dollars for a million tokens. Written by the page Models; these win over ours.",
        "",
        "[models]",
    ]
    for model, price in own.items():
        name, date, source = (
            json.dumps(text, ensure_ascii=False) for text in (model, price.date, price.source)
        )
        lines.append(
            f"{name} = {{ prompt = {price.prompt!r}, completion = {price.completion!r}, batch = {price.batch!r}, "
            f"date = {date}, source = {source} }}"
        )
    return "\n".join(lines) + "\n"


def save_prices(own: Mapping[str, Price]) -> Path:
    """Put the user's prices in the place of what was there."""
    path = prices_path()
    with whole_file(path, make_folder=True) as stream:
        stream.write(prices_text(own).encode())
        stream.flush()
        prices(Path(stream.name))  # reads as what was meant, or is not kept
    return path


def draw_prices() -> None:
    """The table with its editor."""
    known = prices()
    st.markdown(
        "What a million tokens cost, in dollars. **Check them at the source:** makers change prices without "
        "notice, and nothing here is looked up. A model that is not in the table is counted in tokens only. "
        "Give a local model the price 0 if you want a cap in money with it."
    )
    model = session_model()
    if model:
        price = price_of(model, known)
        said = (
            "unknown price: tokens only"
            if price is None
            else f"{price.prompt:g} for prompts and {price.completion:g} for answers"
        )
        st.caption(f"The model chosen in this session, {literal(model)}: {said}.")
    frame = pd.DataFrame(
        [(name, one.prompt, one.completion, one.batch, one.date, one.source) for name, one in known.items()],
        columns=list(_COLUMNS),
    )
    edited = st.data_editor(
        frame,
        num_rows="dynamic",
        hide_index=True,
        width="stretch",
        key=f"prices.{hash(prices_text(known))}",
        column_config={
            "model": st.column_config.TextColumn("Model", required=True, max_chars=200),
            "prompt": st.column_config.NumberColumn("Prompt, $ per million", min_value=0.0, format="%.3f"),
            "completion": st.column_config.NumberColumn(
                "Answer, $ per million", min_value=0.0, format="%.3f"
            ),
            "batch": st.column_config.NumberColumn(
                "Share in batches",
                min_value=0.0,
                max_value=1.0,
                format="%.2f",
                help="The share of the price that calls of the batch engine cost: 0.5 is half.",
            ),
            "date": st.column_config.TextColumn("As of", max_chars=40),
            "source": st.column_config.TextColumn("Source", max_chars=300),
        },
    )
    if st.button("Save prices", type="primary", key="prices.save"):
        try:
            own = own_prices(edited)
            path = save_prices(own)
        except SettingError as error:
            st.error(literal(str(error)))
        else:
            flash(f"Saved to {literal(str(path))}.")
            st.rerun()
    st.caption(
        f"Your own prices are kept in {literal(str(prices_path()))}; a row of ours that you remove comes back."
    )


def _printable(text: Any) -> str:
    return (
        ""
        if pd.isna(text)
        else "".join(character for character in str(text).strip() if character.isprintable())
    )
