"""Helpers shared by the channels."""
