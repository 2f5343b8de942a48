"""BibTeX of what was used: the benchmark, what retrieved, and this program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from evidencebench_core.data.store import DatasetInfo
    from evidencebench_core.retrievers import Setting

__all__ = ["ENTRIES", "Entry", "bibtex", "dataset_entry", "entries_for", "escaped", "program_entry"]

_SPECIAL: Final = MappingProxyType(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)
_VERBATIM: Final = frozenset({"url", "doi", "eprint"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One record.

    Attributes
    ----------
    key : str
        ASCII letters, digits and hyphens.
    kind : str
        ``inproceedings``, ``article``, ``misc``, ...
    fields : mapping of str to str
        Plain text; `bibtex` escapes it. Authors are ``Last, First and Last, First``; what stands in the
        title's ``*asterisks*`` keeps its capitals.
    """

    key: str
    kind: str
    fields: Mapping[str, str]


ENTRIES: Final[Mapping[str, Entry]] = MappingProxyType(
    {
        "evidencebench": Entry(
            "wang2025evidencebench",
            "inproceedings",
            {
                "title": "*EvidenceBench*: A Benchmark for Extracting Evidence from Biomedical Papers",
                "author": "Wang, Jianyou and Cao, Weili and Wang, Kaicheng and Wang, Xiaoyue and Dalvi, Ashish"
                " and Prasad, Gino and Liang, Qishan and Her, Hsuan-lin and Wang, Ming and Yang, Qin"
                " and Yeo, Gene W. and Neal, David E. and Khan, Maxim and Rosin, Christopher D."
                " and Paturi, Ramamohan and Bergen, Leon",
                "booktitle": "Conference on Language Modeling (*COLM*)",
                "year": "2025",
                "eprint": "2504.18736",
                "archiveprefix": "arXiv",
                "url": "https://github.com/EvidenceBench/EvidenceBench",
            },
        ),
        "bm25": Entry(
            "robertson2009probabilistic",
            "article",
            {
                "title": "The Probabilistic Relevance Framework: *BM25* and Beyond",
                "author": "Robertson, Stephen and Zaragoza, Hugo",
                "journal": "Foundations and Trends in Information Retrieval",
                "volume": "3",
                "number": "4",
                "pages": "333--389",
                "year": "2009",
                "doi": "10.1561/1500000019",
            },
        ),
        "rank-bm25": Entry(
            "brown2022rankbm25",
            "misc",
            {
                "title": "rank_bm25",
                "author": "Brown, Dorian",
                "year": "2022",
                "note": "Version 0.2.2",
                "url": "https://github.com/dorianbrown/rank_bm25",
            },
        ),
        "sentence-transformers": Entry(
            "reimers2019sentence",
            "inproceedings",
            {
                "title": "Sentence-*BERT*: Sentence Embeddings using *Siamese BERT*-Networks",
                "author": "Reimers, Nils and Gurevych, Iryna",
                "booktitle": "Proceedings of the 2019 Conference on Empirical Methods in Natural Language"
                " Processing",
                "year": "2019",
                "doi": "10.18653/v1/D19-1410",
            },
        ),
        "minilm": Entry(
            "allminilm",
            "misc",
            {
                "title": "all-*MiniLM-L6-v2*",
                "author": "{Sentence Transformers}",
                "howpublished": "Hugging Face",
                "url": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
            },
        ),
        "rrf": Entry(
            "cormack2009reciprocal",
            "inproceedings",
            {
                "title": "Reciprocal Rank Fusion Outperforms *Condorcet* and Individual Rank Learning Methods",
                "author": "Cormack, Gordon V. and Clarke, Charles L. A. and Buettcher, Stefan",
                "booktitle": "Proceedings of the 32nd International *ACM SIGIR* Conference",
                "year": "2009",
                "doi": "10.1145/1571941.1572114",
            },
        ),
        "lightgbm": Entry(
            "ke2017lightgbm",
            "inproceedings",
            {
                "title": "*LightGBM*: A Highly Efficient Gradient Boosting Decision Tree",
                "author": "Ke, Guolin and Meng, Qi and Finley, Thomas and Wang, Taifeng and Chen, Wei and Ma, Weidong"
                " and Ye, Qiwei and Liu, Tie-Yan",
                "booktitle": "Advances in Neural Information Processing Systems 30 (*NeurIPS*)",
                "year": "2017",
            },
        ),
        "coverage": Entry(
            "elarini2009turning",
            "inproceedings",
            {
                "title": "Turning Down the Noise in the Blogosphere",
                "author": "El-Arini, Khalid and Veda, Gaurav and Shahaf, Dafna and Guestrin, Carlos",
                "booktitle": "Proceedings of the 15th *ACM SIGKDD* International Conference on Knowledge Discovery"
                " and Data Mining",
                "year": "2009",
                "doi": "10.1145/1557019.1557056",
            },
        ),
    }
)
"""What can be cited, by a short name."""


def entries_for(
    retriever: str = "", settings: Mapping[str, Setting] | None = None, dataset: DatasetInfo | None = None
) -> tuple[Entry, ...]:
    """What a run, or a single retrieval, makes use of: the benchmark first, this program last.

    Parameters
    ----------
    retriever : str
        Its name; one that is not known here adds nothing.
    settings : mapping of str to Setting, optional
        Name the members of a fusion and the model of an encoder.
    dataset : DatasetInfo, optional
    """
    settings = settings or {}
    members = settings.get("of") if retriever == "hybrid" else None
    names = ["evidencebench", *(["rrf"] if retriever == "hybrid" else [])]
    for member in members if isinstance(members, tuple) else (retriever,):
        if member == "bm25":
            names += ["bm25", "rank-bm25"]
        elif member == "dense":
            model = settings.get("model", settings.get("dense.model", "minilm"))
            names += ["sentence-transformers", *(["minilm"] if model == "minilm" else [])]
        elif member == "structure":
            encoder = settings.get("encoder", settings.get("structure.encoder", "minilm"))
            names += ["sentence-transformers", *(["minilm"] if encoder == "minilm" else []), "coverage"]
        elif member == "evidence-ranker":  # which embeddings it uses stands in its model, not in its settings
            names += ["lightgbm", "sentence-transformers", "coverage"]
    found = [ENTRIES[name] for name in dict.fromkeys(names)]
    if dataset is not None:
        found.insert(1, dataset_entry(dataset))
    return (*found, program_entry())


def dataset_entry(dataset: DatasetInfo) -> Entry:
    """The dataset by its name and the SHA-256 of its content: what a run can be made again from."""
    return Entry(
        f"dataset-{dataset.sha256[:8]}",
        "misc",
        {
            "title": f"Dataset {dataset.name}",
            "note": f"{dataset.n_instances:,} instances, SHA-256 {dataset.sha256}",
            "year": dataset.ingested_at[:4],
        },
    )


def program_entry() -> Entry:
    """This program, in the version that is running."""
    from evidencebench_core import __version__

    return Entry(
        "evidencebench-explorer",
        "misc",
        {
            "title": "*EvidenceBench Explorer*",
            "author": "{The EvidenceBench Explorer developers}",
            "note": f"Version {__version__}",
        },
    )


def escaped(text: str) -> str:
    """Text as BibTeX and LaTeX take it literally: on one line, special characters written as commands."""
    return "".join(_SPECIAL.get(char, char) for char in " ".join(text.split()) if char.isprintable())


def bibtex(entries: Iterable[Entry]) -> str:
    """The records, each once, in the order given."""
    return "\n".join(_record(entry) for entry in {entry.key: entry for entry in entries}.values())


def _record(entry: Entry) -> str:
    lines = [f"  {name} = {{{_value(name, text)}}}," for name, text in entry.fields.items()]
    return "\n".join((f"@{entry.kind}{{{entry.key},", *lines, "}", ""))


def _value(name: str, text: str) -> str:
    if name in _VERBATIM:
        return "".join(char for char in text if char.isprintable() and char not in "{}\\ ")
    if name == "author" and text.startswith("{") and text.endswith("}"):
        return f"{{{escaped(text[1:-1])}}}"
    parts = text.split("*")
    if len(parts) % 2 == 0:  # an asterisk without its pair is one
        return escaped(text)
    return "".join(f"{{{escaped(part)}}}" if place % 2 else _edges(part) for place, part in enumerate(parts))


def _edges(part: str) -> str:
    """`escaped`, but with the blanks at either end kept as one each."""
    inner = escaped(part)
    return f"{' ' if part[:1].isspace() else ''}{inner}{' ' if part[-1:].isspace() and inner else ''}"
