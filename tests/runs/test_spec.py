from __future__ import annotations

import hashlib
import json

import pytest
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


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        (
            RunSpec("ab", "bm25", {"k1": 1.5, "b": 0.75}),
            b'{"dataset":"ab","retriever":"bm25","settings":{"b":0.75,"k1":1.5}}',
        ),
        (
            RunSpec("ab", "bm25", {}, "negation", "12ab"),
            b'{"dataset":"ab","retriever":"bm25","settings":{},"variant":"negation","variant_digest":"12ab"}',
        ),
    ],
)
def test_id_is_the_hash_of_the_canonical_json(spec: RunSpec, canonical: bytes) -> None:
    assert spec.id == hashlib.sha256(canonical).hexdigest()[:12]


def test_id_tells_data_retriever_variant_and_every_setting_apart() -> None:
    specs = [
        RunSpec("ab", "r", {"x": 1, "y": 2}),
        RunSpec("ac", "r", {"x": 1, "y": 2}),
        RunSpec("ab", "q", {"x": 1, "y": 2}),
        RunSpec("ab", "r", {"x": 2, "y": 2}),
        RunSpec("ab", "r", {"x": 1}),
        RunSpec("ab", "r", {"y": 1}),
        RunSpec("ab", "r", {"x": 1}, "negation", "12ab"),
        RunSpec("ab", "r", {"x": 1}, "negation", "34cd"),
    ]
    assert len({spec.id for spec in specs}) == len(specs)
    assert specs[0].id == RunSpec("ab", "r", {"y": 2, "x": 1}).id


@given(_SETTINGS)
def test_settings_come_back_as_they_were(settings: dict[str, Setting]) -> None:
    back = settings_from_json(settings_json(settings))
    assert back == settings
    assert RunSpec("ab", "r", back).id == RunSpec("ab", "r", settings).id


@pytest.mark.parametrize(
    ("retriever", "settings", "run_id"),
    [
        ("structure", {"encoder": "minilm"}, "71702ede806b"),
        ("hybrid", {"of": ("bm25", "structure"), "structure.encoder": "minilm"}, "8734307896eb"),
        ("hybrid", {"of": ("bm25", "lead"), "bm25.k1": 1.5}, "0accb9a0b262"),
    ],
)
def test_the_marks_of_structure_are_in_the_id(
    retriever: str, settings: dict[str, Setting], run_id: str
) -> None:
    """Recorded at main 2cc26f6; without the mark they were those of runs that read 8-bit embeddings."""
    document = {"dataset": "0" * 64, "retriever": retriever, "settings": settings}
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    before = hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]
    assert RunSpec("0" * 64, retriever, settings).id == run_id
    assert (run_id != before) == ("structure" in canonical)
