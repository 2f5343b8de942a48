"""Parts of the home page."""
