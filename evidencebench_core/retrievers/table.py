"""The retrievers by name, with everything they can be told.

A retriever's code is imported when it is made, not when it is listed: the table itself is cheap.
Other packages add theirs with an entry point of the group ``evidencebench.retrievers`` that names
a `RetrieverEntry`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, cast

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.errors import EvidenceBenchError, RetrieverError, SettingError, shown
from evidencebench_core.retrievers.base import Retriever, Setting
from evidencebench_core.retrievers.served_settings import EMBEDDINGS_SETTINGS, LLM_SETTINGS
from evidencebench_core.retrievers.settings import SettingSpec, coerced, names_hint

__all__ = [
    "RETRIEVERS",
    "RetrieverEntry",
    "full_settings",
    "make_retriever",
    "retriever_entries",
    "retriever_entry",
]

_HOME: Final = "evidencebench_core.retrievers"
_ALL: Final = "On the unconstrained task it selects every sentence."


def _no_settings() -> Mapping[str, SettingSpec]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RetrieverEntry:
    """What is known of a retriever before it is made.

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
    problem : str or None
        Why it cannot be used (an entry point that does not load); it is listed all the same.
    """

    name: str
    summary: str
    settings: Mapping[str, SettingSpec] = field(default_factory=_no_settings)
    sees_gold: bool = False
    target: str = ""
    nests: bool = False
    asks_server: bool = False
    problem: str | None = None


RETRIEVERS: Final[Mapping[str, RetrieverEntry]] = MappingProxyType(
    {
        "random": RetrieverEntry(
            name="random",
            summary=f"Sentences in random order, the same whenever it is asked again. {_ALL}",
            settings=MappingProxyType(
                {"seed": SettingSpec(0, int, "Another seed, another order.", minimum=0)}
            ),
            target=f"{_HOME}.random:RandomOrder",
        ),
        "oracle": RetrieverEntry(
            name="oracle",
            summary="The best selection there is, made with the gold in hand: the ceiling.",
            sees_gold=True,
            target=f"{_HOME}.oracle:Oracle",
        ),
        "lead": RetrieverEntry(
            name="lead",
            summary=f"Sentences in the order of the paper. {_ALL}",
            target=f"{_HOME}.position:Lead",
        ),
        "abstract-tail": RetrieverEntry(
            name="abstract-tail",
            summary=f"The abstract from its last sentence to its first, then the paper in order. {_ALL}",
            target=f"{_HOME}.position:AbstractTail",
        ),
        "bm25": RetrieverEntry(
            name="bm25",
            summary=f"Words shared with the hypothesis, the rarer the better (BM25). {_ALL}",
            settings=MappingProxyType(
                {
                    "k1": SettingSpec(
                        1.5, float, "How slowly repeated words saturate.", minimum=0, maximum=100
                    ),
                    "b": SettingSpec(
                        0.75, float, "How much long sentences are discounted.", minimum=0, maximum=1
                    ),
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
                }
            ),
            target=f"{_HOME}.bm25:Bm25",
        ),
        "dense": RetrieverEntry(
            name="dense",
            summary=f"Cosine similarity of sentence embeddings, computed here. {_ALL}",
            settings=MappingProxyType(
                {
                    "model": SettingSpec(
                        "minilm",
                        str,
                        "minilm (all-MiniLM-L6-v2, works offline), a sentence-transformers folder, "
                        "or a Hugging Face name, optionally with @revision.",
                    ),
                    "instruction": SettingSpec(
                        "none",
                        str,
                        "Text put before the hypothesis: none, er, result, or auto "
                        "(result on the Result tasks, er on the others).",
                        choices=("none", "er", "result", "auto"),
                    ),
                    "backend": SettingSpec(
                        "float32",
                        str,
                        "What runs the model: float32 (exact, by onnx or torch), auto (the quickest that is near "
                        "enough on this machine, 8 bits if it may), or by name: torch, onnx, onnx-int8.",
                        choices=("float32", "auto", "torch", "onnx", "onnx-int8"),
                    ),
                }
            ),
            target=f"{_HOME}.dense:Dense",
        ),
        "hybrid": RetrieverEntry(
            name="hybrid",
            summary=f"Two or more retrievers merged by reciprocal rank fusion. {_ALL}",
            settings=MappingProxyType(
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
                }
            ),
            target=f"{_HOME}.hybrid:Hybrid",
            nests=True,
        ),
        "structure": RetrieverEntry(
            name="structure",
            summary="Fixed, readable weights on where a sentence stands, what it looks like and how near it is to the "
            f"hypothesis; picks that repeat each other count less. {_ALL}",
            settings=MappingProxyType(
                {
                    "encoder": SettingSpec(
                        "minilm", str, "The embedding model: minilm, a folder, or a Hugging Face name."
                    )
                }
            ),
            target=f"{_HOME}.ranker.structure:Structure",
        ),
        "evidence-ranker": RetrieverEntry(
            name="evidence-ranker",
            summary="Learnt from gold evidence: trees and linear models over structure, words and meaning, and picks "
            f"that cover much between them. Needs a model: evidencebench train-ranker. {_ALL}",
            settings=MappingProxyType(
                {
                    "model": SettingSpec(
                        "default",
                        str,
                        "The model file: default, the one train-ranker wrote last, or a path.",
                    ),
                    "weights": SettingSpec(None, str, "The digest of the model file.", derived=True),
                }
            ),
            target=f"{_HOME}.ranker.retriever:EvidenceRanker",
        ),
        "llm": RetrieverEntry(
            name="llm",
            summary="A language model on an OpenAI-compatible server, asked by one of the paper's strategies or "
            "by guided, our own. Ranks only what it selects.",
            settings=LLM_SETTINGS,
            target=f"{_HOME}.llm.retriever:LanguageModel",
            asks_server=True,
        ),
        "embeddings": RetrieverEntry(
            name="embeddings",
            summary=f"Cosine similarity of sentence embeddings, computed by an OpenAI-compatible server. {_ALL}",
            settings=EMBEDDINGS_SETTINGS,
            target=f"{_HOME}.llm.embeddings:Embeddings",
            asks_server=True,
        ),
    }
)


def retriever_entries() -> Mapping[str, RetrieverEntry]:
    """All retrievers by name: ours first, then those of other packages.

    An entry point that does not load is listed too, with its ``problem``.
    """
    from evidencebench_core.retrievers.third_party import third_party_entries

    return MappingProxyType({**third_party_entries(tuple(sys.path)), **RETRIEVERS})


def retriever_entry(name: str) -> RetrieverEntry:
    """The entry of that name.

    Raises
    ------
    SettingError
        If there is none; the message has the nearest name.
    RetrieverError
        If another package announces it but it cannot be loaded.
    """
    entry = RETRIEVERS.get(name) or retriever_entries().get(name)
    if entry is None:
        raise SettingError(
            "retriever", f"there is none called {shown(name)}", names_hint(name, retriever_entries(), "Names")
        )
    if entry.problem is not None:
        raise RetrieverError(f"retriever {name}", entry.problem, "Mend or remove the package it comes from.")
    return entry


def full_settings(name: str, settings: Mapping[str, object] | None = None) -> dict[str, Setting]:
    """Every setting of a retriever in canonical form, defaults filled in; fit for JSON.

    Two ways of saying the same (``{"k1": "1.50"}`` and ``{}``) give equal results.

    Raises
    ------
    SettingError
        For an unknown retriever, an unknown setting, or a value it cannot take.
    RetrieverError
        For a retriever of another package that cannot be loaded.
    """
    entry = retriever_entry(name)
    given = dict(settings or {})
    if not entry.nests:
        return coerced(name, entry.settings, given)
    nested: dict[str, dict[str, object]] = {}
    for key in [key for key in given if "." in key]:
        member, _, setting = key.partition(".")
        nested.setdefault(member, {})[setting] = given.pop(key)
    full = coerced(name, entry.settings, given)
    full["of"] = members = _members(name, cast("tuple[str, ...]", full["of"]))
    for member in nested:
        if member not in members:
            raise SettingError(
                f"retriever {name}",
                f"there is a setting for {shown(member)}, which is not one of its members",
                f"Members (setting of) are: {', '.join(members)}.",
            )
    for member in members:
        inner = full_settings(member, nested.get(member))
        full.update({f"{member}.{key}": value for key, value in inner.items()})
    return full


def make_retriever(
    name: str, settings: Mapping[str, object] | None = None, evidence: EvidenceSet | None = None
) -> Retriever:
    """A retriever, ready to be asked.

    Parameters
    ----------
    name : str
        One of `retriever_entries`.
    settings : mapping, optional
        Values or their text (``{"k1": "1.2"}``); what is left out has its default.
    evidence : EvidenceSet, optional
        Gold of the one instance to be asked about. It reaches the oracle and no other retriever.

    Raises
    ------
    SettingError
        For an unknown name or setting, a value it cannot take, or an oracle without gold.
    RetrieverError
        If a retriever of another package cannot be loaded or made.
    """
    entry = retriever_entry(name)
    arguments: dict[str, object] = dict(full_settings(name, settings))
    if entry.sees_gold:
        if evidence is None:
            raise SettingError(
                f"retriever {name}",
                "was given no gold",
                "Pass the instance's evidence; it cannot do without.",
            )
        arguments["evidence"] = evidence
    if name in RETRIEVERS:
        return cast("Retriever", _target(entry)(**arguments))
    from evidencebench_core.retrievers.third_party import Guarded

    try:
        return Guarded(entry.name, cast("Retriever", _target(entry)(**arguments)))
    except EvidenceBenchError:
        raise
    except Exception as error:
        raise RetrieverError(
            f"retriever {name}",
            f"could not be made ({type(error).__name__}: {error})",
            "Mend or remove the package it comes from.",
        ) from error


def _target(entry: RetrieverEntry) -> type:
    module, _, attribute = entry.target.partition(":")
    return cast("type", getattr(importlib.import_module(module), attribute))


def _members(name: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """The members of a fusion, sorted: their order changes nothing, so it must not change a run's id."""
    for member in given:
        entry = retriever_entry(member)
        if entry.nests or entry.sees_gold or entry.asks_server:
            raise SettingError(
                f"retriever {name}", f"{member} cannot be one of its members", "Merge retrievers that read."
            )
    if len(given) < 2 or len(set(given)) != len(given):
        raise SettingError(
            f"retriever {name}", f"of is {','.join(given)}", "Name two or more different retrievers."
        )
    return tuple(sorted(given))
