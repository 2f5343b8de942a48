"""Parts of the page Browse."""
