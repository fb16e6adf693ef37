"""Recorded conversations, run again through the policies without a model, and taken into the store."""
