"""Folds: their steps, and the texts that a model writes for them."""
