"""Parts that the pages of the app are made of."""
