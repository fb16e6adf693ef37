"""Finding again what was said or written down."""
