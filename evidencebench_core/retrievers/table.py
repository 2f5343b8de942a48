"""The retrievers by name, with everything they can be told.

A retriever's code is imported when it is made, not when it is listed: the table itself is cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field

from evidencebench_core.retrievers.settings import Derived, JsonText, SettingField, Settings, fields_of

IMPORTED: Final = "imported"  # stands as the retriever of runs whose answers came from a file
CROSS_VALIDATED: Final = "cross-validated"
"""The setting ``model`` of a run whose answers ``train-ranker`` got from models of other folds."""

_ALL: Final = "On the unconstrained task it selects every sentence."

Instruction = Literal["none", "er", "result", "auto"]
_INSTRUCTION: Final = (
    "Put before the hypothesis: none, er, result, or auto (result on the Result tasks, er on the others)."
)
_ENCODER: Final = (
    "minilm (all-MiniLM-L6-v2, works offline), a sentence-transformers folder, or a Hugging Face name."
)


@dataclass(frozen=True, slots=True)
class RetrieverEntry:
    """A retriever as it is known before it is made."""

    name: str
    summary: str  # one or two sentences for a list of retrievers
    model: type[Settings]  # what it can be told
    target: str  # "module:Class" of this package, called with all settings as keywords
    sees_gold: bool = False  # whether it is made with an `EvidenceSet`; the oracle alone may
    asks_server: bool = False  # whether it sends its queries to a server: it may cost money

    @property
    def settings(self) -> Mapping[str, SettingField]:
        """Its settings as a form or a help text shows them."""
        return fields_of(self.model)


Temperature = Annotated[
    float | None, Field(ge=0, le=2, description="Sent where the server takes it; none: the server's own.")
]
ReasoningEffort = Annotated[
    str | None, Field(description="For thinking models whose server takes it: low, medium, high.")
]
ExtraBody = Annotated[
    str | None,
    JsonText,
    Field(
        description='Further fields of the request as a JSON object: {"top_p": 0.9, "chat_template_kwargs": {...}}.'
    ),
]


class SeedSettings(Settings):
    seed: int = Field(0, ge=0, description="Another seed, another order.")


class Bm25Settings(Settings):
    k1: float = Field(1.5, ge=0, le=100, description="How slowly repeated words saturate.")
    b: float = Field(0.75, ge=0, le=1, description="How much long sentences are discounted.")


class DenseSettings(Settings):
    model: str = Field("minilm", min_length=1, description=_ENCODER)
    instruction: Instruction = Field("none", description=_INSTRUCTION)


class HybridSettings(Settings, extra="allow"):
    """Settings of members stand beside its own as ``bm25.k1``."""

    of: tuple[str, ...] = Field(
        ("bm25", "dense"),
        description="The retrievers to merge, separated by commas; their own settings as bm25.k1=1.2.",
    )
    k: float = Field(
        60.0, ge=1, le=1e6, description="Added to every rank: the larger, the less the first places weigh."
    )


class StructureSettings(Settings):
    encoder: str = Field("minilm", min_length=1, description=_ENCODER)


class RankerSettings(Settings):
    model: str = Field(
        "default",
        min_length=1,
        description="The model's folder: default, the one train-ranker wrote last, or a path.",
    )
    weights: str | None = Derived("The digest of the model.")


class EmbeddingsSettings(Settings):
    model: str | None = Field(None, description="The model, as the server calls it. It has to be named.")
    instruction: Instruction = Field("none", description=_INSTRUCTION)


class RequestSettings(Settings):
    """Settings of any question to a model."""

    temperature: Temperature = 0.0
    reasoning_effort: ReasoningEffort = None
    extra_body: ExtraBody = None
    max_tokens: int = Field(
        4096, ge=0, description="Most tokens of an answer, thoughts included; 0: the server's limit."
    )


class LlmSettings(Settings):
    model: str | None = Field(None, description="The model, as the server calls it. It has to be named.")
    strategy: Literal["auto", "cot", "icl", "section", "result-section", "unconstrained"] = Field(
        "auto",
        description="cot: the whole paper at once, reasons first; icl: with examples; section: section by section, "
        "then the best of what was found; result-section: the same for results, with one example; unconstrained: "
        "any number, for results with examples if named; auto: cot for ER, result-section for Result-ER, "
        "unconstrained without a budget.",
    )
    prompt: str | None = Field(
        None, description="A prompt of your own in the place of the strategy's first one."
    )
    examples: str | None = Field(
        None,
        description="The dataset in the store that examples come from, best the train set; icl cannot do without. "
        "Never the instance's own hypothesis or paper.",
    )
    n_examples: int = Field(8, ge=1, le=64, description="How many examples are shown.")
    temperature: Temperature = 0.0
    max_tokens: int | None = Field(
        None,
        ge=0,
        description="Most tokens of an answer, reasons included; none: 1,024, or 16,384 with reasoning_effort; "
        "0: the server's limit.",
    )
    reasoning_effort: ReasoningEffort = None
    extra_body: ExtraBody = None
    prompts: tuple[str, ...] | None = Derived("Names and versions of the prompts; filled in by itself.")
    examples_sha256: str | None = Derived("Content of the dataset of examples; filled in by itself.")


_ENTRIES: Final = (
    RetrieverEntry(
        "random",
        f"Sentences in random order, the same whenever it is asked again. {_ALL}",
        SeedSettings,
        "baselines:RandomOrder",
    ),
    RetrieverEntry(
        "oracle",
        "The best selection there is, made with the gold in hand: the ceiling.",
        Settings,
        "oracle:Oracle",
        sees_gold=True,
    ),
    RetrieverEntry("lead", f"Sentences in the order of the paper. {_ALL}", Settings, "baselines:Lead"),
    RetrieverEntry(
        "abstract-tail",
        f"The abstract from its last sentence to its first, then the paper in order. {_ALL}",
        Settings,
        "baselines:AbstractTail",
    ),
    RetrieverEntry(
        "bm25", f"Words shared with the hypothesis, the rarer the better (BM25). {_ALL}", Bm25Settings, "bm25:Bm25"
    ),
    RetrieverEntry(
        "dense", f"Cosine similarity of sentence embeddings, computed here. {_ALL}", DenseSettings, "dense:Dense"
    ),
    RetrieverEntry(
        "hybrid", f"Two or more retrievers merged by reciprocal rank fusion. {_ALL}", HybridSettings, "hybrid:Hybrid"
    ),
    RetrieverEntry(
        "structure",
        "Fixed, readable weights on where a sentence stands, what it looks like and how near it is to the "
        f"hypothesis; picks that repeat each other count less. {_ALL}",
        StructureSettings,
        "ranker.structure:Structure",
    ),
    RetrieverEntry(
        "evidence-ranker",
        "Learnt from gold evidence: a small network over structure, words and meaning, and picks "
        f"that cover much between them. Needs a model: evidencebench train-ranker. {_ALL}",
        RankerSettings,
        "ranker.retriever:EvidenceRanker",
    ),
    RetrieverEntry(
        "llm",
        "A language model on an OpenAI-compatible server, asked by one of the paper's strategies. "
        "Ranks only what it selects.",
        LlmSettings,
        "llm.retriever:LanguageModel",
        asks_server=True,
    ),
    RetrieverEntry(
        "embeddings",
        f"Cosine similarity of sentence embeddings, computed by an OpenAI-compatible server. {_ALL}",
        EmbeddingsSettings,
        "llm.embeddings:Embeddings",
        asks_server=True,
    ),
)  # fmt: skip
RETRIEVERS: Final[Mapping[str, RetrieverEntry]] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
