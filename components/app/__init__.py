"""State, caches, jobs and the frame of every page."""
