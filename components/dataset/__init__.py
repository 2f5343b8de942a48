"""Parts of the page Dataset."""
