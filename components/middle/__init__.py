"""Parts of the page "Lost in the middle"."""
