"""Which backend makes the embeddings of a model on this machine, and how near the reference it comes.

``torch`` is sentence-transformers itself. ``onnx`` and ``onnx-int8`` run our own graph of the model with
ONNX Runtime (`graph`): a few times quicker, and ready a second after the start, since torch is never
imported. ``auto`` takes the quickest of which the cosines to the reference, measured here, are good
enough; ``float32`` the quickest that computes the same to the fourth decimal, so that figures made
elsewhere come back.
"""

from __future__ import annotations

import hashlib
import json
import platform
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache as kept
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, get_args

from evidencebench_core.errors import RetrieverError, shown
from evidencebench_core.retrievers.embedding_cache import EmbeddingCache
from evidencebench_core.retrievers.encoding.probes import PROBES
from evidencebench_core.retrievers.encoding.recipe import Recipe, recipe_of
from evidencebench_core.retrievers.encoding.reference import failed, reference_encoded, usable
from evidencebench_core.retrievers.model_folder import Model, checked_minilm_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evidencebench_core.retrievers.encoding.light import LightEncoder

__all__ = ["BACKENDS", "ENOUGH", "Agreement", "Backend", "BackendName", "agreement", "encoded", "resolved"]

BackendName = Literal["auto", "float32", "torch", "onnx", "onnx-int8"]
Backend = Literal["torch", "onnx", "onnx-int8"]
BACKENDS: Final[tuple[BackendName, ...]] = get_args(BackendName)

_QUICKEST_FIRST: Final[tuple[Backend, ...]] = ("onnx-int8", "onnx")
_CANDIDATES: Final[Mapping[str, tuple[Backend, ...]]] = {"auto": _QUICKEST_FIRST, "float32": ("onnx",)}
_VERSION: Final = "v1"  # of graph, tokenising and probes: raise it when any of them changes
_LARGEST: Final = 1_500_000_000  # bytes of weights: a serialised graph must stay below two gigabytes
_loading = threading.Lock()
_loaded: dict[tuple[str, Backend], LightEncoder] = {}


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cosines between a backend's embeddings and the reference's, over `PROBES`; at most 1.

    Attributes
    ----------
    mean, lowest : float
    """

    mean: float
    lowest: float

    def suffices(self, backend: Backend) -> bool:
        """Whether ``auto`` may take the backend."""
        enough = ENOUGH[backend]
        return self.mean >= enough.mean and self.lowest >= enough.lowest


ENOUGH: Final[Mapping[Backend, Agreement]] = MappingProxyType(
    {"torch": Agreement(1, 1), "onnx": Agreement(0.9999, 0.9999), "onnx-int8": Agreement(0.995, 0.98)}
)
"""What a backend must reach to be taken by ``auto``; whoever names a backend gets it all the same.

With 8 bits it is texts without content (empty, one letter) that fall below 0.99, not sentences."""


def resolved(backend: BackendName, model: Model, cache: EmbeddingCache) -> Backend:
    """The backend that a setting means for a model on this machine.

    For ``auto`` and ``float32``, a model is measured once on a machine, which the cache remembers: a second for the
    packaged MiniLM, whose reference is our float32 graph (the tests hold that to sentence-transformers);
    the time to load torch for others.

    Raises
    ------
    RetrieverError
        If a backend is named that cannot run the model.
    """
    if backend == "torch":
        return "torch"
    if backend in ("onnx", "onnx-int8"):
        recipe = _recipe(model)
        if isinstance(recipe, str):
            raise RetrieverError(
                "retriever dense",
                f"model {shown(model.name)} does not run with backend {backend}: {recipe}",
                "Use backend auto, float32 or torch.",
            )
        return backend
    key = f"{model.identity} {_machine()}" + ("" if backend == "auto" else f" {backend}")
    known = cache.choice(key)
    if known is not None and known in get_args(Backend):
        return known  # type: ignore[return-value]
    chosen = _measured_choice(model, _CANDIDATES[backend])
    cache.remember_choice(key, chosen)
    return chosen


def _measured_choice(model: Model, candidates: tuple[Backend, ...]) -> Backend:
    if isinstance(_recipe(model), str):
        return "torch"
    try:
        found = agreement(model, candidates)
    except Exception:  # noqa: BLE001 - whatever is wrong with its files, sentence-transformers says it best
        return "torch"
    return next((backend for backend in found if found[backend].suffices(backend)), "torch")


def agreement(model: Model, backends: Sequence[Backend] = _QUICKEST_FIRST) -> dict[Backend, Agreement]:
    """How near to the reference backends come, measured now.

    Raises
    ------
    RetrieverError
        If one of them, or the reference, cannot run the model.
    """
    import numpy as np

    ours = {backend: encoded(model, PROBES, backend) for backend in backends}
    against: Backend = "onnx" if model.folder is None else "torch"
    reference = encoded(model, PROBES, against)
    found: dict[Backend, Agreement] = {}
    for backend, vectors in ours.items():
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(reference, axis=1)
        cosines = (vectors * reference).sum(axis=1) / np.maximum(lengths, 1e-12)
        found[backend] = Agreement(float(cosines.mean()), float(cosines.min()))
    return found


def encoded(model: Model, texts: Sequence[str], backend: Backend) -> NDArray[np.float32]:
    """One embedding a text: array of shape (len(texts), dimensions).

    Raises
    ------
    RetrieverError
        If the model cannot be loaded or run with that backend.
    """
    if backend == "torch":
        return reference_encoded(model, texts)
    encoder = _light(model, backend)
    try:
        vectors = encoder.encoded(texts)
    except Exception as error:
        raise failed(model, "could not encode the text", error) from error
    return usable(model, vectors, len(texts))


def _light(model: Model, backend: Backend) -> LightEncoder:
    with _loading:
        key = (model.identity, backend)
        if key not in _loaded:
            from evidencebench_core.retrievers.encoding.light import LightEncoder

            recipe = _recipe(model)
            if isinstance(recipe, str):
                raise failed(model, f"cannot be run with backend {backend}", ValueError(recipe))
            try:
                _loaded[key] = LightEncoder(recipe, int8=backend == "onnx-int8")
            except Exception as error:
                raise failed(model, f"cannot be loaded with backend {backend}", error) from error
        return _loaded[key]


def _recipe(model: Model) -> Recipe | str:
    folder: Path = checked_minilm_folder() if model.folder is None else model.folder
    recipe = recipe_of(folder)
    if isinstance(recipe, Recipe) and recipe.weights.stat().st_size > _LARGEST:
        return "it is too large"
    return recipe


@kept
def _machine() -> str:
    """What a measurement depends on besides the model: the runtime, and the processor's instructions."""
    from importlib.metadata import version

    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        told = ""
    processor = [line for line in told.splitlines() if line.startswith(("model name", "flags", "Features"))]
    about = [platform.machine(), platform.processor(), *sorted(set(processor))]
    digest = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]
    return f"{_VERSION} onnxruntime {version('onnxruntime')} {digest}"
