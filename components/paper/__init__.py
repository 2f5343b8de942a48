"""Your own paper: from a file and a hypothesis to the sentences that bear on it."""
