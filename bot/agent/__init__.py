"""The loop between a model and its tools, on the store."""
