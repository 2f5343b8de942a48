"""Every aspect that a run missed: how near the miss was, why it may have been, and what it is a share of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.causes import CAUSES, suggestions
from evidencebench_core.analyses.frame import asked_aspects, estimate_columns, instance_frame, left_out_notes
from evidencebench_core.analyses.notes import Note
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.model import Instance
from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.metrics import marginal_gains
from evidencebench_core.retrievers import RETRIEVERS, Retrieval
from evidencebench_core.retrievers.bm25 import tokens_of
from evidencebench_core.runs import RunInfo, RunLike, RunStore
from evidencebench_core.stats import interval_note, ratios
from evidencebench_core.tasks import Task, task_named

BINNINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cause": "By the first cause suggested; the share is of all aspects asked for, found ones included.",
        "section": "An aspect counts in every part of the paper in which a sentence covers it.",
        "decile": "An aspect counts in every tenth of the paper in which a sentence covers it.",
        "n_covering": "By how many sentences cover the aspect.",
    }
)
_DECILES: Final = tuple(f"{10 * tenth}–{10 * tenth + 10}%" for tenth in range(10))
_COUNTS: Final = {"1": 1, "2": 2, "3": 3, "4–5": 5, "6–10": 10, "over 10": np.inf}  # by the largest of each
_BINS: Final[Mapping[str, list[str]]] = {
    "cause": [cause.name for cause in CAUSES.values() if cause.rule],
    "section": list(SECTION_CLASSES),
    "decile": list(_DECILES),
    "n_covering": list(_COUNTS),
}


def missed(
    store: Store, run: RunLike, task: str | Task = "result-er@optimal", *, results_only: bool = True
) -> Report:
    """Every aspect that a run missed, nearest miss first, and the share missed of each kind.

    Returns
    -------
    Report
        *missed*: the columns of `outcomes`. *shares*, one row a bin of each of `BINNINGS`: ``by``, ``bin``;
        ``n_missed`` of ``n_aspects`` in ``n_papers``; ``share`` (0 to 1; ``low``, ``high``; NaN in an empty bin).
    """
    chosen = task_named(task)
    info = RunStore(store).run(run)
    every = outcomes(store, info, chosen)
    asked = every[every["is_result"]] if results_only else every
    queue = queue_of(every, results_only)
    shares = pd.concat([missed_shares(asked, by).assign(by=by) for by in BINNINGS])
    return Report(
        f"Missed aspects: {info.label} ({info.id}), {chosen.title} on {info.dataset}",
        {"missed": queue.drop(columns="missed"), "shares": shares[["by", *shares.columns.drop("by")]]},
        (
            f"{len(queue):,} of {len(asked):,} {'result aspects' if results_only else 'aspects'} in"
            f" {asked['instance'].nunique():,} instances are missed; nearest miss first.",
            *left_out_notes(every.attrs["left_out"]),
            f"{interval_note(every['paper'].nunique())}. "
            + " ".join(f"{by}: {text}" for by, text in BINNINGS.items()),
            *(f"Cause {cause.name}: {cause.rule}" for cause in CAUSES.values() if cause.rule),
            "Causes are suggestions by these rules, in this order, never verdicts.",
            *store.dataset(info.dataset).gold_notes,
        ),
        brief={"missed": ()},
        finding=finding(shares, info.label, results_only),
    )


def finding(shares: pd.DataFrame, label: str, results_only: bool = True) -> str:
    """A run's misses in one sentence, from the table *shares* of `missed`."""
    causes = shares[(shares["by"] == "cause") & (shares["n_missed"] > 0)]
    noun = "result aspects" if results_only else "aspects"
    n_aspects = int(shares.loc[shares["by"] == "cause", "n_aspects"].max()) if len(shares) else 0
    if causes.empty:
        return f"{label} misses none of {n_aspects:,} {noun}."
    most = causes.sort_values("n_missed", ascending=False, kind="stable").head(3)
    parts = [f"{row['n_missed']:,} {CAUSES[row['bin']].predicate}" for row in most.to_dict("records")]
    n_missed = int(causes["n_missed"].sum())
    return f"{label} misses {n_missed:,} of {n_aspects:,} {noun}: {', '.join(parts)}."


def outcomes(store: Store, run: RunLike, task: str | Task) -> pd.DataFrame:
    """Every aspect that a task asks a run for, found or missed: what shares of misses are shares of.

    Left out, and counted in ``frame.attrs["left_out"]``: aspects that no sentence covers, instances without an answer,
    and those without anything to cover.

    Returns
    -------
    DataFrame
        One row an aspect, in the order of the dataset.

        - ``instance``, ``paper``: ids. ``number``: 0-based position of the aspect in its instance.
          ``aspect``, ``label``, ``text`` (``None`` where the data has none), ``is_result``.
        - ``missed``: whether no pick covers it.
        - ``covering``: tuple of the sentences that cover it; ``n_covering`` of them; ``n_sentences`` in the paper.
        - ``budget``: K of the instance, missing on the unconstrained task. ``picks``: tuple, in their order;
          ``n_picks``, of which ``n_adding`` cover an asked aspect that no earlier pick covers, and ``n_repeating``
          only what earlier picks cover.
        - ``sentence``: the best ranked covering sentence; the first in the paper where the ranking reaches none.
          ``best_rank``: its rank, from 1; missing where it has none.
        - ``distance``: ``best_rank`` minus K (minus ``n_picks`` where there is no K).
        - ``position``: where ``sentence`` stands, 0 (first sentence) to 1 (last).
        - ``section`` of ``sentence``; ``types``, ``sections`` of every covering sentence.
        - ``overlap``: share of the hypothesis' content words in the covering sentence with the most of them; missing
          for found aspects. ``front_share``: share of the picks that are headings or abstract sentences.
        - ``cause``, the first that is suggested, and ``causes``, all of them; ``None`` for found aspects.
    """
    chosen = task_named(task)
    runs = RunStore(store)
    info = runs.run(run)
    if not info.n_answers(chosen):
        raise UnknownNameError(
            f"run {info.id}",
            f"has no answers for {chosen.name}",
            f"It has: {', '.join(info.tasks) or 'none'}. `evidencebench run --task {chosen.name}` asks for it.",
        )
    return _outcomes(store, info, chosen, store.dataset(info.dataset))


@lru_cache(maxsize=16)
def _outcomes(store: Store, run: RunInfo, task: Task, info: DatasetInfo) -> pd.DataFrame:
    answers = RunStore(store).retrievals(run, task)
    instances = instance_frame(store, run.dataset)
    n_asked = asked_aspects(instances, task)
    is_asked, is_answered = n_asked > 0, instances["instance"].isin(answers.keys())
    rows: list[tuple[Any, ...]] = []
    for instance in store.get_many(info, instances["instance"][is_asked & is_answered]):
        rows += _rows(instance, answers[instance.id], task)
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    frame = frame.astype(dict.fromkeys(("budget", "best_rank", "distance"), "Int64"))
    frame = frame.astype(dict.fromkeys(("overlap", "front_share"), float))
    frame = frame.astype({"missed": bool, "is_result": bool})
    frame.attrs["left_out"] = {
        "instances without anything to cover": int((~is_asked).sum()),
        "instances without an answer": int((is_asked & ~is_answered).sum()),
        "aspects that no sentence covers": int(n_asked[is_answered].sum()) - len(frame),
    }
    return frame


def _rows(instance: Instance, answer: Retrieval, task: Task) -> Iterator[tuple[Any, ...]]:
    """What the run did with each aspect of one instance that the task asks for and a sentence covers."""
    evidence, picks, kinds = instance.evidence, answer.selection, instance.sentence_types
    ranks, picked = ranks_of(answer), set(picks)
    gains = marginal_gains(picks, evidence.covers(task.focus))
    n_adding = sum(bool(gain.new) for gain in gains)
    n_repeating = sum(bool(gain.repeated) and not gain.new for gain in gains)
    budget = task.budget_for(evidence)
    edge = len(picks) if budget is None else budget
    n_front = sum(kinds[pick] != "normal_paragraph" for pick in picks)
    classes = section_classes(instance.sentences, kinds)
    asked = content_words(instance.hypothesis)
    n_words = cache(lambda index: len(asked.intersection(tokens_of(instance.sentences[index]))))
    for number, aspect in enumerate(evidence.aspects):
        covering = aspect.sentence_indices
        if not covering or not (aspect.is_result or task.focus == "all"):
            continue
        sentence = min(covering, key=lambda index: ranks.get(index, np.inf))
        rank = ranks.get(sentence)
        is_missed = picked.isdisjoint(covering)
        row: dict[str, Any] = {
            "instance": instance.id,
            "paper": instance.paper_id,
            "number": number,
            "aspect": aspect.id,
            "label": aspect.label,
            "text": aspect.text,
            "is_result": aspect.is_result,
            "missed": is_missed,
            "covering": covering,
            "n_covering": len(covering),
            "n_sentences": evidence.n_sentences,
            "budget": budget,
            "picks": picks,
            "n_picks": len(picks),
            "n_adding": n_adding,
            "n_repeating": n_repeating,
            "sentence": sentence,
            "best_rank": rank,
            "distance": None if rank is None or not edge else rank - edge,
            "position": sentence / max(evidence.n_sentences - 1, 1),
            "section": classes[sentence],
            "types": tuple(kinds[index] for index in covering),
            "sections": tuple(classes[index] for index in covering),
            "overlap": max(map(n_words, covering)) / len(asked) if is_missed and asked else np.nan,
            "front_share": n_front / len(picks) if picks else np.nan,
        }
        row["causes"] = tuple(suggestions(row)) if is_missed else None
        row["cause"] = row["causes"] and row["causes"][0]
        yield tuple(row[name] for name in _COLUMNS)  # a quarter of the dict's size


_COLUMNS: Final = [
    "instance", "paper", "number", "aspect", "label", "text", "is_result", "missed", "covering", "n_covering",
    "n_sentences", "budget", "picks", "n_picks", "n_adding", "n_repeating", "sentence", "best_rank", "distance",
    "position", "section", "types", "sections", "overlap", "front_share", "cause", "causes",
]  # fmt: skip


def ranks_of(answer: Retrieval) -> dict[int, int]:
    """By sentence its rank, from 1."""
    return {index: rank for rank, index in enumerate(answer.ranking, start=1)}


def content_words(text: str) -> frozenset[str]:
    """The distinct content words of a text: lower-cased runs of letters and digits, no function words, no stemming."""
    return frozenset(tokens_of(text, "word-stop"))


def other_runs(runs: RunStore, run: RunInfo, task: Task) -> list[RunInfo]:
    """The dataset's other runs over the original instances with picks for a task, that did not see gold."""
    see_gold = {name for name, retriever in RETRIEVERS.items() if retriever.sees_gold}
    return [
        other
        for other in runs.runs(run.dataset)
        if other.id != run.id
        and other.has_picks
        and other.n_answers(task)
        and other.retriever not in see_gold
    ]


def queue_of(frame: pd.DataFrame, results_only: bool = True) -> pd.DataFrame:
    """The missed rows of `outcomes`, nearest miss first; those that the ranking does not reach come last."""
    queue = frame[frame["missed"] & (frame["is_result"] | (not results_only))]
    return queue.sort_values("distance", kind="stable", na_position="last")


def missed_shares(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    """Missed aspects as a share of all aspects of a bin; rows are those of `outcomes`, columns as in `missed`."""
    names = _BINS[by]
    counts = _members(frame, by).groupby(["paper", "bin"])["missed"].agg(["sum", "size"])
    of_papers = frame.groupby("paper").size()
    tops, bottoms = (
        counts[count].unstack(fill_value=0).reindex(index=of_papers.index, columns=names, fill_value=0)
        for count in counts
    )
    if by == "cause":
        bottoms = pd.DataFrame(dict.fromkeys(names, of_papers))
    columns = {
        "bin": names,
        "n_missed": tops.sum().to_numpy(),
        "n_aspects": bottoms.sum().to_numpy(),
        "n_papers": (bottoms > 0).sum().to_numpy(),
    }
    return pd.DataFrame(columns | estimate_columns(ratios(tops, bottoms), "share"))


def _members(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    """``paper``, ``missed`` and ``bin`` of every row, of one in several bins once in each."""
    if by == "cause":
        return frame.assign(bin=frame["cause"])
    if by == "n_covering":
        places = np.searchsorted(list(_COUNTS.values()), frame["n_covering"])
        return frame.assign(bin=np.array(list(_COUNTS))[places])
    members = frame.assign(bin=frame["sections" if by == "section" else "covering"])
    members = members[["paper", "missed", "n_sentences", "bin"]].reset_index(drop=True).explode("bin")
    if by == "decile":
        deciles = 10 * members["bin"].astype(int) // members["n_sentences"].astype(int)
        members["bin"] = np.array(_DECILES)[deciles]
    return members.reset_index().drop_duplicates(["index", "bin"])


def missed_table(
    store: Store, dataset: str, misses: pd.DataFrame, notes: Sequence[Note] = ()
) -> pd.DataFrame:
    """Rows of `outcomes` to take away: with ``hypothesis``, ``sentence_text`` and everybody's ``notes``."""
    papers = {
        instance.id: (instance.hypothesis, instance.sentences)
        for instance in store.get_many(dataset, dict.fromkeys(misses["instance"]))
    }
    texts: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        words = ", ".join(filter(None, (note.cause, *note.tags, note.text)))
        texts.setdefault((note.instance_id, note.aspect_id), []).append(f"{note.author}: {words}")
    keys = list(zip(misses["instance"], misses["aspect"], strict=True))
    places = zip(misses["instance"], misses["sentence"], strict=True)
    frame = misses.assign(
        hypothesis=[papers[name][0] for name, _ in keys],
        sentence_text=[papers[name][1][index] for name, index in places],
        notes=["; ".join(texts.get(key, ())) for key in keys],
    )
    return frame[EXPORT_COLUMNS]


EXPORT_COLUMNS: Final = [
    "instance", "hypothesis", "aspect", "label", "text", "is_result", "sentence", "sentence_text",
    "best_rank", "budget", "distance", "position", "section", "n_covering", "overlap", "cause", "causes",
    "notes",
]  # fmt: skip
