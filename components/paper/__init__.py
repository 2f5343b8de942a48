"""Parts of the page *Your paper*."""
