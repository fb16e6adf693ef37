"""Decides when a context is compacted, what is shortened, and how many turns are folded."""
