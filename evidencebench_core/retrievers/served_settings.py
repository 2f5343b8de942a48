"""What the retrievers that ask a server can be told; apart from their code, which is not imported to list it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from evidencebench_core.retrievers.settings import SettingSpec

__all__ = ["EMBEDDINGS_SETTINGS", "LLM_SETTINGS"]

LLM_SETTINGS: Final[Mapping[str, SettingSpec]] = MappingProxyType(
    {
        "model": SettingSpec(None, str, "The model, as the server calls it. It has to be named."),
        "strategy": SettingSpec(
            "auto",
            str,
            "cot: the whole paper at once, reasons first; icl: with examples; section: section by section, then "
            "the best of what was found; result-section: the same for results, with one example; unconstrained: "
            "any number; guided (ours, not the paper's): name points, search for each, choose for coverage; "
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
        "n_examples": SettingSpec(8, int, "How many examples icl shows.", minimum=1, maximum=64),
        "examples_seed": SettingSpec(0, int, "Another seed, other examples.", minimum=0),
        "n_aspects": SettingSpec(
            8,
            int,
            "The most points that guided looks for, each with a call of its own.",
            minimum=1,
            maximum=20,
        ),
        "temperature": SettingSpec(0.0, float, "Sent where the server takes it.", minimum=0, maximum=2),
        "seed": SettingSpec(0, int, "Sent where the server takes it.", minimum=0),
        "max_tokens": SettingSpec(
            None, int, "Most tokens of an answer, reasons included; none: the server's limit.", minimum=1
        ),
        "reasoning_effort": SettingSpec(
            None, str, "For thinking models whose server takes it: low, medium, high."
        ),
        "prompts": SettingSpec(
            None, tuple, "Names and versions of the prompts; filled in by itself.", derived=True
        ),
        "examples_sha256": SettingSpec(
            None, str, "Content of the dataset of examples; filled in by itself.", derived=True
        ),
    }
)

EMBEDDINGS_SETTINGS: Final[Mapping[str, SettingSpec]] = MappingProxyType(
    {
        "model": SettingSpec(None, str, "The model, as the server calls it. It has to be named."),
        "instruction": SettingSpec(
            "none",
            str,
            "Text put before the hypothesis: none, er, result, or auto "
            "(result on the Result tasks, er on the others).",
            choices=("none", "er", "result", "auto"),
        ),
    }
)
