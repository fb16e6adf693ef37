"""Date expressions in questions."""
