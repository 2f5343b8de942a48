"""The page of answers with citations."""
