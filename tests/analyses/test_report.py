"""What an analysis hands back."""

import json

import numpy as np
import pandas as pd
import pytest

from evidencebench_core.analyses import Report
from evidencebench_core.errors import UnknownNameError

TABLE = pd.DataFrame(
    [(1, 0.5, (1, np.int64(2)), "<b>", True, 1, float("inf")), (2, float("nan"), (), None, False, None, 1.0)],
    columns=["n", "share", "places", "name", "few", "rank", "gap"],
).astype({"rank": "Int64"})


def test_as_json_the_undefined_is_null_and_numbers_are_plain() -> None:
    document = Report("T", {"t": TABLE, "none": TABLE[:0]}, ("a note",), finding="So.").as_dict()
    first = {"n": 1, "share": 0.5, "places": [1, 2], "name": "<b>", "few": True, "rank": 1, "gap": None}
    second = {"n": 2, "share": None, "places": [], "name": None, "few": False, "rank": None, "gap": 1.0}
    tables = {"t": [first, second], "none": []}
    expected = {"title": "T", "finding": "So.", "tables": tables, "notes": ["a note"]}
    assert json.loads(json.dumps(document, allow_nan=False)) == expected


def test_a_table_by_name_or_the_first() -> None:
    report = Report("T", {"t": TABLE, "few": TABLE[:1]})
    assert (report.to_pandas() is TABLE, len(report.to_pandas("few"))) == (True, 1)
    with pytest.raises(UnknownNameError, match=r"no table 'x'\. Its tables: t, few"):
        report.to_pandas("x")


def test_shares_are_known_by_their_columns_and_bounds_stand_beside_them() -> None:
    bounded = pd.DataFrame(columns=["recall", "low", "high", "n"])
    report = Report("T", {"bounded": bounded, "counts": bounded[["low", "n"]]})
    assert report.share_columns("bounded") == {"recall", "low", "high"}
    assert report.share_columns("counts") == set()


def test_columns_that_are_shown_have_their_meanings() -> None:
    legend = {"n": "how many", "gap": "none is shown", "share": "of all"}
    brief = {"t": ["n", "few"], "hidden": ()}
    report = Report("T", {"t": TABLE, "hidden": TABLE}, legend=legend, brief=brief)
    assert report.meanings().keys() == {"n", "few"}


def test_html_is_escaped() -> None:
    html = Report("<i>", {"<u>": TABLE}, ("<s>",))._repr_html_()
    for tag in ("<i>", "<u>", "<s>", "<b>"):
        assert tag not in html
        assert tag.replace("<", "&lt;").replace(">", "&gt;") in html
