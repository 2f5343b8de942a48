"""Questions about builds that a person answers in a table: what is shown, what is asked, and what the answers say.

Construction rules 45 and 50 to 55. Every kind of sheet asks one thing without the rest in sight, and none shows what a
model said. A row is known by build and item; one whose texts have changed since is counted, and not used.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from evidencebench_core.construction.measure import MODEL, SECOND_MODEL, rater_gaps, rater_pairs, shares
from evidencebench_core.construction.quality import covers_by_model, disputed_sentences
from evidencebench_core.construction.review import Review
from evidencebench_core.construction.stances import STANCES
from evidencebench_core.construction.state import AspectDraft, BuildState
from evidencebench_core.errors import DataError, shown
from evidencebench_core.retrievers.bm25 import Bm25
from evidencebench_core.stats.proportion import exact_interval

SheetKind = Literal["hypotheses", "evidence", "aspects", "lists", "results", "stances", "marks", "disputes"]
QUESTIONS: Final[Mapping[SheetKind, Mapping[str, str]]] = {
    "hypotheses": {"value": "Is it like a hypothesis, and worth refuting? Not: is it true?"},
    "evidence": {"relevant": "Does the summary give evidence that could support or refute the hypothesis?"},
    "aspects": {
        "faithful": "Is it in the summary?",
        "atomic": "Is it one piece of information?",
        "alone": "Can it be understood alone?",
    },
    "lists": {"missing": "Is anything of the summary missing?"},
    "results": {"result": "Is it a result of the study?"},
    "stances": {"stance": "Does it support or refute the hypothesis, or neither?"},
    "marks": {"covers": "Is a very significant part of the aspect explicitly in the sentence?"},
    "disputes": {"covers": "Is a very significant part of the aspect explicitly in the sentence?"},
}
"""By kind the columns that are filled in, with yes or no, and ``stance`` with supports, refutes or neither."""

UNPROPOSED: Final = 10
"""Sentences an aspect that no model proposed: half the nearest by BM25, half at random."""

_DRAWN: Final = re.compile(r"every|(?P<seed>-?\d{1,19})-[0-9a-f]{8}")
_WORDS: Final = {"yes": True, "y": True, "1": True, "no": False, "n": False, "0": False}
_OF_SENTENCES: Final = ("marks", "disputes")
_SHAPES: Final = {  # of items: the first word, and how many numbers follow
    "hypotheses": ("hypothesis", 0),
    "evidence": ("hypothesis", 0),
    "lists": ("aspects", 0),
    "marks": ("mark", 2),
    "disputes": ("mark", 2),
}
_REMEDY: Final = "Fill in a sheet that `evidencebench construct quality N --sheet KIND --out FILE` wrote."

Row = dict[str, str]


def sheet_rows(
    states: Iterable[BuildState], kind: SheetKind, seed: int = 0, *, every_sentence: bool = False
) -> Iterator[Row]:
    """The rows of a sheet: ``kind, build, item``, texts, ``rater`` and the columns of `QUESTIONS`, which are blank.

    ``drawn`` of a mark tells reading what its sentence stands for.

    Parameters
    ----------
    seed : int
        Of the sentences that are drawn, the aspect that is drawn, and the order of a build's rows of ``marks``.
    every_sentence : bool
        Of ``marks``: every sentence for one aspect a build, for agreement; else those that are proposed for each
        aspect and `UNPROPOSED` others, for precision and recall.
    """
    for state in states:
        for item, texts in _items(state, kind, seed, every_sentence):
            yield {
                "kind": kind,
                "build": state.id,
                "item": item,
                **texts,
                "rater": "",
                **dict.fromkeys(QUESTIONS[kind], ""),
            }


def sampled_marks(state: BuildState, seed: int = 0) -> Iterator[str]:
    """The items of ``marks`` of a build: what is proposed, shuffled among `UNPROPOSED` other sentences an aspect."""
    return (item for item, _ in _items(state, "marks", seed, every_sentence=False))


def decided_rows(review: Review, seed: int = 0) -> Iterator[Row]:
    """Rows of ``marks`` from decisions: of the aspects of which a person decided on all that `sampled_marks` has."""
    state = review.state
    by_aspect: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in sheet_rows([state], "marks", seed):
        by_aspect[row["item"].rsplit(":", 1)[0]][row["item"]] = row
    for rows in by_aspect.values():
        said = {item: review.newest.get(item, {}) for item in rows}
        for who in sorted({by for of in said.values() for by in of}):
            verdicts = {item: of[who].verdict for item, of in said.items() if who in of}
            if len(verdicts) == len(rows) and "unsure" not in verdicts.values():
                for item, verdict in verdicts.items():
                    yield rows[item] | {"rater": who, "covers": "no" if verdict == "reject" else "yes"}


def _items(state: BuildState, kind: SheetKind, seed: int, every_sentence: bool) -> Iterator[tuple[str, Row]]:
    summary, aspects = state.summary, state.aspects
    if kind in ("hypotheses", "evidence"):
        if state.hypothesis and (summary or kind == "hypotheses"):
            yield "hypothesis", _texts(state, kind)
    elif kind == "lists":
        if aspects:
            yield "aspects", _texts(state, kind)
    elif kind == "disputes":
        by_number = {one.number: one for one in aspects}
        for number, index, _ in disputed_sentences(state):
            yield f"mark:{number}:{index}", _texts(state, kind, by_number[number], index)
    elif kind == "marks":
        covers = state.covers()
        judged = [one for one in aspects if one.number in covers]
        if every_sentence and judged:
            judged = [judged[int(_rng(seed, state.id).integers(len(judged)))]]
        for one in judged:
            drawn = _Drawn.of(state, one, covers[one.number], None if every_sentence else seed)
            for index in drawn.in_order():
                texts = _texts(state, kind, one, index)
                yield f"mark:{one.number}:{index}", texts | {"drawn": drawn.key}
    else:
        for one in aspects:
            yield f"aspect:{one.number}", _texts(state, kind, one)


def _texts(state: BuildState, kind: SheetKind, aspect: AspectDraft | None = None, index: int = 0) -> Row:
    aspects = "\n".join(one.text for one in state.aspects)
    texts = {"hypothesis": state.hypothesis, "summary": state.summary, "aspects": aspects}
    texts |= {"aspect": aspect.text} if aspect else {}
    texts |= {"sentence": state.pool.sentences[index]} if kind in _OF_SENTENCES and state.pool else {}
    names = {
        "hypotheses": ("hypothesis",),
        "evidence": ("hypothesis", "summary"),
        "aspects": ("summary", "aspect"),
        "lists": ("summary", "aspects"),
        "results": ("aspect",),
        "stances": ("hypothesis", "aspect"),
        "marks": ("summary", "aspect", "sentence"),
        "disputes": ("summary", "aspect", "sentence"),
    }
    return {name: texts[name] for name in names[kind]}


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The sentences of an aspect that are shown, each with the others of its sort that it stands for."""

    key: str  # stands in the sheet: the seed and a digest of what was drawn, or "every"
    n_sentences: int
    proposed: frozenset[int]
    weights: Mapping[int, float]  # of the unproposed: 1 / probability of being drawn

    @classmethod
    def of(cls, state: BuildState, aspect: AspectDraft, proposed: frozenset[int], seed: int | None) -> _Drawn:
        """Without a seed every sentence."""
        sentences = state.pool.sentences if state.pool else ()
        rest = sorted(set(range(len(sentences))) - proposed)
        if seed is None:
            return cls("every", len(sentences), proposed, dict.fromkeys(rest, 1.0))
        scores = Bm25().scores(sentences, aspect.text)
        rest.sort(key=lambda index: (-scores[index], index))
        n_near = UNPROPOSED // 2
        weights, far = dict.fromkeys(rest[:n_near], 1.0), sorted(rest[n_near:])
        n_far = min(UNPROPOSED - n_near, len(far))
        rng = _rng(seed, state.id, str(aspect.number), aspect.text)
        for place in rng.choice(len(far), n_far, replace=False) if far else ():
            weights[far[int(place)]] = len(far) / n_far
        drawn = hashlib.sha256(repr((sorted(proposed), sorted(weights))).encode()).hexdigest()[:8]
        return cls(f"{seed}-{drawn}", len(sentences), proposed, weights)

    def in_order(self) -> list[int]:
        """Every sentence as they follow each other, drawn ones shuffled: the place tells nothing."""
        indices = sorted({*self.proposed, *self.weights})
        if len(indices) == self.n_sentences:
            return indices
        return [indices[place] for place in _rng(self.key).permutation(len(indices))]


def _rng(*parts: object) -> np.random.Generator:
    digest = hashlib.sha256("\n".join(map(str, parts)).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, np.uint32).tolist())


# -- reading --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SheetFigures:
    """Figures of filled-in sheets; made by `sheet_figures`.

    Attributes
    ----------
    n_rows, n_blank, n_changed, n_doubled : int
        ``n_changed``: rows about texts that are no longer so or not there, or drawn among other proposals.
        ``n_doubled``: answers that the same rater gave again; the first counts.
    questions : mapping of str to mapping
        By ``kind: question``: ``n`` answers of yes and no, ``n_yes``, their ``share`` with ``ci95`` (papers drawn) and
        ``exact`` (Clopper-Pearson over papers, where there is one answer a paper, or all are the same), and ``words``
        that are neither.
    stances : mapping of str to float
        Shares of `STANCES`.
    stance_agreement : mapping or None
        ``n`` stances that a model gave too, and the share that is the same: ``value`` and ``ci95``.
    raters : sequence of mapping
        Agreement of ``a`` and ``b`` on ``what``, each pair of raters, and each rater with `MODEL` and `SECOND_MODEL`.
        Of marks only aspects count of which a rater judged every sentence.
    gaps : mapping
        By measure, of the two raters with most marks in common and the model; see `agreement_gaps`.
    precision, recall : mapping or None
        Of the proposed marks, and estimated from the sample of others; both or neither.
    """

    n_rows: int
    n_blank: int
    n_changed: int
    n_doubled: int
    questions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    stances: Mapping[str, float] = field(default_factory=dict)
    raters: Sequence[Mapping[str, Any]] = ()
    gaps: Mapping[str, Any] = field(default_factory=dict)
    stance_agreement: Mapping[str, Any] | None = None
    precision: Mapping[str, Any] | None = None
    recall: Mapping[str, Any] | None = None


_Answers = dict[tuple[str, str], dict[str, bool]]  # by (build, item) and rater


def sheet_figures(
    states: Iterable[BuildState],
    rows: Iterable[Mapping[str, str]],
    stances: Mapping[str, Mapping[int, str]] = MappingProxyType({}),
    n_resamples: int = 10_000,
) -> SheetFigures:
    """Figures of the rows of filled-in sheets of any kinds and raters.

    ``stances`` are a model's, by build and aspect number. `DataError`, with the row, for an answer that cannot be read.
    """
    by_build: dict[str, list[tuple[int, Mapping[str, str]]]] = defaultdict(list)
    for number, row in enumerate(rows, start=2):
        if row.get("kind") not in QUESTIONS or not {"build", "item", "rater"} <= row.keys():
            raise DataError(f"row {number}", "is of no sheet", _REMEDY)
        by_build[row["build"]].append((number, row))
    work = _Reading(stances, n_resamples, n_rows=sum(map(len, by_build.values())))
    for state in states:
        for number, row in by_build.pop(state.id, ()):
            work.add(state, number, row)
    work.n_changed += sum(map(len, by_build.values()))
    return work.figures()


class _Reading:
    """The answers of sheets, while builds go by."""

    def __init__(self, stances: Mapping[str, Mapping[int, str]], n_resamples: int, n_rows: int) -> None:
        self.n_resamples, self.n_rows = n_resamples, n_rows
        self.of_model, self.same_stance = stances, list[tuple[str, tuple[tuple[float, float]]]]()
        self.n_blank = self.n_changed = self.n_doubled = 0
        self.answers: dict[str, _Answers] = defaultdict(lambda: defaultdict(dict))  # by "kind: question"
        self.words: dict[str, list[str]] = defaultdict(list)
        self.stances = Counter[str]()
        self.papers: dict[str, str] = {}
        self.models: dict[
            tuple[str, str, str], dict[str, bool]
        ] = {}  # what they say, by kind, build and item
        self._covers: tuple[str, dict[str, dict[int, frozenset[int]]]] = ("", {})  # of the build at hand
        self.weights: dict[tuple[str, str], float] = {}  # of unproposed sentences that were drawn
        self.n_sentences: dict[str, int] = {}
        self._seen: set[tuple[str, ...]] = set()
        self._drawn: dict[tuple[str, int, str], _Drawn] = {}

    def add(self, state: BuildState, number: int, row: Mapping[str, str]) -> None:
        kind: Any = row["kind"]
        names = QUESTIONS[kind]
        said = {name: (row.get(name) or "").strip().casefold() for name in names}
        if not any(said.values()):
            self.n_blank += 1
            return
        item = self._item(state, kind, row)
        if item is None:
            self.n_changed += 1
            return
        rater = row["rater"].strip() or "1"
        if rater.casefold().startswith(("model", SECOND_MODEL)):
            raise DataError(f"row {number}", f"has the rater {shown(rater)}", "Give a person's name.")
        if (place := (kind, state.id, item, rater)) in self._seen:
            self.n_doubled += 1
            return
        self._seen.add(place)
        self.papers[state.id] = state.pool.paper_id if state.pool and state.pool.paper_id else state.id
        for name, word in said.items():
            self._answer(f"{kind}: {name}", (state.id, item), rater, word, number)

    def _answer(self, question: str, at: tuple[str, str], rater: str, word: str, number: int) -> None:
        if not word:
            return
        if question == "stances: stance":
            if word not in STANCES:
                remedy = f"Write {', '.join(STANCES[:-1])} or {STANCES[-1]}."
                raise DataError(f"row {number}", f"has the stance {shown(word)}", remedy)
            self.stances[word] += 1
            said = self.of_model.get(at[0], {}).get(int(at[1].removeprefix("aspect:")))
            if said is not None:
                self.same_stance.append((self.papers[at[0]], ((said == word, 1),)))
        elif word in _WORDS:
            self.answers[question][at][rater] = _WORDS[word]
        elif question in ("hypotheses: value", "evidence: relevant"):  # may be answered in words
            self.words[question].append(word)
        else:
            problem = f"answers {shown(question)} with {shown(word)}"
            raise DataError(f"row {number}", problem, "Write yes or no.")

    def _item(self, state: BuildState, kind: SheetKind, row: Mapping[str, str]) -> str | None:
        """The item of a row that is about what stands there now."""
        name, *numbers = row["item"].split(":")
        by_number = {str(one.number): one for one in state.aspects}
        aspect = by_number.get(numbers[0]) if numbers else None
        index = int(numbers[1]) if len(numbers) == 2 and numbers[1].isdecimal() else 0
        shape = (name, len(numbers))
        if shape != _SHAPES.get(kind, ("aspect", 1)) or (numbers and aspect is None):
            return None
        if kind in _OF_SENTENCES and (state.pool is None or index >= len(state.pool.sentences)):
            return None
        texts = _texts(state, kind, aspect, index)
        if any(_plain(row.get(key, "")) != _plain(text) for key, text in texts.items()):
            return None
        at = (state.id, row["item"])
        if kind == "results" and aspect is not None and aspect.is_result is not None:
            self.models[kind, *at] = {MODEL: aspect.is_result}
        if kind == "disputes" and aspect is not None:
            self.models[kind, *at] = self._said(state, aspect, index)
        if kind == "marks" and aspect is not None:
            return self._mark(state, aspect, index, at, row.get("drawn", ""))
        return row["item"]

    def _said(self, state: BuildState, aspect: AspectDraft, index: int) -> dict[str, bool]:
        """Whether the sentence covers the aspect, by each model that looked at all."""
        if self._covers[0] != state.id:
            self._covers = (state.id, covers_by_model(state))
        return {
            name: index in of[aspect.number] for name, of in self._covers[1].items() if aspect.number in of
        }

    def _mark(
        self, state: BuildState, aspect: AspectDraft, index: int, at: tuple[str, str], said: str
    ) -> str | None:
        """The item if it is one of those that were drawn as the row says, and would be drawn so now."""
        key, match = (state.id, aspect.number, said), _DRAWN.fullmatch(said)
        if key not in self._drawn:
            covers = state.covers()
            if aspect.number not in covers or match is None:
                return None
            seed = None if match["seed"] is None else int(match["seed"])
            self._drawn[key] = _Drawn.of(state, aspect, covers[aspect.number], seed)
        drawn = self._drawn[key]
        if drawn.key != said or not (index in drawn.proposed or index in drawn.weights):
            return None
        self.models["marks", *at] = self._said(state, aspect, index)
        self.n_sentences[state.id] = drawn.n_sentences
        if index in drawn.weights:
            self.weights[at] = drawn.weights[index]
        return at[1]

    # -- figures --------------------------------------------------------------------------------------

    def figures(self) -> SheetFigures:
        questions = {name: self._question(name) for name in sorted({*self.answers, *self.words})}
        total = self.stances.total()
        precision, recall = self._precision_and_recall()
        same = shares(self.same_stance, self.n_resamples)
        return SheetFigures(
            self.n_rows,
            self.n_blank,
            self.n_changed,
            self.n_doubled,
            {name: found for name, found in questions.items() if name != "marks: covers"},
            {name: self.stances[name] / total for name in STANCES} if total else {},
            tuple(self._raters()),
            self._gaps(),
            {"n": len(self.same_stance)} | same[0].as_dict() if same else None,
            precision,
            recall,
        )

    def _question(self, name: str) -> dict[str, Any]:
        rows = [(self.papers[at[0]], one) for at, by in self.answers[name].items() for one in by.values()]
        n, n_yes = len(rows), sum(one for _, one in rows)
        found = shares([(paper, ((one, 1),)) for paper, one in rows], self.n_resamples)
        n_papers = len({paper for paper, _ in rows})
        is_one_each, is_unanimous = n_papers == n, n_yes in (0, n)
        exact = (
            exact_interval(n_yes * n_papers // n, n_papers) if n and (is_one_each or is_unanimous) else None
        )
        return {
            "n": n,
            "n_yes": n_yes,
            "share": n_yes / n if n else None,
            "ci95": found[0].ci95 if found else None,
            "exact": exact,
            "words": self.words.get(name, []),
        }

    def _raters(self) -> Iterator[dict[str, Any]]:
        for question, answers in self.answers.items():
            kind = question.split(":")[0]
            counted = self._whole(answers) if kind == "marks" else answers
            by = {at: said | self.models.get((kind, *at), {}) for at, said in counted.items()}
            for pair in rater_pairs(by, self.papers, self.n_resamples):
                yield {"what": question, **pair}

    def _whole(self, answers: _Answers) -> _Answers:
        """Of marks the answers about aspects of which the rater judged every sentence: a sample is no agreement."""
        n = Counter((at[0], at[1].rsplit(":", 1)[0], rater) for at, said in answers.items() for rater in said)
        whole: _Answers = {}
        for at, said in answers.items():
            aspect = at[1].rsplit(":", 1)[0]
            whole[at] = {
                rater: one
                for rater, one in said.items()
                if n[at[0], aspect, rater] == self.n_sentences[at[0]]
            }
        return whole

    def _gaps(self) -> dict[str, Any]:
        whole = self._whole(self.answers["marks: covers"]) if "marks: covers" in self.answers else {}
        by = {at: said | self.models["marks", *at] for at, said in whole.items()}
        return rater_gaps(by, self.papers, self.n_resamples)

    def _precision_and_recall(self) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Raters together, each of whose answers counts; misses by inverse probability of being drawn (rule 50)."""
        rows, n_drawn, n_proposed = [], 0, 0
        for at, said in self.answers["marks: covers"].items() if "marks: covers" in self.answers else ():
            proposed = self.models["marks", *at][MODEL]
            for one in said.values():
                n_proposed += proposed
                n_drawn += not proposed
                found = one and proposed
                of_all = found or one * self.weights.get(at, 0.0)
                rows.append((self.papers[at[0]], ((found, proposed), (found, of_all))))
        if not n_proposed or not n_drawn:
            return None, None
        precision, recall = shares(rows, self.n_resamples)
        return precision.as_dict() | {"n": n_proposed}, recall.as_dict() | {"n": n_drawn}


def _plain(text: str) -> str:
    """A text as a spreadsheet may have changed it: the apostrophe before a formula, and the ends of lines."""
    return " ".join(text.removeprefix("'").split())
