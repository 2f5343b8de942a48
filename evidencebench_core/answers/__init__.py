"""Answers with citations: BioACE and MedAESQA's metrics, and answers checked against a paper's gold evidence."""
