"""The fixed texts on which a backend is compared with the reference."""

from __future__ import annotations

from typing import Final

__all__ = ["PROBES"]

_SENTENCES: Final = (
    "Introduction",
    "Statistical analysis",
    "Does regular coffee drinking lower the risk of type 2 diabetes in adults?",
    "Smoking is associated with an increased risk of bladder cancer in men and women.",
    "Of 1,204 patients screened, 312 (25.9%) were randomised and 298 completed the study.",
    "The hazard ratio was 0.72 (95% CI 0.58-0.89; P = 0.002) after adjustment for age and sex.",
    "There was no significant difference between the two groups (P > 0.05).",
    "Expression of IL-6, TNF-α and CXCL8 rose 2.3-fold after 24 h of stimulation with LPS (100 ng/mL).",
    "Mice were housed under a 12-h light/dark cycle with free access to food and water.",
    "We searched MEDLINE, Embase and the Cochrane Library from inception to 31 December 2019.",
    "Two reviewers independently extracted data; disagreements were resolved by discussion.",
    "The sensitivity and specificity of the test were 91.4% and 87.0%, respectively.",
    "These findings suggest that early treatment may improve survival, although larger trials are needed.",
    "Informed consent was obtained from all participants, and the local ethics committee approved the protocol.",
    "Data are available from the corresponding author on reasonable request.",
    "However, our study has several limitations: it was retrospective, single-centre and underpowered.",
    "Body mass index, fasting glucose and HbA1c were measured at baseline, 6 months and 12 months.",
    "The SNP rs1801133 (C677T) in MTHFR was in Hardy-Weinberg equilibrium in controls (χ² = 0.41).",
    "RNA was extracted with TRIzol, reverse transcribed and amplified by quantitative PCR in triplicate.",
    "Table 2 shows the odds ratios of each exposure by quartile of intake.",
    "In vitro, siRNA-mediated knock-down of the receptor abolished the effect.",
    "The most frequent adverse events were nausea (14%), headache (9%) and fatigue (7%).",
    "Heterogeneity was substantial (I2 = 78%), so a random-effects model was used.",
    "Patients with ≥ 3 comorbidities had longer stays (median 9 v. 5 days, IQR 4–13 v. 3–8).",
)

PROBES: Final[tuple[str, ...]] = (
    *_SENTENCES,
    " ".join(_SENTENCES[3:10]),
    " ".join(_SENTENCES),  # longer than most models read
    "",
    "β",
    "Übergewicht erhöht das Risiko für Bluthochdruck.",
    "(A) (B) (C) *** 0.01 0.02 0.03 ][ <p>&lt;0.001</p> [SEP] [MASK]",
    "腫瘍の大きさは治療後に縮小した。",
    "xq" * 120,
)
"""Sentences as papers have them, and a few odd ones; all our own."""
