"""Whatever is typed is a query, and it means what it says."""

import tomllib
from pathlib import Path

from evidencebench_core.data import Store, ingest
from tests.factories import raw_instance, written


def test_matching(empty: Store, tmp_path: Path) -> None:
    long = [f"Filler {n}." for n in range(40)]
    paper = [*long[:38], "The naïve β-blocker arm died.", "line one\nline two"]
    dataset = {
        "b": raw_instance(paper, {"x": [20]}, hypothesis="lungs and cancers, <b>IL-6</b>"),
        "a": raw_instance(long, {"x": [9]}, hypothesis="Smoking causes lung cancer."),
        "c": raw_instance(3, {"x": [0]}, hypothesis="Cancer of the lung."),
        "d": raw_instance(3, {"x": [1]}, hypothesis="apples"),  # and the paper of "c"
    }
    ingest(empty, written(dataset, tmp_path / "papers.json"))
    cases = tomllib.loads(Path(__file__).with_name("queries.toml").read_text("utf-8"))["matching"]
    for hypothesis, sentences, ids in cases:
        assert "".join(empty.matching("papers", hypothesis, sentences)) == ids
    assert empty.matching("papers", "half\ud800") == ()
