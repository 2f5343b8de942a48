"""The retriever that asks a language model on an OpenAI-compatible server."""
