"""Log, metrics and traces."""
