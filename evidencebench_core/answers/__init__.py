"""Answers with citations: of systems, by MedAESQA's metrics; to hypotheses, against gold; and models as judges."""
