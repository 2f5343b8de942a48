"""Fine-tuning with sentence-transformers' trainer, by the paper's recipe (appendix I) unless told otherwise."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Literal, get_args

from evidencebench_core.data.model import Focus
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers.encoding import load_encoder
from evidencebench_core.retrievers.finetune.triplets import Negatives, Triplet

LossName = Literal["triplet", "multiple-negatives", "cached-multiple-negatives", "contrastive"]
LOSSES: Final[tuple[LossName, ...]] = get_args(LossName)
_PIECE: Final = 32  # examples that the cached loss holds at once


@dataclass(frozen=True, slots=True)
class FinetuneSettings:
    """Everything that changes what is learnt; the defaults are the paper's, for a smaller machine.

    Attributes
    ----------
    model : str
        As of `encoding.embeddings`.
    loss : str
        One of `LOSSES`. ``triplet`` has the cosine distance and the margin; ``contrastive`` reads each
        triplet as a pair that belongs together and one that does not, with the margin; the two with
        in-batch negatives have none, and no text twice in a batch.
    margin : float
    focus : {"all", "results"}
    negatives : {"random", "bm25", "dense"}
    n_triplets : int
        The paper has a million.
    learning_rate : float
        At its peak.
    batch_size, epochs : int
    weight_decay : float
    warmup : float
        Share of the steps in which the learning rate rises; then it falls as a cosine.
    longest : int
        Tokens that are read of a text while learning; few sentences have more, and batches are as wide as
        their longest text.
    half_precision : bool
        Matrix products in bfloat16 while learning; several times quicker on processors made for it.
    seed : int
    """

    model: str = "minilm"
    loss: LossName = "triplet"
    margin: float = 0.05
    focus: Focus = "all"
    negatives: Negatives = "random"
    n_triplets: int = 4096
    learning_rate: float = 5e-4
    batch_size: int = 256
    epochs: int = 1
    weight_decay: float = 0.01
    warmup: float = 0.1
    longest: int = 64
    half_precision: bool = False
    seed: int = 0


def base_encoder(settings: FinetuneSettings) -> Any:
    """The model to start from, as a ``SentenceTransformer`` of one's own."""
    return load_encoder(settings.model, shared=False)


def fit_encoder(
    transformer: Any,
    triplets: Sequence[Triplet],
    settings: FinetuneSettings,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """The ``SentenceTransformer``, trained in place on at least one triplet.

    ``progress`` is called with the steps done and the steps in all.

    Raises
    ------
    RetrieverError
        If the packages that training takes are missing, or training fails or leads to no usable model.
    SettingError
        Without a triplet.
    """
    if not triplets:
        raise SettingError(
            "triplets", "there are none to learn from", "Give a dataset with covering and other sentences."
        )
    try:
        for package in ("accelerate", "datasets"):
            import_module(package)
    except ImportError as error:
        raise RetrieverError(
            "finetune-encoder",
            f"the package {error.name} is not installed",
            "Run: pip install 'evidencebench-explorer[finetune]'.",
        ) from error
    longest = transformer.max_seq_length
    with tempfile.TemporaryDirectory(prefix="evidencebench-") as scratch:
        trainer = _trainer(transformer, triplets, settings, progress, scratch)
        transformer.max_seq_length = min(longest or settings.longest, settings.longest)
        try:
            trainer.train()
        except Exception as error:
            reason = " ".join(str(error).split())[:160]
            raise RetrieverError(
                "finetune-encoder",
                f"training failed ({type(error).__name__}: {reason})",
                "Try a smaller batch, a lower learning rate or another model.",
            ) from error
        finally:
            transformer.max_seq_length = longest
    return transformer.eval()


def _trainer(
    transformer: Any,
    triplets: Sequence[Triplet],
    settings: FinetuneSettings,
    progress: Callable[[int, int], None] | None,
    scratch: str,
) -> Any:
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments

    torch: Any = import_module("torch")
    transformer.model_card_data.generate_widget_examples = False  # it draws a bar
    in_batch = "multiple-negatives" in settings.loss
    arguments = SentenceTransformerTrainingArguments(
        output_dir=scratch,
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        warmup_steps=settings.warmup,
        lr_scheduler_type="cosine",
        optim="adamw_torch",
        batch_sampler="no_duplicates" if in_batch else "batch_sampler",
        bf16=settings.half_precision,
        use_cpu=not torch.accelerator.is_available(),
        seed=settings.seed,
        data_seed=settings.seed,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    trainer = SentenceTransformerTrainer(
        model=transformer,
        args=arguments,
        train_dataset=_dataset(triplets, settings.loss),
        loss=_loss(transformer, settings),
        callbacks=[_watcher(progress)] if progress else None,
    )
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)  # it prints to stdout, which is for data
    return trainer


def _dataset(triplets: Sequence[Triplet], loss: LossName) -> Any:
    anchors, positives, negatives = zip(*triplets, strict=True)
    columns: dict[str, Sequence[object]] = {"anchor": anchors, "positive": positives, "negative": negatives}
    if loss == "contrastive":
        columns = {
            "anchor": [text for text in anchors for _ in range(2)],
            "other": [text for pair in zip(positives, negatives, strict=True) for text in pair],
            "label": [1, 0] * len(triplets),
        }
    return import_module("datasets").Dataset.from_dict(columns)


def _loss(transformer: Any, settings: FinetuneSettings) -> Any:
    losses: Any = import_module("sentence_transformers.sentence_transformer.losses")
    if settings.loss == "triplet":
        cosine = losses.TripletDistanceMetric.COSINE
        return losses.TripletLoss(transformer, distance_metric=cosine, triplet_margin=settings.margin)
    if settings.loss == "contrastive":
        return losses.ContrastiveLoss(transformer, margin=settings.margin)
    if settings.loss == "multiple-negatives":
        return losses.MultipleNegativesRankingLoss(transformer)
    return losses.CachedMultipleNegativesRankingLoss(transformer, mini_batch_size=_PIECE)


def _watcher(progress: Callable[[int, int], None]) -> Any:
    from transformers import TrainerCallback

    class Watcher(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            progress(int(state.global_step), int(state.max_steps))

    return Watcher()
