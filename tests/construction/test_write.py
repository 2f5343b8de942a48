"""Finished builds as instances: what is written, what is left out and why, provenance, splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest

from evidencebench_core.construction import BuildInput, BuildState, ConstructionSettings, windows
from evidencebench_core.construction.decisions import Decision
from evidencebench_core.construction.pipeline import StageResult
from evidencebench_core.construction.provenance import gold_models, provenance_line
from evidencebench_core.construction.review import Review, accepted
from evidencebench_core.construction.state import Edits, Pool, Window
from evidencebench_core.construction.write import WriteTally, split_builds, written_instances
from evidencebench_core.data import parse_instance
from evidencebench_core.data.check import check_instance
from evidencebench_core.errors import SettingError

N = 12
POOL = Pool(
    "f" * 64,
    "PMC1",
    "Tea",
    "CC BY",
    tuple(f"Sentence {i}." for i in range(N)),
    ("section_name",) + ("abstract",) * (N - 1),
)
#  rule 99: A {1, 4}, B {2, 4}, C {2}, D {3, 5}, E {5}, F {}
COVERS = ({1, 4}, {2, 4}, {2}, {3, 5}, {5}, set[int]())


def looks(yes: set[int], failed: tuple[Window, ...] = ()) -> dict[Window, StageResult]:
    return {
        window: {
            "yes": [] if window in failed else [i for i in yes if window[0] <= i < window[1]],
            "failed": window in failed, "n_unknown": 0, "n_mended": 1, "keys": ["k"],
            "prompt_tokens": 10, "completion_tokens": None,
        }
        for window in windows(N)
    }  # fmt: skip


def build(covers: tuple[set[int], ...] = COVERS, **given: Any) -> BuildState:
    more = {"review_id": "r1", "review_title": "Teas", "review_licence": "CC BY", **given}
    results: Mapping[str, Any] = {
        "aspects": {"outcome": "done", "aspects": [{"text": f"Aspect {n}."} for n in range(len(covers))],
                    "keys": ["a", "b"], "prompt_tokens": 7, "completion_tokens": 3},
        "leak": {"outcome": "done", "keys": ["c"], "prompt_tokens": 1, "completion_tokens": 1},
        "results": {"outcome": "done", "results": [3, 4], "keys": ["d"], "prompt_tokens": 1, "completion_tokens": 1},
    }  # fmt: skip
    one = BuildInput("b1", "PMC1", summary="Tea is good.", hypothesis="Tea helps.", **more)
    aligned = {n: looks(yes) for n, yes in enumerate(covers)}
    return BuildState(one, ConstructionSettings("m"), pool=POOL, results=results, aligned=aligned)  # type: ignore[arg-type]


def written(*reviews: BuildState | Review, **how: Any) -> tuple[list[Any], WriteTally]:
    tally = WriteTally()
    given = [one if isinstance(one, Review) else Review(one, ()) for one in reviews]
    raws = [raw for _, raw in written_instances(given, tally, **how)]
    assert tally.n_builds == len(raws) + sum(tally.left_out.values())
    return raws, tally


def test_a_build_equals_the_instance_by_hand() -> None:
    asked = {"aspects": {"prompt": "1-ab", "at": "2026-01-01"}}
    (raw,), tally = written(build(), unreviewed=True, asked=asked)
    assert check_instance("b1", raw)
    assert raw["aspect_list_ids"] == [f"b1_aspect_{n}" for n in range(5)]
    assert raw["results_aspect_list_ids"] == ["b1_aspect_3", "b1_aspect_4"]
    assert raw["evidence_retrieval_at_optimal_evaluation"]["optimal"] == 3
    made = raw["construction"]
    assert made["coverage"] == {
        "n_aspects": 6,
        "n_covered": 5,
        "dropped": [{"number": 5, "text": "Aspect 5."}],
    }
    assert made["looks"] == {"expected": 18, "missing": 0, "failed": 0, "unknown": 0, "mended": 18}
    assert made["stages"][0] == {"stage": "aspects", "model": "m", "prompt": "1-ab", "at": "2026-01-01",
                                 "calls": 2, "tokens": 10}  # fmt: skip
    assert made["stages"][-1] == {"stage": "alignment", "model": "m", "calls": 18, "tokens": 180}
    assert (made["decisions"]["by"], made["gold"]) == ("nobody", "every sentence looked at")
    assert tally.licences == {"CC BY"}


def test_the_second_model_is_said_beside_the_one_of_the_gold() -> None:
    second = replace(
        build(),
        settings=ConstructionSettings("m", second_model="n"),
        second={n: looks({3}) for n in range(6)},
    )
    (raw,), _ = written(second, unreviewed=True, asked={"second": {"prompt": "1-ab", "at": "2026-01-02"}})
    first, other = raw["construction"]["stages"][-2:]
    assert (first["stage"], first["model"]) == ("alignment", "m")
    assert other == {
        "stage": "second",
        "model": "n",
        "prompt": "1-ab",
        "at": "2026-01-02",
        "calls": 18,
        "tokens": 180,
    }
    assert "models m; compared with n;" in provenance_line(raw["construction"])
    assert gold_models(parse_instance("b1", raw)) == ("m",)


def test_a_review_decides_what_is_written() -> None:
    def decided(*verdicts: tuple[str, Any]) -> Review:
        """The build after these, and after all else was accepted."""
        before = Review(build(), ())
        some = before.after(
            Decision("b1", item, verdict, "ann", "blind", about=before.about(item) or "")
            for item, verdict in verdicts
        )
        return some.after(accepted(some, "ann", "blind"))

    gone = [(f"mark:{item}", "reject") for item in ("0:4", "1:2", "1:4", "2:2", "3:5", "4:5")]
    (raw,), _ = written(decided(*gone, ("mark:3:11", "add")))
    assert raw["aspect2sentence_indices"] == {"b1_aspect_0": [1], "b1_aspect_3": [3, 11]}
    assert raw["construction"]["decisions"]["mode"] == "blind"
    assert not written(decided(("mark:0:1", "unsure")))[0]
    _, tally = written(decided(*gone, ("mark:3:3", "reject")))
    assert dict(tally.left_out) == {"too few aspects covered after the review": 1}


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (build(), "not decided by a person"),
        (
            replace(build(), pool=replace(POOL, licence="CC BY-NC-ND")),
            "licence CC BY-NC-ND allows no changed copy",
        ),
        (
            replace(build(), pool=replace(POOL, licence="All rights reserved")),
            "licence All rights reserved is no open licence",
        ),
        (replace(build(), pool=None), "due at pool"),
        (build(({1}, set(), set())), "dropped at coverage: coverage"),
        (replace(build(), edits=Edits(dropped=True)), "dropped at coverage: human"),
    ],
)
def test_what_is_left_out_and_why(state: BuildState, reason: str) -> None:
    assert dict(written(state)[1].left_out) == {reason: 1}


def test_what_a_person_must_decide_is_not_written_without() -> None:
    proposed = replace(build(), input=replace(build().input, summary="", review_id=""))
    assert dict(written(proposed, unreviewed=True)[1].left_out) == {
        "aspects proposed by a model, not decided by a person": 1
    }
    edited = replace(build(), edits=Edits(hypothesis="Tea may help."))
    assert dict(written(edited, unreviewed=True)[1].left_out) == {
        "hypothesis edited, not decided by a person": 1
    }
    one_lost = {n: looks(yes, failed=((0, 10),) if n == 2 else ()) for n, yes in enumerate(COVERS)}
    # sentences 0 to 4 have no other look: not judged (rule 88)
    assert dict(written(replace(build(), aligned=one_lost), unreviewed=True)[1].left_out) == {
        "failed at alignment": 1
    }
    one_lost = {n: looks(yes, failed=((5, 12),) if n == 2 else ()) for n, yes in enumerate(COVERS)}
    _, tally = written(replace(build(), aligned=one_lost), unreviewed=True)
    assert dict(tally.left_out) == {"windows without a look, not decided by a person": 1}


def test_what_was_decided_of_a_build_that_is_not_finished_is_written() -> None:
    before = Review(build(), ())
    some = [
        Decision("b1", item, verdict, "ann", about=before.about(item) or "")  # type: ignore[arg-type]
        for item, verdict in (
            ("mark:0:1", "reject"),
            ("mark:0:11", "add"),
            ("mark:1:2", "unsure"),
            ("mark:4:5", "reject"),
        )
    ]
    (raw,), _ = written(before.after(some), unreviewed=True)
    assert raw["aspect2sentence_indices"] == {
        "b1_aspect_0": [4, 11], "b1_aspect_1": [2, 4], "b1_aspect_2": [2], "b1_aspect_3": [3, 5],
    }  # fmt: skip
    assert raw["construction"]["coverage"]["n_covered"] == 4
    rejected = before.after([Decision("b1", "hypothesis", "reject", "ann", about="Tea helps.")])
    assert dict(written(rejected, unreviewed=True)[1].left_out) == {"hypothesis rejected": 1}
    labelless = before.after([Decision("b1", "aspect:6", "add", "ann", words="New.")])
    aligned = {**labelless.state.aligned, 6: looks({7})}
    aligned_too = Review(replace(labelless.state, aligned=aligned), labelless.decisions)
    assert dict(written(aligned_too, unreviewed=True)[1].left_out) == {
        "aspects without a label as a result, not decided by a person": 1
    }


def test_texts_of_a_review_need_its_licence_or_its_owner() -> None:
    (raw,), tally = written(build(review_licence="", review_id=""), unreviewed=True)
    assert "aspect_texts" not in raw
    assert tally.n_without_texts == 1
    assert "text" not in raw["construction"]["summary"]
    assert raw["construction"]["coverage"]["dropped"] == [{"number": 5}]
    (raw,), _ = written(build(review_licence=""), unreviewed=True, texts_are_mine=True)
    assert raw["construction"]["summary"]["text"] == "Tea is good."


def test_uncovered_aspects_and_padding() -> None:
    (raw,), _ = written(build(), unreviewed=True, keep_uncovered=True, pad=True)
    assert raw["aspect2sentence_indices"]["b1_aspect_5"] == []
    assert check_instance("b1", raw)


def test_no_paper_and_if_wanted_no_review_is_in_two_parts() -> None:
    builds = {f"b{n}": [f"p{n}"] for n in range(10)} | {"c": ["p3"]}
    shares = {"train": 0.8, "test": 0.2}
    parts = split_builds(builds, shares, seed=3)
    assert sorted(chain(*parts.values())) == sorted(builds)
    assert len({builds[one][0] for one in parts["test"]}) == 2
    assert not {builds[one][0] for one in parts["test"]} & {builds[one][0] for one in parts["train"]}
    turned = split_builds(dict(reversed(builds.items())), shares, seed=3)
    assert {part: sorted(of) for part, of in turned.items()} == {
        part: sorted(of) for part, of in parts.items()
    }
    # r1 has p0 and p1, r2 has p1 and p2: one group; p3 is alone
    linked = {"a": ["p0", "r1"], "b": ["p1", "r1"], "c": ["p1", "r2"], "d": ["p2", "r2"], "e": ["p3"]}
    for seed in range(5):
        halves = split_builds(linked, {"one": 0.5, "two": 0.5}, seed)
        assert sorted(halves.values(), key=len) == [["e"], ["a", "b", "c", "d"]]
    with pytest.raises(SettingError, match="add up to 1"):
        split_builds(builds, {"train": 0.8})
