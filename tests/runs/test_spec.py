from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.retrievers.base import Setting
from evidencebench_core.runs.spec import RunSpec, settings_from_json, settings_json

_SETTINGS = st.dictionaries(
    st.text(max_size=5),
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.tuples(st.text(max_size=5), st.integers(0, 9)),
)


def test_id_is_the_hash_of_the_canonical_json() -> None:
    canonical = b'{"dataset":"ab","retriever":"bm25","settings":{"b":0.75,"k1":1.5}}'
    spec = RunSpec("ab", "bm25", {"k1": 1.5, "b": 0.75})
    assert spec.id == hashlib.sha256(canonical).hexdigest()[:12]


def test_a_variant_enters_the_id_only_where_there_is_one() -> None:
    sha256 = "a89bb2db83cb"
    plain = b'{"dataset":"a89bb2db83cb","retriever":"bm25","settings":{}}'
    negated = (
        b'{"dataset":"a89bb2db83cb","retriever":"bm25","settings":{},'
        b'"variant":"negation","variant_digest":"12ab"}'
    )
    assert RunSpec(sha256, "bm25", {}, "", "").id == hashlib.sha256(plain).hexdigest()[:12]
    assert RunSpec(sha256, "bm25", {}, "negation", "12ab").id == hashlib.sha256(negated).hexdigest()[:12]
    assert (
        RunSpec(sha256, "bm25", {}, "negation", "34cd").id
        != RunSpec(sha256, "bm25", {}, "negation", "12ab").id
    )


def test_id_does_not_hang_on_the_order_of_settings() -> None:
    assert RunSpec("ab", "r", {"x": 1, "y": 2}).id == RunSpec("ab", "r", {"y": 2, "x": 1}).id


def test_id_tells_data_retriever_and_every_setting_apart() -> None:
    specs = [
        RunSpec("ab", "r", {"x": 1}),
        RunSpec("ac", "r", {"x": 1}),
        RunSpec("ab", "q", {"x": 1}),
        RunSpec("ab", "r", {"x": 2}),
        RunSpec("ab", "r", {"y": 1}),
        RunSpec("ab", "r", {}),
    ]
    assert len({spec.id for spec in specs}) == len(specs)


@given(_SETTINGS)
def test_settings_come_back_as_they_were(settings: dict[str, Setting]) -> None:
    assert settings_from_json(settings_json(settings)) == settings


@given(_SETTINGS)
def test_id_survives_the_store(settings: dict[str, Setting]) -> None:
    back = settings_from_json(settings_json(settings))
    assert RunSpec("ab", "r", back).id == RunSpec("ab", "r", settings).id
