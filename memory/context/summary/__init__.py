"""Making and checking summaries."""
