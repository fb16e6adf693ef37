"""One turn at a time per conversation, many conversations at once."""
