"""Makes tiny language models for the servers of `test_chat` and its neighbours, with no hub and no training.

``python tiny_models.py FOLDER`` writes the same two models (llama architecture, 2 layers of 64) twice:

- ``FOLDER/hub``: a cache of the Hugging Face hub that holds ``tiny/random`` and ``tiny/choosing``;
- ``FOLDER/random.gguf``, ``FOLDER/choosing.gguf``; and ``FOLDER/vectors.gguf``, the random one with mean pooling.

``random`` has weights drawn from a seed: it talks nonsense, in ASCII and without end. ``choosing`` has
weights set by hand, so that each token of `ANSWER` brings forth the next: it always answers that. The
tokenizer is a byte-level BPE trained on the sample data. Runs in the servers' environment (numpy,
tokenizers, safetensors, gguf), which knows nothing of this project.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

ANSWER = (
    *("1", ": reports", " the outcome", "\n", "ASPECTS", ":\n", "- the outcome\n", "- who took part\n"),
    *("\nDECISION", ": ", "[", "1,", " 2,", " 99999", "]"),
)
"""Tokens, each of them once, after which the model ends its turn. The last index is in no paper."""

START, END, TURNS = "<s>", "</s>", ("<|system|>", "<|user|>", "<|assistant|>")
SPECIAL = (START, END, *TURNS)
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}</s>"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
HIDDEN, LAYERS, HEADS, KEY_HEADS, INNER, CONTEXT = 64, 2, 4, 2, 128, 65_536
SAMPLE = Path(__file__).resolve().parents[3] / "sample_data" / "sample_data.json"


def texts() -> Iterator[str]:
    """What the tokenizer is trained on."""
    for instance in json.loads(SAMPLE.read_text(encoding="utf-8")).values():
        yield instance["hypothesis"]
        yield from instance["paper_as_candidate_pool"]


def tokenizer_json() -> dict[str, Any]:
    """A trained tokenizer with a token for each piece of the answer, as the file tokenizer.json has it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=1_500, special_tokens=list(SPECIAL), initial_alphabet=sorted(alphabet), show_progress=False
    )
    trained.train_from_iterator(texts(), trainer)
    document: dict[str, Any] = json.loads(trained.to_str())
    vocabulary = document["model"]["vocab"]
    for piece in ANSWER:
        vocabulary.setdefault(in_bytes(piece), len(vocabulary))
    return document


def in_bytes(text: str) -> str:
    """As a byte-level BPE spells it."""
    from tokenizers import pre_tokenizers

    spelt = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    return "".join(piece for piece, _ in spelt)


def weights(vocabulary: dict[str, int], choosing: bool) -> dict[str, np.ndarray]:
    """All tensors, by their names in transformers."""
    draw, size = np.random.default_rng(7), HIDDEN // HEADS
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (len(vocabulary), HIDDEN),
        "lm_head.weight": (len(vocabulary), HIDDEN),
    }
    for layer in range(LAYERS):
        shapes |= {
            f"model.layers.{layer}.self_attn.q_proj.weight": (HEADS * size, HIDDEN),
            f"model.layers.{layer}.self_attn.k_proj.weight": (KEY_HEADS * size, HIDDEN),
            f"model.layers.{layer}.self_attn.v_proj.weight": (KEY_HEADS * size, HIDDEN),
            f"model.layers.{layer}.self_attn.o_proj.weight": (HIDDEN, HEADS * size),
            f"model.layers.{layer}.mlp.gate_proj.weight": (INNER, HIDDEN),
            f"model.layers.{layer}.mlp.up_proj.weight": (INNER, HIDDEN),
            f"model.layers.{layer}.mlp.down_proj.weight": (HIDDEN, INNER),
        }
    drawn = {name: draw.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    norms = [f"model.layers.{layer}.{name}" for layer in range(LAYERS) for name in _NORMS]
    drawn |= {f"{name}.weight": np.ones(HIDDEN, np.float32) for name in (*norms, "model.norm")}
    if choosing:
        return _made_to_choose(drawn, vocabulary)
    # Never the most likely: what ends a turn, and bytes that are no text. (llama-cpp-python waits for the
    # rest of a character, and while it waits each token takes longer than the one before.)
    unsaid = [number for token, number in vocabulary.items() if token in SPECIAL or not _is_ascii(token)]
    drawn["lm_head.weight"][unsaid] = 0
    return drawn


def _is_ascii(spelt: str) -> bool:
    return spelt.replace("Ġ", " ").replace("Ċ", "\n").isascii()


_NORMS = ("input_layernorm", "post_attention_layernorm")


def _made_to_choose(drawn: dict[str, np.ndarray], vocabulary: dict[str, int]) -> dict[str, np.ndarray]:
    """Layers that add nothing; then what stands at a position is its token, and that calls for the next."""
    for name, tensor in drawn.items():
        if name.endswith(("o_proj.weight", "down_proj.weight", "lm_head.weight")):
            tensor[:] = 0
    chain = [vocabulary[token] for token in (TURNS[-1], *map(in_bytes, ANSWER), END)]
    for place, (token, following) in enumerate(pairwise(chain)):
        drawn["model.embed_tokens.weight"][token] = np.eye(HIDDEN, dtype=np.float32)[place]
        drawn["lm_head.weight"][following, place] = 5
    return drawn


def write_for_transformers(folder: Path, tokenizer: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """A snapshot as the hub's cache has it."""
    from safetensors.numpy import save_file

    snapshot = folder / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True, exist_ok=True)
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs" / "main").write_text("0" * 40)
    vocabulary = tokenizer["model"]["vocab"]
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KEY_HEADS,
        "head_dim": HIDDEN // HEADS,
        "vocab_size": len(vocabulary),
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10_000.0,
        "tie_word_embeddings": False,
        "bos_token_id": vocabulary[START],
        "eos_token_id": vocabulary[END],
        "pad_token_id": vocabulary[END],
        "dtype": "float32",
    }
    about = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": START,
        "eos_token": END,
        "pad_token": END,
        "model_max_length": CONTEXT,
        "chat_template": TEMPLATE,
        "clean_up_tokenization_spaces": False,
    }
    for name, document in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", about)):
        (snapshot / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    save_file(tensors, snapshot / "model.safetensors", metadata={"format": "pt"})


def write_for_llama_cpp(
    path: Path, tokenizer: dict[str, Any], tensors: dict[str, np.ndarray], pooled: bool = False
) -> None:
    """One GGUF file."""
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(path.stem)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    if pooled:
        writer.add_pooling_type(gguf.PoolingType.MEAN)
    tokens = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].__getitem__)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(
        [gguf.TokenType.CONTROL if token in SPECIAL else gguf.TokenType.NORMAL for token in tokens]
    )
    merges = tokenizer["model"]["merges"]
    writer.add_token_merges([one if isinstance(one, str) else " ".join(one) for one in merges])
    writer.add_bos_token_id(tokens.index(START))
    writer.add_eos_token_id(tokens.index(END))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, LAYERS)
    for name, tensor in tensors.items():
        if name.endswith(("q_proj.weight", "k_proj.weight")):  # llama.cpp turns neighbours, not halves
            n_heads = HEADS if "q_proj" in name else KEY_HEADS
            halves = tensor.reshape(n_heads, 2, -1, HIDDEN)
            tensor = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(tensor.shape)  # noqa: PLW2901
        writer.add_tensor(names.get_name(name, (".weight",)), tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    folder = Path(sys.argv[1])
    tokenizer = tokenizer_json()
    for name in ("random", "choosing"):
        tensors = weights(tokenizer["model"]["vocab"], choosing=name == "choosing")
        write_for_transformers(folder / "hub" / f"models--tiny--{name}", tokenizer, tensors)
        write_for_llama_cpp(folder / f"{name}.gguf", tokenizer, tensors)
        if name == "random":
            write_for_llama_cpp(folder / "vectors.gguf", tokenizer, tensors, pooled=True)


if __name__ == "__main__":
    main()
