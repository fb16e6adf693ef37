"""Slash commands, the same in every channel."""
