"""Can a judge tell sentences that say the same from others? A check that needs no annotator (spec rule 69)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from evidencebench_core.answers.judging import (
    WING,
    citation_question,
    read_judgement,
    request_of,
    run_settings,
)
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Conversation
from evidencebench_core.runs import ChatPlan, ChatRunInfo, ChatRuns, ChatRunSpec, Result, chat_plan
from evidencebench_core.stats import difference_interval

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

CHECK: Final = "judge-check"
_MOST: Final = 3  # pairs of a kind from one paper, so that no paper stands for all


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """How often a judge says that one sentence supports another.

    Attributes
    ----------
    same, other : float or None
        Share of supports among pairs of sentences of one aspect; of two aspects of a paper that share no sentence.
    difference, ci95
        It is discrimination, not accuracy: a judge whose interval reaches 0 is not to be used.
    n_same, n_other, n_unread, n_missing : int
        Pairs judged; those without a label (they count as no support); those that are still to be judged.
    """

    same: float | None
    other: float | None
    difference: float | None
    ci95: tuple[float, float] | None
    n_same: int
    n_other: int
    n_unread: int
    n_missing: int


def judge_check_plan(  # noqa: PLR0913 - what is asked, and how
    store: Store,
    dataset: str,
    model: str,
    *,
    n: int = 100,
    seed: int = 0,
    llm: LLM | None = None,
    fresh: bool = False,
    request: Mapping[str, object] | None = None,
) -> ChatPlan:
    """The run in which a judge is put n pairs of sentences of one aspect, and n of aspects that share none.

    Raises
    ------
    SettingError
        If the dataset has no aspect of two sentences, or no two aspects that share none.
    """
    own = {"task": CHECK, "n": n, "seed": seed}
    spec = ChatRunSpec(
        WING, store.dataset(dataset).sha256, own | run_settings(model, ("citation-judge",), request)
    )
    units, sent = _units(store, dataset, n, seed), request_of(spec.settings)

    def conversation(unit: str) -> Conversation[Result]:
        instance_id, _, pair = unit.rpartition("#")
        _, claim, source = pair.split("-")
        sentences = store.get(dataset, instance_id).sentences
        return citation_question(sent, sentences[int(claim)], sentences[int(source)])

    return chat_plan(store, spec, units, conversation, llm, fresh=fresh)


def judge_check(store: Store, run: ChatRunInfo, dataset: str, seed: int = 0) -> JudgeCheck:
    """The shares of supports of a run of `judge_check_plan`; the interval draws papers."""
    results = ChatRuns(store).results(run.id)
    units = _units(store, dataset, run.settings["n"], run.settings["seed"])
    every = store.gold(dataset)
    papers = dict(zip(every.ids, every.paper_ids, strict=True))
    supports: dict[str, list[float]] = {"same": [], "other": []}
    clusters: dict[str, list[str]] = {"same": [], "other": []}
    n_unread = 0
    for unit in units:
        result = results.get(unit)
        if result is None or isinstance(result, str):
            continue
        instance_id, _, pair = unit.rpartition("#")
        label, kind = read_judgement(result, "ternary").label, pair.partition("-")[0]
        n_unread += label is None
        supports[kind].append(float(label == "supports"))
        clusters[kind].append(papers[instance_id])
    a, b = supports["same"], supports["other"]
    same, other = (float(np.mean(one)) if one else None for one in (a, b))
    difference, interval = None, None
    if same is not None and other is not None:
        difference, rng = same - other, np.random.default_rng(seed)
        interval = difference_interval(a, b, rng, clusters_a=clusters["same"], clusters_b=clusters["other"])
    n_missing = len(units) - len(a) - len(b)
    return JudgeCheck(same, other, difference, interval, len(a), len(b), n_unread, n_missing)


def _units(store: Store, dataset: str, n: int, seed: int) -> list[str]:
    """The ids of the pairs: ``INSTANCE#same-3-7``. Papers come in a seeded order, each gives a few of each kind."""
    rng = np.random.default_rng(seed)
    ids = [str(one) for one in rng.permutation(np.array(store.ids(dataset), dtype=object))]
    chosen: dict[str, list[str]] = {"same": [], "other": []}
    for start in range(0, len(ids), 200):
        gold = dict(store.evidence_sets(dataset, ids[start : start + 200]))
        for one in ids[start : start + 200]:
            for kind, pairs in _pairs(gold[one]).items():
                order = rng.permutation(len(pairs))[: min(_MOST, n - len(chosen[kind]))]
                chosen[kind] += [f"{one}#{kind}-{a}-{b}" for a, b in (pairs[place] for place in order)]
        if all(len(units) >= n for units in chosen.values()):
            break
    if lacking := [kind for kind, units in chosen.items() if not units]:
        problem = {
            "same": "no aspect that two sentences cover",
            "other": "no two aspects that share no sentence",
        }
        raise SettingError(
            f"dataset {dataset}", f"has {problem[lacking[0]]}", "Check the judge on another one."
        )
    return [unit for units in chosen.values() for unit in units]


def _pairs(evidence: EvidenceSet) -> dict[str, list[tuple[int, int]]]:
    """Pairs of different sentences: of one aspect; of aspects that share no sentence, and of no aspect together."""
    covers = evidence.covers("all")
    same = {pair for cover in covers for pair in combinations(sorted(cover), 2)}
    apart = [(a, b) for a, b in combinations(covers, 2) if a.isdisjoint(b)]
    other = {(min(s, t), max(s, t)) for a, b in apart for s in a for t in b} - same
    return {"same": sorted(same), "other": sorted(other)}
