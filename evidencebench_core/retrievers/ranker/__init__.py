"""A local ranker that reads a paper's structure, words and meaning, and learns from gold evidence."""
