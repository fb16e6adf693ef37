"""Keeps the index of each space up to date with its files and conversations."""
