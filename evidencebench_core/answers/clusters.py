"""Clusters of a set's own answer sentences that say the same, for recall (spec rule 26)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidencebench_core.answers.fields import Line
from evidencebench_core.answers.model import SETTINGS, AnswerSentence, AnswerSet, Setting

MOST_CLUSTERS: Final = 10  # of a question, as in MedAESQA
_SEED: Final = 42


def clusters_of(answers: AnswerSet, model: str = "minilm", name: str = "") -> Iterator[Line]:
    """Lines of clusters of every question and setting that has sentences.

    The relevant sentences of one question, of all systems, are embedded without their citations and put into
    min(10, distinct sentences) clusters by k-means. A system that is added later changes them, and with them every
    recall; kept in the set they are frozen.

    Parameters
    ----------
    model : str
        An embedding model by name, as of `retrievers.encoding`.
    name : str
        What the clusters are called (default: the model's name).
    """
    import numpy as np
    from sklearn.cluster import KMeans

    from evidencebench_core.retrievers.encoding import embeddings

    for question in answers.questions:
        sentences = {
            f"{system}-{sentence.id}": sentence
            for (asked, system), answer in answers.answers.items()
            if asked == question
            for sentence in answer.sentences
        }
        for setting in SETTINGS:
            texts = {
                one: text
                for one, sentence in sentences.items()
                if _belongs(sentence, setting) and (text := sentence.claim)
            }
            if not texts:
                continue
            distinct = list(dict.fromkeys(texts.values()))
            vectors = embeddings(model, distinct)[0].astype(np.float64)
            n_clusters = min(MOST_CLUSTERS, len(np.unique(vectors, axis=0)))
            found = KMeans(n_clusters, random_state=_SEED, n_init=10).fit_predict(vectors)
            place = dict(zip(distinct, map(int, found), strict=True))
            clusters: dict[str, list[str]] = {}
            for one, text in texts.items():
                clusters.setdefault(str(place[text]), []).append(one)
            line: Line = {"kind": "clusters", "question_id": question, "setting": setting}
            yield {**line, "name": name or model, "clusters": clusters}


def _belongs(sentence: AnswerSentence, setting: Setting) -> bool:
    if setting == "required_and_borderline":
        return sentence.relevance in ("required", "borderline")
    supported = any(one.relation == "supporting" for one in sentence.assessments)
    return sentence.relevance == "required" and (setting == "required" or supported)
