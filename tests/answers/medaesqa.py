"""What tests know of MedAESQA: label letters of nine answers."""

from typing import Any

# Question 116 (spec 12.2): relevance letters; citations of each sentence: s supporting, x neither, v invalid, sn both.
ANSWERS = {
    "M1": ("rrrrrb", "s; s s s; s; s s x; s s s; s s x"),
    "M2": ("rrrrrrr", "none; s x; s s; s s; s x; s s; s"),
    "M5": ("----", "none; x; x; x"),
    "M7": ("-", "none"),
    "M8": ("urbru", "s; s; s; v; none"),
    "M27": ("rrrrrrru", "none; none; none; none; none; none; none; none"),
    "M28": ("rrib", "none; s; none; x"),
    "M29": ("rrrrrr", "sn sn; s s; s; s s s; s x; s x x"),
    "M30": ("urr", "none; none; none"),
}
RELEVANCES = {"r": "Required", "b": "borderline", "u": " unnecessary", "i": "inappropriate", "-": None}
RELATIONS = {"s": "supporting", "x": "neutral", "n": "neutral", "v": "invalid citation"}


def main_file() -> list[dict[str, Any]]:
    """A file of the shape of ``medaesqa_v1.json`` with the labels of `ANSWERS` and no text of it."""
    answers = {}
    for system, (letters, citations) in ANSWERS.items():
        sentences: list[dict[str, Any]] = []
        number = 1000
        for letter, cited in zip(letters, citations.split("; "), strict=True):
            assessments = []
            for kinds in cited.replace("none", "").split():
                number += 1
                relations = [RELATIONS[kind] for kind in kinds]
                assessments += [{"cited_pmid": str(number), "evidence_relation": name} for name in relations]
            sentences.append({
                "answer_sentence_id": str(len(sentences) + 1), "answer_sentence": f"Words [{number}].",
                "answer_sentence_relevance": RELEVANCES[letter], "citation_assessment": assessments or None,
            })  # fmt: skip
        accurate = "no" if "-" in letters else "yes"
        answers[system] = {"answer": "text", "is_answer_accurate": accurate, "answer_sentences": sentences}
    return [{"question_id": "116", "question": "?", "nuggets": ["a"], "machine_generated_answers": answers}]
