"""Durable memory: the store, recall, facts, files, and the context that a model is shown."""
