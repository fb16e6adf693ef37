"""Units of work on conversations."""
