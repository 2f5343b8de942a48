"""How lucky is a recipe of the ranker: nested cross-validation by paper over many seeds, one figure for each task.

    python -m benchmarks.ranker_cv [--variant NAME] [--seeds 20] [--nested] [--cache FOLDER] [--store FILE]

A seed draws the folds and the trees. Raw scores of every fit are kept in the cache folder, so that another choice of
weights or selection costs seconds. With ``--nested`` each outer fold chooses among `CHOICES`, for each focus, by what
models that have seen neither fold score on the inner folds; without it the recipe is taken as it stands. Prints the
mean over seeds, the standard deviation between them, the paired differences to the variant ``--against``, and with
``--baselines`` those to the other retrievers, with Holm-adjusted p-values of the sign-flip test over papers.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import lightgbm
import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data import open_store
from evidencebench_core.data.model import Focus, Instance
from evidencebench_core.retrievers import query_of
from evidencebench_core.retrievers.encoding import layered_embeddings
from evidencebench_core.retrievers.ranker import training
from evidencebench_core.retrievers.ranker.examples import FOCUSES, Example, example_of, folds_by_paper
from evidencebench_core.retrievers.ranker.features import features_of, layers_of, settled
from evidencebench_core.retrievers.ranker.model import (
    FEW,
    N_STYLES,
    OWN_COLUMNS,
    meaning,
    network_columns,
    tree_columns,
    weights_for,
)
from evidencebench_core.retrievers.ranker.network import fit_network
from evidencebench_core.retrievers.ranker.selection import Selecting, picks_of
from evidencebench_core.runs.crossvalidation import _baselines
from evidencebench_core.stats import holm
from evidencebench_core.stats.randomisation import randomisation_p_value

N_FOLDS: Final = 5
TASKS: Final[tuple[tuple[str, Focus, int | None], ...]] = (
    ("ER@Optimal", "all", None),
    ("ER@10", "all", 10),
    ("Result-ER@Optimal", "results", None),
    ("Result-ER@5", "results", 5),
)

Array = NDArray[np.float64]
Raw = dict[Focus, dict[str, dict[str, Array]]]
"""Raw scores of the sentences, by focus, member and instance id."""


@dataclass(frozen=True, slots=True)
class Paper:
    """An instance with all that is computed once."""

    instance: Instance
    example: Example
    similarities: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Choice:
    """What needs no other fit: weights of the members, and the numbers of the selection."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict(training._WEIGHTS))
    selecting: Selecting = field(default_factory=lambda: Selecting(training._SHARPNESS))
    few: int = FEW  # for fewer picks the trees are not asked


@dataclass(frozen=True, slots=True)
class Variant:
    """What is fitted."""

    columns: Callable[[Paper], NDArray[np.float32]] | None = None  # more columns of the trees
    trees: Mapping[str, object] = field(default_factory=dict)
    n_trees: int = 250
    repeats: int = 1  # sums of trees of other seeds, averaged
    ridge: float = training._RIDGE
    also: str = ""  # a dataset whose instances are learnt from, too
    also_weight: float = 0.3
    alone: bool = False  # learnt from these only


def papers_of(store: str | None, dataset: str) -> list[Paper]:
    """The instances of a dataset that have aspects; embeddings come from the usual cache."""
    known, found = open_store(store), []
    for instance in known.get_many(dataset, known.ids(dataset)):
        if not instance.evidence.focused("all") or not instance.sentences:
            continue
        vectors, _ = layered_embeddings("minilm", (instance.hypothesis, *instance.sentences))
        features = features_of(query_of(instance, "all", None), layers_of(vectors)[0])
        found.append(Paper(instance, example_of(instance, vectors), features.similarities))
    return found


def raw_scores(variant: Variant, seed: int, learnt: Sequence[Paper], asked: Sequence[Paper]) -> Raw:
    """Members fitted to some papers, asked for others; as `fit_ranker` fits them."""
    examples = [one.example for one in learnt]
    n_rows = sum(len(one.rows) for one in examples)
    drawn = np.arange(n_rows)
    if n_rows > training._PROJECTED_FROM:
        drawn = np.sort(np.random.default_rng(seed).choice(n_rows, training._PROJECTED_FROM, replace=False))
    topics = training._projection(np.concatenate([one.vectors[1:] for one in examples])[drawn])
    shared = training._projection(
        np.concatenate([one.vectors[1:] * one.vectors[0] for one in examples])[drawn]
    )

    def columns_of(paper: Paper) -> NDArray[np.float32]:
        own = tree_columns(paper.example.rows, paper.example.vectors, topics, shared)
        return own if variant.columns is None else np.concatenate([own, variant.columns(paper)], axis=1)

    styles = training._projection(np.concatenate([one.middle for one in examples])[drawn], N_STYLES)

    def inputs_of(paper: Paper) -> NDArray[np.float32]:
        own = tree_columns(paper.example.rows, paper.example.vectors, topics, shared)
        return network_columns(own, styles.of(paper.example.middle))

    network = fit_network(
        [inputs_of(one) for one in learnt],
        [one.weights for one in examples],
        [[one.covering[focus] for focus in FOCUSES] for one in examples],
        len(OWN_COLUMNS),
        seed,
        training.Training().n_epochs,
    )
    raw: Raw = {}
    for output, focus in enumerate(FOCUSES):
        some = [one for one in learnt if focus in one.example.targets]
        named = {
            name: np.concatenate([one.example.targets[focus][name] for one in some])
            for name in training._TARGETS
        }
        counts = np.concatenate(
            [one.example.weights * (variant.also_weight if _is_other(one) else 1.0) for one in some]
        )
        rows, asked_rows = (
            np.concatenate([columns_of(one) for one in some]),
            [columns_of(one) for one in asked],
        )
        members: dict[str, list[Array]] = {
            name: [np.zeros(len(one)) for one in asked_rows] for name in training._TARGETS
        }
        for repeat in range(variant.repeats):
            parameters = {**training._TREES, **variant.trees, "seed": seed + 1000 * repeat}
            data = lightgbm.Dataset(rows, named["evidence"], weight=counts, params=parameters)
            for name, sums in members.items():
                data.set_label(named[name])
                booster = lightgbm.train(parameters, data, variant.n_trees)
                for place, one in enumerate(asked_rows):
                    sums[place] += np.asarray(booster.predict(one, num_threads=1)) / variant.repeats
        aspects, share = (
            named[name] / (training._spread(named[name], counts) + 1e-9) for name in training._TARGETS[1:]
        )
        both = aspects + share
        meanings = [meaning(one.example.vectors) for one in some]
        linear = training._ridge(meanings, both, counts, variant.ridge)
        members["embedding"] = [linear.scores(meaning(one.example.vectors)) for one in asked]
        members["network"] = [network.scores(inputs_of(one), output) for one in asked]
        raw[focus] = {
            name: {paper.instance.id: one for paper, one in zip(asked, scores, strict=True)}
            for name, scores in members.items()
        }
    return raw


def _is_other(paper: Paper) -> bool:
    return not paper.instance.id.startswith("evidencebench_")


def recalls(papers: Iterable[Paper], raw: Raw, choice: Choice) -> dict[str, dict[str, float]]:
    """The Aspect Recall of each instance, by task."""
    found: dict[str, dict[str, float]] = {name: {} for name, *_ in TASKS}
    for paper in papers:
        evidence = paper.instance.evidence
        for focus in FOCUSES:
            optimal = evidence.optimal_for(focus)
            if optimal is None:
                continue
            covers = evidence.covers(focus)
            for name, of, budget in TASKS:
                if of == focus:
                    k = optimal if budget is None else budget
                    weights = weights_for(choice.weights, training._TARGETS, k, choice.few)
                    total = np.zeros(evidence.n_sentences)
                    for member, weight in weights.items():
                        scores = raw[focus][member][paper.instance.id]
                        total += weight * (scores - scores.mean()) / (scores.std() or 1.0)
                    total = settled(total / sum(weights.values()))
                    picks = {
                        one.sentence for one in picks_of(total, paper.similarities, k, choice.selecting)[:k]
                    }
                    found[name][paper.instance.id] = float(
                        np.mean([bool(picks & set(one)) for one in covers])
                    )
    return found


class Fits:
    """Raw scores by variant, seed and folds that were left out; on disk, so that none is computed twice."""

    def __init__(
        self, name: str, variant: Variant, papers: Sequence[Paper], others: Sequence[Paper], cache: Path
    ):
        self.name, self.variant, self.papers, self.others = name, variant, papers, others
        self.cache = cache / "fits"

    def fold_of(self, seed: int) -> dict[str, int]:
        where = folds_by_paper([one.instance.paper_id for one in self.papers], N_FOLDS, seed)
        return {one.instance.id: fold for one, fold in zip(self.papers, where, strict=True)}

    def without(self, seed: int, folds: tuple[int, ...]) -> Raw:
        """Of the instances in these folds, by members that were fitted to the others."""
        path = self.cache / f"{self.name}-{seed}-{'-'.join(map(str, sorted(folds)))}.npz"
        if not path.is_file():
            fold_of = self.fold_of(seed)
            asked = [one for one in self.papers if fold_of[one.instance.id] in folds]
            own = [one for one in self.papers if fold_of[one.instance.id] not in folds]
            learnt = [*([] if self.variant.alone else own), *self.others]
            made = raw_scores(self.variant, seed, learnt, asked)
            path.parent.mkdir(parents=True, exist_ok=True)
            flat = {
                f"{focus}/{member}/{one}": scores
                for focus, members in made.items()
                for member, of in members.items()
                for one, scores in of.items()
            }
            np.savez(path, allow_pickle=False, **flat)
        raw: Raw = {}
        with np.load(path) as kept:
            for key in kept.files:
                focus, member, one = key.split("/", 2)
                raw.setdefault(focus, {}).setdefault(member, {})[one] = kept[key]
        return raw


def out_of_fold(fits: Fits, seed: int, choices: Sequence[Choice]) -> dict[str, dict[str, float]]:
    """The recall of each instance by task; with more than one choice, each focus of an outer fold has its own."""
    fold_of = fits.fold_of(seed)
    found: dict[str, dict[str, float]] = {name: {} for name, *_ in TASKS}
    for fold in range(N_FOLDS):
        members = [one for one in fits.papers if fold_of[one.instance.id] == fold]
        raw = fits.without(seed, (fold,))
        best: dict[Focus, Choice] = dict.fromkeys(FOCUSES, choices[0])
        if len(choices) > 1:
            inner = [_inner(fits, seed, fold, fold_of, choice) for choice in choices]
            for focus in FOCUSES:
                sums = [sum(one[name] for name, of, _ in TASKS if of == focus) for one in inner]
                best[focus] = choices[int(np.argmax(sums))]
        for focus in FOCUSES:
            mine = recalls(members, raw, best[focus])
            for name, of, _ in TASKS:
                if of == focus:
                    found[name] |= mine[name]
    return found


def _inner(fits: Fits, seed: int, outer: int, fold_of: Mapping[str, int], choice: Choice) -> dict[str, float]:
    """Mean recall by task on the inner folds, by members that have seen neither the inner nor the outer fold."""
    found: dict[str, dict[str, float]] = {name: {} for name, *_ in TASKS}
    for fold in range(N_FOLDS):
        if fold != outer:
            members = [one for one in fits.papers if fold_of[one.instance.id] == fold]
            for name, of in recalls(members, fits.without(seed, (outer, fold)), choice).items():
                found[name] |= of
    return {name: float(np.mean(list(of.values()))) for name, of in found.items()}


def _with(**changes: float) -> Choice:
    """The recipe with other weights of members, or other numbers of the selection."""
    numbers = {name: value for name, value in changes.items() if name in Selecting.__slots__}
    weights = {name: value for name, value in changes.items() if name not in numbers}
    return Choice({**training._WEIGHTS, **weights}, replace(Selecting(training._SHARPNESS), **numbers))


CHOICES: Final[tuple[Choice, ...]] = (
    Choice(),
    *(Choice(few=few) for few in (0, 2, 3, 4, 7)),
    *(
        _with(sharpness=sharpness, closeness=closeness, reach=reach)
        for sharpness, closeness, reach in itertools.product(
            (1.0, 2.0, 3.0), (0.75, 1.5, 3.0), (0.0, 0.1, 0.3)
        )
    ),
    *(
        _with(evidence=a, aspects=b, share=c, embedding=d, network=e)
        for a, b, c, d, e in (
            (1, 1, 1, 1, 14), (1, 1, 1, 4, 14), (1, 1, 1, 0, 14), (0, 1, 1, 2, 14), (1, 0, 1, 2, 14), (1, 1, 0, 2, 14),
            (2, 2, 2, 2, 14), (1, 1, 1, 2, 7), (1, 1, 1, 2, 28), (0, 0, 0, 2, 14), (0, 0, 0, 0, 14), (1, 1, 1, 2, 0),
        )
    ),
)  # fmt: skip
"""What a nested run chooses from: the recipe first, so that it wins ties."""

VARIANTS: Final[dict[str, Variant]] = {"recipe": Variant()}


def summary(by_seed: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, str]:
    """Mean over the seeds, and the standard deviation between them, in percent."""
    means = {name: [100 * float(np.mean(list(one[name].values()))) for one in by_seed] for name, *_ in TASKS}
    return {name: f"{np.mean(of):.2f} ± {np.std(of):.2f}" for name, of in means.items()}


def differences(
    ours: Sequence[Mapping[str, Mapping[str, float]]], theirs: Sequence[Mapping[str, Mapping[str, float]]]
) -> dict[str, str]:
    """The mean difference over seeds, with a 95% bootstrap interval over instances, each averaged over the seeds."""
    found = {}
    for name, *_ in TASKS:
        both = [
            [100 * (a[name][one] - b[name][one]) for one in sorted(a[name])]
            for a, b in zip(ours, theirs, strict=True)
        ]
        of_instance = np.mean(both, axis=0)
        drawn = np.random.default_rng(0).integers(len(of_instance), size=(5000, len(of_instance)))
        low, high = np.percentile(of_instance[drawn].mean(axis=1), [2.5, 97.5])
        found[name] = f"{of_instance.mean():+.2f} ({low:+.2f} to {high:+.2f})"
    return found


def against_baselines(
    papers: Sequence[Paper], ours: Sequence[Mapping[str, Mapping[str, float]]]
) -> dict[str, str]:
    """By baseline and task the mean difference of the means over seeds, and its p-value among all of these."""
    found: dict[str, float] = {}
    p_values = []
    for baseline, other in _baselines("minilm").items():
        for name, focus, budget in TASKS:
            n, by_paper = 0, dict.fromkeys((one.instance.paper_id for one in papers), 0.0)
            for paper in papers:
                evidence = paper.instance.evidence
                if (optimal := evidence.optimal_for(focus)) is None:
                    continue
                k = optimal if budget is None else budget
                picks = set(other.retrieve(query_of(paper.instance, focus, k)).selection)
                theirs = np.mean([bool(picks & set(one)) for one in evidence.covers(focus)])
                mine = np.mean([one[name][paper.instance.id] for one in ours])
                by_paper[paper.instance.paper_id] += float(mine - theirs)
                n += 1
            sums = np.array(list(by_paper.values()))
            found[f"{name} against {baseline}"] = float(sums.sum()) / n
            p_values.append(randomisation_p_value(sums, np.random.default_rng(0), 20_000))
    return {
        name: f"{100 * difference:+.1f}, p {p:.4f}"
        for (name, difference), p in zip(found.items(), holm(p_values), strict=True)
    }


def main(variants: Mapping[str, Variant] = VARIANTS) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--variant", choices=sorted(variants), default="recipe")
    parser.add_argument("--against", choices=sorted(variants))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--nested", action="store_true")
    parser.add_argument("--baselines", action="store_true")
    parser.add_argument("--few", type=int, default=FEW, help="for fewer picks the trees are not asked")
    parser.add_argument("--dataset", default="train")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--store")
    parser.add_argument("--log", type=Path, help="a file that a line is added to")
    args = parser.parse_args()
    papers, began = papers_of(args.store, args.dataset), time.monotonic()

    def by_seed(name: str, choices: Sequence[Choice]) -> list[dict[str, dict[str, float]]]:
        also = variants[name].also
        fits = Fits(name, variants[name], papers, papers_of(args.store, also) if also else (), args.cache)
        return [out_of_fold(fits, seed, choices) for seed in range(args.seeds)]

    ours = by_seed(args.variant, CHOICES if args.nested else (Choice(few=args.few),))
    found: dict[str, Any] = {
        "variant": args.variant + (", nested" if args.nested else ""),
        "instances": len(papers),
        "seeds": args.seeds,
        **summary(ours),
    }
    if args.against:
        found["against"] = {"variant": args.against, **differences(ours, by_seed(args.against, CHOICES[:1]))}
    if args.baselines:
        found["against baselines"] = against_baselines(papers, ours)
    found["seconds"] = round(time.monotonic() - began)
    print(json.dumps(found, indent=2, ensure_ascii=False))
    if args.log:
        with args.log.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(found, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
