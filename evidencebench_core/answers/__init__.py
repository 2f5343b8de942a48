"""Answers that cite what they rest on: of systems, by MedAESQA's metrics; to hypotheses, against gold; and judges."""
