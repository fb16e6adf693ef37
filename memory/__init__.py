"""Durable memory: the store, the context that a model is shown, and long-term facts."""
