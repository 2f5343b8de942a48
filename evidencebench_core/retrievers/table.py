"""The retrievers by name, with everything they can be told.

A retriever's code is imported when it is made, not when it is listed: the table itself is cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from evidencebench_core.retrievers.settings import SettingSpec

IMPORTED: Final = "imported"  # stands as the retriever of runs whose answers came from a file
_HOME: Final = "evidencebench_core.retrievers"
_ALL: Final = "On the unconstrained task it selects every sentence."
_SERVER_MODEL: Final = SettingSpec(None, str, "The model, as the server calls it. It has to be named.")
_INSTRUCTION: Final = SettingSpec(
    "none",
    str,
    "Text put before the hypothesis: none, er, result, or auto (result on the Result tasks, er on the others).",
    choices=("none", "er", "result", "auto"),
)


@dataclass(frozen=True, slots=True)
class RetrieverEntry:
    """A retriever as it is known before it is made.

    Attributes
    ----------
    name : str
        Lower-case letters, digits and hyphens.
    summary : str
        One or two sentences for a list of retrievers.
    settings : mapping of str to SettingSpec
        In the order in which they are shown.
    sees_gold : bool
        Whether it is made with an `EvidenceSet`; the oracle alone may.
    target : str
        ``"module:Class"``, imported when the retriever is made. The class is called with all
        settings as keywords.
    nests : bool
        Whether it is made of the retrievers that its setting ``of`` names, and so takes their
        settings as ``member.setting``.
    asks_server : bool
        Whether it sends its queries to a server, with the key of the environment or the session: it may
        cost money, and is a `ServedRetriever`.
    run_marks : mapping of str to str
        What goes into the id of its runs beside the settings: set when it begins to compute something else,
        so that stored answers from before and after are never in one run.
    """

    name: str
    summary: str
    settings: Mapping[str, SettingSpec] = field(default_factory=lambda: MappingProxyType({}))
    sees_gold: bool = False
    target: str = ""
    nests: bool = False
    asks_server: bool = False
    run_marks: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


_LLM_SETTINGS: Final[Mapping[str, SettingSpec]] = MappingProxyType(
    {
        "model": _SERVER_MODEL,
        "strategy": SettingSpec(
            "auto",
            str,
            "cot: the whole paper at once, reasons first; icl: with examples; section: section by section, then "
            "the best of what was found; result-section: the same for results, with one example; unconstrained: "
            "any number, for results with examples if named; guided (ours, not the paper's): name points, search "
            "for each, choose for coverage; "
            "auto: cot for ER, result-section for Result-ER, unconstrained without a budget.",
            choices=("auto", "cot", "icl", "section", "result-section", "unconstrained", "guided"),
        ),
        "prompt": SettingSpec(None, str, "A prompt of your own in the place of the strategy's (first) one."),
        "final_prompt": SettingSpec(None, str, "A prompt of your own for the last step of several."),
        "examples": SettingSpec(
            None,
            str,
            "The dataset in the store that examples come from, best the train set; icl cannot do without. "
            "Never the instance's own hypothesis or paper.",
        ),
        "example_ids": SettingSpec(
            None, tuple, "The instances of that dataset to show, in this order; none: drawn at random."
        ),
        "n_examples": SettingSpec(
            8, int, "How many examples are shown where no example_ids are named.", minimum=1, maximum=64
        ),
        "examples_seed": SettingSpec(0, int, "Another seed, other examples.", minimum=0),
        "n_aspects": SettingSpec(
            8,
            int,
            "The most points that guided looks for, each with a call of its own.",
            minimum=1,
            maximum=20,
        ),
        "samples": SettingSpec(
            1,
            int,
            "How often the final choice is asked for, each time with the next seed; the sentences with most votes "
            "win. Wants a temperature above 0.",
            minimum=1,
            maximum=64,
        ),
        "format": SettingSpec(
            "auto",
            str,
            "json: reasons and indices by a schema, from servers that enforce one; text: a line DECISION: [...]; "
            "auto: json for guided, text for the paper's strategies. Answers are read either way.",
            choices=("auto", "json", "text"),
        ),
        "temperature": SettingSpec(
            0.0,
            float,
            "Sent where the server takes it; none: the server's own.",
            minimum=0,
            maximum=2,
            optional=True,
        ),
        "seed": SettingSpec(0, int, "Sent where the server takes it.", minimum=0),
        "max_tokens": SettingSpec(
            None,
            int,
            "Most tokens of an answer, reasons included; none: 1,024, or 16,384 with reasoning_effort; "
            "0: the server's limit.",
            minimum=0,
        ),
        "reasoning_effort": SettingSpec(
            None, str, "For thinking models whose server takes it: low, medium, high."
        ),
        "extra_body": SettingSpec(
            None,
            dict,
            'Further fields of the request as a JSON object: {"top_p": 0.9, "chat_template_kwargs": {...}}.',
        ),
        "prompts": SettingSpec(
            None, tuple, "Names and versions of the prompts; filled in by itself.", derived=True
        ),
        "examples_sha256": SettingSpec(
            None, str, "Content of the dataset of examples; filled in by itself.", derived=True
        ),
    }
)

_ENTRIES: Final = (
    RetrieverEntry(
        "random",
        f"Sentences in random order, the same whenever it is asked again. {_ALL}",
        {"seed": SettingSpec(0, int, "Another seed, another order.", minimum=0)},
        target=f"{_HOME}.baselines:RandomOrder",
    ),
    RetrieverEntry(
        "oracle",
        "The best selection there is, made with the gold in hand: the ceiling.",
        sees_gold=True,
        target=f"{_HOME}.oracle:Oracle",
    ),
    RetrieverEntry("lead", f"Sentences in the order of the paper. {_ALL}", target=f"{_HOME}.baselines:Lead"),
    RetrieverEntry(
        "abstract-tail",
        f"The abstract from its last sentence to its first, then the paper in order. {_ALL}",
        target=f"{_HOME}.baselines:AbstractTail",
    ),
    RetrieverEntry(
        "bm25",
        f"Words shared with the hypothesis, the rarer the better (BM25). {_ALL}",
        {
            "k1": SettingSpec(1.5, float, "How slowly repeated words saturate.", minimum=0, maximum=100),
            "b": SettingSpec(0.75, float, "How much long sentences are discounted.", minimum=0, maximum=1),
            "epsilon": SettingSpec(
                0.25,
                float,
                "Weight of words that most sentences have, relative to the average word.",
                minimum=0,
                maximum=100,
            ),
            "tokenisation": SettingSpec(
                "word",
                str,
                "word: runs of letters and digits; whitespace: split at spaces only; "
                "word-stop: as word, without English function words.",
                choices=("word", "whitespace", "word-stop"),
            ),
        },
        target=f"{_HOME}.bm25:Bm25",
    ),
    RetrieverEntry(
        "dense",
        f"Cosine similarity of sentence embeddings, computed here. {_ALL}",
        {
            "model": SettingSpec(
                "minilm",
                str,
                "minilm (all-MiniLM-L6-v2, works offline), a sentence-transformers folder, "
                "or a Hugging Face name, optionally with @revision.",
            ),
            "instruction": _INSTRUCTION,
        },
        target=f"{_HOME}.dense:Dense",
    ),
    RetrieverEntry(
        "hybrid",
        f"Two or more retrievers merged by reciprocal rank fusion. {_ALL}",
        {
            "of": SettingSpec(
                ("bm25", "dense"),
                tuple,
                "The retrievers to merge, separated by commas; their own settings as bm25.k1=1.2.",
            ),
            "k": SettingSpec(
                60.0,
                float,
                "Added to every rank: the larger, the less the first places weigh.",
                minimum=1,
                maximum=1e6,
            ),
        },
        target=f"{_HOME}.hybrid:Hybrid",
        nests=True,
    ),
    RetrieverEntry(
        "structure",
        "Fixed, readable weights on where a sentence stands, what it looks like and how near it is to the "
        f"hypothesis; picks that repeat each other count less. {_ALL}",
        {
            "encoder": SettingSpec(
                "minilm", str, "The embedding model: minilm, a folder, or a Hugging Face name."
            )
        },
        target=f"{_HOME}.ranker.structure:Structure",
    ),
    RetrieverEntry(
        "evidence-ranker",
        "Learnt from gold evidence: trees and linear models over structure, words and meaning, and picks "
        f"that cover much between them. Needs a model: evidencebench train-ranker. {_ALL}",
        {
            "model": SettingSpec(
                "default", str, "The model file: default, the one train-ranker wrote last, or a path."
            ),
            "weights": SettingSpec(None, str, "The digest of the model file.", derived=True),
        },
        target=f"{_HOME}.ranker.retriever:EvidenceRanker",
    ),
    RetrieverEntry(
        "llm",
        "A language model on an OpenAI-compatible server, asked by one of the paper's strategies or "
        "by guided, our own. Ranks only what it selects.",
        _LLM_SETTINGS,
        target=f"{_HOME}.llm.retriever:LanguageModel",
        asks_server=True,
    ),
    RetrieverEntry(
        "embeddings",
        f"Cosine similarity of sentence embeddings, computed by an OpenAI-compatible server. {_ALL}",
        {"model": _SERVER_MODEL, "instruction": _INSTRUCTION},
        target=f"{_HOME}.llm.embeddings:Embeddings",
        asks_server=True,
    ),
)
RETRIEVERS: Final[Mapping[str, RetrieverEntry]] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
