"""Folds: their rows and steps, what they write to the log of each day, and the ledger over them."""
