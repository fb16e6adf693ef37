"""Runs recorded conversations through the policies without a model, and imports conversations."""
