"""EvidenceBench Explorer's core."""
