"""Models of natural language inference, read by sentence-transformers' ``CrossEncoder``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.errors import RetrieverError, SettingError, shown

_CLASSES: Final = ("entailment", "neutral", "contradiction")


def nli_logits(name: str, pairs: Sequence[tuple[str, str]], batch_size: int = 16) -> NDArray[np.float64]:
    """Does the first text of each pair entail the second?

    Parameters
    ----------
    name : str
        A folder, or a name on the Hugging Face hub (downloaded if it is not here).
    pairs : sequence of (premise, hypothesis)
    batch_size : int

    Returns
    -------
    array of float, shape (len(pairs), 3)
        Logits of entailment, neutral, contradiction.

    Raises
    ------
    RetrieverError
        If the model cannot be loaded.
    SettingError
        If its ``id2label`` does not name the three classes.
    """
    model, places = _classifier(name)
    if not pairs:
        return np.empty((0, len(_CLASSES)))
    import torch

    raw = model.predict(
        list(pairs), batch_size=batch_size, show_progress_bar=False, activation_fn=torch.nn.Identity()
    )
    return np.asarray(raw, dtype=np.float64)[:, places]


@lru_cache(maxsize=1)
def _classifier(name: str) -> tuple[Any, list[int]]:
    """The model, and where its classes stand."""
    try:
        from sentence_transformers import CrossEncoder

        model = CrossEncoder(name)
    except Exception as error:
        problem = f"cannot be loaded as a model of text pairs ({type(error).__name__})"
        remedy = "Give the folder, or the name on the hub, of a model of natural language inference."
        raise RetrieverError(f"model {shown(name)}", problem, remedy) from error
    labels = {str(label).lower(): place for place, label in model.config.id2label.items()}
    if set(labels) != set(_CLASSES):
        problem = f"names its classes {', '.join(map(shown, labels))}"
        remedy = f"Take a model whose config has {', '.join(_CLASSES)}."
        raise SettingError(f"model {shown(name)}", problem, remedy)
    return model, [labels[one] for one in _CLASSES]
