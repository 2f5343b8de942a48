"""``evidencebench finetune-encoder --dataset N --out FOLDER``"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, positive, store_of
from evidencebench_core.cli.output import interval, note, percent, plain, print_json, print_table
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evidencebench_core.data.store import InstanceRow, Store
    from evidencebench_core.retrievers.finetune import FinetuneSettings
    from evidencebench_core.tasks import Score, ScoreComparison

_HEADERS = ("task", "n", "before %", "after %", "difference", "95% interval", "p")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments; the defaults are those of `FinetuneSettings`."""
    from evidencebench_core.retrievers.finetune import LOSSES, NEGATIVES, FinetuneSettings

    usual = FinetuneSettings()
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write a model trained on the whole dataset to this folder"
    )
    parser.add_argument(
        "--folds",
        type=int,
        metavar="N",
        default=1,
        help="how many of five folds, apart by paper, to train without and evaluate on: 0 to 5 (default: 1)",
    )
    parser.add_argument("--model", default=usual.model, help="the model to start from (default: %(default)s)")
    parser.add_argument("--loss", choices=LOSSES, default=usual.loss, help="default: %(default)s")
    parser.add_argument(
        "--negatives", choices=NEGATIVES, default=usual.negatives, help="default: %(default)s"
    )
    parser.add_argument(
        "--focus", choices=("all", "results"), default=usual.focus, help="default: %(default)s"
    )
    parser.add_argument("--half-precision", action="store_true", help="train with bfloat16 matrix products")
    numbers: tuple[tuple[str, type | Any, object, str], ...] = (
        ("--triplets", positive, usual.n_triplets, "how many to learn from; the paper has a million"),
        ("--batch-size", positive, usual.batch_size, "triplets a step"),
        ("--epochs", positive, usual.epochs, "times that each triplet is seen"),
        ("--learning-rate", float, usual.learning_rate, "at its peak"),
        ("--margin", float, usual.margin, "of the triplet and the contrastive loss"),
        ("--weight-decay", float, usual.weight_decay, "of AdamW"),
        ("--warmup", float, usual.warmup, "share of the steps in which the learning rate rises"),
        ("--seed", int, usual.seed, "another seed, other triplets and folds"),
    )
    for name, kind, default, what in numbers:
        parser.add_argument(
            name, type=kind, default=default, metavar="X", help=f"{what} (default: %(default)s)"
        )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate on held-out folds, then train on everything and write the folder."""
    from evidencebench_core.errors import SettingError
    from evidencebench_core.retrievers.finetune import TrainedOn, check_target, save_model
    from evidencebench_core.retrievers.ranker.examples import folds_by_paper

    if not 0 <= args.folds <= 5 or (args.folds == 0 and args.out is None):
        raise SettingError("folds", f"is {args.folds}", "Give 1 to 5, or 0 together with --out.")
    if args.out is not None:
        check_target(args.out)
    store, settings = store_of(args), _settings(args)
    info = store.dataset(args.dataset)
    rows = store.rows(args.dataset, store.ids(args.dataset))
    folds = folds_by_paper([row.paper_id for row in rows], 5, settings.seed)
    before: dict[str, list[Score]] = {}
    after: dict[str, list[Score]] = {}
    for fold in range(args.folds):
        seen = [row for row, where in zip(rows, folds, strict=True) if where != fold]
        unseen = [row for row, where in zip(rows, folds, strict=True) if where == fold]
        _evaluate(store, args.dataset, seen, unseen, settings, before, after)
    compared = _comparisons(before, after)
    scores = {task: {**one.as_dict()} for task, one in compared.items()}
    if args.out is not None:
        model = _train(store, args.dataset, rows, settings)
        ids, papers = sorted(row.id for row in rows), sorted({row.paper_id for row in rows})
        save_model(model, args.out, settings, TrainedOn(info.sha256, tuple(ids), tuple(papers)), scores)
        note(f"Written to {args.out}. Use it with: --retriever dense --set model={args.out}")
        note(f"It has seen all of {args.dataset}: its scores on that dataset are no evidence.")
    if args.json:
        print_json(
            {
                "dataset": args.dataset,
                "dataset_sha256": info.sha256,
                "settings": asdict(settings),
                "folds": args.folds,
                "held_out": scores,
                "model": None if args.out is None else str(args.out),
            }
        )
    elif compared:
        _print(compared)
    return 0


def _settings(args: argparse.Namespace) -> FinetuneSettings:
    from evidencebench_core.retrievers.finetune import FinetuneSettings

    return FinetuneSettings(
        model=args.model,
        loss=args.loss,
        margin=args.margin,
        focus=args.focus,
        negatives=args.negatives,
        n_triplets=args.triplets,
        learning_rate=args.learning_rate,
        batch_size=args.batch_size,
        epochs=args.epochs,
        weight_decay=args.weight_decay,
        warmup=args.warmup,
        half_precision=args.half_precision,
        seed=args.seed,
    )


def _train(store: Store, dataset: str, rows: Sequence[InstanceRow], settings: FinetuneSettings) -> Any:
    """A model trained on these instances."""
    import numpy as np

    from evidencebench_core.cli.progress import progress_bar
    from evidencebench_core.retrievers.finetune import base_encoder, fit_encoder, triplets_of

    rng = np.random.default_rng(settings.seed)
    counts = rng.multinomial(settings.n_triplets, np.full(len(rows), 1 / max(1, len(rows))))
    drawn = [(row.id, int(count)) for row, count in zip(rows, counts, strict=True) if count]
    instances = store.get_many(dataset, [name for name, _ in drawn])
    triplets = list(
        triplets_of(instances, [count for _, count in drawn], settings.focus, settings.negatives, rng)
    )
    note(f"Training on {quantity(len(triplets), 'triplet')} of {quantity(len(rows), 'instance')}")
    began = time.monotonic()
    with progress_bar(None, "steps") as bar:

        def advance(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        model = fit_encoder(base_encoder(settings), triplets, settings, advance)
    note(f"Trained in {time.monotonic() - began:.0f} s")
    return model


def _evaluate(
    store: Store,
    dataset: str,
    seen: Sequence[InstanceRow],
    unseen: Sequence[InstanceRow],
    settings: FinetuneSettings,
    before: dict[str, list[Score]],
    after: dict[str, list[Score]],
) -> None:
    """Add the scores of one fold by the model as it was, and as it is trained without the fold."""
    from evidencebench_core.retrievers.finetune import base_encoder, encoder_scores
    from evidencebench_core.runs import DEFAULT_TASKS
    from evidencebench_core.tasks import task_named

    tasks = [task_named(name) for name in DEFAULT_TASKS]
    ids = [row.id for row in unseen]
    for model, scores in (
        (base_encoder(settings), before),
        (_train(store, dataset, seen, settings), after),
    ):
        encode = _encode(model)
        for name, score in encoder_scores(encode, store.get_many(dataset, ids), tasks).items():
            scores.setdefault(name, []).append(score)


def _encode(model: Any) -> Any:
    def encode(texts: Sequence[str]) -> Any:
        readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return model.encode(readable, show_progress_bar=False, convert_to_numpy=True)

    return encode


def _comparisons(
    before: Mapping[str, Sequence[Score]], after: Mapping[str, Sequence[Score]]
) -> dict[str, ScoreComparison]:
    """After against before, over all folds together."""
    from dataclasses import replace

    from evidencebench_core.tasks import compare_scores

    def joint(scores: Sequence[Score]) -> Score:
        recalls = {name: recall for score in scores for name, recall in score.per_instance.items()}
        return replace(scores[0], per_instance=recalls)

    return {task: compare_scores(joint(after[task]), joint(before[task])) for task in before}


def _print(compared: Mapping[str, ScoreComparison]) -> None:
    print(plain("Aspect Recall on papers that the model has not seen, before and after fine-tuning"))
    print_table(
        _HEADERS,
        [
            (
                one.task.title,
                f"{one.n:,}",
                percent(one.mean_b),
                percent(one.mean_a),
                percent(one.mean_difference),
                interval(one.ci95),
                "–" if one.p_value is None else f"{one.p_value:.3f}",
            )
            for one in compared.values()
        ],
        right=_HEADERS[1:],
    )


VERBS: Final = {"finetune-encoder": (add_arguments, run)}
