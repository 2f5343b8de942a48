"""A small folder as Evidence Inference has it: three invented trials."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

LICENCE = (
    '<license xlink:href="http://creativecommons.org/licenses/by/4.0/"><license-p>Open.</license-p></license>'
)
TEXT = (
    "Tea lowered blood pressure by 5 mmHg. Heart rate did not change. Weight fell in both groups. "
    "Headache was as common. Nobody left the study."
)


def article(number: int, licence: str = LICENCE) -> str:
    return f"""<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>
    <article-id pub-id-type="pmc">{number}</article-id><title-group><article-title>Tea and pressure</article-title>
    </title-group><permissions>{licence}</permissions>
    <abstract><p>We gave tea to 40 adults.</p></abstract></article-meta></front>
    <body><sec><title>Results</title><p>{TEXT}</p></sec></body></article>"""


def answer(
    prompt: int, quote: str, doctor: int = 1, label: str = "no significant difference", **more: str
) -> dict[str, str]:
    row = {"UserID": str(doctor), "PromptID": str(prompt), "Label": label, "Annotations": quote}
    return row | {"Valid Label": "True", "Valid Reasoning": "1", "Label Code": ""} | more


PROMPTS = (
    (11, 101, "Blood pressure", "tea", "water"),
    (12, 101, "heart rate.", "Tea", "water"),  # the same comparison: case and the stop are no difference
    (13, 101, "headache", "tea", "water"),  # its quote is in a table, so in no sentence
    (14, 101, "weight", "tea", "coffee"),  # another comparison, of one outcome
    (21, 102, "weight", "tea", "water"),  # no licence
    (22, 102, "headache", "tea", "water"),
    (31, 103, "weight", "tea", "water"),  # no file
)
ANSWERS = (
    answer(11, "tea lowered BLOOD-PRESSURE by 5 mmHg", label="significantly decreased"),
    answer(11, "Heart rate did not change", doctor=2, label="significantly decrease"),
    answer(12, "did not change. Weight fell in both groups"),
    answer(13, "Headache\n4\n5\n0.9"),
    answer(13, "never said", **{"Valid Label": "False"}),
    answer(14, "Weight fell in both groups"),
    answer(21, "Weight fell"),
    answer(22, "Headache was as common"),
    answer(31, "Weight fell"),
)  # fmt: skip


def trials_folder(
    folder: Path,
    prompts: Sequence[Sequence[object]] = PROMPTS,
    answers: Sequence[Mapping[str, str]] = ANSWERS,
) -> Path:
    """The folder, in the layout of the repository."""
    (folder / "xml_files").mkdir(parents=True)
    (folder / "xml_files" / "PMC101.nxml").write_text(article(101), encoding="utf-8")
    (folder / "xml_files" / "PMC102.nxml").write_text(article(102, "<license><p>All ours</p></license>"))
    columns = ["PromptID", "PMCID", "Outcome", "Intervention", "Comparator"]
    pd.DataFrame(prompts, columns=columns).to_csv(folder / "prompts_merged.csv", index=False)
    pd.DataFrame(answers).to_csv(folder / "v2_annotations.csv", index=False)
    return folder
