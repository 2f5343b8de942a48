"""A user's own system: a function of a `Query`, an object with ``rank``, or a class in a file."""

import hashlib
import importlib
import logging
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from evidencebench_core.data.store import Store
from evidencebench_core.errors import EvidenceBenchError, RetrieverError, SettingError, shown
from evidencebench_core.retrievers.base import Query, Retrieval, Retriever, ranking_by_score, ranking_in_order
from evidencebench_core.retrievers.table import OWN
from evidencebench_core.tasks import validated_selection

_REMEDY: Final = (
    "Give a number for each sentence, sentence indices best first, {index: score}, or a Retrieval."
)
_log = logging.getLogger(__name__)


class OwnSystem(Retriever):
    """A user's system as a retriever; its answers are checked, and an error in it fails only the query.

    It is asked once a hypothesis, paper and focus, and its ranking is cut at K; one that says ``by_budget = True`` is
    asked for each K.
    """

    name = OWN
    summary = "Your own system."

    def __init__(self, system: Any, label: str = "", *, code: str = "") -> None:
        super().__init__()
        names = (label, getattr(system, "__name__", ""), getattr(system, "name", ""), type(system).__name__)
        self.label = " ".join(str(next(filter(None, names))).split())
        self._rank, self._logged = getattr(system, "rank", system), set[str]()
        if not callable(self._rank) or isinstance(system, type):
            remedy = "Give a function of a Query, or an object with a method rank(query)."
            raise SettingError(f"system {shown(self.label)}", f"cannot be {shown(system)}", remedy)
        self.by_budget = bool(getattr(system, "by_budget", False))  # type: ignore[misc]
        self.by_focus = bool(getattr(system, "by_focus", True))
        self.training = getattr(system, "training", ())
        self.basis = {**getattr(system, "basis", {}), **({"code": code} if code else {})}
        if isinstance(system, Retriever):
            self.settings = system.settings

    def rank(self, query: Query) -> Retrieval:
        place = f"system {shown(self.label)}"
        try:
            return retrieval_of(self._rank(query), query, place)
        except EvidenceBenchError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            if reason not in self._logged:  # the same traceback again and again helps nobody
                _log.exception("%s failed", place)
                self._logged.add(reason)
            raise RetrieverError(place, f"failed ({reason})", "Its traceback is in the log.") from error


def retrieval_of(answer: Any, query: Query, place: str) -> Retrieval:
    """The retrieval in an answer: a `Retrieval`, scores or a ranking; else `SelectionError` or `RetrieverError`.

    Whole numbers are a ranking if each is another sentence of the paper, else scores if there is one a sentence.
    """
    n = len(query.sentences)
    if isinstance(answer, Retrieval):
        validated_selection(answer.ranking, n, place)
        return answer
    if isinstance(answer, Mapping):
        return ranking_of_scores(answer, n, place)
    try:
        values = np.asarray(answer if isinstance(answer, np.ndarray) else list(answer))
    except (TypeError, ValueError) as error:
        raise RetrieverError(place, f"answers {shown(answer)}", _REMEDY) from error
    numbers = values.tolist()
    is_whole = np.issubdtype(values.dtype, np.integer) or not len(values)
    if values.ndim == 1 and is_whole and len(set(numbers)) == len(numbers) and set(numbers) <= set(range(n)):
        return ranking_in_order(numbers)
    if values.shape == (n,) and values.dtype.kind in "iufb":
        return ranking_by_score(values)
    if values.ndim == 1 and is_whole:
        validated_selection(numbers, n, place)  # says which index is wrong
    raise RetrieverError(place, f"answers {shown(answer)} about {n} sentences", _REMEDY)


def ranking_of_scores(scores: Mapping[Any, Any], n_sentences: int, place: str) -> Retrieval:
    """The ranking in scores by sentence index, which may be a text as JSON has it; of equals the first stands first."""
    try:
        pairs = sorted(((int(index), float(score)) for index, score in scores.items()))
    except (TypeError, ValueError) as error:
        raise RetrieverError(place, f"has {shown(scores)} for scores", 'Give {"7": 11.0, ...}.') from error
    indices = validated_selection([index for index, _ in pairs], n_sentences, place)
    retrieval = ranking_by_score([score for _, score in pairs])
    ranking = tuple(indices[position] for position in retrieval.ranking)
    return Retrieval(ranking, retrieval.scores)


def system_at(place: str, settings: Mapping[str, object], store: Store | None = None) -> OwnSystem:
    """The system that ``my_system.py:MyRetriever`` or ``package.module:name`` names; a class is made an object.

    Settings are those of a `Retriever` class. The digest of the file is part of what its runs are known by.
    """
    where, _, name = place.rpartition(":")
    try:
        if where.endswith(".py"):
            file, names = where, runpy.run_path(where)
        else:
            sys.path.append(str(Path.cwd()))
            module = importlib.import_module(where)
            file, names = str(module.__file__), vars(module)
        system, code = names[name], hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except Exception as error:
        _log.debug("%s cannot be loaded", place, exc_info=True)
        problem = f"cannot be loaded ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        raise SettingError(f"system {place}", problem, "Give FILE.py:NAME or PACKAGE.MODULE:NAME.") from error
    if isinstance(system, type) and issubclass(system, Retriever):
        system = system(system.settings_class.read(f"system {place}", settings), store=store)
    elif settings:
        remedy = "Make it a Retriever with a settings_class."
        raise SettingError(f"system {place}", "takes no settings", remedy)
    elif isinstance(system, type):
        system = system()
    return OwnSystem(system, place.rpartition("/")[2], code=code)
