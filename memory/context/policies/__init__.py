"""When and how a context is compacted."""
