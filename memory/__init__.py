"""Durable memory: the store, recall, long-term facts, files, and the context that a model is shown."""
