"""Language models in the app: server and key, prompts, prices, caps, asking, and what came back."""
