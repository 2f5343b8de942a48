"""Any valid instance goes through a file and the store unchanged, key order included."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidencebench_core.data.formats import instance_from, read_instances, released_record
from evidencebench_core.data.ingestion import ingest
from evidencebench_core.data.store import Store, open_store
from tests.factories import raw_instance

HOSTILE = [
    "<script>alert('x')</script> **bold** # heading\n\n- list `code`",
    "עברית \u202eright to left\u202c العربية",
    "𝔘𝔫𝔦 😀 \U0010ffff e\u0301 \u200d \ufeff \ufffe",
    "nul \x00 bell \x07 escape \x1b tab \t carriage \r return \u2028 \u0085",
    "'; DROP TABLE instances; --",
    "x" * 5_000,
]
TEXT = st.text(max_size=12) | st.sampled_from(HOSTILE)  # any character but half of a surrogate pair
NAME = TEXT.filter(str.strip)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def raw_instances(draw: st.DrawFn) -> dict[str, Any]:
    sentences = draw(st.lists(TEXT, min_size=1, max_size=6))
    indices = st.lists(st.integers(0, len(sentences) - 1), unique=True, max_size=4)
    covering = st.dictionaries(TEXT, indices, min_size=1, max_size=4)
    aspects = draw(covering.filter(lambda covering: any(covering.values())))
    coverable = [aspect for aspect, sentences in aspects.items() if sentences]
    results = draw(st.lists(st.sampled_from(coverable), unique=True))
    extra = draw(st.dictionaries(TEXT.map("their key {}".format), JSON, max_size=2))
    raw = raw_instance(sentences, aspects, results, hypothesis=draw(NAME), paper_id=draw(NAME), **extra)
    raw["paper_as_candidate_pool"] = sentences
    if draw(st.booleans()):  # the aspects of a sentence, and the sentences, in another order
        inverse = raw["sentence_index2aspects"]
        order = draw(st.permutations(list(inverse)))
        raw["sentence_index2aspects"] = {key: inverse[key][::-1] for key in order}
    return {key: raw[key] for key in draw(st.permutations(list(raw)))}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return open_store(tmp_path_factory.mktemp("roundtrip") / "store.sqlite")


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(dataset=st.dictionaries(NAME, raw_instances(), min_size=1, max_size=4), lines=st.booleans())
def test_round_trip(shared: Store, dataset: dict[str, Any], lines: bool) -> None:
    objects = [json.dumps({"id": name} | raw, ensure_ascii=False) for name, raw in dataset.items()]
    text = "\n".join(objects) if lines else json.dumps(dataset)
    path = shared.path.with_name("data.json")
    path.write_text(text, encoding="utf-8")
    assert [instance.id for instance in read_instances(path)] == list(dataset)
    name = hashlib.sha256(text.encode()).hexdigest()
    assert ingest(shared, path, name).dataset.sha256 == name  # by definition
    assert shared.ids(name) == tuple(dataset)
    for identity, raw in dataset.items():
        assert json.dumps(released_record(shared.get(name, identity))) == json.dumps(raw)
        assert shared.get(name, identity) == instance_from(identity, raw)
    evidence = [(identity, instance_from(identity, raw).evidence) for identity, raw in dataset.items()]
    assert list(shared.evidence_sets(name)) == evidence
    assert not ingest(shared, path, "again").added
