"""What the page sets up step by step: choose, fill in, test, finish."""
