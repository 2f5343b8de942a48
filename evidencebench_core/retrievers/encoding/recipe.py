"""What the files of a sentence-transformers model say of it, read without that package.

Only models of the BERT family with the usual parts are understood; for all others, and whatever is
said in an unexpected way, the answer is a reason, and sentence-transformers itself encodes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

__all__ = ["Recipe", "recipe_of"]

Pooling = Literal["mean", "cls"]

_OLD_POOLING: Final = "pooling_mode_"  # before version 6 there was a flag a mode
_PARTS: Final = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model of the BERT family makes an embedding.

    Attributes
    ----------
    weights, tokenizer : Path
        Of ``model.safetensors`` and ``tokenizer.json``.
    layers, heads : int
    epsilon : float
        Of layer normalisation.
    longest : int
        Tokens that are read of a text, the two special ones included.
    pooling : {"mean", "cls"}
    normalised : bool
        Whether embeddings have length 1.
    """

    weights: Path
    tokenizer: Path
    layers: int
    heads: int
    epsilon: float
    longest: int
    pooling: Pooling
    normalised: bool


class _UnknownError(Exception):
    pass


def recipe_of(folder: Path) -> Recipe | str:
    """The recipe of the model in a folder, or in a few words why there is none."""
    try:
        return _read(folder)
    except _UnknownError as reason:
        return str(reason)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"its files cannot be read ({type(error).__name__})"


def _read(folder: Path) -> Recipe:
    weights, tokenizer = folder / "model.safetensors", folder / "tokenizer.json"
    for needed in (weights, tokenizer):
        _demand(needed.is_file(), f"it has no {needed.name}")
    modules = _json(folder / "modules.json")
    names = [str(module["type"]).rpartition(".")[2] for module in modules]
    _demand(names in _PARTS and modules[0]["path"] == "", f"it is made of {', '.join(names)}")
    config = _json(folder / "config.json")
    _demand(config["model_type"] == "bert", f"it is of the type {config['model_type']}")
    plain = (
        config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
    )
    _demand(plain, "it is not a plain BERT")
    prompt = _optional_json(folder / "config_sentence_transformers.json").get("default_prompt_name")
    _demand(prompt is None, "it puts a prompt before each text")
    return Recipe(
        weights=weights,
        tokenizer=tokenizer,
        layers=int(config["num_hidden_layers"]),
        heads=int(config["num_attention_heads"]),
        epsilon=float(config.get("layer_norm_eps", 1e-12)),
        longest=_longest(folder, int(config["max_position_embeddings"])),
        pooling=_pooling(_json(folder / modules[1]["path"] / "config.json")),
        normalised=len(names) == 3,
    )


def _longest(folder: Path, positions: int) -> int:
    settings = _optional_json(folder / "sentence_bert_config.json")
    _demand(not settings.get("do_lower_case"), "it lower-cases texts before its tokeniser does")
    said = settings.get("max_seq_length") or _json(folder / "tokenizer_config.json").get("model_max_length")
    return positions if said is None else min(int(said), positions)


def _pooling(config: dict[str, Any]) -> Pooling:
    mode = config.get("pooling_mode")
    if mode is None:
        modes = {key.removeprefix(_OLD_POOLING) for key, on in config.items() if on is True}
        mode = {"mean_tokens": "mean", "cls_token": "cls"}.get(modes.pop()) if len(modes) == 1 else None
    if mode == "mean":
        return "mean"
    if mode == "cls":
        return "cls"
    raise _UnknownError("it pools tokens in another way than by mean or first")


def _demand(met: bool, otherwise: str) -> None:
    if not met:
        raise _UnknownError(otherwise)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _optional_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = _json(path) if path.is_file() else {}
    return content
