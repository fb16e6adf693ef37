"""Units of work on long-term memory."""
